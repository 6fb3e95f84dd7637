import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// The level of detail of each entry in a list.
struct EntryLayout {
    /// One line instead of heading and note.
    var isShort = false
    /// A bar for each entity.
    var showsCounts = false
    /// Every change with old and new values.
    var showsChanges = false

    /// Prints an entry in the form that `--output` asks for.
    ///
    /// - Parameters:
    ///   - record: The entry.
    ///   - listing: The list it belongs to.
    ///   - console: Where it is printed.
    /// - Throws: ``OutputClosed``, or ``ToolError`` when nothing can be written.
    func append(
        _ record: AuditRecord, to listing: inout Listing, _ console: Console
    ) throws {
        let isFirst = listing.count == 0
        guard showsCounts, !showsChanges, console.format != .text else {
            return try listing.append(record) {
                if !isFirst, !isShort || showsCounts || showsChanges { try console.print() }
                try console.printLines(lines(of: record, console))
            }
        }
        try listing.append(try Self.countsDocument(of: record)) {}
    }

    /// The head of an entry with counts instead of its changes.
    static func countsDocument(of record: AuditRecord) throws -> JSONText {
        var writer = JSONWriter()
        writer.object { writer in
            JSONLinesEncoder.append(headOf: record, to: &writer)
            writer.append(EntryCounts(record))
        }
        return JSONText(try JSONValue(parsing: writer.bytes))
    }

    private func lines(of record: AuditRecord, _ console: Console) -> [String] {
        let text = EntryText(console.palette)
        var lines = isShort ? [line(of: record, text, console)] : text.summary(of: record)
        if showsCounts, record.entry.model == nil {
            if !isShort { lines.removeLast() }
            let columns = min(console.columns ?? 80, 100) - 4
            lines += EntryCounts(record).lines(fitting: columns, console.palette).map {
                "    " + $0
            }
        }
        guard showsChanges else { return lines }
        for change in record.shown {
            lines += text.lines(of: AuditChange(change, in: record.schema), indentation: "    ")
        }
        return lines
    }

    /// Number, time, author, and the first line of the note or, without a note, the counts.
    private func line(
        of record: AuditRecord, _ text: EntryText, _ console: Console
    ) -> String {
        var parts = [
            console.palette(String(record.sequence.rawValue), .name),
            EntryText.time(record.entry.time),
        ]
        if let author = record.author { parts.append("by \(DisplayText.escaped(author))") }
        let note = record.note?.split(separator: "\n").first.map { DisplayText.escaped(String($0)) }
        parts.append(note ?? console.palette(EntryText.count(of: record), .faint))
        return parts.joined(separator: "  ")
    }
}
