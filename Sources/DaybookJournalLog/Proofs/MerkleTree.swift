// The room of proofs: the tree over the digests of entries, its tiles and proofs, and signed checkpoints. It
// reads entries by number and writes nothing but the tree.

import DaybookStopping

/// The shape of the Merkle tree of RFC 6962 over a list of leaves: the subtrees of its root, of an
/// inclusion proof and of a consistency proof.
///
/// It holds no hashes. The caller provides those of complete subtrees: `node(level, index)` is the
/// root of the leaves `index << level` up to, but not including, `(index + 1) << level`; at level 0
/// it is the digest of a leaf. Only complete subtrees are requested.
package struct MerkleTree: Sendable, Hashable {
    /// The number of leaves.
    package let size: UInt64

    /// A tree over the first leaves.
    package init(size: UInt64) {
        self.size = size
    }

    /// Returns the root of a complete subtree.
    package typealias Node<Failure: Error> =
        (_ level: Int, _ index: UInt64) throws(Failure) -> Digest

    /// The root; without leaves, the digest of no bytes.
    ///
    /// - Complexity: O(log *n*) nodes.
    package func root<Failure: Error>(
        _ node: Node<Failure>
    ) throws(Failure) -> Digest {
        size == 0 ? Digest.of([]) : try root(of: 0..<size, node)
    }

    /// The hashes that lead from a leaf to the root, from below: `PATH(m, D[n])` of RFC 6962, 2.1.1.
    ///
    /// - Precondition: The leaf is one of the tree's.
    /// - Complexity: O(log *n*) nodes for each of O(log *n*) hashes.
    package func inclusionProof<Failure: Error>(
        of leaf: UInt64, _ node: Node<Failure>
    ) throws(Failure) -> [Digest] {
        require(leaf < size, "A proof is for a leaf of the tree.")
        var hashes: [Digest] = []
        var range = 0..<size
        // From the root down, so the first one found comes last.
        while range.count64 > 1 {
            let middle = range.lowerBound + Self.split(range.count64)
            if leaf < middle {
                hashes.append(try root(of: middle..<range.upperBound, node))
                range = range.lowerBound..<middle
            } else {
                hashes.append(try root(of: range.lowerBound..<middle, node))
                range = middle..<range.upperBound
            }
        }
        return hashes.reversed()
    }

    /// The hashes that prove that this tree continues a smaller one: `PROOF(m, D[n])` of RFC 6962,
    /// 2.1.2.
    ///
    /// - Parameters:
    ///   - older: The size of the smaller tree, at least 1 and at most ``size``.
    ///   - node: Returns the roots of complete subtrees.
    /// - Returns: The hashes.
    /// - Throws: Errors of `node`.
    /// - Complexity: As ``inclusionProof(of:_:)``.
    package func consistencyProof<Failure: Error>(
        from older: UInt64, _ node: Node<Failure>
    ) throws(Failure) -> [Digest] {
        require((1...size).contains(older), "A tree goes on from one that is not larger.")
        var hashes: [Digest] = []
        var range = 0..<size
        var isWhole = true
        while older != range.upperBound {
            let middle = range.lowerBound + Self.split(range.count64)
            if older <= middle {
                hashes.append(try root(of: middle..<range.upperBound, node))
                range = range.lowerBound..<middle
            } else {
                hashes.append(try root(of: range.lowerBound..<middle, node))
                range = middle..<range.upperBound
                isWhole = false
            }
        }
        if !isWhole { hashes.append(try root(of: range, node)) }
        return hashes.reversed()
    }

    /// The root over leaves that begin at a multiple of the size of their largest complete subtree.
    private func root<Failure: Error>(
        of range: Range<UInt64>, _ node: Node<Failure>
    ) throws(Failure) -> Digest {
        let count = range.count64
        if count.nonzeroBitCount == 1 {
            let level = count.trailingZeroBitCount
            return try node(level, range.lowerBound >> UInt64(level))
        }
        let middle = range.lowerBound + Self.split(count)
        return .node(
            try root(of: range.lowerBound..<middle, node),
            try root(of: middle..<range.upperBound, node))
    }

    /// The largest power of two below a count greater than 1.
    private static func split(_ count: UInt64) -> UInt64 {
        1 << UInt64(63 - (count - 1).leadingZeroBitCount)
    }
}

extension Range<UInt64> {
    fileprivate var count64: UInt64 { upperBound - lowerBound }
}

extension Digest {
    /// The hash of an inner node: SHA-256 over a one byte and both children (RFC 6962, 2.1).
    package static func node(_ left: Digest, _ right: Digest) -> Digest {
        var hasher = DigestHasher()
        return hasher.node(left, right)
    }
}

extension DigestHasher {
    /// The hash of an inner node; the hasher must be empty.
    mutating func node(_ left: Digest, _ right: Digest) -> Digest {
        update(UInt8(1))
        left.withBytes { update($0) }
        right.withBytes { update($0) }
        return finish()
    }

    /// The root over adjacent nodes, whose number is a power of two.
    mutating func root(ofWhole nodes: [Digest]) -> Digest {
        var row = nodes
        while row.count > 1 {
            row = stride(from: 0, to: row.count, by: 2).map { node(row[$0], row[$0 + 1]) }
        }
        return row[0]
    }
}
