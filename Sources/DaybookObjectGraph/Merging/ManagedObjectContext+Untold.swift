import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

// A merge makes pending values start from what others have saved, so that the following save meets no
// conflict. That is right if the conflict has been reported; an automatic merge must not lose an update.

extension ManagedObjectContext {
    /// Reports the conflicts that an automatic merge has met, or keeps them until somebody asks.
    func tell(of conflicts: [MergeConflict]) {
        guard !conflicts.isEmpty else { return }
        if let mergeConflictHandler {
            mergeConflictHandler(conflicts)
        } else {
            terms.keep(conflicts)
        }
    }

    /// Returns the conflicts of a merge, after those that have not been reported yet.
    func telling(_ merge: () throws -> [MergeConflict]) rethrows -> [MergeConflict] {
        let met = try merge()
        defer { terms.forgetConflicts() }
        return standing(terms.untoldConflicts) + met
    }

    /// Refuses a save while there are unreported conflicts, unless the policy settles conflicts.
    func refuseUntoldConflicts() throws {
        guard !terms.untoldConflicts.isEmpty, mergePolicy == .error else { return }
        let standing = standing(terms.untoldConflicts)
        terms.forgetConflicts()
        terms.keep(standing)
        guard standing.isEmpty else {
            throw StoreError.untoldConflicts(standing, in: coordinator.model.schema)
        }
    }

    /// Conflicts without those that an undo has settled since: of what has been taken back nothing is
    /// left to collide.
    private func standing(_ conflicts: [MergeConflict]) -> [MergeConflict] {
        guard !conflicts.isEmpty else { return [] }
        var edited: [StoredObject: Set<PropertyNumber>] = [:]
        var deleted: Set<StoredObject> = []
        for item in journal.net {
            switch item.change?.kind {
            case .update(let edits, _):
                edited[item.object.storedObject, default: []].formUnion(edits.map(\.property))
            case .delete: deleted.insert(item.object.storedObject)
            case .insert, nil: break
            }
        }
        return conflicts.filter { conflict in
            // If both have come to the same value, nothing is pending any more.
            switch conflict.kind {
            case .deletedByUs: return deleted.contains(conflict.storedObject)
            case .value where conflict.ours != conflict.theirs:
                guard let property = conflict.property else { return true }
                return deleted.contains(conflict.storedObject)
                    || edited[conflict.storedObject]?.contains(property) == true
            default: return true
            }
        }
    }

    /// Forgets the conflicts of an object that is read again, but not those of one with the same number
    /// in another store.
    func forgetUntoldConflicts(of object: ManagedObject) {
        guard !terms.untoldConflicts.isEmpty else { return }
        let storedObject = object.storedObject
        terms.forgetConflicts { $0.storedObject == storedObject }
    }
}

/// An object by identifiers that outlive it: conflicts may be reported after its store has gone.
private struct StoredObject: Hashable {
    let store: UUID?
    let object: ObjectID
}

extension ManagedObject {
    fileprivate var storedObject: StoredObject {
        StoredObject(store: storeIdentifier, object: graphID.object)
    }
}

extension MergeConflict {
    fileprivate var storedObject: StoredObject {
        StoredObject(store: storeIdentifier, object: object)
    }
}
