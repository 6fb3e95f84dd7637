package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// What a migration has done, or would do.
package struct MigrationOutcome: Sendable {
    /// The steps; none when the store has the model already.
    package let steps: [ModelStep]
    /// The entry; nil when there was nothing to do, or nothing was to be done.
    package let sequence: SequenceNumber?
    /// Its digest.
    package let digest: Digest?
    /// How many objects got values that the new model demands.
    package let changesCount: Int
    /// The properties whose index had been put off, and is complete now.
    package fileprivate(set) var indexesCompleted: [String] = []
    /// The properties whose index is still to be built.
    package fileprivate(set) var indexesPending: [String] = []
}

extension Store {
    /// Brings a store to a model.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - model: The model.
    ///   - options: How to open the store; ``StoreOptions/migration`` says which steps are
    ///     allowed, and ``StoreOptions/matching`` which names have changed.
    ///   - author: The author of the entry.
    ///   - note: Its note.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - isDry: Whether the store stays as it is.
    /// - Returns: The steps, and the entry.
    /// - Throws: ``StoreError`` as ``open(at:model:options:)`` does: with
    ///   ``StoreError/Code/modelMismatch`` and every step that is not allowed; with
    ///   ``StoreError/Code/model`` and everything that cannot be inferred; with
    ///   ``StoreError/Code/validation`` and the first objects that do not fit. The store is unchanged
    ///   then.
    /// - Complexity: O(model); O(*n*) page reads and writes, *n* the number of objects, for an index, a
    ///   conversion and whatever is tightened.
    package static func migrate(
        at path: String, to model: ManagedObjectModel, options: StoreOptions = StoreOptions(),
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        isDry: Bool = false
    ) throws -> MigrationOutcome {
        let store = try open(at: path, options: options)
        defer { store.closeQuietly() }
        let migration = ModelMigration(
            to: model, options: options, path: path, author: author, note: note, info: info)
        guard !isDry, !options.isReadOnly else {
            var outcome = try store.reading { transaction in
                try migration.preview(store.models.inForce(in: transaction), in: transaction)
            }
            outcome.indexesPending = try store.pendingIndexes()
            return outcome
        }
        let parts = store.parts
        let preparation = try store.reading { try migration.prepare(parts, in: $0) }
        var outcome = try store.writing { try migration.migrate(parts, preparation, in: $0) }
        outcome.indexesPending = try store.pendingIndexes()
        guard options.indexes == .immediate else { return outcome }
        try store.buildIndexesNow()
        swap(&outcome.indexesCompleted, &outcome.indexesPending)
        return outcome
    }

    /// Closes the store after another failure, which is the one to report.
    package func closeQuietly() {
        do {
            try close()
        } catch {
            // What was done is durable; numbers that are not given back cost nothing.
            return
        }
    }
}
