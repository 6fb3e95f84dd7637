/// Reads the keys of ``KeyWriter``: an offset that advances with each value.
///
/// The bytes are passed to each call, because they are borrowed and cannot be kept.
package struct KeyReader: Sendable {
    /// The offset of the next value.
    package private(set) var offset: Int

    /// A reader at `offset`.
    package init(at offset: Int = 0) {
        self.offset = offset
    }

    /// The number of remaining bytes.
    package func remaining(in bytes: RawSpan) -> Int {
        bytes.byteCount - offset
    }

    /// Reads one byte.
    package mutating func uint8(_ bytes: RawSpan) throws(LMDBError) -> UInt8 {
        try integer(bytes)
    }

    /// Reads two bytes.
    package mutating func uint16(_ bytes: RawSpan) throws(LMDBError) -> UInt16 {
        try integer(bytes)
    }

    /// Reads four bytes.
    package mutating func uint32(_ bytes: RawSpan) throws(LMDBError) -> UInt32 {
        try integer(bytes)
    }

    /// Reads eight bytes.
    package mutating func uint64(_ bytes: RawSpan) throws(LMDBError) -> UInt64 {
        try integer(bytes)
    }

    /// Reads eight bytes and flips the sign bit back.
    package mutating func int64(_ bytes: RawSpan) throws(LMDBError) -> Int64 {
        let flipped: UInt64 = try integer(bytes)
        return Int64(bitPattern: flipped ^ (1 << 63))
    }

    /// Reads `count` bytes unchanged.
    package mutating func bytes(_ bytes: RawSpan, count: Int) throws(LMDBError) -> [UInt8] {
        try require(count, in: bytes)
        defer { offset += count }
        return bytes.withUnsafeBytes { Array($0[offset..<offset + count]) }
    }

    @inline(__always)
    private mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan
    ) throws(LMDBError) -> Value {
        let size = MemoryLayout<Value>.size
        try require(size, in: bytes)
        defer { offset += size }
        return Value(
            bigEndian: bytes.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: offset, as: Value.self)
            })
    }

    @inline(__always)
    private func require(_ count: Int, in bytes: RawSpan) throws(LMDBError) {
        guard count >= 0, count <= remaining(in: bytes) else {
            throw .malformedKey(needed: count, left: remaining(in: bytes))
        }
    }
}
