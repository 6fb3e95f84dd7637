// The room of large data: their chunks, how they are written, read, checked and swept. Entries and rows
// hold only references. Chunks are no part of the projection: they are never changed, and what no entry
// refers to is swept.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// | table | key | value |
// |---|---|---|
// | chunks | level u8, digest | the record of that level: see `ChunkTree` |
//
// The table is made with the first large data of a store.

/// The table of chunks and of the nodes above them.
struct ChunkTable: Sendable {
    static let name = "chunks"
    static let keySize = 1 + Digest.byteCount

    let table: Table

    /// Whether there are no records.
    func isEmpty(in transaction: borrowing some Reading & ~Copyable) throws -> Bool {
        var isEmpty = true
        let start: [UInt8] = []
        try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) { _, _ in
            isEmpty = false
            return .stop
        }
        return isEmpty
    }

    /// Whether there is a record.
    func contains(
        _ key: ChunkKey, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        try transaction.contains(table, Self.bytes(of: key).span.bytes)
    }

    /// How many bytes a record has; nil when there is none. They are not looked at.
    func byteCount(
        of key: ChunkKey, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Int? {
        try transaction.get(table, Self.bytes(of: key).span.bytes) { $0.byteCount }
    }

    /// Calls `body` with the bytes of a record, which have its digest.
    ///
    /// - Throws: ``ChunkDamage``; what `body` throws.
    func withRecord<R>(
        _ key: ChunkKey, in transaction: borrowing some Reading & ~Copyable,
        _ body: (RawSpan) throws -> R
    ) throws -> R {
        let found: R? = try transaction.get(table, Self.bytes(of: key).span.bytes) { bytes in
            guard ChunkKey(level: key.level, of: bytes) == key else {
                throw ChunkDamage.changed(key)
            }
            return try body(bytes)
        }
        guard let found else { throw ChunkDamage.missing(key) }
        return found
    }

    /// Writes a record, unless it is there already; one whose bytes do not have its digest is
    /// overwritten.
    func put(
        _ key: ChunkKey, _ bytes: RawSpan, in transaction: borrowing WriteTransaction
    ) throws {
        let name = Self.bytes(of: key)
        let isThere = try transaction.get(table, name.span.bytes) { $0.hasSameBytes(as: bytes) }
        guard isThere != true else { return }
        try transaction.put(table, name.span.bytes, bytes, .upsert)
    }

    // MARK: - Keys

    static func bytes(of key: ChunkKey) -> [UInt8] {
        var writer = KeyWriter(capacity: keySize)
        writer.append(UInt8(truncatingIfNeeded: key.level))
        key.digest.withBytes { writer.append(bytes: $0) }
        return writer.bytes
    }

    /// The key of a record; nil when the bytes are not those of one.
    static func key(_ bytes: RawSpan) -> ChunkKey? {
        guard bytes.byteCount == keySize, let digest = Digest(bytes.extracting(droppingFirst: 1))
        else { return nil }
        let level = bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt8.self)
        return ChunkKey(level: Int(level), digest: digest)
    }
}

/// What is wrong with a record of large data.
enum ChunkDamage: Error, Sendable, Hashable {
    case missing(ChunkKey)
    case changed(ChunkKey)
    /// Its length is not what the length of the data requires.
    case misfit(ChunkKey)

    /// The rest of a sentence after the name of the record.
    var reason: String {
        switch self {
        case .missing: "is missing"
        case .changed: "does not have the bytes of its digest"
        case .misfit: "does not have the length that it should have"
        }
    }
}

// MARK: - Walking a tree

extension ChunkTable {
    /// The keys that a node leads to.
    func children(
        of key: ChunkKey, at index: Int, in tree: ChunkTree,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [ChunkKey] {
        try withRecord(key, in: transaction) { bytes in
            try Self.children(of: key, bytes, count: tree.childCount(ofNode: index, at: key.level))
        }
    }

    /// The keys that the bytes of a node lead to, so many.
    static func children(of key: ChunkKey, _ bytes: RawSpan, count: Int) throws -> [ChunkKey] {
        guard bytes.byteCount == count * Digest.byteCount else { throw ChunkDamage.misfit(key) }
        var children: [ChunkKey] = []
        children.reserveCapacity(count)
        for child in 0..<count {
            let start = child * Digest.byteCount
            guard let digest = Digest(bytes.extracting(start..<start + Digest.byteCount)) else {
                throw ChunkDamage.misfit(key)
            }
            children.append(ChunkKey(level: key.level - 1, digest: digest))
        }
        return children
    }

    /// Passes on the chunks of a range, each with its digest checked.
    func forEachChunk(
        of data: LargeData, _ range: Range<Int>, in transaction: borrowing some Reading & ~Copyable,
        _ body: (Int, RawSpan) throws -> Void
    ) throws {
        var path = ChunkPath(data)
        for index in range {
            let key = try path.chunk(index, self, in: transaction)
            try withRecord(key, in: transaction) { bytes in
                guard bytes.byteCount == data.tree.byteCount(ofChunk: index) else {
                    throw ChunkDamage.misfit(key)
                }
                try body(index, bytes)
            }
        }
    }
}

/// The nodes on the way to a chunk, kept for its neighbours.
struct ChunkPath {
    private let data: LargeData
    private let tree: ChunkTree
    /// By level, from 1: which node was read last, and what it leads to.
    private var nodes: [(index: Int, children: [ChunkKey])]

    init(_ data: LargeData) {
        self.data = data
        tree = data.tree
        nodes = Array(repeating: (-1, []), count: tree.height)
    }

    /// The key of a chunk.
    mutating func chunk(
        _ index: Int, _ table: ChunkTable, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ChunkKey {
        var key = data.top
        var level = tree.height
        while level > 0 {
            let node = index / ChunkTree.chunks(under: level)
            if nodes[level - 1].index != node {
                let children = try table.children(of: key, at: node, in: tree, transaction)
                nodes[level - 1] = (node, children)
            }
            key =
                nodes[level - 1].children[
                    index / ChunkTree.chunks(under: level - 1) % ChunkTree.fanOut]
            level -= 1
        }
        return key
    }
}
