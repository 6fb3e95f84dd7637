internal import DaybookObjectModel

/// The values that a property had before and after a change, as the index of changes keeps them: one behind the other,
/// as in an entry.
///
/// Long ones are not there, and are to be looked up among the versions of the object.
struct ChangedValues {
    let old: Value
    let new: Value

    /// How many bytes both values may take, so that a record does not become much longer than its key.
    private static let bytesMaximum = 48

    /// Reads a record; nil where the values are too long.
    init?(_ record: RawSpan) throws(DecodingFailure) {
        guard record.byteCount > 0 else { return nil }
        var offset = 0
        old = try record.readValue(at: &offset)
        new = try record.readValue(at: &offset)
        guard offset == record.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of a change")
        }
    }

    /// The record of a change whose values are in some bytes, where they are not decoded; empty for long ones.
    static func record(
        from old: EncodedField, to new: EncodedField, in bytes: RawSpan
    ) -> [UInt8] {
        record(from: old.end - old.start, to: new.end - new.start) { writer in
            for field in [old, new] {
                if field.isEmpty { writer.append(.null) }
                writer.append(raw: bytes.extracting(field.start..<field.end))
            }
        }
    }

    /// The record of a change whose values stand for themselves, each in its canonical bytes; empty for long ones.
    static func record(from old: [UInt8], to new: [UInt8]) -> [UInt8] {
        record(from: old.count, to: new.count) { writer in
            writer.append(raw: old.span.bytes)
            writer.append(raw: new.span.bytes)
        }
    }

    private static func record(
        from oldCount: Int, to newCount: Int, _ body: (inout ByteWriter) -> Void
    ) -> [UInt8] {
        guard max(oldCount, 1) + max(newCount, 1) <= bytesMaximum else { return [] }
        var writer = ByteWriter(capacity: oldCount + newCount + 2)
        body(&writer)
        return writer.bytes
    }
}
