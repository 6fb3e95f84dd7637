/// Proves that an entry is in a journal when only the journal's root is known.
public struct InclusionProof: Sendable, Hashable {
    /// The position of the entry, counted from 0.
    public let index: UInt64
    /// How many entries the journal had.
    public let size: UInt64
    /// The hashes from the entry up to the root.
    public let hashes: [Digest]

    /// A proof from its parts; ``leads(from:to:)`` checks it.
    public init(index: UInt64, size: UInt64, hashes: [Digest]) {
        self.index = index
        self.size = size
        self.hashes = hashes
    }

    /// Whether exactly these hashes lead from an entry to a root.
    ///
    /// The algorithm of RFC 9162, 2.1.3.2.
    public func leads(from entry: Digest, to root: Digest) -> Bool {
        guard index < size else { return false }
        var position = index
        var last = size - 1
        var hash = entry
        for sibling in hashes {
            guard last > 0 else { return false }
            if position & 1 == 1 || position == last {
                hash = .node(sibling, hash)
                while position & 1 == 0, position != 0 {
                    position >>= 1
                    last >>= 1
                }
            } else {
                hash = .node(hash, sibling)
            }
            position >>= 1
            last >>= 1
        }
        return last == 0 && hash == root
    }
}

/// Proves that a journal continues an earlier state of itself: nothing before was changed or
/// removed.
public struct ConsistencyProof: Sendable, Hashable {
    /// The number of entries in the earlier state.
    public let olderSize: UInt64
    /// The number of entries in the later state.
    public let newerSize: UInt64
    /// The hashes from which both roots follow.
    public let hashes: [Digest]

    /// A proof from its parts; ``leads(from:to:)`` checks it.
    public init(olderSize: UInt64, newerSize: UInt64, hashes: [Digest]) {
        self.olderSize = olderSize
        self.newerSize = newerSize
        self.hashes = hashes
    }

    /// Whether both roots follow from exactly these hashes.
    ///
    /// The algorithm of RFC 9162, 2.1.4.2. Every journal continues an empty one.
    public func leads(from older: Digest, to newer: Digest) -> Bool {
        guard olderSize <= newerSize else { return false }
        if olderSize == newerSize { return hashes.isEmpty && older == newer }
        if olderSize == 0 { return hashes.isEmpty && older == Digest.of([]) }
        var path = hashes
        if olderSize.nonzeroBitCount == 1 { path.insert(older, at: 0) }
        guard let first = path.first else { return false }
        var position = olderSize - 1
        var last = newerSize - 1
        while position & 1 == 1 {
            position >>= 1
            last >>= 1
        }
        var (left, right) = (first, first)
        for hash in path.dropFirst() {
            guard last > 0 else { return false }
            if position & 1 == 1 || position == last {
                left = .node(hash, left)
                right = .node(hash, right)
                while position & 1 == 0, position != 0 {
                    position >>= 1
                    last >>= 1
                }
            } else {
                right = .node(right, hash)
            }
            position >>= 1
            last >>= 1
        }
        return last == 0 && left == older && right == newer
    }
}
