internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Where journal and rows end, as one save has left them: what the next one would have to look up.
///
/// It goes from save to save along with LMDB's transactions, which forget it when anybody else has
/// written: see ``WriteTransaction/remember(_:)``.
final class LastCommitState: Sendable {
    /// The last entry.
    let head: JournalHead
    /// An upper bound: no object of that entity has a greater number.
    let greatest: ObjectID?

    init(_ head: JournalHead, greatest: ObjectID?) {
        self.head = head
        self.greatest = greatest
    }

    /// What the last save has left, or, when others have written since, what the journal says.
    ///
    /// - Throws: ``JournalError`` when the journal does not end as it says.
    static func current(
        _ journal: Journal, in transaction: borrowing WriteTransaction
    ) throws -> LastCommitState {
        if let known = transaction.remembered as? LastCommitState { return known }
        return LastCommitState(try JournalHead(of: journal, in: transaction), greatest: nil)
    }
}
