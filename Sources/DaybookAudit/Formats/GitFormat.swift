internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

// | git | what |
// |---|---|
// | branch | `refs/heads/main` |
// | author, its date | the author, and when it happened |
// | committer, its date | `daybook <>`, and when it was recorded |
// | message | the note, else the changes in words, and trailers |
// | `Country/17.json` | the object, a property on each line, null where there is no value |
// | `model.json` | the model |
//
// Files have the names and properties of the model at their entry. Where an entry sets a model with
// others, its commit has all files anew, so that every commit is the store as it was then.
//
// Trailers: Daybook-Entry, Daybook-Time, Daybook-Recorded, Daybook-Author (if git cannot hold the
// name unchanged), Daybook-Context, Daybook-Kind (if not save), Daybook-Undoes, Daybook-Digest.

/// A history for git: a stream for `git fast-import`, with a commit for each entry.
///
/// ```
/// git init --bare --initial-branch main atlas.git
/// daybook export atlas.daybook --format git | git -C atlas.git fast-import
/// ```
///
/// - Each stream ends with `done`, so that git refuses a truncated stream. One that resumes an
///   earlier export continues from `refs/heads/main` of the repository.
/// - An object's file has all its properties, in the order of the model, so the lines of two
///   versions differ only where values differ, and `git blame` names who set a value.
/// - Names and properties are those of the model at the entry, so that what is resumed fits what was
///   exported before.
/// - With a filter, a file is written when a change of its object is exported.
/// - Git has whole seconds from 1970 on: an earlier time becomes 1970, and a trailer has it in
///   full.
public struct GitFormat: AuditFormat {
    /// `git`.
    public static let name = "git"
    /// A commit for each entry.
    public static let summary = "a stream for git fast-import: a commit for each entry"

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        GitEncoder(scope: scope)
    }
}

private struct GitEncoder: AuditEncoder {
    let scope: AuditScope
    private var isFirst = true

    init(scope: AuditScope) {
        self.scope = scope
    }

    /// Declares that the stream ends with `done`.
    func opening(ofPass pass: Int) -> [UInt8] {
        Array("feature done\n".utf8)
    }

    /// `done`.
    func closing(ofPass pass: Int) -> [UInt8] {
        Array("done\n".utf8)
    }

    /// A commit.
    mutating func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try write(record, inPass: pass) { bytes += $0 }
        return bytes
    }

    /// A commit, piece by piece where it has all files anew.
    mutating func write(
        _ record: AuditRecord, inPass pass: Int, to output: ([UInt8]) throws -> Void
    ) throws {
        var stream = beginning(of: record)
        let isAnew = scope.isGapless && record.rewordsObjects
        if isAnew { stream.line("deleteall") }
        if let model = record.entry.model {
            stream.line("M 100644 inline model.json")
            stream.data(Array((model.json(.pretty) + "\n").utf8))
        }
        guard isAnew else {
            try appendFiles(changedBy: record, to: &stream)
            return try output(stream.bytes)
        }
        try output(stream.bytes)
        let then = scope.then(record.sequence)
        for entity in then.schema.entities where !entity.isAbstract {
            try then.writeObjects(of: entity.number, at: record.sequence) { objects, snapshot in
                var stream = GitStream()
                for object in objects {
                    guard let state = try scope.state(of: object, in: snapshot) else { continue }
                    stream.line("M 100644 inline \(then.schema.name(of: object)).json")
                    stream.data(Self.file(state))
                }
                return stream.bytes
            } to: { bytes in
                try output(bytes)
            }
        }
    }

    /// A commit up to its files.
    private mutating func beginning(of record: AuditRecord) -> GitStream {
        let entry = record.entry
        var stream = GitStream()
        stream.line("commit refs/heads/main")
        stream.line("author \(GitName(record.author)) \(Self.seconds(entry.time)) +0000")
        stream.line("committer daybook <> \(Self.seconds(entry.recordedAt)) +0000")
        stream.data(Array(message(record).utf8))
        if isFirst, scope.resumesAfter != nil { stream.line("from refs/heads/main^0") }
        isFirst = false
        return stream
    }

    private func appendFiles(changedBy record: AuditRecord, to stream: inout GitStream) throws {
        for change in record.shown {
            if !scope.isGapless {
                // The entry that gave the entity another name may have been left out.
                let entity = change.object.entity
                for name in scope.formerNames(of: entity, before: record.sequence) {
                    stream.line("D \(name)/\(change.object.number).json")
                }
            }
            let path = record.schema.name(of: change.object) + ".json"
            guard change.operation != .delete,
                let state = try scope.state(of: change.object, at: record.sequence)
            else {
                stream.line("D \(path)")
                continue
            }
            stream.line("M 100644 inline \(path)")
            stream.data(Self.file(state))
        }
    }

    /// The object as JSON, a property on each line.
    private static func file(_ state: [StateProperty]) -> [UInt8] {
        guard !state.isEmpty else { return Array("{}\n".utf8) }
        var bytes = Array("{\n".utf8)
        for (index, property) in state.enumerated() {
            var writer = JSONWriter()
            property.write(to: &writer)
            bytes += Array("  \(JSONValue.string(property.name).text): ".utf8)
            bytes += writer.bytes
            bytes += index + 1 < state.count ? [0x2c, 0x0a] : [0x0a]
        }
        return bytes + Array("}\n".utf8)
    }

    /// A time within git's range: from 1970 to the end of the year 9999.
    private static func seconds(_ microseconds: Int64) -> Int64 {
        min(max(microseconds / 1_000_000, 0), 253_402_300_799)
    }

    private func message(_ record: AuditRecord) -> String {
        let entry = record.entry
        let header = entry.header
        var text = (header.note ?? "").withoutNull
        if text.allSatisfy(\.isWhitespace) { text = summary(record) }
        while text.last?.isNewline == true { text.removeLast() }
        text += "\n\nDaybook-Entry: \(record.sequence)\n"
        text += "Daybook-Time: \(DateText.text(microseconds: entry.time))\n"
        text += "Daybook-Recorded: \(DateText.text(microseconds: entry.recordedAt))\n"
        if let author = header.author, !GitName(author).isFaithful(to: author) {
            text += "Daybook-Author: \(author.onOneLine)\n"
        }
        for pair in record.infoTexts { text += "Daybook-Info: \(pair.onOneLine)\n" }
        if let context = header.context { text += "Daybook-Context: \(context.onOneLine)\n" }
        if record.kind != .save { text += "Daybook-Kind: \(record.kind.rawValue)\n" }
        if let undoes = record.undoesText { text += "Daybook-Undoes: \(undoes)\n" }
        if let digest = record.toldDigest { text += "Daybook-Digest: \(digest)\n" }
        return text
    }

    /// The subject of an entry without a note.
    private func summary(_ record: AuditRecord) -> String {
        if record.kind == .model { return "Set the model" }
        if record.shown.count == 1, let change = record.shown.first {
            let verb =
                switch change.operation {
                case .insert: "Insert"
                case .update: "Update"
                case .delete: "Delete"
                }
            return "\(verb) \(record.schema.name(of: change.object))"
        }
        var counts: [String] = []
        for operation in AuditChange.Operation.allCases {
            let count = record.shown.count { $0.operation == operation }
            if count > 0 { counts.append("\(operation.rawValue) \(count)") }
        }
        let text = counts.joined(separator: ", ")
        return text.prefix(1).uppercased() + text.dropFirst() + " objects"
    }
}

/// An author in git's form: `Ada <ada@example.org>`.
private struct GitName: CustomStringConvertible {
    /// The name and the address between angle brackets, which may be empty.
    let description: String

    /// A text of that form stays unchanged; from others, the characters that git does not allow are
    /// removed.
    init(_ author: String?) {
        guard let author else {
            description = "unknown <>"
            return
        }
        var name = author[...]
        var address = ""[...]
        if author.hasSuffix(">"), let open = author.firstIndex(of: "<") {
            name = author[..<open]
            address = author[author.index(after: open)...].dropLast()
        }
        let plain = Self.plain(name)
        description =
            "\(plain.isEmpty ? "unknown" : plain) <\(Self.plain(address).filter { $0 != " " })>"
    }

    /// Whether git's form determines the author.
    func isFaithful(to author: String) -> Bool {
        // An empty address is that of an author without one.
        description == author && !author.hasSuffix("<>")
            || description == "\(author) <>" && author != "unknown"
    }

    private static func plain(_ text: Substring) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<", ">": continue
            case _ where scalar.properties.generalCategory == .control: scalars.append(" ")
            // Marks that reverse letters would show somebody else's name.
            case _ where scalar.isHidden: continue
            default: scalars.append(scalar)
            }
        }
        return String(scalars).split(separator: " ").joined(separator: " ")
    }
}

/// Commands of a fast-import stream under construction.
private struct GitStream {
    private(set) var bytes: [UInt8] = []

    mutating func line(_ text: String) {
        bytes += text.utf8
        bytes.append(0x0a)
    }

    /// Bytes after their count.
    mutating func data(_ data: [UInt8]) {
        line("data \(data.count)")
        bytes += data
        bytes.append(0x0a)
    }
}

extension String {
    /// The text without U+0000, at which git ends a message.
    fileprivate var withoutNull: String {
        utf8.contains(0) ? String(map { $0 == "\0" ? "\u{FFFD}" : $0 }) : self
    }
}
