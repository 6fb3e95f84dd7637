import DaybookStopping

/// Builds canonical bytes: every value has exactly one encoding.
///
/// Integers of fixed width are big-endian. Counts and small numbers are variable-length (seven bits
/// a byte, low bits first, never longer than necessary).
package struct ByteWriter: Sendable {
    /// What has been written.
    package private(set) var bytes: [UInt8]

    /// Starts empty, with a capacity of `capacity` bytes.
    package init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Empties the bytes and keeps the storage.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends one byte.
    package mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Runs `body`, which may append up to `count` bytes, with enough room for them.
    mutating func append(upTo count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
        bytes.append(addingCapacity: count, initializingWith: body)
    }

    // Plain overloads, not one generic function: callers in other modules would run that
    // unspecialized, at ten times the cost.

    /// Appends four bytes, the most significant first.
    package mutating func append(bigEndian integer: UInt32) { appendBytes(of: integer.bigEndian) }

    /// Appends eight bytes, the most significant first.
    package mutating func append(bigEndian integer: UInt64) { appendBytes(of: integer.bigEndian) }

    private mutating func appendBytes(of integer: some BitwiseCopyable) {
        withUnsafeBytes(of: integer) { bytes.append(contentsOf: $0) }
    }

    /// Appends an unsigned integer in as few bytes as it needs.
    package mutating func append(variable integer: UInt64) {
        if integer < 0x80 { return bytes.append(UInt8(truncatingIfNeeded: integer)) }
        append(upTo: 10) { $0.append(variable: integer) }
    }

    /// Appends bytes unchanged.
    package mutating func append(raw other: [UInt8]) {
        bytes.append(contentsOf: other)
    }

    /// Appends bytes unchanged.
    package mutating func append(raw other: RawSpan) {
        other.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes unchanged.
    package mutating func append(raw other: some Collection<UInt8>) {
        bytes.append(contentsOf: other)
    }

    /// Appends the count of the UTF-8 bytes of a text, then the text.
    package mutating func append(_ text: String) {
        let utf8 = text.utf8.span
        append(variable: UInt64(utf8.count))
        utf8.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Appends a byte that says whether text follows, then the text.
    package mutating func append(optional text: String?) {
        guard let text else { return append(0) }
        append(1)
        append(text)
    }

    /// Flips all bits of the bytes from an offset on.
    package mutating func complement(from offset: Int) {
        for index in offset..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// Writes an integer over four bytes already there.
    package mutating func overwrite(at offset: Int, bigEndian integer: UInt32) {
        for index in 0..<4 {
            bytes[offset + index] = UInt8(truncatingIfNeeded: integer >> UInt32(24 - 8 * index))
        }
    }
}

// Frequent writes go into room reserved for all of them: an array checks for each byte whether it
// has room and whether its storage is shared.
extension OutputSpan where Element == UInt8 {
    /// Appends an unsigned integer in as few bytes as it needs, up to ten.
    package mutating func append(variable integer: UInt64) {
        var rest = integer
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a signed integer in as few bytes as its size needs (zigzag), up to ten.
    package mutating func append(variable integer: Int64) {
        append(variable: UInt64(bitPattern: (integer << 1) ^ (integer >> 63)))
    }

    /// Appends eight bytes, the most significant first.
    package mutating func append(bigEndian integer: UInt64) {
        var shift: UInt64 = 64
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }

    /// Appends bytes unchanged.
    ///
    /// - Precondition: There is room for all of them.
    package mutating func append(raw other: RawSpan) {
        // In a release build, copying does not check the room itself.
        require(other.byteCount <= freeCapacity, "There is no room for the bytes.")
        withUnsafeMutableBufferPointer { room, count in
            other.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(room)[count...]
                )
                .copyMemory(from: $0)
            }
            count += other.byteCount
        }
    }

    /// Appends the count of bytes, then the bytes.
    package mutating func append(counted other: RawSpan) {
        append(variable: UInt64(other.byteCount))
        append(raw: other)
    }
}
