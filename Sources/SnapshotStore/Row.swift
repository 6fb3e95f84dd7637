package import JournalLog
internal import LMDB
package import ObjectModel

// | field | bytes |
// |---|---|
// | since | 8: the entry that last changed the object |
// | width | 1: bytes of each end offset, 2 or 4 |
// | count | 2: how many fields |
// | ends | count × width: where each field ends, from the first field's first byte |
// | fields | the values in slot order, each in its canonical form; null has no bytes |
//
// So one field is found without reading those before it.

/// An object's values as they stand at some sequence number.
package struct Row: Sendable, Hashable {
    /// The entry that last changed the object.
    package let since: SequenceNumber
    /// The values in slot order.
    package let values: [Value]

    /// Describes a row.
    package init(since: SequenceNumber, values: [Value]) {
        self.since = since
        self.values = values
    }
}

/// Encodes rows, one after the other, without an allocation for each.
struct RowEncoder {
    private var writer = KeyWriter(capacity: 256)
    private var fields = ByteWriter(capacity: 256)
    private var ends: [Int] = []

    /// The bytes of the row encoded last.
    var bytes: [UInt8] { writer.bytes }

    /// Encodes a row, in place of the one encoded before.
    mutating func encode(since: SequenceNumber, _ values: [Value]) {
        fields.removeAll()
        ends.removeAll(keepingCapacity: true)
        for value in values {
            if !value.isNull { fields.append(value) }
            ends.append(fields.bytes.count)
        }
        writer.removeAll()
        writer.append(since.rawValue)
        let isWide = fields.bytes.count > Int(UInt16.max)
        writer.append(isWide ? UInt8(4) : UInt8(2))
        writer.append(UInt16(values.count))
        for end in ends {
            if isWide {
                writer.append(UInt32(end))
            } else {
                writer.append(UInt16(end))
            }
        }
        let encoded = fields.bytes
        writer.append(bytes: encoded.span.bytes)
    }
}

/// Where things stand in the bytes of a row.
struct RowLayout {
    let since: SequenceNumber
    let count: Int
    private let width: Int

    private static let headerSize = 11

    init(_ bytes: RawSpan) throws(DecodingFailure) {
        guard bytes.byteCount >= Self.headerSize else {
            throw DecodingFailure(at: bytes.byteCount, expected: "the header of a row")
        }
        since = SequenceNumber(
            rawValue: UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self)))
        width = Int(bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt8.self))
        guard width == 2 || width == 4 else {
            throw DecodingFailure(at: 8, expected: "a width of 2 or 4")
        }
        count = Int(
            UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 9, as: UInt16.self)))
        guard Self.headerSize + count * width <= bytes.byteCount else {
            throw DecodingFailure(at: 9, expected: "a count of fields within the row")
        }
    }

    /// The value in a slot; null for a slot the row does not have.
    func value(_ slot: Int, in bytes: RawSpan) throws(DecodingFailure) -> Value {
        guard slot < count else { return .null }
        let fields = Self.headerSize + count * width
        let start = slot == 0 ? 0 : end(of: slot - 1, in: bytes)
        return try field(slot, fields + start, fields + end(of: slot, in: bytes), in: bytes)
    }

    /// All values.
    func values(in bytes: RawSpan) throws(DecodingFailure) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        let fields = Self.headerSize + count * width
        var start = fields
        for slot in 0..<count {
            let end = fields + end(of: slot, in: bytes)
            values.append(try field(slot, start, end, in: bytes))
            start = end
        }
        guard start == bytes.byteCount else {
            throw DecodingFailure(at: start, expected: "the end of the row")
        }
        return values
    }

    private func field(
        _ slot: Int, _ start: Int, _ end: Int, in bytes: RawSpan
    ) throws(DecodingFailure) -> Value {
        if start == end { return .null }
        var offset = start
        let value = try bytes.readValue(at: &offset)
        guard offset == end else {
            throw DecodingFailure(at: offset, expected: "the end of field \(slot)")
        }
        return value
    }

    /// Where a field ends; the initializer has seen that the offsets are all there.
    private func end(of slot: Int, in bytes: RawSpan) -> Int {
        let offset = Self.headerSize + slot * width
        return width == 2
            ? Int(
                UInt16(
                    bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
            : Int(
                UInt32(
                    bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }
}
