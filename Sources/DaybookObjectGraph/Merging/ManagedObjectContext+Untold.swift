import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

// A merge lets pending values stand on what others have saved, so that the save that follows finds
// nothing in its way. That is right where somebody has been told of it; a merge that comes by itself
// must not be the way in which an update gets lost.

extension ManagedObjectContext {
    /// Tells of what an automatic merge has met, or keeps it for whoever asks.
    func tell(of conflicts: [MergeConflict]) {
        guard !conflicts.isEmpty else { return }
        if let mergeConflictHandler {
            mergeConflictHandler(conflicts)
        } else {
            terms.keep(conflicts)
        }
    }

    /// Hands out what a merge has met, and before it what nobody has been told of yet.
    func telling(_ merge: () throws -> [MergeConflict]) rethrows -> [MergeConflict] {
        let met = try merge()
        defer { terms.forgetConflicts() }
        return standing(terms.untoldConflicts) + met
    }

    /// Refuses a save while there are conflicts that nobody has been told of, unless the policy settles
    /// conflicts.
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
        var edited: [ObjectPlace: Set<PropertyNumber>] = [:]
        var deleted: Set<ObjectPlace> = []
        for item in pending.items {
            switch item.change?.kind {
            case .update(let edits, _):
                edited[item.object.place, default: []].formUnion(edits.map(\.property))
            case .delete: deleted.insert(item.object.place)
            case .insert, nil: break
            }
        }
        return conflicts.filter { conflict in
            // Where both have come to the same value, nothing is pending any more.
            switch conflict.kind {
            case .deletedByUs: return deleted.contains(conflict.place)
            case .value where conflict.ours != conflict.theirs:
                guard let property = conflict.property else { return true }
                return deleted.contains(conflict.place)
                    || edited[conflict.place]?.contains(property) == true
            default: return true
            }
        }
    }

    /// Forgets the conflicts of an object that is read again, and not those of one that has the same
    /// number in another store.
    func forgetUntoldConflicts(of object: ManagedObject) {
        guard !terms.untoldConflicts.isEmpty else { return }
        let place = object.place
        terms.forgetConflicts { $0.place == place }
    }
}

/// An object by the names that outlive it: conflicts may be told when its store has gone.
private struct ObjectPlace: Hashable {
    let store: UUID?
    let object: ObjectID
}

extension ManagedObject {
    fileprivate var place: ObjectPlace {
        ObjectPlace(store: storeIdentifier, object: graphID.object)
    }
}

extension MergeConflict {
    fileprivate var place: ObjectPlace { ObjectPlace(store: storeIdentifier, object: object) }
}
