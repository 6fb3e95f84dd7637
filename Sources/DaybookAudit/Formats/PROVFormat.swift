internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | PROV | what | identifier |
// |---|---|---|
// | activity | an entry | `store:entry/5` |
// | agent | an author | `store:author/Ada`, percent-encoded |
// | entity | an object as an entry left it | `store:Country/17@5` |
// | wasAssociatedWith | the author of an entry | |
// | used | the version that an update or a delete found | |
// | wasGeneratedBy | the version that an insert or an update left | |
// | wasDerivedFrom | from version to version, a prov:Revision | |
// | wasInvalidatedBy | the last version of an object, by the entry that deleted it | |
//
// The prefix `store` is the source of the export, else `urn:uuid:` and the identifier of the store;
// `daybook` is the prefix of facts about an entry, `property` of the values of a version. A version
// has the names and properties of the model at its entry.

/// Provenance in the W3C's form (PROV-JSON): what came from what, by whom.
///
/// One document. The records are read once for each part of it; only the set of authors is kept in
/// memory. A version has the names and properties of the model at its entry.
public struct PROVFormat: AuditFormat {
    /// `prov`.
    public static let name = "prov"
    /// Versions, entries and authors as W3C PROV.
    public static let summary = "one PROV-JSON document: what came from what, by whom"
    /// A single document.
    public static let canResume = false

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        PROVEncoder(scope: scope)
    }
}

/// A part of the document, in the order of the passes.
private enum PROVPart: String, CaseIterable {
    case activity
    case entity
    case wasAssociatedWith
    case used
    case wasGeneratedBy
    case wasDerivedFrom
    case wasInvalidatedBy
}

private struct PROVEncoder: AuditEncoder {
    let scope: AuditScope
    private var authors: Set<String> = []
    private var isEmpty = true

    init(scope: AuditScope) {
        self.scope = scope
    }

    var passes: Int { PROVPart.allCases.count }

    /// The prefixes, before everything, and the name of the part.
    mutating func opening(ofPass pass: Int) -> [UInt8] {
        isEmpty = true
        let name = "\"\(PROVPart.allCases[pass].rawValue)\":{"
        return Array((pass == 0 ? "{\n\"prefix\":\(prefixes),\n" + name : name).utf8)
    }

    /// The end of the part; the agents of the activities follow them.
    mutating func closing(ofPass pass: Int) -> [UInt8] {
        var text = "\n}"
        if PROVPart.allCases[pass] == .activity {
            text += ",\n\"agent\":{"
            isEmpty = true
            for author in authors.sorted() {
                text += member(author.agent) { writer in
                    writer.name("prov:label")
                    writer.string(author)
                }
            }
            text += "\n}"
        }
        return Array((text + (pass + 1 < passes ? ",\n" : "\n}\n")).utf8)
    }

    /// The lines of an entry in a part.
    mutating func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var text = ""
        switch PROVPart.allCases[pass] {
        case .activity: text = activity(record)
        case .entity:
            for change in record.shown where change.operation != .delete {
                text += try entity(change, record)
            }
        case .wasAssociatedWith: text = association(record)
        case .used:
            for (position, change) in record.numberedChanges {
                text += try relation("u", position, record, change, needing: .before) {
                    writer, ends in
                    writer.append("prov:activity", record.activity)
                    writer.append("prov:entity", ends.before)
                }
            }
        case .wasGeneratedBy:
            for (position, change) in record.numberedChanges {
                text += try relation("g", position, record, change, needing: .after) {
                    writer, ends in
                    writer.append("prov:entity", ends.after)
                    writer.append("prov:activity", record.activity)
                    writer.append("prov:time", record.commonTime)
                }
            }
        case .wasDerivedFrom:
            for (position, change) in record.numberedChanges {
                text += try relation("d", position, record, change, needing: .both) {
                    writer, ends in
                    writer.append("prov:generatedEntity", ends.after)
                    writer.append("prov:usedEntity", ends.before)
                    writer.append("prov:activity", record.activity)
                    writer.append(type: "prov:Revision")
                }
            }
        case .wasInvalidatedBy:
            for (position, change) in record.numberedChanges where change.operation == .delete {
                text += try relation("i", position, record, change, needing: .before) {
                    writer, ends in
                    writer.append("prov:entity", ends.before)
                    writer.append("prov:activity", record.activity)
                    writer.append("prov:time", record.commonTime)
                }
            }
        }
        return Array(text.utf8)
    }

    // MARK: - Parts

    private mutating func activity(_ record: AuditRecord) -> String {
        if let author = record.author { authors.insert(author) }
        return member(record.activity) { writer in
            writer.append("prov:startTime", record.commonTime)
            writer.append("prov:endTime", record.commonTime)
            writer.append("prov:label", record.note)
            writer.append("daybook:sequence", record.sequence.description)
            writer.append("daybook:kind", record.kind.rawValue)
            writer.append("daybook:time", DateText.text(microseconds: record.entry.time))
            writer.append("daybook:recorded", DateText.text(microseconds: record.entry.recordedAt))
            if !record.info.isEmpty {
                writer.name("daybook:info")
                writer.array { writer in for pair in record.infoTexts { writer.string(pair) } }
            }
            writer.append("daybook:context", record.context)
            writer.append("daybook:undoes", record.undoesText)
            writer.append("daybook:digest", record.toldDigest)
        }
    }

    private mutating func entity(_ change: Change, _ record: AuditRecord) throws -> String {
        let state = try scope.state(of: change.object, at: record.sequence) ?? []
        let readable = record.readable(change)
        return member(version(change, record.sequence)) { writer in
            writer.append("prov:label", readable.object)
            writer.append(type: "daybook:\(readable.entity)")
            for property in state {
                if case .value(let value) = property.content, value.isNull { continue }
                if case .members(let names) = property.content, names.isEmpty { continue }
                writer.name("property:\(property.name)")
                // A coded value is its JSON as text: lists and objects mean other things in PROV-JSON.
                if case .value(let value) = property.content, case .data = value.value {
                    writer.string(value.text)
                } else {
                    property.write(to: &writer)
                }
            }
        }
    }

    private mutating func association(_ record: AuditRecord) -> String {
        guard let author = record.author else { return "" }
        return member("_:a\(record.sequence)") { writer in
            writer.append("prov:activity", record.activity)
            writer.append("prov:agent", author.agent)
        }
    }

    /// The versions that a relation needs.
    private enum Need {
        case before
        case after
        case both
    }

    /// A relation of a change, unless one of its versions is missing.
    private mutating func relation(
        _ letter: String, _ position: Int, _ record: AuditRecord, _ change: Change,
        needing need: Need,
        _ body: (inout JSONWriter, (before: String, after: String)) -> Void
    ) throws -> String {
        var before = ""
        var after = ""
        if need != .after {
            guard change.operation != .insert,
                let found = try scope.version(of: change.object, at: record.sequence.previous)
            else { return "" }
            before = version(change, found)
        }
        if need != .before {
            guard change.operation != .delete else { return "" }
            after = version(change, record.sequence)
        }
        return member("_:\(letter)\(record.sequence).\(position)") { body(&$0, (before, after)) }
    }

    private func version(_ change: Change, _ sequence: SequenceNumber) -> String {
        "store:\(scope.then(sequence).schema.name(of: change.object))@\(sequence)"
    }

    // MARK: - JSON

    private var prefixes: String {
        let source = scope.options.source ?? "urn:uuid:\(scope.storeIdentifier.uuidString)"
        var writer = JSONWriter()
        writer.object { writer in
            writer.append("store", source + "#")
            writer.append("daybook", "urn:x-daybook:")
            writer.append("property", "urn:x-daybook:property:")
        }
        return writer.text
    }

    /// A line of a part.
    private mutating func member(_ name: String, _ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        defer { isEmpty = false }
        return "\(isEmpty ? "" : ",")\n\(JSONValue.string(name).text):\(writer.text)"
    }
}

extension AuditRecord {
    fileprivate var activity: String { "store:entry/\(sequence)" }
}

extension String {
    /// The identifier of the agent with this name.
    fileprivate var agent: String {
        var name = "store:author/"
        for byte in utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                name.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                name += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return name
    }
}

extension JSONWriter {
    fileprivate mutating func append(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// A `prov:type` that is a qualified name.
    fileprivate mutating func append(type: String) {
        name("prov:type")
        object { writer in
            writer.append("$", type)
            writer.append("type", "prov:QUALIFIED_NAME")
        }
    }
}
