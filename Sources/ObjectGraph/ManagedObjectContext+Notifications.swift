public import Foundation
import JournalLog
import ObjectModel

extension Notification.Name {
    /// Posted after a context was saved, on its queue. The notification's object is the context.
    public static let managedObjectContextDidSave = Notification.Name(
        "DaybookManagedObjectContextDidSave")
    /// Posted after objects of a context changed by a merge, on its queue.
    public static let managedObjectContextObjectsDidChange = Notification.Name(
        "DaybookManagedObjectContextObjectsDidChange")
}

/// The objects of a save, by what happened to them.
struct ChangeSummary {
    let inserted: Set<ManagedObject>
    let updated: Set<ManagedObject>
    let deleted: Set<ManagedObject>

    init(_ objects: [ManagedObject]) {
        var inserted: [ManagedObject] = []
        var updated: [ManagedObject] = []
        var deleted: [ManagedObject] = []
        for object in objects {
            if object.status.contains(.inserted) {
                inserted.append(object)
            } else if object.status.contains(.deleted) {
                deleted.append(object)
            } else if object.status.contains(.updated) {
                updated.append(object)
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
    /// In the notification of a save: the number of the entry.
    public static let sequenceKey = "sequence"

    /// In the notification of a save: what children merge.
    static let changesKey = "changes"
    /// In the notification of a save: the number of the entry in each store.
    static let positionsKey = "positions"

    func postDidSave(
        _ summary: ChangeSummary, _ changes: SavedChanges,
        _ entries: [(store: UInt32, sequence: SequenceNumber)]
    ) {
        var information: [AnyHashable: Any] = [
            Self.insertedObjectsKey: summary.inserted,
            Self.updatedObjectsKey: summary.updated,
            Self.deletedObjectsKey: summary.deleted,
            Self.changesKey: changes,
        ]
        if let last = entries.last {
            information[Self.sequenceKey] = last.sequence
            information[Self.positionsKey] = Dictionary(
                entries.map { ($0.store, $0.sequence) }
            ) { _, later in later }
        }
        NotificationCenter.default.post(
            name: .managedObjectContextDidSave, object: self, userInfo: information)
    }

    func postDidChange(refreshed: Set<ManagedObject>) {
        NotificationCenter.default.post(
            name: .managedObjectContextObjectsDidChange, object: self,
            userInfo: [Self.refreshedObjectsKey: refreshed])
    }
}
