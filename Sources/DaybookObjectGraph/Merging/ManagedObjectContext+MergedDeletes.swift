import DaybookObjectModel
import Foundation

extension ManagedObjectContext {
    /// The objects in use here that merges have found deleted since the last save.
    var deletedByMerges: some Sequence<ManagedObject> {
        news.deletedByMerges.lazy.compactMap { [registry] in registry[$0] }
            .filter { $0.status.isGone }
    }

    /// Ends, with a save that has nothing to append, the time in which merged deletions count as
    /// changes.
    func finishMergedDeletes() {
        guard news.recordSave() else { return }
        postDidSave(ChangeSummary([]), SavedChanges([]), [])
    }

    /// Records, as faults, the objects that others have inserted and that were not in use here.
    func recordInserted(_ merged: MergedIdentifiers) {
        guard NotificationInterest.objectsDidChange.isThere else { return }
        for id in merged.unknown where registry[id]?.isEditable != false {
            news.record(object(id), as: .inserted)
        }
    }

    /// The identifier of an object, in use here or not.
    func managedObjectID(of id: GraphID) -> ManagedObjectID {
        if let object = registry[id] { return object.objectID }
        return ManagedObjectID(
            binding(id.object.entity).identifiers(inStore: id.store, areTemporary: false),
            number: id.object.number)
    }
}
