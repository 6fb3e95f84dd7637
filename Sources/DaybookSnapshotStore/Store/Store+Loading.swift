internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Creates a store that begins with the exported first entry of another one.
    ///
    /// - Throws: ``StoreError`` as ``create(at:model:author:note:options:)`` does; with
    ///   ``StoreError/Code/digestMismatch`` when the entry is not the first of a store, or does not
    ///   reproduce its digest. No store is left behind then.
    package static func create(
        at path: String, loading first: Entry, options: StoreOptions = StoreOptions()
    ) throws -> Store {
        guard let model = first.model, first.sequence == SequenceNumber(1) else {
            throw StoreError(
                .digestMismatch,
                "An export begins with entry 1, which sets the model; this one begins with entry "
                    + "\(first.sequence).")
        }
        return try create(
            at: path, model: model, options: options, first.header, copying: first)
    }

    /// Appends an exported entry unchanged: with the same number, times and digest.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/digestMismatch`` when it is not the next
    ///   entry or does not reproduce its digest; what ``commit(_:)`` throws when its changes do not
    ///   fit. The store is unchanged then.
    @discardableResult
    package func append(exported entry: Entry) throws -> SaveResult {
        guard entry.model == nil else {
            throw StoreError(
                .modelMismatch,
                "Entry \(entry.sequence) sets another model, which cannot be "
                    + "loaded: the model of a store is set by its first entry.")
        }
        let request = SaveRequest(
            header: entry.header, changes: entry.changes, recordedAt: entry.recordedAt)
        let prepared = try ValidatedSave(request, schema: schema)
        let commit = Commit(
            prepared, parts: parts, clock: options.clock,
            verifies: options.verification == .afterCommit, takesNumbers: false)
        let outcome = try writing { transaction in
            let outcome = try commit.run(in: transaction)
            let result = outcome.result
            guard result.sequence == entry.sequence, result.digest == entry.digest else {
                throw StoreError.digestMismatch(entry.sequence, result.sequence)
            }
            return outcome
        }
        feed.publish(entry.sequence)
        return outcome.result
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
