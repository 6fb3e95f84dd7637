// The room of committing: from a request to an entry, by checks, merging and repair, in one write
// transaction. Except for the first entry, which sets the model, nothing else appends to the
// journal.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

extension Store {
    /// Appends one entry with the changes of a request and folds it into the projection.
    ///
    /// Returns when both are durable. Saves that arrive at the same time share one sync. Changes of
    /// others since the request's base are merged property by property under the request's policy.
    ///
    /// - Returns: What was saved; its sequence number is nil when nothing was left to save.
    /// - Throws: ``StoreError`` with ``StoreError/Code/conflict``, ``StoreError/Code/validation`` or
    ///   ``StoreError/Code/duplicate`` for changes that cannot be saved; with
    ///   ``StoreError/Code/readOnly``, ``StoreError/Code/closed``, ``StoreError/Code/busy``,
    ///   ``StoreError/Code/full`` or ``StoreError/Code/inputOutput`` for a file that cannot be written;
    ///   with ``StoreError/Code/law`` and every breach for changes that a law of the model forbids; with
    ///   ``StoreError/Code/attribution`` when the model requires what the header does not say, and
    ///   ``StoreError/Code/information`` when the header says what an entry cannot keep;
    ///   with ``StoreError/Code/corrupt`` when something that the save has to read is damaged: a row of
    ///   its objects, the last entry, one that a conflict is traced to, or a page. Other entries may be
    ///   damaged; with ``StoreError/Code/conditionFailed`` for a condition that does not hold, or a cursor that
    ///   stands elsewhere; with ``StoreError/Code/model`` for a cursor that is to move with a model; with
    ///   ``StoreError/Code/generation`` when the entry that set the program's model was cut off. The store is
    ///   unchanged then.
    /// - Complexity: O(*k* log *n*) page reads and writes, *k* the number of changes. Every 64th
    ///   save also reads the short entries among the 63 before it, to write their times.
    @discardableResult
    package func commit(_ request: SaveRequest) throws -> SaveResult {
        guard request.cursor == nil || (request.version == nil && stage == nil) else {
            throw StoreError(
                .model,
                "A cursor does not move with an entry that sets a model. Move it afterwards.")
        }
        if let doubtful = request.resumes { return try resume(request, doubtful) }
        if let version = request.version { return try commitModel(request, version) }
        if let stage {
            // Nobody else saves between the check and the stage, which would refuse.
            try reading { transaction in
                let head = try parts.journal.head(in: transaction)
                try ConditionCheck(parts, at: head).check(request.conditions, in: transaction)
            }
            return try commit(request, as: stage)
        }
        let prepared = try wrapping { try ValidatedSave(request, schema: schema) }
        guard !prepared.changes.isEmpty else {
            if let cursor = request.cursor { try move(cursor) }
            return SaveResult(sequence: nil, digest: nil, changes: [], conflicts: [])
        }
        let commit = Commit(
            prepared, models: models, parts: parts, clock: options.clock,
            verifies: options.verification == .afterCommit,
            takesNumbers: sharing == nil && numbers.isLow,
            numbersTaken: numbers.bound, chunks: try chunkTable(for: prepared.changes))
        let outcome = try givingUpTakenNumbers(of: prepared.request) {
            try doubting { try writing(keeping: $0) { try commit.run(in: $0) } }
        }
        if let block = outcome.block { numbers.add(block) }
        if sharing != nil, numbers.isLow { takeNumbersAhead() }
        if let sequence = outcome.result.sequence { publish(sequence) }
        freePages(after: outcome.result.changes)
        if request.userValues != nil || request.cursor != nil { sendMarksSoon() }
        return outcome.result
    }
}

extension Store {
    /// Gives up the object numbers that are left when a new object is refused because another one has its number: whoever
    /// has given that out has the next ones, too.
    private func givingUpTakenNumbers<Result>(
        of request: SaveRequest, _ save: () throws -> Result
    ) throws -> Result {
        do {
            return try save()
        } catch let error as StoreError where error.code == .validation {
            let refused = Set(error.failures.compactMap(\.object))
            let new = request.changes.lazy.filter {
                $0.isInsert && refused.contains($0.object) && !request.returned.contains($0.object)
            }.map(\.object)
            if try areTaken(Array(new), refusedFor: error) { numbers.giveUp() }
            throw error
        }
    }

    /// Whether the store has any of some objects; throws the error for which they are asked when it cannot be read.
    private func areTaken(_ objects: [ObjectID], refusedFor error: StoreError) throws -> Bool {
        guard !objects.isEmpty else { return false }
        do {
            return try reading { [rows = parts.tables.rows] transaction in
                try objects.contains {
                    try transaction.contains(rows, StoreKey.object($0).span.bytes)
                }
            }
        } catch is StoreError {
            // The save was refused for a better reason.
            throw error
        }
    }

    /// Keeps the outcome of a save in doubt, for ``settle(_:)``.
    private func doubting(
        _ body: (WriteOutcome<Commit.Outcome>) throws -> Commit.Outcome
    ) throws -> Commit.Outcome {
        let kept = WriteOutcome<Commit.Outcome>()
        do {
            return try body(kept)
        } catch let error as StoreError where error.code == .inDoubt {
            guard let result = kept.value.withLock(\.self)?.result,
                let sequence = result.sequence, let digest = result.digest
            else { throw error }
            sharing?.keep(result, for: digest)
            throw error.about(SaveDoubt(sequence: sequence, digest: digest))
        }
    }

    /// The outcome of committing a request now, without committing it: nothing is written, and no
    /// writer waits.
    ///
    /// - Returns: What would be saved, without a number.
    /// - Throws: ``StoreError`` as ``commit(_:)`` would: with ``StoreError/Code/conflict``,
    ///   ``StoreError/Code/validation``, ``StoreError/Code/duplicate``.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes.
    package func preview(_ request: SaveRequest) throws -> SaveResult {
        if request.version != nil {
            return SaveResult(
                sequence: nil, digest: nil, changes: request.changes, conflicts: []
            ).shown(by: schema)
        }
        let commit = Commit(
            try wrapping { try ValidatedSave(request, schema: schema) }, models: models,
            parts: parts, clock: options.clock, verifies: false, takesNumbers: false)
        return try reading { try commit.preview(in: $0) }
    }
}

/// One save inside the LMDB transaction. It may run more than once, so it has no other effect.
final class Commit: Sendable {
    private let prepared: ValidatedSave
    private let models: ModelsInForce
    private let parts: StoreParts
    private let clock: @Sendable () -> Int64
    private let verifies: Bool
    private let takesNumbers: Bool
    /// All object numbers below are known to be taken.
    private let numbersTaken: UInt64
    /// The table of chunks, if a value is to be kept there.
    private let chunks: ChunkTable?

    /// The outcome of a save.
    struct Outcome: Sendable {
        var result: SaveResult
        /// The object numbers reserved along with it.
        var block: Range<UInt64>?
    }

    init(
        _ prepared: ValidatedSave, models: ModelsInForce, parts: StoreParts,
        clock: @escaping @Sendable () -> Int64, verifies: Bool, takesNumbers: Bool,
        numbersTaken: UInt64 = 0, chunks: ChunkTable? = nil
    ) {
        self.prepared = prepared
        self.models = models
        self.parts = parts
        self.clock = clock
        self.verifies = verifies
        self.takesNumbers = takesNumbers
        self.numbersTaken = numbersTaken
        self.chunks = chunks
    }

    /// Saves, or refuses with conflicts that name the entries behind them.
    ///
    /// Where another program has set a newer model, the changes are first brought into its layout, if
    /// the program's own model allows that. The request is by the program's own model, which has to be in the journal
    /// still.
    func run(in transaction: borrowing WriteTransaction) throws -> Outcome {
        let last = try LastCommitState.current(parts, in: transaction)
        try models.checkView(after: last.model.rewinds, in: transaction)
        guard last.model.sequence != models.view.sequence else {
            return try save(after: last, in: transaction)
        }
        let inForce = try models.inForce(setBy: last.model, in: transaction)
        var outcome = try adapted(to: inForce, in: transaction).save(after: last, in: transaction)
        outcome.result = outcome.result.shown(by: models.view.schema)
        return outcome
    }

    /// This save by the model in force.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/modelSuperseded``.
    private func adapted(
        to inForce: ModelInForce, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Commit {
        try inForce.permitWriting(in: transaction)
        let request = try prepared.request.adapted(to: inForce.parts, in: transaction)
        return Commit(
            try ValidatedSave(request, schema: inForce.parts.projection.schema), models: models,
            parts: inForce.parts, clock: clock, verifies: verifies, takesNumbers: takesNumbers,
            numbersTaken: numbersTaken, chunks: chunks)
    }

    /// This save as one that stands on an entry: the one on which it stood was cut off, and no entry is based on itself
    /// or a later one.
    private func rebased(on base: SequenceNumber) throws -> Commit {
        var request = prepared.request
        request.header.base = base
        return Commit(
            try ValidatedSave(request, schema: parts.projection.schema), models: models,
            parts: parts, clock: clock, verifies: verifies, takesNumbers: takesNumbers,
            numbersTaken: numbersTaken, chunks: chunks)
    }

    private func save(
        after last: LastCommitState, in transaction: borrowing WriteTransaction
    ) throws -> Outcome {
        guard prepared.request.header.base <= last.head.sequence else {
            return try rebased(on: last.head.sequence).save(after: last, in: transaction)
        }
        try prepared.refuseUndo(after: last.head.sequence)
        try ConditionCheck(parts, at: last.head.sequence).check(
            prepared.request.conditions, in: transaction)
        try prepared.request.cursor?.carryOut(parts.tables.meta, in: transaction)
        var draft = EntryDraft(parts, after: last)
        let fit = try draft.attempt(prepared, in: transaction)
        let settlement = try settling.settled(fit, in: transaction)
        if !settlement.changes.isEmpty {
            try prepared.requireAttribution(parts.projection.schema)
            try LawCheck.check(
                settlement.changes, of: prepared.request.header, parts.projection, in: transaction)
        }
        guard try draft.complete(settlement, of: prepared, fit, in: transaction) else {
            return Outcome(result: settlement.result())
        }
        try keepUserValues(in: transaction)
        try chunks?.keep(
            settlement.changes, without: prepared.request.forgone, in: transaction)
        let entry = try draft.append(
            recordedAt: recordingTime(after: last.head),
            occurredAt: prepared.request.header.occurredAt, in: transaction)
        if verifies {
            try EntryCheck.check(
                settlement.changes, of: entry.sequence, prepared.request.header, parts.projection,
                last.pending, in: transaction)
        }
        let block = try takeNumbers(for: settlement.changes, in: transaction)
        transaction.remember(draft.last)
        return Outcome(result: settlement.result(entry), block: block)
    }

    /// The outcome that a save would have.
    func preview(in transaction: borrowing some Reading & ~Copyable) throws -> SaveResult {
        let inForce = try models.inForce(in: transaction)
        try models.checkView(after: inForce.place.rewinds, in: transaction)
        guard inForce.sequence != models.view.sequence else {
            return try settling.settled(.unknown, in: transaction).result()
        }
        return try adapted(to: inForce, in: transaction).settling.settled(.unknown, in: transaction)
            .result().shown(by: models.view.schema)
    }

    /// The changes that are left of a request that nobody else's entry can collide with, checked against
    /// what is stored.
    func settledChanges(in transaction: borrowing some Reading & ~Copyable) throws -> [Change] {
        try settling.settled(.unknown, in: transaction).changes
    }

    private var settling: Settling {
        Settling(prepared, parts, savedBy: models.view.schema)
    }

    // MARK: - Writing

    private func keepUserValues(in transaction: borrowing WriteTransaction) throws {
        guard let values = prepared.request.userValues else { return }
        try StoreMetadata.setUserValues(values, parts.tables.meta, in: transaction)
    }

    /// The current time, but never earlier than the previous entry's, even when the clock was set
    /// back.
    private func recordingTime(after last: JournalHead) -> Int64 {
        prepared.request.recordedAt ?? max(clock(), last.recordedAt)
    }

    /// Extends the reservation when it runs low, or to cover numbers that came from elsewhere.
    private func takeNumbers(
        for changes: [Change], in transaction: borrowing WriteTransaction
    ) throws -> Range<UInt64>? {
        let meta = parts.tables.meta
        try ObjectNumbers.cover(changes, from: numbersTaken, meta, in: transaction)
        return takesNumbers ? try ObjectNumbers.reserve(meta, in: transaction) : nil
    }
}
