import DaybookDigest
import Foundation

// Values in their ordered form are read again where an index has all that is asked for. The bytes of a property that
// descends are complemented.
extension RawSpan {
    /// Where the value at an offset of an index key ends; nil where the key is cut off before.
    package func orderedKeyEnd(at start: Int, isAscending: Bool) -> Int? {
        let mask: UInt8 = isAscending ? 0 : 0xff
        guard start < byteCount else { return nil }
        let end: Int?
        switch byte(start) ^ mask {
        case 0x00: end = start + 1
        case 0x01: end = start + 2
        case 0x02, 0x03, 0x07: end = start + 9
        case 0x04: end = decimalEnd(at: start + 1, mask)
        case 0x05, 0x06: end = escapedEnd(at: start + 1, mask)
        case 0x08: end = start + 18
        case 0x09: end = start + 13
        case 0x0a: end = start + 9 + Digest.byteCount
        default: end = nil
        }
        return end.flatMap { $0 <= byteCount ? $0 : nil }
    }

    /// Reads the value at an offset of an index key; nil where the key is cut off before its end, or does not tell
    /// the value.
    package func orderedValue(at offset: inout Int, isAscending: Bool) -> Value? {
        guard let end = orderedKeyEnd(at: offset, isAscending: isAscending) else { return nil }
        let mask: UInt8 = isAscending ? 0 : 0xff
        let start = offset
        offset = end
        switch byte(start) ^ mask {
        case 0x00: return .null
        case 0x01: return .bool(byte(start + 1) ^ mask != 0)
        case 0x02:
            return .int(Int64(bitPattern: integer(start + 1, isAscending) ^ (1 << 63)))
        case 0x03: return .double(double(start + 1, isAscending))
        case 0x04: return decimal(start + 1, end, mask).map { .decimal($0) }
        case 0x05: return text(start + 1, end - 2, mask).map { .string($0) }
        case 0x07:
            return .date(Date(timeIntervalSinceReferenceDate: double(start + 1, isAscending)))
        case 0x08:
            // Behind the tag of a value.
            let (high, low) = (integer(start + 2, isAscending), integer(start + 10, isAscending))
            return .uuid(UUID(bytes: UInt128(high) << 64 | UInt128(low)))
        case 0x09:
            let entity = UInt32(truncatingIfNeeded: integer(start + 1, isAscending) >> 32)
            return .object(
                ObjectID(
                    entity: EntityNumber(rawValue: entity), number: integer(start + 5, isAscending))
            )
        default: return nil
        }
    }

    private func byte(_ offset: Int) -> UInt8 {
        unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// Eight bytes, the most significant first; those behind the end are zero.
    private func integer(_ offset: Int, _ isAscending: Bool) -> UInt64 {
        var value: UInt64 = 0
        for index in offset..<offset + 8 {
            value = value << 8 | (index < byteCount ? UInt64(byte(index)) : 0)
        }
        return isAscending ? value : ~value
    }

    private func double(_ offset: Int, _ isAscending: Bool) -> Double {
        let bits = integer(offset, isAscending)
        if bits == 0 { return .nan }
        return Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
    }

    private func escapedEnd(at start: Int, _ mask: UInt8) -> Int? {
        var offset = start
        while offset + 1 < byteCount {
            guard byte(offset) == mask else {
                offset += 1
                continue
            }
            if byte(offset + 1) == mask { return offset + 2 }
            offset += 2
        }
        return nil
    }

    private func text(_ start: Int, _ end: Int, _ mask: UInt8) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - start)
        var offset = start
        while offset < end {
            let byte = byte(offset) ^ mask
            bytes.append(byte)
            offset += byte == 0 ? 2 : 1
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private func decimalEnd(at start: Int, _ mask: UInt8) -> Int? {
        guard start < byteCount else { return nil }
        let sign = byte(start) ^ mask
        if sign == 0 || sign == 2 { return start + 1 }
        let last = sign == 1 ? ~mask : mask
        var offset = start + 3
        while offset < byteCount {
            if byte(offset) == last { return offset + 1 }
            offset += 1
        }
        return nil
    }

    private func decimal(_ start: Int, _ end: Int, _ mask: UInt8) -> Decimal? {
        let sign = byte(start) ^ mask
        if sign == 0 { return .nan }
        if sign == 2 { return 0 }
        let isNegative = sign == 1
        let flip = isNegative ? ~mask : mask
        let magnitude = Int(byte(start + 1) ^ flip) << 8 | Int(byte(start + 2) ^ flip)
        var mantissa: UInt128 = 0
        for offset in start + 3..<end - 1 {
            mantissa = mantissa &* 10 &+ UInt128(byte(offset) ^ flip) &- 1
        }
        let count = end - 1 - (start + 3)
        return DecimalParts(
            isNegative: isNegative, exponent: magnitude - 0x4000 - count, mantissa: mantissa
        ).decimal
    }
}
