import DaybookJournalLog
import DaybookObjectModel
public import Foundation

extension Notification.Name {
    // A notification is posted only once it has been named; see NotificationInterest.

    /// Posted after a context was saved, on its queue, with the objects grouped by what happened to
    /// them. The notification's object is the context.
    ///
    /// A save of nothing is not posted, except the first one after a merge that found objects deleted:
    /// its sets are empty.
    ///
    /// - Important: This and the other notifications of contexts, undo managers and stores are gathered and posted
    ///   only in programs that ask for their names; listening to a name spelled out, or to all
    ///   notifications, does not count.
    public static var managedObjectContextDidSave: Notification.Name {
        NotificationInterest.didSave.markRequested()
        return .didSave
    }

    /// Posted after objects of a context have changed, on its queue: at the end of each event, after
    /// undo, redo, a rollback, a refresh, a merge and a reset. The notification's object is the
    /// context; only the sets that are not empty are in it.
    public static var managedObjectContextObjectsDidChange: Notification.Name {
        NotificationInterest.objectsDidChange.markRequested()
        return .objectsDidChange
    }

    /// Like ``managedObjectContextDidSave``, with identifiers, which may be passed to other queues.
    public static var managedObjectContextDidSaveObjectIDs: Notification.Name {
        NotificationInterest.didSaveObjectIDs.markRequested()
        return .didSaveObjectIDs
    }

    /// Posted after a context has merged changes, on its queue, with the identifiers of what was
    /// merged. The notification's object is the context.
    public static var managedObjectContextDidMergeChangesObjectIDs: Notification.Name {
        NotificationInterest.didMergeObjectIDs.markRequested()
        return .didMergeObjectIDs
    }

    fileprivate static let didSave = Notification.Name("DaybookManagedObjectContextDidSave")
    fileprivate static let objectsDidChange = Notification.Name(
        "DaybookManagedObjectContextObjectsDidChange")
    fileprivate static let didSaveObjectIDs = Notification.Name(
        "DaybookManagedObjectContextDidSaveObjectIDs")
    fileprivate static let didMergeObjectIDs = Notification.Name(
        "DaybookManagedObjectContextDidMergeChangesObjectIDs")
}

/// The objects of a save, grouped by what happened to them.
struct ChangeSummary {
    let inserted: Set<ManagedObject>
    let updated: Set<ManagedObject>
    let deleted: Set<ManagedObject>

    /// What happened to objects that are about to be saved; nothing when nobody listens.
    init(_ objects: @autoclosure () -> [ManagedObject]) {
        let isAsked =
            NotificationInterest.didSave.isThere || NotificationInterest.didSaveObjectIDs.isThere
        let objects = isAsked ? objects() : []
        var inserted: [ManagedObject] = []
        var updated: [ManagedObject] = []
        var deleted: [ManagedObject] = []
        for object in objects {
            switch object.status.pending {
            case .insertOfEvent, .insert, .insertAndDelete: inserted.append(object)
            case .delete: deleted.append(object)
            case .update: updated.append(object)
            case .nothing: continue
            }
        }
        self.inserted = Set(inserted)
        self.updated = Set(updated)
        self.deleted = Set(deleted)
    }
}

extension ManagedObjectContext {
    /// In the notifications: the set of objects inserted.
    public static let insertedObjectsKey = "inserted"
    /// In the notifications: the set of objects updated.
    public static let updatedObjectsKey = "updated"
    /// In the notifications: the set of objects deleted.
    public static let deletedObjectsKey = "deleted"
    /// In the notifications: the set of objects that took values from the store.
    public static let refreshedObjectsKey = "refreshed"
    /// In the notifications: the set of faults whose record could not be read and that stay faults.
    public static let invalidatedObjectsKey = "invalidated"
    /// In the notification of a reset: the identifiers of all objects that were registered.
    public static let invalidatedAllObjectsKey = "invalidatedAll"
    /// In the notifications with identifiers: those of the objects inserted.
    public static let insertedObjectIDsKey = "insertedIDs"
    /// In the notifications with identifiers: those of the objects updated.
    public static let updatedObjectIDsKey = "updatedIDs"
    /// In the notifications with identifiers: those of the objects deleted.
    public static let deletedObjectIDsKey = "deletedIDs"
    /// In the notification of a save: the number of the entry.
    public static let sequenceKey = "sequence"
    /// In the notification of a save: the number of the entry in each store that was saved, by the
    /// store's identifier. Absent when nothing reached a store.
    public static let historyTokenKey = "historyToken"
    /// In the notifications of a context that is held to a query generation: its
    /// ``QueryGenerationToken``.
    public static let queryGenerationTokenKey = "queryGenerationToken"

    /// In the notification of a save: what children merge.
    static let changesKey = "changes"
    /// In the notification of a save: the number of the entry in each store.
    static let positionsKey = "positions"

    func postDidSave(
        _ summary: ChangeSummary, _ changes: SavedChanges,
        _ entries: [(store: UInt32, sequence: SequenceNumber)]
    ) {
        postDidSaveObjectIDs(summary, entries)
        guard NotificationInterest.didSave.isThere else { return }
        var information: [AnyHashable: Any] = [
            Self.insertedObjectsKey: summary.inserted,
            Self.updatedObjectsKey: summary.updated,
            Self.deletedObjectsKey: summary.deleted,
            Self.changesKey: changes,
        ]
        if let last = entries.last {
            information[Self.historyTokenKey] = historyToken(entries)
            information[Self.sequenceKey] = last.sequence
            information[Self.positionsKey] = Dictionary(
                entries.map { ($0.store, $0.sequence) }
            ) { _, later in later }
        }
        post(.didSave, information)
    }

    private func postDidSaveObjectIDs(
        _ summary: ChangeSummary, _ entries: [(store: UInt32, sequence: SequenceNumber)]
    ) {
        guard NotificationInterest.didSaveObjectIDs.isThere else { return }
        func identifiers(_ objects: Set<ManagedObject>) -> Set<ManagedObjectID> {
            Set(objects.map { managedObjectID(of: $0.graphID) })
        }
        var information: [AnyHashable: Any] = [
            Self.insertedObjectIDsKey: identifiers(summary.inserted),
            Self.updatedObjectIDsKey: identifiers(summary.updated),
            Self.deletedObjectIDsKey: identifiers(summary.deleted),
        ]
        if !entries.isEmpty { information[Self.historyTokenKey] = historyToken(entries) }
        post(.didSaveObjectIDs, information)
    }

    private func historyToken(
        _ entries: [(store: UInt32, sequence: SequenceNumber)]
    ) -> [UUID: SequenceNumber] {
        let pairs = entries.compactMap { entry in
            coordinator.identifiers.identifier(of: entry.store).map { ($0, entry.sequence) }
        }
        return Dictionary(pairs) { _, later in later }
    }

    /// Tells lists, and posts, what has happened to objects since this was last done.
    func postChanges() {
        tellLists()
        guard let sets = news.takeChanges() else { return }
        var information: [AnyHashable: Any] = [:]
        for (key, objects) in sets { information[key] = objects }
        post(.objectsDidChange, information)
    }

    /// Posts that no object is registered any more.
    func postReset(of objects: [ManagedObject]) {
        guard NotificationInterest.objectsDidChange.isThere else { return }
        let identifiers = Set(objects.map { managedObjectID(of: $0.graphID) })
        post(.objectsDidChange, [Self.invalidatedAllObjectsKey: identifiers])
    }

    /// Posts what was merged.
    func postDidMerge(_ merged: MergedIdentifiers) {
        guard NotificationInterest.didMergeObjectIDs.isThere, !merged.isEmpty else { return }
        func identifiers(_ ids: Set<GraphID>) -> Set<ManagedObjectID> {
            Set(ids.map { managedObjectID(of: $0) })
        }
        post(
            .didMergeObjectIDs,
            [
                Self.insertedObjectIDsKey: identifiers(merged.inserted),
                Self.updatedObjectIDsKey: identifiers(merged.updated),
                Self.deletedObjectIDsKey: identifiers(merged.deleted),
            ])
    }

    private func post(_ name: Notification.Name, _ information: [AnyHashable: Any]) {
        var information = information
        if let token = queryGenerationToken { information[Self.queryGenerationTokenKey] = token }
        NotificationCenter.default.post(name: name, object: self, userInfo: information)
    }
}
