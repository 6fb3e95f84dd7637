internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// The audit report: one file that needs nothing but a browser.
///
/// - The file loads nothing: its style and its script stand in it, and its content security policy
///   allows no other.
/// - It says what it is of: the store, the entries, the filters, how many values were kept back, and
///   whether the journal goes on from ``AuditOptions/checkpoint``, signed by ``AuditOptions/key``.
/// - The records stand in it as lines of the native export, in blocks that no browser takes for a
///   program; without JavaScript they are there as text.
/// - The same journal and options give the same bytes.
/// - The whole journal is read before anything is written, whatever the filters, so that it can be
///   said how it stands; and once more if something is confidential, as what is kept back is told first.
public struct HTMLFormat: AuditFormat {
    /// `html`.
    public static let name = "html"
    /// For people.
    public static let summary = "the audit report: one page, for any browser, that loads nothing"
    /// A page has a beginning and an end.
    public static let canResume = false

    /// Makes the format.
    public init() {}

    /// Begins an export.
    ///
    /// - Throws: ``AuditFormatError`` when the checkpoint or the key is not one; `StoreError` with
    ///   code `corrupt` at the first entry that is not what was written.
    /// - Complexity: O(*n*) page reads, *n* the size of the journal.
    public func encoder(for scope: AuditScope) throws -> any AuditEncoder {
        HTMLEncoder(HTMLReport(scope, standing: try ReportStanding(scope)))
    }
}

/// Writes the page around the lines of the native export.
private struct HTMLEncoder: AuditEncoder {
    /// A block is closed when it is this long, so that the page can be read piece by piece.
    private static let blockBytes = 1 << 17

    private let report: HTMLReport
    private let lines = JSONLinesEncoder()
    private var keptBack = KeptBack()
    private var totals = (entries: 0, changes: 0)
    /// How much stands in the open block; nil when none is open.
    private var blockCount: Int?

    init(_ report: HTMLReport) {
        self.report = report
    }

    var passes: Int { report.scope.redaction.isEmpty ? 1 : 2 }

    func opening(ofPass pass: Int) -> [UInt8] {
        isWriting(pass) ? Array(report.opening(keptBack).html.utf8) : []
    }

    mutating func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        guard isWriting(pass) else {
            for change in record.shown {
                keptBack.add(record.readable(change), report.scope)
            }
            return []
        }
        totals.entries += 1
        totals.changes += record.shown.count
        let line = try lines.bytes(of: record).escapedForScript
        var bytes: [UInt8] = blockCount == nil ? Array(HTMLReport.blockOpening.utf8) : []
        bytes += line
        let count = (blockCount ?? 0) + line.count
        blockCount = count
        if count >= Self.blockBytes { bytes += endOfBlock() }
        return bytes
    }

    mutating func closing(ofPass pass: Int) -> [UInt8] {
        guard isWriting(pass) else { return [] }
        return endOfBlock() + Array(report.closing(totals).html.utf8)
    }

    /// What is kept back is counted first, if anything can be.
    private func isWriting(_ pass: Int) -> Bool { pass == passes - 1 }

    private mutating func endOfBlock() -> [UInt8] {
        guard blockCount != nil else { return [] }
        blockCount = nil
        return Array(HTMLReport.blockClosing.utf8)
    }
}

/// How many changes of confidential properties are not shown as they are.
struct KeptBack: Sendable {
    /// Left out.
    private(set) var omitted = 0
    /// Hashes in their place.
    private(set) var hashed = 0

    /// Counts what is kept back of a change.
    mutating func add(_ change: AuditChange, _ scope: AuditScope) {
        omitted += change.omitted.count
        guard let entity = scope.schema.entity(named: change.entity) else { return }
        let names = change.fields.map(\.name) + change.memberships.map(\.name)
        hashed += names.count { name in
            entity.property(named: name).map { scope.redaction.hides($0.number) } ?? false
        }
    }
}

extension [UInt8] {
    /// JSON that can stand in a script element: nothing in it ends the element or begins a comment.
    /// What is escaped can occur in texts only, so the JSON means the same.
    var escapedForScript: [UInt8] {
        guard contains(where: { $0 == UInt8(ascii: "<") || $0 == 0xe2 }) else { return self }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(count + 32)
        var index = startIndex
        while index < endIndex {
            let byte = self[index]
            if byte == UInt8(ascii: "<") {
                escaped += Array("\\u003c".utf8)
            } else if byte == 0xe2, index + 2 < endIndex, self[index + 1] == 0x80,
                self[index + 2] == 0xa8 || self[index + 2] == 0xa9
            {
                // U+2028 and U+2029 end lines for some readers.
                escaped += Array((self[index + 2] == 0xa8 ? "\\u2028" : "\\u2029").utf8)
                index += 2
            } else {
                escaped.append(byte)
            }
            index += 1
        }
        return escaped
    }
}
