import Foundation
import JournalLog
import ObjectModel
import SnapshotStore

extension ManagedObjectContext {
    /// What every entry that touched an object did to it, oldest first.
    ///
    /// A context that reads at a point in the past knows what happened up to there. What is pending is
    /// no part of it: see ``ManagedObject/changedValues()``. Why an object is not there any more is
    /// told as well.
    ///
    /// - Returns: A revision for each entry; none when there never was such an object.
    /// - Throws: ``StoreError`` with code `noSuchObject` when the identifier belongs to a store that the
    ///   coordinator does not have.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of these entries.
    public func history(of id: ManagedObjectID) throws -> [ObjectRevision] {
        assertOnQueue()
        if let parent { return try parent.performForChild { try parent.history(of: id) } }
        let (object, store) = try place(of: id)
        let end = try position(toRead: store) ?? store.head()
        return try store.store.history(of: object).filter { $0.sequence <= end }.compactMap {
            guard let kind = ObjectChangeKind(from: $0.before, to: $0.after) else { return nil }
            let (header, time) = try store.store.header(of: $0.sequence)
            return ObjectRevision(
                sequence: $0.sequence, author: header.author, note: header.note,
                time: Date(microseconds: time), kind: kind,
                changes: store.propertyChanges(of: object, from: $0.before, to: $0.after))
        }
    }

    /// Where an identifier leads.
    private func place(of id: ManagedObjectID) throws -> (ObjectID, PersistentStore) {
        guard let graphID = coordinator.graphID(of: id) else {
            throw StoreError.noSuchObject(id.description)
        }
        return (graphID.object, try store(of: graphID))
    }
}
