package import DaybookLMDB

// The digests of the entries are the leaves of an RFC 6962 tree: entry n is leaf n - 1. Of the
// inner nodes only the roots of complete tiles are stored; a tile is 256 nodes of the level eight
// below. So an append writes one more record every 256 entries, and a proof hashes at most 256
// nodes for each tile.
//
// A tile's root is stored after its last entry, under the key (sequence number u64, tile level u8):
// level 1 over 256 entries, level 2 over 65,536, and so on. Its record carries a check, because nothing
// else would tell a damaged one from another. A root that is missing is computed from what lies below.

/// How the digests of entries are read for the tree.
enum LeafReading {
    /// As they are stored: for verification, which looks at the chain itself.
    case stored
    /// With what the next entry carries, or the recorded head. The record of a digest has no check of its
    /// own, and what is handed out or stored must not rest on a damaged one.
    case confirmed
}

extension Journal {
    /// The number of nodes in a tile.
    static let tileWidth: UInt64 = 256
    /// The number of levels of the tree that a tile spans.
    static let tileHeight = 8

    /// The root of the tree over the first entries.
    ///
    /// - Parameters:
    ///   - size: The number of entries, at most that of the last one.
    ///   - transaction: The state to read.
    /// - Returns: The root.
    /// - Throws: ``JournalError`` when a digest is missing or is not the one that the chain carries, or when a kept
    ///   root is damaged.
    /// - Complexity: O(log *n*) page reads.
    package func root(
        ofFirst size: UInt64, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest {
        try MerkleTree(size: size).root { (level, index) throws(any Error) in
            try node(level, index, .confirmed, in: transaction)
        }
    }

    /// Proves that an entry is among the first ones.
    ///
    /// - Precondition: The entry's number is from 1 to `size`.
    /// - Throws: ``JournalError`` when a digest is missing or is not the one that the chain carries, or when a kept
    ///   root is damaged.
    /// - Complexity: O(log *n*) page reads.
    package func inclusionProof(
        of sequence: SequenceNumber, amongFirst size: UInt64,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> InclusionProof {
        let index = sequence.rawValue - 1
        let hashes = try MerkleTree(size: size).inclusionProof(of: index) {
            (level, index) throws(any Error) in try node(level, index, .confirmed, in: transaction)
        }
        return InclusionProof(index: index, size: size, hashes: hashes)
    }

    /// Proves that the journal at one size continues itself at a smaller one.
    ///
    /// - Throws: ``JournalError`` when a digest is missing or is not the one that the chain carries, or when a kept
    ///   root is damaged.
    /// - Complexity: O(log *n*) page reads.
    package func consistencyProof(
        from older: UInt64, to newer: UInt64, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ConsistencyProof {
        guard older > 0 else {
            return ConsistencyProof(olderSize: 0, newerSize: newer, hashes: [])
        }
        let hashes = try MerkleTree(size: newer).consistencyProof(from: older) {
            (level, index) throws(any Error) in try node(level, index, .confirmed, in: transaction)
        }
        return ConsistencyProof(olderSize: older, newerSize: newer, hashes: hashes)
    }

    // MARK: - Nodes

    /// The root of a whole subtree.
    private func node(
        _ level: Int, _ index: UInt64, _ reading: LeafReading,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest {
        if level == 0 { return try leaf(SequenceNumber(index + 1), reading, in: transaction) }
        let tile = level / Self.tileHeight
        if level % Self.tileHeight == 0,
            let root = try storedRoot(ofTile: tile, index, in: transaction)
        {
            return root
        }
        // The nodes below on the nearest stored level, side by side.
        let below = (level - 1) / Self.tileHeight
        let count = UInt64(1) << UInt64(level - below * Self.tileHeight)
        let nodes = try nodes(
            below, (index * count)..<((index + 1) * count), reading, in: transaction)
        var hasher = DigestHasher()
        return hasher.root(ofWhole: nodes)
    }

    private func leaf(
        _ sequence: SequenceNumber, _ reading: LeafReading,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest {
        let digest = try digest(at: sequence, in: transaction)
        guard reading == .confirmed else { return digest }
        let next = Self.key(sequence.next, chunk: 0)
        let header = try asJournalError {
            try transaction.get(records, next.span.bytes) { RecordHeader.decode($0) }
        }
        switch header {
        case nil:
            let said = try saidHead(in: transaction)
            try said.check(sequence)
            try said.check(sequence, digest)
        case .failure(let flaw):
            throw JournalError.entryBroken(at: sequence.next, because: flaw.reason)
        case .success(let header):
            guard header.previous == digest else {
                throw JournalError.entryBroken(
                    at: sequence, because: "its digest is not the one that the next entry carries")
            }
        }
        return digest
    }

    /// Stored nodes of one level, side by side.
    func nodes(
        _ tile: Int, _ range: Range<UInt64>, _ reading: LeafReading,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Digest] {
        var found: [Digest] = []
        found.reserveCapacity(Int(range.upperBound - range.lowerBound))
        // One by one: between two digests an entry may have any number of chunks.
        for index in range {
            found.append(try node(tile * Self.tileHeight, index, reading, in: transaction))
        }
        return found
    }

    /// The root kept for a tile; nil for none.
    ///
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when its record is damaged.
    func storedRoot(
        ofTile level: Int, _ index: UInt64, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest? {
        let last = SequenceNumber((index + 1) << UInt64(level * Self.tileHeight))
        let key = Self.key(last, tile: UInt8(level))
        let kept = try asJournalError {
            try transaction.get(records, key.span.bytes) { keptRoot(key.span.bytes, $0) }
        }
        switch kept {
        case nil: return nil
        case .success(let root): return root
        case .failure(let flaw):
            throw JournalError.rootBroken(UInt8(level), endingAt: last, because: flaw.reason)
        }
    }

    /// The root in a record, if the check fits.
    private func keptRoot(_ key: RawSpan, _ stored: RawSpan) -> Result<Digest, RootFlaw> {
        let size = Digest.byteCount + roots.checkSize
        guard stored.byteCount == size,
            let root = Digest(stored.extracting(first: Digest.byteCount))
        else { return .failure(RootFlaw("has \(stored.byteCount) bytes instead of \(size)")) }
        return roots.accepts(key, stored: stored)
            ? .success(root) : .failure(RootFlaw("has a check that does not fit"))
    }

    /// The fault of a record that should be a root, the rest of a sentence about it.
    private struct RootFlaw: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    // MARK: - Appending

    /// Stores the roots of the tiles that an entry has filled, as far as the digests below exist.
    ///
    /// A digest lost or damaged long ago must not prevent appending. Verification reports it, and a root that
    /// is not stored is computed on demand.
    func appendRoots(
        through sequence: SequenceNumber, in transaction: borrowing WriteTransaction
    ) throws {
        var level = 1
        var size = Self.tileWidth
        while sequence.rawValue % size == 0 {
            let root: Digest
            do {
                root = try computedRoot(
                    ofTile: level, endingAt: sequence, .confirmed, in: transaction)
            } catch let error as JournalError where error.code == .entryBroken {
                return
            }
            let key = Self.key(sequence, tile: UInt8(level))
            try asJournalError {
                try root.withBytes {
                    try transaction.put(roots, key.span.bytes, $0, .append)
                }
            }
            level += 1
            guard level * Self.tileHeight < 64 else { return }
            size *= Self.tileWidth
        }
    }

    /// The root of a tile, from the level below.
    private func computedRoot(
        ofTile level: Int, endingAt sequence: SequenceNumber, _ reading: LeafReading,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest {
        let end = sequence.rawValue >> UInt64((level - 1) * Self.tileHeight)
        let nodes = try nodes(level - 1, (end - Self.tileWidth)..<end, reading, in: transaction)
        var hasher = DigestHasher()
        return hasher.root(ofWhole: nodes)
    }

    // MARK: - Verification

    /// The fault of a record that should be the root of a tile; nil for none.
    func flaw(
        ofTile level: UInt8, endingAt sequence: SequenceNumber, _ value: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> String? {
        let height = Int(level) * Self.tileHeight
        guard level > 0, height < 64, sequence.rawValue > 0,
            sequence.rawValue & ((1 << UInt64(height)) - 1) == 0
        else { return "stands where no tile ends" }
        let root: Digest
        switch keptRoot(Self.key(sequence, tile: level).span.bytes, value) {
        case .success(let kept): root = kept
        case .failure(let flaw): return flaw.reason
        }
        do {
            let computed = try computedRoot(
                ofTile: Int(level), endingAt: sequence, .stored, in: transaction)
            return root == computed ? nil : "is not that of its entries"
        } catch let error as JournalError where error.code == .entryBroken {
            return "cannot be checked, because digests under it are missing or damaged"
        }
    }

    static func key(_ sequence: SequenceNumber, tile level: UInt8) -> [UInt8] {
        var writer = KeyWriter(capacity: KeySize.root)
        writer.append(sequence.rawValue)
        writer.append(level)
        return writer.bytes
    }
}
