package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// A stage of a migration in progress: the model that it leads to, and the state that it starts
/// from.
struct ModelStage: Sendable {
    /// The last entry before it.
    let base: SequenceNumber
    /// What the store has when the stage is done.
    let model: StoreModel
    /// The steps, the stage itself among them.
    let steps: [ModelStep]
}

extension Store {
    /// Whether an entry has set just this model.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a version cannot be read.
    package func hasHad(_ model: ManagedObjectModel) throws -> Bool {
        let wanted = model.versioned
        return try modelHistory().versions.contains { $0.schema.model == wanted }
    }

    /// Migrates to a model by the steps that can be inferred, from one model only.
    ///
    /// - Returns: The steps, and the entry.
    /// - Throws: As ``migrate(at:to:options:author:note:info:isDry:)``; with ``StoreError/Code/conflict`` when
    ///   another program has set another model meanwhile.
    package func migrate(
        from origin: ManagedObjectModel, to model: ManagedObjectModel, author: String?,
        note: String?, info: [String: String]
    ) throws -> MigrationOutcome {
        var options = options
        options.migration = .automatic
        let migration = ModelMigration(
            to: model, options: options, path: path, author: author, note: note, info: info,
            from: origin.versioned)
        let parts = parts
        let preparation = try reading { try migration.prepare(parts, in: $0) }
        return try writing { try migration.migrate(parts, preparation, in: $0) }
    }

    /// Opens the store as it will be after a custom stage: everything is read by the model that follows,
    /// and the only save sets that model along with its changes.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - name: What the plan calls the stage.
    /// - Returns: The opening, and the last entry that the stage starts from. Its ``commit(_:)`` throws
    ///   ``StoreError`` with ``StoreError/Code/conflict`` when anybody has saved since that entry.
    /// - Throws: ``StoreError`` with ``StoreError/Code/model`` when something cannot be inferred; with
    ///   ``StoreError/Code/conflict`` when another program has set another model meanwhile.
    package func staged(
        to model: ManagedObjectModel, as name: String
    ) throws -> (store: Store, base: SequenceNumber) {
        let parts = parts
        let stage = try reading { transaction in
            let base = try parts.journal.head(in: transaction)
            guard try Projection.lastModel(parts.tables, in: transaction) == modelSequence else {
                throw StoreError.overtaken()
            }
            let version = try schema.version.evolved(to: model, in: base.next.rawValue)
                .staged(name, in: base.next.rawValue)
            let after = Schema(version)
            let steps = after.steps(from: schema)
            let moves = steps.filter { $0.bringsContent }.map(\.description)
            guard moves.isEmpty else { throw StoreError.contentInStage(name, moves) }
            return ModelStage(
                base: base,
                model: StoreModel(
                    place: ModelPlace(
                        sequence: base.next,
                        rewinds: try StateFindings.rewinds(parts.tables, in: transaction)),
                    schema: after),
                steps: steps)
        }
        let store = try Store.open(
            at: path, model: nil, options: options, modelSource: .both, for: stage)
        return (store, stage.base)
    }

    /// Appends the entry of a stage: its model, its changes, and what objects need besides.
    func commit(_ request: SaveRequest, as stage: ModelStage) throws -> SaveResult {
        var request = request
        request.header.kind = .model
        request.header.base = stage.base
        let prepared = try wrapping { [request] in try ValidatedSave(request, schema: schema) }
        let chunks = try chunkTable(for: prepared.changes)
        let migration = StageCommit(
            stage, models, options,
            Commit(
                prepared, models: models, parts: parts, clock: options.clock, verifies: false,
                takesNumbers: false, chunks: chunks), prepared.request.header, chunks)
        let result = try writing { try migration.run(in: $0) }
        if let sequence = result.sequence { publish(sequence) }
        return result
    }
}

extension ModelStep {
    /// Whether objects of a relationship are brought over.
    var bringsContent: Bool {
        if case .content? = check { true } else { false }
    }
}

extension StoreError {
    fileprivate static func contentInStage(_ name: String, _ moves: [String]) -> StoreError {
        StoreError(
            .model,
            "The custom stage '\(name)' has steps that bring over the objects of relationships, which "
                + "its closure would not see. Let a lightweight stage before or after it take them.",
            details: moves)
    }
}

/// The entry of a stage inside the LMDB transaction.
private struct StageCommit: Sendable {
    private let stage: ModelStage
    private let models: ModelsInForce
    private let options: StoreOptions
    private let save: Commit
    private let header: EntryHeader
    private let chunks: ChunkTable?
    private let work: LongWork

    init(
        _ stage: ModelStage, _ models: ModelsInForce, _ options: StoreOptions, _ save: Commit,
        _ header: EntryHeader, _ chunks: ChunkTable?
    ) {
        self.stage = stage
        self.models = models
        self.options = options
        self.save = save
        self.header = header
        self.chunks = chunks
        work = LongWork(options.work)
    }

    func run(in transaction: borrowing WriteTransaction) throws -> SaveResult {
        let place = try models.lastModel(in: transaction)
        guard place.sequence < stage.model.sequence, place.rewinds == stage.model.place.rewinds
        else { throw StoreError.overtaken() }
        let before = try models.inForce(setBy: place, in: transaction).parts
        let last = try LastCommitState.current(before, in: transaction)
        guard last.head.sequence == stage.base else { throw StoreError.overtaken() }
        let changes = try changes(before, in: transaction)
        try chunks?.keep(changes, in: transaction)
        let after = stage.model.schema
        let deferred = options.deferredIndexes(of: after, since: before.projection.schema)
        let entry = try ModelEntry(
            header, after.version, changes, work, deferring: deferred
        ).append(to: before, after: last, clock: options.clock, in: transaction)
        var check = MigrationCheck(stage.steps, before, to: after)
        try check.verify(in: transaction)
        try work.finish()
        if options.verification == .afterCommit {
            try EntryCheck.check(
                changes, of: entry.sequence, header, before.with(after).projection,
                PendingIndexes(of: deferred), in: transaction)
        }
        return SaveResult(
            sequence: entry.sequence, digest: entry.digest, changes: changes, conflicts: [])
    }

    /// The changes of the stage, and the values that objects need besides to fit the model.
    private func changes(
        _ before: StoreParts, in transaction: borrowing WriteTransaction
    ) throws -> [Change] {
        let own = try save.settledChanges(in: transaction)
        var check = MigrationCheck(stage.steps, before, to: stage.model.schema, with: own, work)
        var changes = ChangeSet()
        for change in try own + check.run(in: transaction) {
            guard let entity = stage.model.schema.entity(change.object.entity) else { continue }
            try changes.append(change, of: entity)
        }
        let after = stage.model.schema
        return try DerivedValues.completed(
            changes.ordered, before.with(after).projection,
            renewing: after.derivationsRenewed(after: before.projection.schema), in: transaction)
    }
}
