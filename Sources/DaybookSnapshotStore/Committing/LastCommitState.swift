internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Where the journal and the rows end after a save, so that the next save need not look it up.
///
/// It is passed from save to save with LMDB's transactions, which drop it when anyone else has
/// written: see ``WriteTransaction/remember(_:)``.
final class LastCommitState: Sendable {
    /// The last entry.
    let head: JournalHead
    /// An upper bound: no object of that entity has a greater number.
    let greatest: ObjectID?
    /// The entry that set the model in force.
    let model: ModelPlace
    /// The indexes that are being built.
    let pending: PendingIndexes
    /// Whether the file is linked to a shared journal.
    let isLinked: Bool

    private init(
        _ head: JournalHead, greatest: ObjectID?, model: ModelPlace, pending: PendingIndexes,
        isLinked: Bool
    ) {
        self.head = head
        self.greatest = greatest
        self.model = model
        self.pending = pending
        self.isLinked = isLinked
    }

    /// The same with other indexes that are being built.
    func with(_ pending: PendingIndexes) -> LastCommitState {
        LastCommitState(
            head, greatest: greatest, model: model, pending: pending, isLinked: isLinked)
    }

    /// The state after an entry, which sets a model or not.
    func after(
        _ entry: JournalEntry, greatest: ObjectID?, setsModel: Bool = false
    ) -> LastCommitState {
        LastCommitState(
            JournalHead(entry), greatest: greatest,
            model: setsModel
                ? ModelPlace(sequence: entry.sequence, rewinds: model.rewinds) : model,
            pending: pending, isLinked: isLinked)
    }

    /// What the last save left, or what the journal says when others have written since.
    ///
    /// - Throws: ``JournalError`` when the journal does not end as it says.
    static func current(
        _ parts: StoreParts, in transaction: borrowing WriteTransaction
    ) throws -> LastCommitState {
        if let known = transaction.remembered as? LastCommitState { return known }
        return LastCommitState(
            try JournalHead(of: parts.journal, in: transaction), greatest: nil,
            model: try .last(parts.tables, in: transaction),
            pending: try StoreMetadata.pendingIndexes(parts.tables.meta, in: transaction),
            isLinked: try StoreMetadata.link(parts.tables.meta, in: transaction) != nil)
    }
}
