import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// The model with which a point in the past is read.
public enum ReadingModel: Sendable, Hashable, CaseIterable {
    /// The model of the program. What the store did not have yet reads as it does in objects from before;
    /// what was removed for a time and has come back reads as if it had been there all the while.
    case current
    /// The model that the store had then, with its names and with what has been removed since.
    /// The program's classes are not used: objects are ``ManagedObject``s, read by key.
    case then
}

extension PersistentContainer {
    /// The graph as it was: a context that reads at a point in the past and cannot be saved.
    ///
    /// With several stores, a sequence number belongs to the first store, and the others are read as
    /// they were when that entry happened. To try out changes there, see ``speculativeContext(at:)``.
    ///
    /// - Throws: ``StoreError`` with code `noSuchEntry` when the journal does not reach that far; with
    ///   `noSuchTag` when there is no such tag, or `generation` when its entry is not the one that was
    ///   tagged; with `noSuchStore` when no store has been added.
    /// - Complexity: O(log *n*); nothing is replayed.
    public func context(at moment: Moment) throws -> ManagedObjectContext {
        let coordinator = persistentStoreCoordinator
        let sequences = try coordinator.sequences(at: moment)
        let first = coordinator.persistentStores.first.flatMap { sequences[$0.number] }
        return ManagedObjectContext(
            coordinator, on: CoordinatedStores(of: coordinator, asAt: sequences),
            readingMode: .pinned(first ?? .zero))
    }

    /// The graph as it was, read with a model of choice.
    ///
    /// ```swift
    /// let past = try container.context(at: .sequence(12), model: .then)
    /// let old = try past.fetch(FetchRequest<ManagedObject>(entityName: "Reader"))
    /// ```
    ///
    /// With ``ReadingModel/then`` the context has a coordinator of its own, whose
    /// ``PersistentStoreCoordinator/managedObjectModel`` is the model of that time; identifiers of
    /// objects mean the same objects in both. It keeps the files open as long as it lives.
    ///
    /// - Throws: As ``context(at:)``; ``StoreError`` with code `modelMismatch` when the container has
    ///   several stores, whose models differed then.
    /// - Complexity: O(log *n*); O(*v*) more, *v* the number of versions of the model.
    public func context(at moment: Moment, model: ReadingModel) throws -> ManagedObjectContext {
        switch model {
        case .current: try context(at: moment)
        case .then: try contextOfThen(at: moment)
        }
    }

    private func contextOfThen(at moment: Moment) throws -> ManagedObjectContext {
        let sequences = try persistentStoreCoordinator.sequences(at: moment)
        let stores = persistentStoreCoordinator.persistentStores.compactMap { store in
            sequences[store.number].map { (store, $0) }
        }
        guard let (first, sequence) = stores.first else { return try context(at: moment) }
        let schema = try first.store.withModel(at: sequence).schema
        let coordinator = try PersistentStoreCoordinator(managedObjectModel: schema.model)
        var then: [UInt32: SequenceNumber] = [:]
        for (store, sequence) in stores {
            let added = try coordinator.attach(store, withModelAt: sequence)
            then[added.number] = sequence
        }
        return ManagedObjectContext(
            coordinator, on: CoordinatedStores(of: coordinator, asAt: then),
            readingMode: .pinned(sequence))
    }

    /// What if: a context that reads at a point in the past and can be edited there.
    ///
    /// Everything is read as it was, as in ``context(at:)``, with the edits made here on top. Nothing
    /// reaches a store before the context is saved. It has undo and redo, and may have children.
    ///
    /// - To discard what was tried, ``ManagedObjectContext/rollback()``, or let the context go.
    /// - To keep it, ``ManagedObjectContext/save(author:note:info:at:)`` merges it forward: the changes start
    ///   from that point and are merged, property by property and under the context's merge policy,
    ///   with everything that has been saved since. A conflict tells what both started from, what was
    ///   saved since, in which entry, by whom and when, and what this context wants. The context then
    ///   stands at the head, and is like any other.
    /// - ``ManagedObjectContext/previewSave()`` tells beforehand what that would do, and
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
