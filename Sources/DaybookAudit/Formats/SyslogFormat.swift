internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

// | part | what |
// |---|---|
// | PRI | 109: facility 13 (log audit), severity 5 (notice) |
// | TIMESTAMP | when it happened, in UTC, to the microsecond; `-` outside the years 1 to 9999 |
// | HOSTNAME | as the user says, else `-` |
// | APP-NAME, PROCID | `daybook`, `-` |
// | MSGID | insert, update, delete or model |
// | STRUCTURED-DATA | one element, `daybook@32473` |
// | MSG | the change in words, without values, after the byte order mark that UTF-8 text needs |
//
// Parameters of the element: seq, time (if TIMESTAMP cannot express it), recorded (if it differs
// from the time), author, note, context, kind (if not save), undoes, digest, object, entity, cause,
// then for each property that changed, N counting from 1, property.N with old.N and new.N, or
// added.N and removed.N with names of objects separated by spaces, then confidential with the names
// of properties whose values are left out. Null and missing values have no parameter.

/// Syslog messages (RFC 5424), one for each change, one on each line.
///
/// - Messages end with a line feed, without an octet count. So in values, before the escapes of RFC
///   5424, backslashes and control characters are escaped as in JSON (`\\`, `\n`, `\u0085`).
/// - An entry that sets the model has one message.
public struct SyslogFormat: AuditFormat {
    /// `syslog`.
    public static let name = "syslog"
    /// Messages for log servers.
    public static let summary = "a message for each change (RFC 5424)"

    /// Facility 13, log audit, and severity 5, notice.
    static let priority = 13 * 8 + 5
    /// The name of the structured data; 32473 is the number that RFC 5612 reserves for examples.
    static let element = "daybook@32473"

    /// Makes the format.
    public init() {}

    /// Begins an export.
    ///
    /// - Throws: ``AuditFormatError`` when a message cannot contain the name of the machine.
    public func encoder(for scope: AuditScope) throws -> any AuditEncoder {
        let host = scope.options.host ?? "-"
        guard (1...255).contains(host.utf8.count),
            host.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw AuditFormatError(
                "'\(host)' cannot be the name of a machine in syslog: a name has 1 to 255 ASCII "
                    + "letters, digits and signs, and no spaces.")
        }
        return SyslogEncoder(host: host)
    }
}

private struct SyslogEncoder: RecordwiseEncoder {
    let host: String

    /// A message for each change.
    func bytes(of record: AuditRecord, inPass pass: Int) -> [UInt8] {
        var head = StructuredData(named: SyslogFormat.element)
        head.append(headOf: record)
        let time = record.commonTime ?? "-"
        var bytes: [UInt8] = []
        if record.kind == .model {
            append("model", time, head, record.modelSentence, to: &bytes)
        }
        for change in record.shown {
            let change = record.readable(change)
            var data = head
            data.append(change)
            append(change.operation.rawValue, time, data, record.sentence(change), to: &bytes)
        }
        return bytes
    }

    private func append(
        _ identifier: String, _ time: String, _ data: StructuredData, _ text: String,
        to bytes: inout [UInt8]
    ) {
        bytes += "<\(SyslogFormat.priority)>1 \(time) \(host) daybook - \(identifier) ".utf8
        bytes += data.bytes
        bytes += "] \u{FEFF}".utf8
        bytes += text.onOneLine.utf8
        bytes.append(0x0a)
    }
}

/// An element of structured data under construction, without its closing bracket.
private struct StructuredData {
    private(set) var bytes: [UInt8]
    private var propertyCount = 0

    /// Begins an element.
    init(named name: String) {
        bytes = Array("[\(name)".utf8)
    }

    mutating func append(headOf record: AuditRecord) {
        let header = record.entry.header
        append("seq", record.sequence.description)
        if record.commonTime == nil {
            append("time", DateText.text(microseconds: record.entry.time))
        }
        if header.occurredAt != nil {
            append("recorded", DateText.text(microseconds: record.entry.recordedAt))
        }
        append("author", header.author)
        append("note", header.note)
        for (index, pair) in record.infoTexts.enumerated() { append("info.\(index + 1)", pair) }
        append("context", header.context)
        append("kind", record.kind == .save ? nil : record.kind.rawValue)
        append("undoes", record.undoesText)
        append("digest", record.toldDigest)
    }

    mutating func append(_ change: AuditChange) {
        append("object", change.object)
        append("entity", change.entity)
        append("cause", change.cause)
        for field in change.fields {
            beginProperty(field.name)
            append("old.\(propertyCount)", field.old)
            append("new.\(propertyCount)", field.new)
        }
        for membership in change.memberships {
            beginProperty(membership.name)
            append("removed.\(propertyCount)", membership.removed)
            append("added.\(propertyCount)", membership.added)
        }
        guard !change.omitted.isEmpty else { return }
        append("confidential", change.omitted.joined(separator: " "))
    }

    private mutating func beginProperty(_ name: String) {
        propertyCount += 1
        append("property.\(propertyCount)", name)
    }

    private mutating func append(_ name: String, _ value: AuditValue) {
        append(name, value.isNull ? nil : value.text)
    }

    private mutating func append(_ name: String, _ members: [AuditMembership.Member]) {
        append(name, members.isEmpty ? nil : AuditMembership.list(members))
    }

    private mutating func append(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes.append(0x20)
        bytes += name.utf8
        bytes += "=\"".utf8
        let text = value.onOneLine.utf8
        if text.contains(where: \.mustBeEscaped) {
            for byte in text {
                if byte.mustBeEscaped { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
        } else {
            bytes += text
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension UInt8 {
    /// RFC 5424, 6.3.3: these three must be escaped, and nothing else.
    fileprivate var mustBeEscaped: Bool {
        self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") || self == UInt8(ascii: "]")
    }
}
