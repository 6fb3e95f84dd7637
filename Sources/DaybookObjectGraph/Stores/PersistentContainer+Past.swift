import DaybookJournalLog
import DaybookSnapshotStore

extension PersistentContainer {
    /// The graph as it was: a context that reads at a point in the past and cannot be saved.
    ///
    /// With several stores, a sequence number belongs to the first store, and the others are read as
    /// they were when that entry happened. To try out changes there, see ``speculativeContext(at:)``.
    ///
    /// - Throws: ``StoreError`` with code `noSuchEntry` when the journal does not reach that far; with
    ///   `noSuchStore` when no store has been added.
    /// - Complexity: O(log *n*); nothing is replayed.
    public func context(at moment: Moment) throws -> ManagedObjectContext {
        let coordinator = persistentStoreCoordinator
        let sequences = try coordinator.sequences(at: moment)
        let first = coordinator.persistentStores.first.flatMap { sequences[$0.number] }
        return ManagedObjectContext(
            coordinator, on: CoordinatedStores(of: coordinator, asAt: sequences),
            readingMode: .pinned(first ?? .zero))
    }

    /// What if: a context that reads at a point in the past and can be edited there.
    ///
    /// Everything is read as it was, as in ``context(at:)``, with the edits made here on top. Nothing
    /// reaches a store before the context is saved. It has undo and redo, and may have children.
    ///
    /// - To discard what was tried, ``ManagedObjectContext/rollback()``, or let the context go.
    /// - To keep it, ``ManagedObjectContext/save(author:note:at:)`` merges it forward: the changes start
    ///   from that point and are merged, property by property and under the context's merge policy,
    ///   with everything that has been saved since. A conflict tells what both started from, what was
    ///   saved since, in which entry, by whom and when, and what this context wants. The context then
    ///   stands at the head, and is like any other.
    /// - ``ManagedObjectContext/previewSave()`` tells beforehand what that would come to, and
    ///   ``ManagedObjectContext/mergeChanges(through:)`` brings the context forward without saving.
    ///
    /// - Throws: As ``context(at:)``.
    /// - Complexity: O(log *n*); nothing is replayed. A save from here also reads the entries since, to
    ///   bring the objects in use here to the head.
    public func speculativeContext(at moment: Moment) throws -> ManagedObjectContext {
        let coordinator = persistentStoreCoordinator
        let sequences = try coordinator.sequences(at: moment)
        return ManagedObjectContext(
            coordinator, on: CoordinatedStores(of: coordinator, speculatingFrom: sequences))
    }
}
