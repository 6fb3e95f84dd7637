internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// The audit report: one file that needs nothing but a browser.
///
/// - The file loads nothing: it contains its style and its script, and its content security policy
///   allows no others.
/// - It states its subject: the store, the entries, the filters, how many values were hidden, and
///   whether the journal continues from ``AuditOptions/checkpoint``, signed by
///   ``AuditOptions/key``.
/// - It has the records as lines of the native export, in blocks that no browser takes for a
///   program; without JavaScript they are shown as text.
/// - The same journal and options give the same bytes.
/// - The whole journal is read before anything is written, whatever the filters, to check it; and
///   once more if something is confidential, because the report begins with the number of hidden
///   values.
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
    /// - Throws: ``AuditFormatError`` when the checkpoint or the key is malformed; `StoreError`
    ///   with code `corrupt` at the first entry that is not what was written.
    /// - Complexity: O(*n*) page reads, *n* the size of the journal.
    public func encoder(for scope: AuditScope) throws -> any AuditEncoder {
        HTMLEncoder(try HTMLReport(scope, standing: try ReportStanding(scope)))
    }
}

/// The entries for a report that is live, as server-sent events: each has the line that the report would have.
package struct EventFormat: AuditFormat {
    /// Not for users.
    package static let name = "events"
    /// Not for users.
    package static let summary = "entries for a live report"

    /// Makes the format.
    package init() {}

    /// Begins an export.
    package func encoder(for scope: AuditScope) -> any AuditEncoder { EventEncoder() }
}

/// Writes each record as an event with the number of its entry.
private struct EventEncoder: AuditEncoder {
    private let lines = JSONLinesEncoder()

    var passes: Int { 1 }

    func opening(ofPass pass: Int) -> [UInt8] { [] }

    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        // JSON has no line end but the one at its end.
        Array("id: \(record.sequence)\ndata: ".utf8) + (try lines.bytes(of: record)) + [
            UInt8(ascii: "\n")
        ]
    }

    func closing(ofPass pass: Int) -> [UInt8] { [] }
}

/// Writes the page around the lines of the native export.
private struct HTMLEncoder: AuditEncoder {
    /// The length at which a block is closed, so that the page can be read piece by piece.
    private static let blockBytes = 1 << 17

    private let report: HTMLReport
    private let lines = JSONLinesEncoder()
    private var keptBack = KeptBack()
    private var totals = (entries: 0, changes: 0)
    /// The size of the open block; nil when none is open.
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
                keptBack.add(record.readable(change))
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

    /// Hidden values are counted first, if there can be any.
    private func isWriting(_ pass: Int) -> Bool { pass == passes - 1 }

    private mutating func endOfBlock() -> [UInt8] {
        guard blockCount != nil else { return [] }
        blockCount = nil
        return Array(HTMLReport.blockClosing.utf8)
    }
}

/// The number of hidden changes of confidential properties.
struct KeptBack: Sendable {
    /// Left out.
    private(set) var omitted = 0
    /// Replaced by hashes.
    private(set) var hashed = 0

    /// Counts the hidden values of a change.
    mutating func add(_ change: AuditChange) {
        omitted += change.omitted.count
        hashed += change.hashedCount
    }
}

extension [UInt8] {
    /// JSON that can stand in a script element: nothing in it ends the element or begins a comment.
    /// The escaped characters can occur only in texts, so the JSON means the same.
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
                // U+2028 and U+2029 end lines in some readers.
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
