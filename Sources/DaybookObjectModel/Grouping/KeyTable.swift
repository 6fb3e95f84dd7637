/// Different strings of bytes, numbered in the order in which they come.
///
/// Each is found by its hash. The bytes of all of them lie in one array, so that a key costs no
/// allocation of its own.
struct KeyTable: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var hashes: [Int] = []
    /// The number of a key and 1 at a place that its hash gives, or one of the next; 0 at free places.
    /// There are twice as many places as keys, and a power of two.
    private var places: [Int32] = []

    var count: Int { ends.count }

    /// The number of a key, which is added if it is new.
    mutating func index(of key: RawSpan) -> Int {
        if 2 * count >= places.count { grow() }
        let hash = key.keyHash
        var place = hash & (places.count - 1)
        while places[place] != 0 {
            let index = Int(places[place]) - 1
            if hashes[index] == hash, self.key(index, is: key) { return index }
            place = (place + 1) & (places.count - 1)
        }
        places[place] = Int32(count + 1)
        bytes.append(key, EncodedField(start: 0, end: key.byteCount))
        ends.append(bytes.count)
        hashes.append(hash)
        return count - 1
    }

    /// Adds the keys of another table that are new.
    mutating func formUnion(_ other: KeyTable) {
        for index in 0..<other.count { other.withKey(index) { _ = self.index(of: $0) } }
    }

    /// Calls `body` with a key.
    func withKey<R>(_ index: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
        try body(bytes.span.bytes.extracting(range(of: index)))
    }

    private func range(of index: Int) -> Range<Int> {
        (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    private func key(_ index: Int, is other: RawSpan) -> Bool {
        bytes.span.bytes.extracting(range(of: index)).hasSameBytes(as: other)
    }

    private mutating func grow() {
        places = [Int32](repeating: 0, count: max(16, places.count * 2))
        for index in 0..<count {
            var place = hashes[index] & (places.count - 1)
            while places[place] != 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(index + 1)
        }
    }
}

extension RawSpan {
    /// A hash that differs from run to run, so that nobody can choose keys that collide.
    fileprivate var keyHash: Int {
        var hasher = Hasher()
        var offset = 0
        while offset + 8 <= byteCount {
            hasher.combine(unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest = UInt64(truncatingIfNeeded: byteCount)
        while offset < byteCount {
            rest = rest << 8 | UInt64(byte(at: offset))
            offset += 1
        }
        hasher.combine(rest)
        return hasher.finalize()
    }
}

extension [UInt8] {
    /// Appends the bytes of a field.
    package mutating func append(_ row: RawSpan, _ field: EncodedField) {
        for offset in field.start..<field.end { append(row.byte(at: offset)) }
    }
}
