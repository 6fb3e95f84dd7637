package import DaybookLMDB

extension Journal {
    /// The hashes of a tile of the tree over the entries, as C2SP's tlog-tiles lays them out: nodes of
    /// one level of the tree side by side, beginning with number 256 × `index`.
    ///
    /// - Parameters:
    ///   - level: The level of the tile; a level spans eight of the tree's, and 0 is the entries.
    ///   - index: Its number among the tiles of that level, from 0.
    ///   - width: The number of its hashes, 256 in a complete tile.
    ///   - transaction: The state to read.
    /// - Returns: The hashes.
    /// - Precondition: The journal has as many nodes of that level.
    /// - Throws: ``JournalError`` when a digest is missing or is not the one that the chain carries, when a kept
    ///   root is damaged, or when a complete tile does not lead to its own.
    /// - Complexity: O(*w* + log *n*) page reads, *w* the width.
    package func tile(
        _ level: Int, _ index: UInt64, width: Int,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Digest] {
        let first = index * Self.tileWidth
        let hashes = try nodes(level, first..<(first + UInt64(width)), .confirmed, in: transaction)
        guard UInt64(width) == Self.tileWidth,
            let kept = try storedRoot(ofTile: level + 1, index, in: transaction)
        else { return hashes }
        var hasher = DigestHasher()
        guard hasher.root(ofWhole: hashes) == kept else {
            let last = (index + 1) << UInt64((level + 1) * Self.tileHeight)
            throw JournalError.entryBroken(
                at: SequenceNumber(last),
                because: "the root kept for the tile that ends with it is not that of its hashes")
        }
        return hashes
    }
}
