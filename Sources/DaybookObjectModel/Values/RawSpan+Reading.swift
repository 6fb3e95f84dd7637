import DaybookStopping
package import Foundation

/// Malformed bytes.
///
/// Has the offset at which reading failed and the expected content. The layer that knows the record
/// adds the location in the store.
package struct DecodingFailure: Error, Sendable, CustomStringConvertible {
    /// Bytes from the start of the record.
    package let offset: Int
    /// The expected content.
    package let expected: String

    /// Describes a failure at `offset`.
    package init(at offset: Int, expected: String) {
        self.offset = offset
        self.expected = expected
    }

    /// A clause without a full stop, for use in a sentence.
    package var description: String {
        "\(expected) was expected at byte \(offset)"
    }
}

// The functions are on the span instead of on a reader type that holds it, because a span may not
// be stored, and an offset is the whole state. Every read is bounds-checked.
extension RawSpan {
    /// Reads one byte.
    @inline(__always)
    package func readByte(at offset: inout Int) throws(DecodingFailure) -> UInt8 {
        guard offset >= 0, offset < byteCount else {
            throw DecodingFailure(at: offset, expected: "a byte")
        }
        let byte = unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
        offset += 1
        return byte
    }

    // Plain overloads, not one generic function: callers in other modules would run that
    // unspecialized, at many times the cost.

    /// Reads two bytes, the most significant first.
    package func readBigEndian(
        _ type: UInt16.Type, at offset: inout Int
    ) throws(DecodingFailure) -> UInt16 {
        UInt16(bigEndian: try readInteger(at: &offset))
    }

    /// Reads four bytes, the most significant first.
    package func readBigEndian(
        _ type: UInt32.Type, at offset: inout Int
    ) throws(DecodingFailure) -> UInt32 {
        UInt32(bigEndian: try readInteger(at: &offset))
    }

    /// Reads eight bytes, the most significant first.
    package func readBigEndian(
        _ type: UInt64.Type, at offset: inout Int
    ) throws(DecodingFailure) -> UInt64 {
        UInt64(bigEndian: try readInteger(at: &offset))
    }

    /// Reads sixteen bytes, the most significant first.
    package func readBigEndian(
        _ type: UInt128.Type, at offset: inout Int
    ) throws(DecodingFailure) -> UInt128 {
        UInt128(bigEndian: try readInteger(at: &offset))
    }

    private func readInteger<Integer: FixedWidthInteger & BitwiseCopyable>(
        at offset: inout Int
    ) throws(DecodingFailure) -> Integer {
        let width = Integer.bitWidth / 8
        guard offset >= 0, width <= byteCount - offset else {
            throw DecodingFailure(at: offset, expected: "an integer of \(width) bytes")
        }
        let integer = unsafeLoadUnaligned(fromByteOffset: offset, as: Integer.self)
        offset += width
        return integer
    }

    /// Reads an unsigned integer of variable length; an encoding longer than necessary is refused.
    @inline(__always)
    package func readVariable(at offset: inout Int) throws(DecodingFailure) -> UInt64 {
        if offset >= 0, offset < byteCount {
            // Most numbers have one byte.
            let byte = unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
            if byte < 0x80 {
                offset += 1
                return UInt64(byte)
            }
        }
        return try readLongVariable(at: &offset)
    }

    @inline(never)
    private func readLongVariable(at offset: inout Int) throws(DecodingFailure) -> UInt64 {
        let start = offset
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try readByte(at: &offset)
            let bits = UInt64(byte & 0x7f)
            guard shift < 63 || (shift == 63 && bits <= 1) else {
                throw DecodingFailure(at: start, expected: "a number of at most 64 bits")
            }
            result |= bits << shift
            if byte & 0x80 == 0 {
                guard byte != 0 || shift == 0 else {
                    throw DecodingFailure(at: start, expected: "a number in its shortest form")
                }
                return result
            }
            shift += 7
        }
    }

    /// Reads a signed integer of variable length.
    package func readVariableSigned(at offset: inout Int) throws(DecodingFailure) -> Int64 {
        let zigzag = try readVariable(at: &offset)
        return Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
    }

    /// Reads a count that must not exceed the remaining bytes.
    @inline(__always)
    package func readCount(at offset: inout Int) throws(DecodingFailure) -> Int {
        let start = offset
        let count = try readVariable(at: &offset)
        guard count <= UInt64(byteCount - offset) else {
            throw DecodingFailure(at: start, expected: "a count within the record")
        }
        return Int(count)
    }

    /// Reads `count` bytes as an array.
    package func readBytes(
        _ count: Int, at offset: inout Int
    ) throws(DecodingFailure) -> [UInt8] {
        let range = try take(count, at: &offset)
        return withUnsafeBytes { Array($0[range]) }
    }

    /// Reads `count` bytes as data.
    package func readData(_ count: Int, at offset: inout Int) throws(DecodingFailure) -> Data {
        let range = try take(count, at: &offset)
        return withUnsafeBytes { Data($0[range]) }
    }

    /// Reads text of `count` bytes; bytes that are not UTF-8 are refused.
    package func readText(_ count: Int, at offset: inout Int) throws(DecodingFailure) -> String {
        let start = offset
        let range = try take(count, at: &offset)
        // A search for bytes other than ASCII is much cheaper than validation, and usually there
        // are none.
        let isPlain = isASCII(range)
        let text = withUnsafeBytes { (bytes) -> String? in
            let bytes = UnsafeRawBufferPointer(rebasing: bytes[range])
            return isPlain
                ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        }
        guard let text else { throw DecodingFailure(at: start, expected: "UTF-8 text") }
        return text
    }

    /// Reads a count and then the text.
    package func readText(at offset: inout Int) throws(DecodingFailure) -> String {
        let count = try readCount(at: &offset)
        return try readText(count, at: &offset)
    }

    /// Skips a count and the text after it, and checks that the text is UTF-8.
    package func skipText(at offset: inout Int) throws(DecodingFailure) {
        let count = try readCount(at: &offset)
        if isASCII(offset..<(offset + count)) {
            offset += count
        } else {
            _ = try readText(count, at: &offset)
        }
    }

    /// Whether the bytes of a range within the span are ASCII, tested eight at a time.
    func isASCII(_ range: Range<Int>) -> Bool {
        require(
            range.lowerBound >= 0 && range.upperBound <= byteCount, "The range is within the bytes."
        )
        var seen: UInt64 = 0
        var position = range.lowerBound
        let last = range.upperBound - 8
        if position <= last {
            while position < last {
                seen |= unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self)
                position += 8
            }
            // Some of the last eight may have been tested already.
            seen |= unsafeLoadUnaligned(fromUncheckedByteOffset: last, as: UInt64.self)
        } else {
            while position < range.upperBound {
                seen |= UInt64(
                    unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt8.self))
                position += 1
            }
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }

    /// Reads a byte that says whether there is text, and then the text.
    package func readOptionalText(at offset: inout Int) throws(DecodingFailure) -> String? {
        let start = offset
        switch try readByte(at: &offset) {
        case 0: return nil
        case 1: return try readText(at: &offset)
        default: throw DecodingFailure(at: start, expected: "0 or 1")
        }
    }

    /// The bytes as an array.
    package var array: [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// Whether both have the same bytes.
    package func hasSameBytes(as other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        var offset = 0
        while offset + 8 <= byteCount {
            let word = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard word == other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
                return false
            }
            offset += 8
        }
        while offset < byteCount {
            let byte = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
            guard byte == other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self) else {
                return false
            }
            offset += 1
        }
        return true
    }

    /// How these bytes compare with others: negative when they come before, zero when they are the
    /// same, positive when they come after. A prefix comes before longer bytes.
    func order(to other: RawSpan) -> Int {
        let order = withUnsafeBytes { own in
            other.withUnsafeBytes { other in
                let shared = min(own.count, other.count)
                guard shared > 0, let own = own.baseAddress, let other = other.baseAddress else {
                    return Int32(0)
                }
                return memcmp(own, other, shared)
            }
        }
        return order == 0 ? byteCount - other.byteCount : Int(order)
    }

    /// Whether these bytes contain others, one after the other; no bytes are in any.
    ///
    /// Eight places at a time are compared with the first two of the bytes.
    func contains(_ other: RawSpan) -> Bool {
        guard !other.isEmpty else { return true }
        let last = byteCount - other.byteCount
        let second = min(1, other.byteCount - 1)
        let firsts = UInt64(repeating: other.byte(at: 0))
        let seconds = UInt64(repeating: other.byte(at: second))
        var place = 0
        while place <= last, place + second + 8 <= byteCount {
            let differences = (word(at: place) ^ firsts) | (word(at: place + second) ^ seconds)
            var candidates = differences.zeroBytes
            while candidates != 0 {
                let start = place + candidates.trailingZeroBitCount / 8
                if hasBytes(other, at: start) { return true }
                candidates &= candidates - 1
            }
            place += 8
        }
        while place <= last {
            if hasBytes(other, at: place) { return true }
            place += 1
        }
        return false
    }

    private func hasBytes(_ other: RawSpan, at start: Int) -> Bool {
        let end = start + other.byteCount
        return end <= byteCount && extracting(start..<end).hasSameBytes(as: other)
    }

    /// The eight bytes from an offset on, the first one lowest.
    private func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Checks that there are `count` bytes at `offset`, skips them, and returns their range.
    private func take(
        _ count: Int, at offset: inout Int
    ) throws(DecodingFailure) -> Range<Int> {
        guard offset >= 0, count >= 0, count <= byteCount - offset else {
            throw DecodingFailure(at: offset, expected: "\(count) bytes")
        }
        let range = offset..<(offset + count)
        offset += count
        return range
    }
}

extension UInt64 {
    /// A number all of whose bytes are the same.
    fileprivate init(repeating byte: UInt8) {
        self = 0x0101_0101_0101_0101 * UInt64(byte)
    }

    /// The highest bit of each byte that is zero.
    fileprivate var zeroBytes: UInt64 {
        let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ~(((self & low) + low) | self | low)
    }
}
