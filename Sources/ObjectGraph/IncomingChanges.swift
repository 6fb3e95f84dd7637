import JournalLog
import ObjectModel

/// What others' entries make of the objects of a context, gathered until all have been read.
///
/// Edits there and back cancel out, so merging several entries at once never drops a pending edit
/// that only agreed with theirs for a while.
struct IncomingChanges {
    struct Update {
        let object: ManagedObject
        var edits: [Edit]
        var members: [MembershipEdit]
        var sequence: SequenceNumber
    }

    /// Whose entries they are.
    let store: PersistentStore
    var updates: [GraphID: Update] = [:]
    var conflicts: [MergeConflict] = []
    /// What was deleted in at least one of the entries.
    var deleted: Set<ObjectID> = []
    var refreshed: Set<ManagedObject> = []

    init(store: PersistentStore) {
        self.store = store
    }

    /// Adds the edits of one entry.
    mutating func append(
        _ edits: [Edit], _ members: [MembershipEdit], of object: ManagedObject,
        _ sequence: SequenceNumber
    ) {
        guard var update = updates[object.graphID] else {
            updates[object.graphID] = Update(
                object: object, edits: edits, members: members, sequence: sequence)
            return
        }
        for edit in edits {
            if let index = update.edits.firstIndex(where: { $0.property == edit.property }) {
                update.edits[index].new = edit.new
            } else {
                update.edits.append(edit)
            }
        }
        update.members = update.members.then(members)
        update.sequence = sequence
        updates[object.graphID] = update
    }
}
