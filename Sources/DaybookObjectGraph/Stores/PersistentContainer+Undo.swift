public import DaybookJournalLog
public import DaybookSnapshotStore

/// Undoing saved entries, whoever saved them and whenever.
///
/// Entries are those of the container's first store, as in ``PersistentContainer/context(at:)``; with
/// several stores, ask the ``PersistentStore`` itself. An object is restored in the store it lived in.
/// Each of these appends an entry of its own, which contexts merge like any other save.
extension PersistentContainer {
    /// Undoes a saved entry; see `PersistentStore.undo(_:policy:author:note:info:)`.
    ///
    /// ```swift
    /// let outcome = try container.undo(entry, policy: .keepLater, author: "ada")
    /// for obstacle in outcome.leftOut { print(obstacle) }
    /// ```
    ///
    /// - Throws: ``StoreError`` with code `undoBlocked`, `noSuchEntry`, `noSuchStore`, `readOnly` or
    ///   `validation`. Nothing has changed then.
    @discardableResult
    public func undo(
        _ entry: SequenceNumber, policy: UndoPolicy = .refuse, author: String? = nil,
        note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try firstStore().undo(entry, policy: policy, author: author, note: note, info: info)
    }

    /// Undoes entries in a row by one new entry.
    ///
    /// - Throws: As for a single one.
    @discardableResult
    public func undo(
        _ entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try firstStore().undo(entries, policy: policy, author: author, note: note, info: info)
    }

    /// What undoing entries would do. Nothing is changed.
    ///
    /// - Throws: What the undo would throw.
    public func previewUndo(
        of entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse
    ) throws -> UndoOutcome {
        try firstStore().previewUndo(of: entries, policy: policy)
    }

    /// Redoes an undone entry; see `PersistentStore.redo(_:policy:author:note:info:)`.
    ///
    /// - Throws: The same errors; ``StoreError`` with code `noSuchStore` when there is no store.
    @discardableResult
    public func redo(
        _ entry: SequenceNumber, policy: UndoPolicy = .refuse, author: String? = nil,
        note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try firstStore().redo(entry, policy: policy, author: author, note: note, info: info)
    }

    /// Redoes entries that were undone together.
    ///
    /// - Throws: As for a single one.
    @discardableResult
    public func redo(
        _ entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try firstStore().redo(entries, policy: policy, author: author, note: note, info: info)
    }

    /// What redoing undone entries would do. Nothing is changed.
    ///
    /// - Throws: What the redo would throw.
    public func previewRedo(
        of entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse
    ) throws -> UndoOutcome {
        try firstStore().previewRedo(of: entries, policy: policy)
    }

    /// Brings a deleted object back, or resets an object to an earlier state; see
    /// ``PersistentStore/restore(_:at:policy:author:note:info:)``.
    ///
    /// - Throws: The same errors.
    @discardableResult
    public func restore(
        _ id: ManagedObjectID, at moment: Moment? = nil, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try store(of: id).restore(
            id, at: moment, policy: policy, author: author, note: note, info: info)
    }

    /// What restoring an object would do. Nothing is changed.
    ///
    /// - Throws: What the restore would throw.
    public func previewRestore(
        of id: ManagedObjectID, at moment: Moment? = nil, policy: UndoPolicy = .refuse
    ) throws -> UndoOutcome {
        try store(of: id).previewRestore(of: id, at: moment, policy: policy)
    }

    private func firstStore() throws -> PersistentStore {
        guard let store = persistentStoreCoordinator.persistentStores.first else {
            throw StoreError.noStore()
        }
        return store
    }

    private func store(of id: ManagedObjectID) throws -> PersistentStore {
        let stores = persistentStoreCoordinator.persistentStores
        guard let store = stores.first(where: { $0.identifier == id.storeIdentifier }) else {
            throw StoreError.noSuchObject(id.description)
        }
        return store
    }
}
