import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel

@testable import DaybookSnapshotStore

extension Store {
    /// Appends an entry that no save makes: nothing is checked, settled or kept besides.
    func forge(_ changes: [Change]) throws {
        try writing { [parts] transaction in
            let last = try LastCommitState.current(parts, in: transaction)
            var draft = EntryDraft(parts, after: last)
            try draft.fold(EntryPayload.bytes(EntryHeader(), changes), in: transaction)
            _ = try draft.append(
                recordedAt: last.head.recordedAt, occurredAt: nil, in: transaction)
            transaction.remember(draft.last)
        }
    }
}
