public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// Saves as ``save(author:note:info:at:)`` does, and moves a cursor in the same write: both happen, or neither. So a
    /// program that saves because of an entry does so exactly once.
    ///
    /// ```swift
    /// for try await entry in try store.changes(since: cursor, where: .all.notBy("counter")) {
    ///     try await context.perform {
    ///         try count(entry, in: context)
    ///         try context.save(moving: cursor, to: entry.sequence, author: "counter")
    ///     }
    /// }
    /// ```
    ///
    /// With nothing pending the cursor moves without an entry. The entry of this save comes to the loop like any
    /// other, unless the filter leaves out its author.
    ///
    /// A hook such as ``ManagedObject/willSave()`` must not save the context meanwhile: that would be another write,
    /// and is refused with a ``QueryError``.
    ///
    /// - Parameters:
    ///   - cursor: The cursor, of a store of this context.
    ///   - entry: The last entry that has been dealt with.
    ///   - author: Who saves, as in ``save(author:note:info:at:)``.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - date: When it happened, if not now.
    /// - Returns: The number of the new entry; nil when nothing was left to append.
    /// - Throws: ``StoreError`` with code `conditionFailed` when the cursor stands elsewhere than where it was
    ///   read, because another reader has moved or removed it; with `noSuchEntry`; with `noSuchStore` for a cursor of
    ///   another store; what ``save(author:note:info:at:)`` throws; ``QueryError`` for pending changes of other
    ///   stores, and in a child. Everything is then still pending, and the cursor stays.
    /// - Complexity: As of the save.
    @discardableResult
    public func save(
        moving cursor: JournalCursor, to entry: SequenceNumber, author: String? = nil,
        note: String? = nil, info: [String: String] = [:], at date: Date? = nil
    ) throws -> SequenceNumber? {
        requireQueue()
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        guard parentStore.context == nil else {
            throw QueryError(
                "A child saves into its parent, where no cursor is kept. Move the cursor with the save of "
                    + "the context at the root.")
        }
        let store = coordinator.persistentStores.first { $0.identifier == cursor.store.identifier }
        guard let store else { throw StoreError.noSuchStore(cursor.store.name) }
        let task = try cursor.task(movingTo: entry)
        // The save may be refused by a hook after the store has it.
        defer { if task.isDone { cursor.finish(task) } }
        let saved = try terms.with(SaveTerms.JudgedCondition(store: store.number, cursor: task)) {
            try save(author: author, note: note, info: info, at: date)
        }
        if !task.isDone {
            try store.whileNotMoving { try store.store.move(task.move) }
            task.isDone = true
        }
        return saved
    }
}
