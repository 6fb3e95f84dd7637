// The room of keys: numbers as bytes that sort as the numbers do. It knows no file.

/// Builds keys whose byte order is the order of the values put in: big-endian, signs flipped.
///
/// One writer serves many keys: ``removeAll()`` keeps its storage.
package struct KeyWriter: Sendable {
    /// The key so far.
    package private(set) var bytes: [UInt8]

    /// A writer with an empty key.
    package init(capacity: Int = 64) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Empties the key and keeps the storage.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Shortens the key to its first `count` bytes, for another ending.
    package mutating func truncate(to count: Int) {
        bytes.removeLast(bytes.count - count)
    }

    /// Appends one byte.
    package mutating func append(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends two bytes.
    package mutating func append(_ value: UInt16) {
        appendBigEndian(value)
    }

    /// Appends four bytes.
    package mutating func append(_ value: UInt32) {
        appendBigEndian(value)
    }

    /// Appends eight bytes.
    package mutating func append(_ value: UInt64) {
        appendBigEndian(value)
    }

    /// Appends eight bytes, the sign bit flipped so that negative numbers come first.
    package mutating func append(_ value: Int64) {
        appendBigEndian(UInt64(bitPattern: value) ^ (1 << 63))
    }

    /// Appends bytes unchanged.
    package mutating func append(bytes more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Appends bytes unchanged.
    package mutating func append(bytes more: RawSpan) {
        more.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    private mutating func appendBigEndian(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
