internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Creates a store that begins with the exported first entry of another one.
    ///
    /// - Parameters:
    ///   - path: Where there is no file yet.
    ///   - first: The first entry.
    ///   - options: How to open the store.
    ///   - other: The store whose entries are loaded. Its model is the one by which the new store is
    ///     read, also before the entry that sets it.
    /// - Returns: The store.
    /// - Throws: ``StoreError`` as ``create(at:model:author:note:info:options:)`` does; with
    ///   ``StoreError/Code/digestMismatch`` when the entry is not the first of a store, or does not
    ///   reproduce its digest. No store is left behind then.
    package static func create(
        at path: String, loading first: Entry, options: StoreOptions = StoreOptions(),
        readLike other: Store? = nil
    ) throws -> Store {
        guard let version = first.version, first.sequence == SequenceNumber(1) else {
            throw StoreError(
                .digestMismatch,
                "An export begins with entry 1, which sets the model; this one begins with entry "
                    + "\(first.sequence).")
        }
        // Nothing was cut off in the new store.
        let view = other.map {
            StoreModel(
                place: ModelPlace(sequence: $0.modelSequence, rewinds: 0), schema: $0.schema)
        }
        return try create(
            at: path, version: version, options: options, first.header, copying: first,
            readBy: view)
    }

    /// Appends an exported entry unchanged: with the same number, times and digest.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - source: The store that has the large data of the entry; nil when this one has them already.
    /// - Returns: What was appended.
    /// - Throws: ``StoreError`` with ``StoreError/Code/digestMismatch`` when it is not the next
    ///   entry or does not reproduce its digest; what ``commit(_:)`` throws when its changes do not
    ///   fit. The store is unchanged then.
    @discardableResult
    package func append(
        exported entry: Entry, withDataOf source: Store? = nil
    ) throws -> SaveResult {
        var entry = entry
        if let source { entry.changes.attachLargeData(to: source) }
        let (models, options) = (models, options)
        let chunks = try chunkTable(for: entry.changes)
        let result = try writing { [entry] transaction in
            var repeated = try RepeatedEntries(models, options, keeping: chunks, in: transaction)
            let result = try repeated.append(entry, in: transaction)
            try repeated.finish(in: transaction)
            return result
        }
        publish(entry.sequence)
        return result
    }
}

extension StoreError {
    static func digestMismatch(
        _ sequence: SequenceNumber, _ found: SequenceNumber?
    ) -> StoreError {
        let found = found ?? .zero
        return StoreError(
            .digestMismatch,
            found == sequence
                ? "Entry \(sequence) does not come out with the digest it was exported with."
                : "Entry \(sequence) cannot be loaded as entry \(found): entries are loaded in "
                    + "order and without gaps.")
    }
}
