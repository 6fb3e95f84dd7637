import DaybookDigest
import Foundation

extension Value {
    /// Bytes whose order under `memcmp` is the order of the values of one type, and none of which
    /// is the prefix of another.
    ///
    /// Indexes hold these. Text and data escape the zero byte (00 → 00 FF) and end in 00 00, so
    /// that "a" comes before "ab" whatever follows the value in a key.
    package func appendOrderedKey(to writer: inout ByteWriter) {
        switch self {
        case .null:
            writer.append(0x00)
        case .bool(let value):
            writer.append(0x01)
            writer.append(value ? 1 : 0)
        case .int(let value):
            writer.append(0x02)
            writer.append(bigEndian: UInt64(bitPattern: value) ^ (1 << 63))
        case .double(let value):
            writer.append(0x03)
            writer.append(bigEndian: value.orderedBits)
        case .decimal(let value):
            writer.append(0x04)
            writer.append(raw: DecimalParts(value).orderedKey)
        case .string(let value):
            writer.append(0x05)
            writer.append(escaped: value.utf8.span.bytes)
        case .data(let value) where value.count > LargeData.inlineBytesMaximum:
            Value.large(LargeData(value)).appendOrderedKey(to: &writer)
        case .data(let value):
            writer.append(0x06)
            value.withUnsafeBytes { writer.append(escaped: $0.bytes) }
        case .large(let value):
            writer.append(0x0a)
            writer.append(bigEndian: UInt64(value.count))
            value.digest.withBytes { writer.append(raw: $0) }
        case .date(let value):
            writer.append(0x07)
            writer.append(bigEndian: value.timeIntervalSinceReferenceDate.orderedBits)
        case .uuid(let value):
            writer.append(0x08)
            writer.append(Value.uuid(value))
        case .object(let value):
            writer.append(0x09)
            writer.append(bigEndian: value.entity.rawValue)
            writer.append(bigEndian: value.number)
        }
    }
}

extension RawSpan {
    /// Appends the ordered bytes of a value in its canonical form; of null for an empty field.
    ///
    /// Indexes are built with this, a value for each object: ASCII text is copied without making a
    /// value.
    ///
    /// - Throws: ``DecodingFailure`` when it is no value, or does not end where the field does.
    package func appendOrderedKey(
        of field: EncodedField, to writer: inout ByteWriter
    ) throws(DecodingFailure) {
        var offset = field.start
        guard !field.isEmpty, try readByte(at: &offset) == ValueTag.string else {
            return try value(at: field).appendOrderedKey(to: &writer)
        }
        let end = field.end
        let count = try readCount(at: &offset)
        let text = offset..<(offset + count)
        guard text.upperBound == end, isASCII(text) else {
            return try value(at: field).appendOrderedKey(to: &writer)
        }
        writer.append(0x05)
        writer.append(escaped: extracting(text))
    }
}

extension ByteWriter {
    fileprivate mutating func append(escaped bytes: RawSpan) {
        append(upTo: 2 * bytes.byteCount + 2) { room in
            if bytes.hasZero {
                for offset in 0..<bytes.byteCount {
                    let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
                    room.append(byte)
                    if byte == 0 { room.append(0xff) }
                }
            } else {
                room.append(raw: bytes)
            }
            room.append(0)
            room.append(0)
        }
    }
}

extension RawSpan {
    fileprivate var hasZero: Bool {
        for offset in 0..<byteCount
        where unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0 { return true }
        return false
    }
}

extension Double {
    /// The bit pattern as an unsigned integer with the same order; "not a number" comes first.
    fileprivate var orderedBits: UInt64 {
        guard !isNaN else { return 0 }
        let bits = bitPattern
        return bits >> 63 == 0 ? bits ^ (1 << 63) : ~bits
    }
}

extension DecimalParts {
    /// Sign, then the power of ten of the first digit, then the digits: all complemented below zero.
    fileprivate var orderedKey: [UInt8] {
        guard mantissa != 0 else { return [isNegative ? 0 : 2] }
        let digits = digits
        let magnitude = UInt16(exponent + digits.count + 0x4000)
        var key = [UInt8(magnitude >> 8), UInt8(magnitude & 0xff)]
        key += digits.map { $0 + 1 }
        key.append(0)
        return isNegative ? [1] + key.map { ~$0 } : [3] + key
    }
}
