package import DaybookJournalLog
package import DaybookObjectModel

/// What makes a change collide with what others have saved meanwhile.
package enum ConflictDetection: Sendable, Hashable {
    /// The same property was changed.
    case perProperty
    /// Anything about the object was changed.
    case perRow
}

/// Changes on their way to becoming an entry.
package struct SaveRequest: Sendable {
    /// The header of the entry.
    package var header: EntryHeader
    /// The net changes, one for each object, in any order.
    package var changes: [Change]
    /// All values, as they were read, of objects that are updated. Used by
    /// ``MergePolicy/overwrite`` and to bring back an object deleted meanwhile; may be empty.
    package var seen: [ObjectID: [Value]]
    /// The entry that last changed each row when it was read, for ``ConflictDetection/perRow``.
    package var seenSince: [ObjectID: SequenceNumber]
    /// Objects that others must not have changed, whether or not they change here: the entry that
    /// had last changed each row when it was read.
    package var watched: [ObjectID: SequenceNumber]
    /// Inserted objects that the store has had before: a delete of them is taken back. Any other insert of an object
    /// that is in the store is refused.
    package var returned: Set<ObjectID> = []
    /// Updated objects that come back if others have deleted them, whatever the policy: somebody has decided so.
    package var returning: Set<ObjectID> = []
    /// What must hold of the entries of others; judged when the request is carried out.
    package var conditions: [SaveCondition] = []
    /// The model that the entry sets, by which its changes are; nil for an entry of changes only.
    package var version: ModelVersion?
    /// What to do about conflicts.
    package var policy: MergePolicy
    /// The policy for single objects whose unique values are taken, in place of ``policy``.
    package var constraintPolicies: [ObjectID: MergePolicy]
    /// What counts as a conflict.
    package var detection: ConflictDetection
    /// The recording time to keep, when an exported entry is loaded.
    package var recordedAt: Int64?
    /// The user values of the store from this save on; nil to leave them as they are. They are
    /// written with the entry but are not part of it.
    package var userValues: [String: Value]?
    /// Large data that nobody has any more: changes that refer to them are saved all the same.
    package var forgone: Set<LargeData> = []

    /// The cursor that moves with this save, even if nothing is left to append; nil for none.
    package var cursor: CursorMove?

    /// The save in doubt that this one repeats, perhaps with more changes; nil for none.
    package var resumes: DoubtfulSave?

    /// Describes a request.
    package init(
        header: EntryHeader = EntryHeader(), changes: [Change] = [],
        seen: [ObjectID: [Value]] = [:], seenSince: [ObjectID: SequenceNumber] = [:],
        watched: [ObjectID: SequenceNumber] = [:], policy: MergePolicy = .error,
        constraintPolicies: [ObjectID: MergePolicy] = [:],
        detection: ConflictDetection = .perProperty,
        recordedAt: Int64? = nil
    ) {
        self.header = header
        self.changes = changes
        self.seen = seen
        self.seenSince = seenSince
        self.watched = watched
        self.policy = policy
        self.constraintPolicies = constraintPolicies
        self.detection = detection
        self.recordedAt = recordedAt
    }
}

/// The outcome of a request.
package struct SaveResult: Sendable {
    /// The entry; nil when nothing was left to append.
    package let sequence: SequenceNumber?
    /// Its digest.
    package let digest: Digest?
    /// The changes as they were saved.
    package let changes: [Change]
    /// The conflicts that the policy settled.
    package var conflicts: [MergeConflict]
    /// The clashes of unique values that the policy settled.
    package var constraintConflicts: [ConstraintConflict] = []
    /// The values that both sides had changed and that were merged.
    package var merged: [MergedValue] = []
    /// The stored object that each new object was merged into.
    package var replaced: [ObjectID: ObjectID] = [:]
    /// Whether the request was saved change for change.
    package var isUntouched = false
    /// Whether a part of it was saved by an earlier entry, which had been in doubt.
    package var isResumed = false

    /// Whether the changes were saved as they stood in the request.
    package var isAsSent: Bool {
        conflicts.isEmpty && constraintConflicts.isEmpty && merged.isEmpty
    }
}

extension SaveRequest {
    /// Counts all inserts as those of objects that the store has had before.
    mutating func returnInserted() {
        returned = Set(changes.lazy.filter(\.isInsert).map(\.object))
    }

    /// The entry after which any change of an object by others is a conflict; nil when only changes
    /// of the same properties are.
    func rowSeen(_ object: ObjectID) -> SequenceNumber? {
        watched[object] ?? (detection == .perRow ? seenSince[object] : nil)
    }
}

/// Whether a walk goes on.
package enum WalkStep: Sendable, Hashable {
    /// Go on to the next.
    case proceed
    /// Stop here.
    case stop
}
