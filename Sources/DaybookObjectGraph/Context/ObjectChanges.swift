import DaybookObjectModel

/// What has happened to the objects of a context since it was last posted.
///
/// Lists, not sets: a program that does not listen pays for neither.
struct ObjectChanges {
    enum Kind {
        case inserted, updated, deleted, refreshed, invalidated
    }

    private var inserted: [ManagedObject] = []
    private var updated: [ManagedObject] = []
    private var deleted: [ManagedObject] = []
    private var refreshed: [ManagedObject] = []
    private var invalidated: [ManagedObject] = []

    /// Whether nothing has happened.
    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
            && invalidated.isEmpty
    }

    /// Records what has happened to an object, if somebody may listen.
    mutating func record(_ object: ManagedObject, as kind: Kind) {
        guard NotificationInterest.objectsDidChange.isThere else { return }
        switch kind {
        case .inserted: inserted.append(object)
        case .updated: updated.append(object)
        case .deleted: deleted.append(object)
        case .refreshed: refreshed.append(object)
        case .invalidated: invalidated.append(object)
        }
    }

    /// Records a change that was made as a whole.
    mutating func record(_ change: Change, of object: ManagedObject) {
        switch change.kind {
        case .insert: record(object, as: .inserted)
        case .update: record(object, as: .updated)
        case .delete: record(object, as: .deleted)
        }
    }

    /// The objects grouped by what finally happened to them, each in one set.
    var sets: [String: Set<ManagedObject>] {
        let gone = Set(deleted)
        let new = Set(inserted).subtracting(gone)
        let edited = Set(updated).subtracting(gone).subtracting(new)
        let read = Set(refreshed).subtracting(gone).subtracting(new).subtracting(edited)
        let sets = [
            ManagedObjectContext.insertedObjectsKey: new,
            ManagedObjectContext.updatedObjectsKey: edited,
            ManagedObjectContext.deletedObjectsKey: gone,
            ManagedObjectContext.refreshedObjectsKey: read,
            ManagedObjectContext.invalidatedObjectsKey: Set(invalidated),
        ]
        return sets.filter { !$0.value.isEmpty }
    }
}
