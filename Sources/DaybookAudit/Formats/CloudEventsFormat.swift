internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | attribute | when | what |
// |---|---|---|
// | specversion | always | 1.0 |
// | id | always | identifier of the store, sequence number, position of the change in its entry |
// | source | always | as the user says, else urn:uuid: and the identifier of the store |
// | type | always | daybook.insert, daybook.update, daybook.delete, daybook.model |
// | subject | of a change | the object |
// | time | if RFC 3339 can express it | when it happened |
// | recordedtime | the same | when it was recorded |
// | sequence | always | sequence number and position with leading zeros: sorts as text |
// | authtype, authid | if there is an author | unknown, the author |
// | datacontenttype | always | application/json |
// | data | always | the entry as in the native form, and of its changes this one |
//
// The specification has no attribute for a note, and forbids control characters in attributes: so
// "data" has everything unchanged, and an author with such characters is only there.

/// CloudEvents 1.0 in the JSON format, one event a line for each change.
public struct CloudEventsFormat: AuditFormat {
    /// `cloudevents`.
    public static let name = "cloudevents"
    /// Events for message brokers and functions.
    public static let summary = "an event for each change (CloudEvents 1.0, a line each)"

    /// Makes the format.
    public init() {}

    /// Begins an export.
    ///
    /// - Throws: ``AuditFormatError`` when the source is not a URI reference.
    public func encoder(for scope: AuditScope) throws -> any AuditEncoder {
        let store = scope.storeIdentifier.uuidString.lowercased()
        let source = scope.options.source ?? "urn:uuid:\(store)"
        guard source.isReference else {
            throw AuditFormatError(
                "'\(source)' is not a URI reference, which CloudEvents needs as the source: "
                    + "'https://example.org/store' would be one.")
        }
        return CloudEventsEncoder(source: source, store: store)
    }
}

private struct CloudEventsEncoder: RecordwiseEncoder {
    let source: String
    /// The identifier of the store.
    let store: String

    /// An event for each change, or one for the model.
    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        var writer = JSONWriter(capacity: record.shown.count * 512 + 512)
        if let model = record.entry.model {
            let json = try JSONValue(parsing: model.json(.oneLine))
            append(record, position: 0, type: "model", subject: nil, to: &writer) { writer in
                writer.append("kind", string: record.kind.rawValue)
                writer.name("model")
                writer.value(json)
            }
        }
        for (position, change) in record.numberedEvents {
            let change = record.readable(change)
            append(
                record, position: position, type: change.operation.rawValue,
                subject: change.object, to: &writer
            ) { writer in
                if record.kind != .save { writer.append("kind", string: record.kind.rawValue) }
                JSONLinesEncoder.append(undoes: record.undoes, to: &writer)
                writer.append(change)
            }
        }
        return writer.bytes
    }

    private func append(
        _ record: AuditRecord, position: Int, type: String, subject: String?,
        to writer: inout JSONWriter, _ data: (inout JSONWriter) -> Void
    ) {
        let entry = record.entry
        let sequence = entry.sequence.rawValue
        writer.object { writer in
            writer.append("specversion", string: "1.0")
            writer.append("id", string: "\(store)-\(sequence)-\(position)")
            writer.append("source", string: source)
            writer.append("type", string: "daybook.\(type)")
            writer.append("subject", string: subject)
            writer.append("time", string: DateText.internetText(microseconds: entry.time))
            writer.append(
                "recordedtime", string: DateText.internetText(microseconds: entry.recordedAt))
            writer.append(
                "sequence", string: "\(sequence.padded(to: 20)).\(position.padded(to: 9))")
            if let author = entry.header.author, author.isAttribute {
                writer.append("authtype", string: "unknown")
                writer.append("authid", string: author)
            }
            writer.append("datacontenttype", string: "application/json")
            writer.name("data")
            writer.object { writer in
                JSONLinesEncoder.append(headOf: record, to: &writer)
                data(&writer)
                writer.append("digest", string: record.toldDigest)
            }
        }
        writer.endLine()
    }
}

extension DateText {
    /// The time in RFC 3339's form; nil outside of the years 0000 to 9999, which it cannot express.
    fileprivate static func internetText(microseconds: Int64) -> String? {
        guard (-62_167_219_200_000_000..<253_402_300_800_000_000).contains(microseconds) else {
            return nil
        }
        return text(microseconds: microseconds)
    }
}

extension BinaryInteger {
    /// The digits after leading zeros.
    fileprivate func padded(to count: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}

extension String {
    /// Whether CloudEvents allows this value of an attribute: non-empty text without control
    /// characters and noncharacters.
    fileprivate var isAttribute: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy { scalar in
                let number = scalar.value
                return number >= 0x20 && !(0x7f...0x9f).contains(number)
                    && !(0xfdd0...0xfdef).contains(number) && number & 0xfffe != 0xfffe
            }
    }

    /// Whether this is a URI reference by RFC 3986, which has no spaces, quotes and similar
    /// characters.
    fileprivate var isReference: Bool {
        let allowed = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)
        return !isEmpty
            && utf8.allSatisfy { byte in
                allowed.contains(byte) || (0x30...0x39).contains(byte)
                    || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            } && URL(string: self) != nil
    }
}
