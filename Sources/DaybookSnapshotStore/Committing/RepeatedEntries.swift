internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Appends entries that were saved elsewhere, unchanged and one after the other, in one transaction.
///
/// Each has to pass every check of a save but the laws of the model, by which it was judged where it was saved. What is
/// the same for all of them is looked up once, and what only the last one says is written at the end.
struct RepeatedEntries {
    private let models: ModelsInForce
    private let options: StoreOptions
    private let chunks: ChunkTable?
    /// The model in force, whatever the program knows of it.
    private var parts: StoreParts
    private var draft: EntryDraft
    /// The greatest number of their new objects.
    private var numberMaximum: UInt64 = 0
    private var hasAppended = false
    /// The numbers that the file has kept for new objects.
    private var kept: KeptNumbers?
    /// Whether another copy of the file has given some of them out.
    private var hasLostNumbers = false

    /// - Parameters:
    ///   - models: The models of the store.
    ///   - options: Its options.
    ///   - chunks: Where to keep large data that the entries refer to; nil if they are there already.
    ///   - transaction: The write transaction.
    /// - Throws: ``StoreError`` when the end of the journal or the model in force cannot be read.
    init(
        _ models: ModelsInForce, _ options: StoreOptions, keeping chunks: ChunkTable? = nil,
        in transaction: borrowing WriteTransaction
    ) throws {
        self.models = models
        self.options = options
        self.chunks = chunks
        (parts, draft) = try Self.start(models, in: transaction)
        kept = try StoreMetadata.sharedNumbers(parts.tables.meta, in: transaction)
    }

    /// Where the journal ends.
    var head: SharedHead { SharedHead(draft.last.head.sequence, draft.last.head.digest) }

    /// Appends the next entry.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - transaction: The write transaction.
    /// - Returns: What was appended.
    /// - Throws: ``StoreError`` with ``StoreError/Code/digestMismatch`` when it is not the next one, or does not come
    ///   out with its digest; what ``Store/commit(_:)`` throws when its changes do not fit. The transaction must not be
    ///   committed then.
    mutating func append(
        _ entry: Entry, in transaction: borrowing WriteTransaction
    ) throws -> SaveResult {
        try chunks?.keep(entry.changes, in: transaction)
        let appended =
            if let version = entry.version {
                try appendModel(version, entry, in: transaction)
            } else {
                try appendChanges(entry, in: transaction)
            }
        guard let appended, appended.sequence == entry.sequence, appended.digest == entry.digest
        else { throw StoreError.digestMismatch(entry.sequence, appended?.sequence) }
        numberMaximum = max(numberMaximum, ObjectNumbers.maximum(in: entry.changes))
        if let known = kept?.blocks, !known.isEmpty {
            kept?.blocks = known.filter { block in !entry.changes.contains { $0.takes(block) } }
            hasLostNumbers = hasLostNumbers || kept?.blocks.count != known.count
        }
        hasAppended = true
        return SaveResult(
            sequence: appended.sequence, digest: appended.digest, changes: entry.changes,
            conflicts: [])
    }

    /// Ends it: afterwards the transaction may be committed.
    func finish(in transaction: borrowing WriteTransaction) throws {
        guard hasAppended else { return }
        try ObjectNumbers.cover(numberMaximum, parts.tables.meta, in: transaction)
        if hasLostNumbers {
            try StoreMetadata.setSharedNumbers(kept, parts.tables.meta, in: transaction)
        }
        transaction.remember(draft.last)
    }

    /// By the model in force.
    private static func start(
        _ models: ModelsInForce, in transaction: borrowing WriteTransaction
    ) throws -> (StoreParts, EntryDraft) {
        let last = try LastCommitState.current(models.parts, in: transaction)
        let parts = try models.inForce(setBy: last.model, in: transaction).parts
        return (parts, EntryDraft(parts, after: last))
    }

    private mutating func appendModel(
        _ version: ModelVersion, _ entry: Entry, in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        let appended = try ModelEntry(entry.header, version, entry.changes).append(
            to: parts, after: draft.last, clock: { entry.recordedAt }, in: transaction)
        (parts, draft) = try Self.start(models, in: transaction)
        return appended
    }

    private mutating func appendChanges(
        _ entry: Entry, in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry? {
        let schema = parts.projection.schema
        let prepared = try ValidatedSave(
            SaveRequest(header: entry.header, changes: entry.changes.withoutDerived(in: schema)),
            schema: schema)
        try prepared.refuseUndo(after: draft.last.head.sequence)
        try prepared.requireAttribution(schema)
        let fit = try draft.attempt(prepared, in: transaction)
        let settlement = try Settling(prepared, parts, savedBy: schema, repeating: entry.changes)
            .settled(fit, in: transaction)
        guard try draft.complete(settlement, of: prepared, fit, in: transaction) else { return nil }
        let appended = try draft.append(
            recordedAt: entry.recordedAt, occurredAt: entry.header.occurredAt, in: transaction)
        if options.verification == .afterCommit {
            try EntryCheck.check(
                settlement.changes, of: appended.sequence, entry.header, parts.projection,
                draft.last.pending, in: transaction)
        }
        return appended
    }
}

extension Change {
    /// Whether it makes an object with a number of a block.
    fileprivate func takes(_ block: Range<UInt64>) -> Bool {
        isInsert && block.contains(object.number)
    }
}
