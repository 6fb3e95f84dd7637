internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | field | what |
// |---|---|
// | __REALTIME_TIMESTAMP | when it was recorded, in microseconds |
// | __MONOTONIC_TIMESTAMP | the number of the entry: an order, not a clock |
// | _BOOT_ID | the identifier of the store: its entries belong together |
// | _SOURCE_REALTIME_TIMESTAMP | when it happened, if the author gave a time not before 1970 |
// | _HOSTNAME | the name of the machine, if given |
// | MESSAGE, MESSAGE_ID | the change in words, without values; the kind of message |
// | PRIORITY, SYSLOG_FACILITY, SYSLOG_IDENTIFIER | 5 (notice), 13 (log audit), daybook |
// | DAYBOOK_SEQUENCE, _TIME, _RECORDED, _AUTHOR, _NOTE, _CONTEXT, _KIND, _UNDOES, _DIGEST | the entry |
// | DAYBOOK_STORE | the identifier of the store |
// | DAYBOOK_OPERATION, _OBJECT, _ENTITY, _CAUSE | the change |
// | DAYBOOK_PROPERTY | the name of a property that changed; once for each |
// | DAYBOOK_OLD, DAYBOOK_NEW | `name=Turkey`: a property and its value; once for each that has one |
// | DAYBOOK_REMOVED, DAYBOOK_ADDED | `members=Country/1 Country/2`: former and new members |
// | DAYBOOK_CONFIDENTIAL | the name of a property whose values are left out; once for each |

/// The journal of systemd, in its export format: an entry for each change.
///
/// `systemd-journal-remote` makes a journal file of it, which `journalctl` reads and filters, as in
/// `journalctl --file daybook.journal DAYBOOK_OBJECT=Country/17`. The journal drops equal fields of
/// an entry and their order, so the name of its property precedes each value.
public struct JournaldFormat: AuditFormat {
    /// `journald`.
    public static let name = "journald"
    /// Entries for the journal of systemd.
    public static let summary = "the Journal Export Format of systemd, for journalctl"

    /// The MESSAGE_ID of each kind of message, by the value of DAYBOOK_OPERATION.
    public static let messageIdentifiers = [
        "insert": "0e0366ed28cf45f9a6806bbcf8289813",
        "update": "79af720522e2425da3dcbc4a01cc268d",
        "delete": "e1f3e59611684c9badd5d737939f6487",
        "model": "ab2b2783fab44a3a8bff3351c02fecd1",
    ]

    /// Makes the format.
    public init() {}

    /// Begins an export.
    public func encoder(for scope: AuditScope) -> any AuditEncoder {
        JournaldEncoder(
            store: scope.storeIdentifier.uuidString.lowercased(), host: scope.options.host)
    }
}

private struct JournaldEncoder: RecordwiseEncoder {
    let store: String
    let host: String?

    /// An entry of the journal of systemd for each change.
    func bytes(of record: AuditRecord, inPass pass: Int) -> [UInt8] {
        let head = head(of: record)
        var fields = JournalFields()
        if record.kind == .model {
            fields.begin(head, "model", record.modelSentence)
            fields.end()
        }
        for change in record.shown {
            let change = record.readable(change)
            fields.begin(head, change.operation.rawValue, record.sentence(change))
            fields.append(change)
            fields.end()
        }
        return fields.bytes
    }

    /// The fields that all changes of an entry share.
    private func head(of record: AuditRecord) -> [UInt8] {
        var fields = JournalFields()
        let entry = record.entry
        let header = entry.header
        fields.append("__REALTIME_TIMESTAMP", String(max(entry.recordedAt, 1)))
        fields.append("__MONOTONIC_TIMESTAMP", record.sequence.description)
        fields.append("_BOOT_ID", store.filter { $0 != "-" })
        if let time = header.occurredAt, time > 0 {
            fields.append("_SOURCE_REALTIME_TIMESTAMP", String(time))
        }
        fields.append("_HOSTNAME", host)
        fields.append("PRIORITY", "5")
        fields.append("SYSLOG_FACILITY", "13")
        fields.append("SYSLOG_IDENTIFIER", "daybook")
        fields.append("DAYBOOK_STORE", store)
        fields.append("DAYBOOK_SEQUENCE", record.sequence.description)
        fields.append("DAYBOOK_TIME", DateText.text(microseconds: entry.time))
        fields.append("DAYBOOK_RECORDED", DateText.text(microseconds: entry.recordedAt))
        fields.append("DAYBOOK_AUTHOR", header.author)
        fields.append("DAYBOOK_NOTE", header.note)
        for pair in record.infoTexts { fields.append("DAYBOOK_INFO", pair) }
        fields.append("DAYBOOK_CONTEXT", header.context)
        fields.append("DAYBOOK_KIND", record.kind.rawValue)
        fields.append("DAYBOOK_UNDOES", record.undoesText)
        fields.append("DAYBOOK_DIGEST", record.toldDigest)
        return fields.bytes
    }
}

/// Entries in the export format under construction.
private struct JournalFields {
    private(set) var bytes: [UInt8] = []

    /// Begins an entry.
    mutating func begin(_ head: [UInt8], _ operation: String, _ message: String) {
        bytes += head
        append("MESSAGE", message)
        append("MESSAGE_ID", JournaldFormat.messageIdentifiers[operation])
        append("DAYBOOK_OPERATION", operation)
    }

    mutating func append(_ change: AuditChange) {
        append("DAYBOOK_OBJECT", change.object)
        append("DAYBOOK_ENTITY", change.entity)
        append("DAYBOOK_CAUSE", change.cause)
        for field in change.fields {
            append("DAYBOOK_PROPERTY", field.name)
            append("DAYBOOK_OLD", field.name, field.old.isNull ? nil : field.old.text)
            append("DAYBOOK_NEW", field.name, field.new.isNull ? nil : field.new.text)
        }
        for membership in change.memberships {
            append("DAYBOOK_PROPERTY", membership.name)
            append("DAYBOOK_REMOVED", membership.name, membership.removed)
            append("DAYBOOK_ADDED", membership.name, membership.added)
        }
        for name in change.omitted {
            append("DAYBOOK_PROPERTY", name)
            append("DAYBOOK_CONFIDENTIAL", name)
        }
    }

    /// Ends an entry.
    mutating func end() {
        bytes.append(0x0a)
    }

    /// Adds a field, if there is a value; with control characters, in binary form.
    mutating func append(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes += name.utf8
        if value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 }) {
            bytes.append(0x0a)
            let count = UInt64(value.utf8.count)
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: count >> (index * 8))) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(0x0a)
    }

    private mutating func append(_ name: String, _ property: String, _ value: String?) {
        append(name, value.map { "\(property)=\($0)" })
    }

    private mutating func append(
        _ name: String, _ property: String, _ members: [AuditMembership.Member]
    ) {
        append(name, property, members.isEmpty ? nil : AuditMembership.list(members))
    }
}
