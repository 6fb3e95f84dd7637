internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// Comma-separated values (RFC 4180) for spreadsheets: a row for each property that changed.
///
/// - Lines end with CR LF, the first line names the columns, the text is UTF-8.
/// - An empty field without quotes is null, `""` is empty text.
/// - A to-many relationship has a row for each object: in `new` those that join, in `old` those
///   that leave. Their order is left out.
/// - An insert or delete of an object without any values, and the setting of a model, have one row
///   with no property.
/// - `recorded` is always given. Values are written unchanged, even text that begins with `=`, so a
///   spreadsheet should read columns as text.
/// - `info` is an object of JSON with texts by key, or null.
/// - A confidential property that is left out has a row with `(confidential)` in `old` and `new`,
///   without quotes; a text that reads so has them.
/// - An export that resumes an earlier one does not name the columns again.
public struct CSVFormat: AuditFormat {
    /// `csv`.
    public static let name = "csv"
    /// A table for spreadsheets and data frames.
    public static let summary = "a row for each property that changed (RFC 4180)"

    /// The names of the columns.
    public static let columns = [
        "sequence", "time", "recorded", "author", "note", "info", "context", "op", "object",
        "entity", "property", "old", "new",
    ]

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        CSVEncoder(namesColumns: scope.resumesAfter == nil)
    }
}

private struct CSVEncoder: RecordwiseEncoder {
    let namesColumns: Bool

    /// The line with the names of the columns.
    func opening(ofPass pass: Int) -> [UInt8] {
        guard namesColumns else { return [] }
        var row = CSVRow()
        for column in CSVFormat.columns { row.append(column) }
        return row.line
    }

    /// The rows of a record.
    func bytes(of record: AuditRecord, inPass pass: Int) -> [UInt8] {
        var head = CSVRow()
        let header = record.entry.header
        head.append(record.sequence.description)
        head.append(DateText.text(microseconds: record.entry.time))
        head.append(DateText.text(microseconds: record.entry.recordedAt))
        for text in [header.author, header.note, header.info.jsonText, header.context] {
            head.append(text)
        }
        var bytes: [UInt8] = []
        if record.kind == .model {
            // What it changes follows.
            bytes = head.line(["model", nil, nil, nil, nil, nil])
        }
        for change in record.shown {
            append(record.readable(change), after: head, to: &bytes)
        }
        return bytes
    }

    private func append(_ change: AuditChange, after head: CSVRow, to bytes: inout [UInt8]) {
        var head = head
        head.append(change.operation.rawValue)
        head.append(change.object)
        head.append(change.entity)
        let start = bytes.count
        for field in change.fields {
            bytes += head.line([field.name, field.old.cell, field.new.cell])
        }
        for membership in change.memberships {
            for member in membership.removed {
                bytes += head.line([membership.name, member.object, nil])
            }
            for member in membership.added {
                bytes += head.line([membership.name, nil, member.object])
            }
        }
        for name in change.omitted {
            var row = head
            row.append(name)
            row.appendOmission()
            row.appendOmission()
            bytes += row.line
        }
        if bytes.count == start { bytes += head.line([nil, nil, nil]) }
    }
}

extension [String: String] {
    /// Information as an object of JSON; nil if there is none.
    var jsonText: String? {
        isEmpty
            ? nil
            : JSONValue.object(
                EntryInfo.ordered(self).map { JSONMember($0.key, .string($0.value)) }
            ).text
    }
}

extension AuditValue {
    /// Null and empty text differ.
    fileprivate var cell: String? { isNull ? nil : text }
}
