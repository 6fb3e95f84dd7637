internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What a sweep has removed.
package struct DataSweep: Sendable, Hashable {
    /// How many records: chunks, and nodes above them.
    package var records = 0
    /// How many bytes they had.
    package var bytes = 0
}

extension Store {
    /// Removes the chunks that no entry refers to, left by imports that were never saved.
    ///
    /// It is one LMDB transaction, so no other program can write meanwhile. An import that is under way
    /// fails when it ends, and nothing that an entry refers to is touched.
    ///
    /// - Returns: What was removed.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when an entry or a node cannot
    ///   be read: nothing is removed then, because what it refers to is not known.
    /// - Complexity: O(*j* + *c* log *c*) page reads, *j* the number of changes in the journal, *c* of
    ///   chunks.
    package func sweep() throws -> DataSweep {
        guard let chunks = try chunkTable() else { return DataSweep() }
        do {
            return try writing { [journal = parts.journal] transaction in
                let wanted = try chunks.recordsReferred(by: journal, in: transaction)
                let start: [UInt8] = []
                var unwanted: [[UInt8]] = []
                var sweep = DataSweep()
                try transaction.scan(
                    chunks.table, from: start.span.bytes, to: nil, order: .ascending
                ) { bytes, value in
                    if let key = ChunkTable.key(bytes), wanted.contains(key) { return .proceed }
                    unwanted.append(bytes.array)
                    sweep.records += 1
                    sweep.bytes += value.byteCount
                    return .proceed
                }
                for key in unwanted { _ = try transaction.delete(chunks.table, key.span.bytes) }
                return sweep
            }
        } catch let damage as ChunkDamage {
            throw StoreError.corrupt("A \(damage.noun) \(damage.reason)")
        }
    }
}

extension ChunkTable {
    /// All records that lead to data, or are data, that an entry has given to an object.
    fileprivate func recordsReferred(
        by journal: Journal, in transaction: borrowing WriteTransaction
    ) throws -> Set<ChunkKey> {
        var data: Set<LargeData> = []
        try journal.entries(from: SequenceNumber(1), through: nil, in: transaction) { entry in
            try entry.forEachLargeData { found, _, _ in data.insert(found) }
            return .proceed
        }
        var records: Set<ChunkKey> = []
        for data in data { try add(data.top, at: 0, of: data, to: &records, in: transaction) }
        return records
    }

    private func add(
        _ key: ChunkKey, at index: Int, of data: LargeData, to records: inout Set<ChunkKey>,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard records.insert(key).inserted, key.level > 0 else { return }
        let children = try children(of: key, at: index, in: data.tree, transaction)
        for (position, child) in children.enumerated() {
            try add(
                child, at: index * ChunkTree.fanOut + position, of: data, to: &records,
                in: transaction)
        }
    }
}
