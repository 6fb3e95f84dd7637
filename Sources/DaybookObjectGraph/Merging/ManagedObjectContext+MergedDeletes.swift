import DaybookObjectModel
import Foundation

extension ManagedObjectContext {
    /// The objects in use here that merges have found deleted since the last save.
    var deletedByMerges: some Sequence<ManagedObject> {
        mergedDeletes.lazy.compactMap { [identityMap] in identityMap[$0] }
            .filter { $0.status.isGone }
    }

    /// Merges what somebody has saved: what it deleted then counts among the changes here until the
    /// next save, as programs that merge by notification expect.
    func mergingSave<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = isMergingSave
        isMergingSave = true
        defer { isMergingSave = outer }
        return try body()
    }

    /// Notes an object that a merge has found deleted. It is not kept alive for that.
    func noteMergedDelete(of object: ManagedObject) {
        guard isMergingSave else { return }
        let count = mergedDeletes.count
        // At each power of two those that nobody uses any more are dropped.
        if count & (count - 1) == 0 {
            mergedDeletes = mergedDeletes.filter { identityMap[$0] != nil }
        }
        mergedDeletes.insert(object.graphID)
    }

    /// Ends, with a save that has nothing to append, the time in which merged deletions count as
    /// changes.
    func finishMergedDeletes() {
        guard !mergedDeletes.isEmpty else { return }
        mergedDeletes.removeAll()
        postDidSave(ChangeSummary([]), SavedChanges([]), [])
    }

    /// Notes, as faults, the objects that others have made and that were not in use here.
    func noteInserted(_ merged: MergedIdentifiers) {
        guard NotificationInterest.objectsDidChange.isThere else { return }
        for id in merged.unknown where identityMap[id]?.isEditable != false {
            changed.note(object(id), as: .inserted)
        }
    }

    /// The identifier of an object, in use here or not.
    func managedObjectID(of id: GraphID) -> ManagedObjectID {
        if let object = identityMap[id] { return object.objectID }
        return ManagedObjectID(
            binding(id.object.entity).identifiers(inStore: id.store, areTemporary: false),
            number: id.object.number)
    }
}
