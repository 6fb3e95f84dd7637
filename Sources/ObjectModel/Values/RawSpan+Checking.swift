// Looking at bytes without making anything of them.
extension RawSpan {
    /// Steps over one value, and sees that ``readValue(at:)`` would make one of the bytes.
    ///
    /// Allocates nothing for the usual values: numbers, dates, truth values and ASCII text.
    package func checkValue(at offset: inout Int) throws(DecodingFailure) {
        let start = offset
        switch try readByte(at: &offset) {
        case ValueTag.null, ValueTag.no, ValueTag.yes: return
        case ValueTag.int: _ = try readVariable(at: &offset)
        case ValueTag.double, ValueTag.date: _ = try readBigEndian(UInt64.self, at: &offset)
        case ValueTag.string:
            let count = try readCount(at: &offset)
            if isASCII(offset..<offset + count) {
                offset += count
            } else {
                _ = try readText(count, at: &offset)
            }
        default:
            offset = start
            _ = try readValue(at: &offset)
        }
    }

    /// Whether the bytes of a range within the span are ASCII, eight of them looked at at a time.
    func isASCII(_ range: Range<Int>) -> Bool {
        precondition(
            range.lowerBound >= 0 && range.upperBound <= byteCount, "The range is within the bytes."
        )
        var seen: UInt64 = 0
        var place = range.lowerBound
        while range.upperBound - place >= 8 {
            seen |= unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < range.upperBound {
            seen |= UInt64(unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt8.self))
            place += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
