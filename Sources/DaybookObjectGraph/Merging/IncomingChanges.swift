import DaybookJournalLog
import DaybookObjectModel

/// The effect of others' entries on the objects of a context, gathered until all have been read.
///
/// Edits back and forth cancel out, so merging several entries at once never drops a pending edit that
/// agreed with theirs only for a while.
struct IncomingChanges {
    struct Update {
        let object: ManagedObject
        var edits: [Edit]
        var members: [MembershipEdit]
        var sequence: SequenceNumber

        init(of object: ManagedObject, _ sequence: SequenceNumber) {
            self.object = object
            self.sequence = sequence
            edits = []
            members = []
        }

        mutating func append(
            _ edits: [Edit], _ members: [MembershipEdit], _ sequence: SequenceNumber
        ) {
            self.edits = self.edits.then(edits)
            self.members = self.members.then(members)
            self.sequence = sequence
        }
    }

    /// The store of the entries.
    let store: PersistentStore
    /// The context's own entries between them.
    let own: SequenceRanges
    var updates: [GraphID: Update] = [:]
    /// Those of objects that had been read with them, and that only the list of changes has to follow.
    private(set) var readUpdates: [GraphID: Update] = [:]
    /// The gathered edits in the order of their objects, so that conflicts always come in the same order.
    var updatesInOrder: [Update] {
        updates.sorted { $0.key.object < $1.key.object }.map(\.value)
    }
    var conflicts: [MergeConflict] = []
    /// What was deleted in at least one of the entries.
    var deleted: Set<ObjectID> = []
    var refreshed: Set<ManagedObject> = []
    /// The objects in use here that were found deleted.
    var gone: Set<ManagedObject> = []
    var merged = MergedIdentifiers()

    init(store: PersistentStore, between own: SequenceRanges) {
        self.store = store
        self.own = own
    }

    /// Adds the edits of an entry to those of objects that had been read with them.
    mutating func appendRead(
        _ edits: [Edit], _ members: [MembershipEdit], of object: ManagedObject,
        _ sequence: SequenceNumber
    ) {
        readUpdates[object.graphID, default: Update(of: object, sequence)].append(
            edits, members, sequence)
    }

    /// Adds the edits of one entry.
    mutating func append(
        _ edits: [Edit], _ members: [MembershipEdit], of object: ManagedObject,
        _ sequence: SequenceNumber
    ) {
        updates[object.graphID, default: Update(of: object, sequence)].append(
            edits, members, sequence)
    }
}

/// What was merged, grouped by what finally happened to it.
struct MergedIdentifiers {
    private(set) var inserted: Set<GraphID> = []
    private(set) var updated: Set<GraphID> = []
    private(set) var deleted: Set<GraphID> = []
    /// The inserted objects that were not in use here before.
    private(set) var unknown: Set<GraphID> = []

    /// Whether nothing was merged.
    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// Records one change, if somebody may listen.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - id: Its object.
    ///   - isKnown: Whether the object was in use here before.
    mutating func record(_ change: Change, of id: GraphID, isKnown: Bool) {
        guard
            NotificationInterest.didMergeObjectIDs.isThere
                || NotificationInterest.objectsDidChange.isThere
        else { return }
        switch change.kind {
        case .insert:
            guard deleted.remove(id) == nil else {
                updated.insert(id)
                break
            }
            inserted.insert(id)
            if !isKnown { unknown.insert(id) }
        case .update:
            if !inserted.contains(id) { updated.insert(id) }
        case .delete:
            updated.remove(id)
            unknown.remove(id)
            if inserted.remove(id) == nil { deleted.insert(id) }
        }
    }
}
