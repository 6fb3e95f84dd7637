package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Clears the projection and folds the journal again from its first entry.
    ///
    /// The tables come out byte for byte as they were, unless they were damaged, or an index was being
    /// built, which is complete afterwards. Readers see the
    /// old ones until the rebuild is done. What programs have folded out of the journal stays as it is:
    /// it cannot be folded again without them.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` at the first entry that cannot be
    ///   trusted. The store is unchanged then.
    /// - Complexity: O(*j* log *n*) page reads and writes, *j* the number of changes in the journal.
    package func rebuild() throws {
        try writing { [parts] in try parts.rebuildProjection(in: $0) }
    }

    /// The digest of all keys and values of each table of the projection.
    ///
    /// Two stores with the same journal have the same digests.
    package func projectionDigest() throws -> [String: Digest] {
        try reading { transaction in
            var digests: [String: Digest] = [:]
            for table in parts.tables.projection {
                digests[table.name] = try table.digest(in: transaction)
            }
            return digests
        }
    }
}

extension StoreParts {
    /// Clears the tables and folds the journal into them.
    func rebuildProjection(in transaction: borrowing WriteTransaction) throws {
        for table in tables.projection { try transaction.clear(table) }
        try StoreMetadata.setPendingIndexes(PendingIndexes(), tables.meta, in: transaction)
        var projector = Projector(StoredState(projection), after: .journal(journal))
        try journal.entries(from: SequenceNumber(1), through: nil, in: transaction) {
            try projector.fold($0, in: transaction)
            return .proceed
        }
    }
}

extension Table {
    fileprivate func digest(in transaction: borrowing ReadTransaction) throws -> Digest {
        var hasher = DigestHasher()
        let start: [UInt8] = []
        try transaction.scan(self, from: start.span.bytes, to: nil, order: .ascending) {
            key, value in
            var sizes = KeyWriter(capacity: 16)
            sizes.append(UInt64(key.byteCount))
            sizes.append(UInt64(value.byteCount))
            hasher.update(sizes.bytes.span.bytes)
            hasher.update(key)
            hasher.update(value)
            return .proceed
        }
        return hasher.finish()
    }
}
