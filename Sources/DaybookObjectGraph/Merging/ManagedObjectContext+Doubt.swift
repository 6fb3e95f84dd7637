import DaybookObjectModel
import DaybookSnapshotStore

// A save in doubt stays pending. When a merge meets its entry, what that has saved is pending no longer, and is nobody
// else's.

extension ManagedObjectContext {
    /// Makes what is pending start from what a save in doubt turns out to have saved.
    ///
    /// An object that was new or deleted in it stays pending: the next save, which asks for the entry in any case, finds
    /// that it is saved.
    ///
    /// - Parameters:
    ///   - entry: What the entry has changed, which may be more than was sent.
    ///   - store: The number of its store.
    /// - Returns: What is to be merged of it.
    func settleDoubt(over entry: [Change], of store: UInt32) -> [Change] {
        let sent = terms.doubtfulSave(in: store)?.changes ?? []
        let left = sent.filter { !start(from: $0, in: store) }
        terms.mergeDoubt(in: store, leaving: left)
        let waiting = Set(left.map(\.object))
        return entry.filter { !waiting.contains($0.object) }
    }

    /// Makes what is pending for an object start from a saved update of it.
    ///
    /// - Returns: Whether that was possible.
    private func start(from saved: Change, in store: UInt32) -> Bool {
        guard case .update = saved.kind,
            let object = registry[GraphID(store: store, object: saved.object)],
            object.isEditable
        else { return false }
        guard let pending = journal.change(of: object.graphID) else {
            // It has been taken back since.
            guard !object.isFault else { return false }
            let back = RecordedChange(object: object, change: saved.inverse)
            _ = journal.append([back], to: nil)
            settle(object, .update)
            return true
        }
        guard case .update = pending.kind else { return false }
        do {
            let rest = try saved.inverse.followed(by: pending, of: object.binding.schema)
            journal.rebase(object, to: rest)
            return true
        } catch {
            return false
        }
    }
}
