package import DaybookDigest

// Large data are kept as a tree of records, each under its own digest:
//
// | level | record |
// |---|---|
// | 0 | a chunk: 65,520 bytes, the last one fewer |
// | from 1 | a node: the digests of up to 2,047 records of the level below, in order |
//
// The digest of a record is SHA-256 of its level, one byte, and its bytes. The digest of the data is
// that of the only record of the highest level. So every record proves itself, the shape follows from
// the length alone, and equal chunks are stored once.

/// A record of a tree of chunks: its level, and the digest it is found by.
package struct ChunkKey: Sendable, Hashable {
    /// 0 for a chunk, above that the height of a node.
    package let level: Int
    /// The digest of level and bytes.
    package let digest: Digest

    /// Names a record.
    package init(level: Int, digest: Digest) {
        self.level = level
        self.digest = digest
    }

    /// The key of a record with these bytes.
    package init(level: Int, of bytes: RawSpan) {
        var hasher = DigestHasher()
        hasher.update(UInt8(truncatingIfNeeded: level))
        hasher.update(bytes)
        self.init(level: level, digest: hasher.finish())
    }
}

/// The shape of the tree for data of a certain length.
package struct ChunkTree: Sendable, Hashable {
    /// The length of all chunks but the last: 16 pages of LMDB, filled to the last byte.
    package static let chunkBytes = 16 * 4_096 - 16
    /// How many records a node leads to: as many digests as fit into the same 16 pages.
    package static let fanOut = chunkBytes / Digest.byteCount

    /// How many bytes the data have.
    package let byteCount: Int

    /// The tree of data of that length.
    package init(byteCount: Int) {
        self.byteCount = byteCount
    }

    /// How many chunks there are; at least one, be it empty.
    package var chunkCount: Int {
        max(1, Self.quotient(byteCount, Self.chunkBytes))
    }

    /// The level of the only record at the top.
    package var height: Int {
        var (height, width) = (0, chunkCount)
        while width > 1 {
            width = Self.quotient(width, Self.fanOut)
            height += 1
        }
        return height
    }

    /// How many bytes a chunk has.
    package func byteCount(ofChunk index: Int) -> Int {
        min(Self.chunkBytes, byteCount - index * Self.chunkBytes)
    }

    /// How many records a node leads to: the node of a level with that place among its nodes.
    package func childCount(ofNode index: Int, at level: Int) -> Int {
        var below = chunkCount
        for _ in 1..<level { below = Self.quotient(below, Self.fanOut) }
        return min(Self.fanOut, below - index * Self.fanOut)
    }

    /// How many chunks lie under a record of a level, unless it is the last.
    package static func chunks(under level: Int) -> Int {
        var chunks = 1
        for _ in 0..<level { chunks *= fanOut }
        return chunks
    }

    private static func quotient(_ count: Int, _ size: Int) -> Int {
        count / size + (count % size == 0 ? 0 : 1)
    }
}

/// Makes the tree of data that come chunk by chunk, and keeps only the digests on the way to its top.
package struct ChunkTreeBuilder: Sendable {
    /// By level, the digests that the next node of the level above will lead to.
    private var waiting: [[UInt8]] = []

    /// Starts a tree without chunks.
    package init() {}

    /// Takes the next chunk.
    ///
    /// - Parameters:
    ///   - chunk: Its digest.
    ///   - node: Called with every node that is complete.
    package mutating func add(
        _ chunk: Digest, _ node: (ChunkKey, [UInt8]) throws -> Void
    ) rethrows {
        try add(chunk, at: 0, node)
    }

    /// Completes the tree.
    ///
    /// - Returns: The key of the record at its top.
    /// - Precondition: There was at least one chunk.
    package mutating func finish(
        _ node: (ChunkKey, [UInt8]) throws -> Void
    ) rethrows -> ChunkKey {
        var level = 0
        while true {
            let digests = waiting[level]
            if level == waiting.count - 1, digests.count == Digest.byteCount,
                let top = Digest(bytes: digests)
            {
                return ChunkKey(level: level, digest: top)
            }
            if !digests.isEmpty { try close(level, node) }
            level += 1
        }
    }

    private mutating func add(
        _ digest: Digest, at level: Int, _ node: (ChunkKey, [UInt8]) throws -> Void
    ) rethrows {
        if level == waiting.count { waiting.append([]) }
        waiting[level] += digest.bytes
        if waiting[level].count == ChunkTree.fanOut * Digest.byteCount { try close(level, node) }
    }

    /// Makes a node of the digests that wait on a level.
    private mutating func close(
        _ level: Int, _ node: (ChunkKey, [UInt8]) throws -> Void
    ) rethrows {
        let bytes = waiting[level]
        waiting[level] = []
        let key = ChunkKey(level: level + 1, of: bytes.span.bytes)
        try node(key, bytes)
        try add(key.digest, at: level + 1, node)
    }
}
