import DaybookDigest
import DaybookStopping
import Foundation

// | tag | value | bytes that follow |
// |---|---|---|
// | 0 | null | none |
// | 1, 2 | false, true | none |
// | 3 | int | zigzag, variable length |
// | 4 | double | 8, IEEE 754 |
// | 5 | decimal | sign and exponent (zigzag), mantissa of 16 |
// | 6 | string | count, UTF-8 |
// | 7 | data | count, bytes |
// | 8 | date | 8, IEEE 754 seconds since 2001-01-01T00:00:00Z |
// | 9 | uuid | 16 |
// | 10 | object | entity and number, variable length |
// | 11 | large data | count, variable length; digest of 32, see `ChunkTree` |
/// The byte for the kind of value that follows.
enum ValueTag {
    static let null: UInt8 = 0
    static let no: UInt8 = 1
    static let yes: UInt8 = 2
    static let int: UInt8 = 3
    static let double: UInt8 = 4
    static let decimal: UInt8 = 5
    static let string: UInt8 = 6
    static let data: UInt8 = 7
    static let date: UInt8 = 8
    static let uuid: UInt8 = 9
    static let object: UInt8 = 10
    static let large: UInt8 = 11

    /// Whether it is that of a number, which is equal to the same number in another form.
    static func isNumber(_ tag: UInt8) -> Bool { (int...decimal).contains(tag) }
}

extension ByteWriter {
    /// Appends a value in its canonical form.
    package mutating func append(_ value: Value) {
        append(upTo: value.byteCountBound) { $0.append(value) }
    }

    /// Appends an object identifier.
    package mutating func append(_ object: ObjectID) {
        append(upTo: ObjectID.byteCountBound) { $0.append(object) }
    }
}

extension ObjectID {
    /// The maximal number of bytes of an identifier.
    static let byteCountBound = 15
}

extension Value {
    /// The maximal number of bytes of the canonical form.
    var byteCountBound: Int {
        // The longest of the short kinds is a decimal: tag, sign, exponent, mantissa.
        switch self {
        case .string(let text): 32 + text.utf8.count
        case .data(let data): 32 + data.count
        case .large: 16 + Digest.byteCount
        default: 32
        }
    }

    /// The canonical form.
    package var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.append(self)
        return writer.bytes
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends a value in its canonical form. There must be room for it.
    mutating func append(_ value: Value) {
        switch value {
        case .null:
            append(ValueTag.null)
        case .bool(let value):
            append(value ? ValueTag.yes : ValueTag.no)
        case .int(let value):
            append(ValueTag.int)
            append(variable: value)
        case .double(let value):
            append(ValueTag.double)
            append(bigEndian: value.bitPattern)
        case .decimal(let value):
            append(ValueTag.decimal)
            append(parts: DecimalParts(value))
        case .string(let value):
            append(ValueTag.string)
            append(counted: value.utf8.span.bytes)
        case .data(let value):
            append(ValueTag.data)
            value.withUnsafeBytes { append(counted: $0.bytes) }
        case .large(let value):
            append(ValueTag.large)
            append(variable: UInt64(value.count))
            value.digest.withBytes { append(raw: $0) }
        case .date(let value):
            append(ValueTag.date)
            append(bigEndian: value.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let value):
            append(ValueTag.uuid)
            for byte in value.bytes { append(byte) }
        case .object(let value):
            append(ValueTag.object)
            append(value)
        }
    }

    /// Appends an object identifier. There must be room for it.
    mutating func append(_ object: ObjectID) {
        append(variable: UInt64(object.entity.rawValue))
        append(variable: object.number)
    }

    private mutating func append(parts: DecimalParts) {
        append(parts.isNegative ? UInt8(1) : 0)
        append(variable: Int64(parts.exponent))
        append(bigEndian: UInt64(truncatingIfNeeded: parts.mantissa >> 64))
        append(bigEndian: UInt64(truncatingIfNeeded: parts.mantissa))
    }
}

extension RawSpan {
    /// Reads one value.
    package func readValue(at offset: inout Int) throws(DecodingFailure) -> Value {
        let start = offset
        switch try readByte(at: &offset) {
        case ValueTag.null: return .null
        case ValueTag.no: return .bool(false)
        case ValueTag.yes: return .bool(true)
        case ValueTag.int: return .int(try readVariableSigned(at: &offset))
        case ValueTag.double:
            return .double(Double(bitPattern: try readBigEndian(UInt64.self, at: &offset)))
        case ValueTag.decimal: return .decimal(try readDecimal(at: &offset))
        case ValueTag.string: return .string(try readText(at: &offset))
        case ValueTag.data:
            let count = try readCount(at: &offset)
            return .data(try readData(count, at: &offset))
        case ValueTag.large: return .large(try readLargeData(at: &offset))
        case ValueTag.date:
            let seconds = Double(bitPattern: try readBigEndian(UInt64.self, at: &offset))
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case ValueTag.uuid:
            return .uuid(UUID(bytes: try readBigEndian(UInt128.self, at: &offset)))
        case ValueTag.object: return .object(try readObjectID(at: &offset))
        default: throw DecodingFailure(at: start, expected: "the tag of a value")
        }
    }

    /// Passes over fields that are empty, or which a value of a frequent form exactly fills: one that
    /// ``skipValue(at:)`` would accept. Every row that is read is checked with this.
    ///
    /// - Parameters:
    ///   - first: The field to begin with.
    ///   - count: How many fields there are.
    ///   - width: How many bytes a field's end offset has: 1, 2 or 4.
    ///   - ends: Where the end offsets are, big-endian. All of them must be within the bytes.
    ///   - fields: Where the first field starts, from which the offsets count.
    /// - Returns: The first field that needs a closer check; `count` for none.
    package func endOfPlainFields(
        from first: Int, of count: Int, width: Int, ends: Int, fields: Int
    ) -> Int {
        require(
            ends >= 0 && ends + count * width <= byteCount, "The end offsets are within the bytes.")
        // A read of many rows spends much of its time here, so each loop knows its width.
        return switch width {
        case 1: endOfPlainFields(from: first, of: count, UInt8.self, ends: ends, fields: fields)
        case 2: endOfPlainFields(from: first, of: count, UInt16.self, ends: ends, fields: fields)
        default: endOfPlainFields(from: first, of: count, UInt32.self, ends: ends, fields: fields)
        }
    }

    @inline(__always)
    private func endOfPlainFields<End: FixedWidthInteger & BitwiseCopyable>(
        from first: Int, of count: Int, _: End.Type, ends: Int, fields: Int
    ) -> Int {
        func end(of field: Int) -> Int {
            let bytes = unsafeLoadUnaligned(
                fromUncheckedByteOffset: ends + field * MemoryLayout<End>.size, as: End.self)
            return fields + Int(truncatingIfNeeded: End(bigEndian: bytes))
        }
        var start = first == 0 ? fields : end(of: first - 1)
        for field in first..<count {
            let end = end(of: field)
            guard start == end || isPlainValue(from: start, to: end) else { return field }
            start = end
        }
        return count
    }

    @inline(__always)
    private func isPlainValue(from start: Int, to end: Int) -> Bool {
        guard start >= 0, start < end, end <= byteCount else { return false }
        let size = end - start - 1
        switch unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt8.self) {
        case ValueTag.null, ValueTag.no, ValueTag.yes:
            return size == 0
        case ValueTag.double, ValueTag.date:
            return size == 8
        case ValueTag.int:
            return isVariable(from: start + 1, to: end)
        case ValueTag.string where size > 0:
            let count = unsafeLoadUnaligned(fromUncheckedByteOffset: start + 1, as: UInt8.self)
            return count < 0x80 && Int(count) == size - 1 && isASCII((start + 2)..<end)
        case ValueTag.object where size > 1:
            // Most entities have a number of one byte.
            let entity = unsafeLoadUnaligned(fromUncheckedByteOffset: start + 1, as: UInt8.self)
            return entity < 0x80 && isVariable(from: start + 2, to: end)
        default:
            return false
        }
    }

    /// Whether a number of variable length, of at most four bytes, exactly fills the bytes between
    /// two offsets.
    @inline(__always)
    private func isVariable(from start: Int, to end: Int) -> Bool {
        guard start < end, end - start <= 4 else { return false }
        let last = unsafeLoadUnaligned(fromUncheckedByteOffset: end - 1, as: UInt8.self)
        guard last < 0x80, last != 0 || end - start == 1 else { return false }
        for index in start..<(end - 1) {
            let byte = unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt8.self)
            guard byte >= 0x80 else { return false }
        }
        return true
    }

    /// Skips one value, with the same checks as reading it.
    package func skipValue(at offset: inout Int) throws(DecodingFailure) {
        let start = offset
        switch try readByte(at: &offset) {
        case ValueTag.null, ValueTag.no, ValueTag.yes: return
        case ValueTag.int: _ = try readVariable(at: &offset)
        case ValueTag.double, ValueTag.date: _ = try readBigEndian(UInt64.self, at: &offset)
        case ValueTag.decimal: _ = try readDecimal(at: &offset)
        case ValueTag.string: try skipText(at: &offset)
        case ValueTag.data:
            let count = try readCount(at: &offset)
            offset += count
        case ValueTag.large: _ = try readLargeData(at: &offset)
        case ValueTag.uuid: _ = try readBigEndian(UInt128.self, at: &offset)
        case ValueTag.object: _ = try readObjectID(at: &offset)
        default: throw DecodingFailure(at: start, expected: "the tag of a value")
        }
    }

    // Values of a known type are read without making a `Value` first.

    /// The integer at an offset; nil for another kind of value.
    package func integer(at offset: Int) throws(DecodingFailure) -> Int64? {
        var offset = offset
        guard try readByte(at: &offset) == ValueTag.int else { return nil }
        return try readVariableSigned(at: &offset)
    }

    /// The floating-point number at an offset; nil for another kind of value.
    package func double(at offset: Int) throws(DecodingFailure) -> Double? {
        var offset = offset
        guard try readByte(at: &offset) == ValueTag.double else { return nil }
        return Double(bitPattern: try readBigEndian(UInt64.self, at: &offset))
    }

    /// The seconds since the reference date of the date at an offset; nil for another kind of
    /// value.
    package func seconds(at offset: Int) throws(DecodingFailure) -> Double? {
        var offset = offset
        guard try readByte(at: &offset) == ValueTag.date else { return nil }
        return Double(bitPattern: try readBigEndian(UInt64.self, at: &offset))
    }

    /// The text at an offset; nil for another kind of value.
    package func text(at offset: Int) throws(DecodingFailure) -> String? {
        var offset = offset
        guard try readByte(at: &offset) == ValueTag.string else { return nil }
        return try readText(at: &offset)
    }

    /// The large data at an offset; nil for another kind of value.
    package func largeData(at offset: Int) throws(DecodingFailure) -> LargeData? {
        var offset = offset
        guard try readByte(at: &offset) == ValueTag.large else { return nil }
        return try readLargeData(at: &offset)
    }

    /// Whether the value at an offset is null.
    package func isNull(at offset: Int) -> Bool {
        offset < byteCount
            && unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self) == ValueTag.null
    }

    /// Reads an object identifier.
    package func readObjectID(at offset: inout Int) throws(DecodingFailure) -> ObjectID {
        let start = offset
        guard let entity = UInt32(exactly: try readVariable(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "an entity number")
        }
        let number = try readVariable(at: &offset)
        return ObjectID(entity: EntityNumber(rawValue: entity), number: number)
    }

    private func readLargeData(at offset: inout Int) throws(DecodingFailure) -> LargeData {
        let start = offset
        let count = try readVariable(at: &offset)
        guard count > LargeData.inlineBytesMaximum, count <= LargeData.bytesMaximum else {
            throw DecodingFailure(at: start, expected: "the count of large data")
        }
        guard offset >= 0, Digest.byteCount <= byteCount - offset,
            let digest = Digest(extracting(offset..<offset + Digest.byteCount))
        else { throw DecodingFailure(at: offset, expected: "a digest") }
        offset += Digest.byteCount
        return LargeData(count: Int(count), digest: digest)
    }

    private func readDecimal(at offset: inout Int) throws(DecodingFailure) -> Decimal {
        let start = offset
        let sign = try readByte(at: &offset)
        let exponent = try readVariableSigned(at: &offset)
        let mantissa = try readBigEndian(UInt128.self, at: &offset)
        let parts = DecimalParts(
            isNegative: sign == 1, exponent: Int(clamping: exponent), mantissa: mantissa)
        guard sign <= 1, let decimal = parts.decimal, DecimalParts(decimal) == parts else {
            throw DecodingFailure(at: start, expected: "a decimal in its canonical form")
        }
        return decimal
    }
}

extension UUID {
    /// The sixteen bytes, in the order of the text form.
    fileprivate var bytes: [UInt8] {
        let parts = uuid
        return [
            parts.0, parts.1, parts.2, parts.3, parts.4, parts.5, parts.6, parts.7,
            parts.8, parts.9, parts.10, parts.11, parts.12, parts.13, parts.14, parts.15,
        ]
    }

    /// Builds an identifier from its sixteen bytes read as one big-endian number.
    init(bytes: UInt128) {
        func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bytes >> (120 - 8 * index)) }
        self.init(
            uuid: (
                byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7),
                byte(8), byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
            ))
    }
}
