internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What remains to be saved once everything is settled.
struct Settlement {
    enum Content {
        case nothing
        /// The changes of the request, each one as it was sent.
        case asSent
        case changed([Change])
    }

    let content: Content
    let changes: [Change]
    var conflicts: [MergeConflict] = []
    var constraintConflicts: [ConstraintConflict] = []
    var merged: [MergedValue] = []
    var replaced: [ObjectID: ObjectID] = [:]

    /// The request is to be saved as it was sent.
    init(asSent changes: [Change]) {
        (content, self.changes) = (changes.isEmpty ? .nothing : .asSent, changes)
    }

    init(changed changes: [Change]) {
        (content, self.changes) = (changes.isEmpty ? .nothing : .changed(changes), changes)
    }

    func result(_ entry: JournalEntry? = nil) -> SaveResult {
        var result = SaveResult(
            sequence: entry?.sequence, digest: entry?.digest, changes: changes,
            conflicts: conflicts, constraintConflicts: constraintConflicts, merged: merged,
            replaced: replaced)
        if case .asSent = content { result.isUntouched = true }
        return result
    }
}

/// Makes of a request what can be saved: rebased on what is stored, united, repaired and checked.
struct Settling {
    private let prepared: ValidatedSave
    private let parts: StoreParts
    /// The model of the program that saves.
    private let saver: Schema
    /// The changes of an entry of another store that is repeated; its derived texts stay.
    private let repeated: [Change]

    init(
        _ prepared: ValidatedSave, _ parts: StoreParts, savedBy saver: Schema,
        repeating repeated: [Change] = []
    ) {
        self.prepared = prepared
        self.parts = parts
        self.saver = saver
        self.repeated = repeated
    }

    /// What remains to be saved; conflicts that refuse it name the entries behind them.
    ///
    /// - Parameters:
    ///   - fit: How the changes fit the tables.
    ///   - transaction: The transaction to read in.
    /// - Returns: What remains to be saved.
    /// - Throws: ``StoreError`` for what the policy does not settle.
    func settled(
        _ fit: Fit, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Settlement {
        do {
            return try settle(fit, in: transaction)
        } catch let error as StoreError where error.code == .conflict {
            let conflicts = try traced(error.conflicts, in: transaction)
            throw StoreError.conflict(conflicts, in: parts.projection.schema)
        }
    }

    private func traced(
        _ conflicts: [MergeConflict], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [MergeConflict] {
        guard !conflicts.isEmpty else { return [] }
        var origins = ConflictTracer(parts, after: prepared.request.header.base)
        return try origins.traced(conflicts, in: transaction)
    }

    /// Rebases the changes on the store under the policy, and checks the result.
    private func settle(
        _ fit: Fit, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Settlement {
        let projection = parts.projection
        if fit == .folded, !projection.hasConstraints, !projection.isDeriving {
            return Settlement(asSent: prepared.changes)
        }
        var merger = Merger(prepared.request, projection)
        let merged =
            fit == .folded
            ? prepared.changes : try merger.merge(prepared.changes, in: transaction)
        try refuseConflicts(merger.conflicts)

        var union = UniquenessMerge(prepared.request, parts.projection)
        let united = try union.settle(merged, in: transaction)
        var references = ReferenceCheck(
            united, policy: prepared.request.policy, parts.projection,
            savedBy: saver)
        let changes = try references.settle(in: transaction)
        try refuseConflicts(references.conflicts)
        let conflicts = try traced(merger.conflicts + references.conflicts, in: transaction)
        try CountCheck.check(changes, parts.projection, in: transaction)
        if !union.hasSeenAll || !references.isUntouched {
            try UniquenessCheck.check(changes, parts.projection, in: transaction)
        }
        let completed = try DerivedValues.completed(
            changes, parts.projection, given: repeated, in: transaction)
        let isUntouched = merger.isUntouched && union.isUntouched && references.isUntouched
        var settlement =
            isUntouched && (!parts.projection.isDeriving || completed == changes)
            ? Settlement(asSent: changes) : Settlement(changed: completed)
        settlement.conflicts = conflicts
        settlement.constraintConflicts = union.conflicts
        settlement.merged = merger.merged
        settlement.replaced = union.replaced
        return settlement
    }

    private func refuseConflicts(_ conflicts: [MergeConflict]) throws {
        guard prepared.request.policy == .error, !conflicts.isEmpty else { return }
        throw StoreError.conflict(conflicts, in: parts.projection.schema)
    }
}

extension ValidatedSave {
    /// Refuses to undo entries that do not exist: such an entry could not be read again.
    func refuseUndo(after head: SequenceNumber) throws {
        if let undone = request.header.undoes?.upperBound, undone > head {
            throw StoreError.noSuchEntry(undone, head: head)
        }
    }

    /// Refuses an entry that does not say what the model in force requires.
    func requireAttribution(_ schema: Schema) throws {
        try schema.model.requires.check(request.header)
    }
}
