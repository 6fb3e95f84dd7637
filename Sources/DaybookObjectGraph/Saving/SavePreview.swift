public import DaybookObjectModel
public import DaybookSnapshotStore

/// What a save would do if it were made now.
public struct SavePreview: Sendable {
    /// The collisions of the context's changes with what others have saved, whichever side the merge
    /// policy would let win: with the base, the others' value and ours, and the entry, its author and
    /// time.
    public internal(set) var conflicts: [MergeConflict] = []
    /// Attributes that merge and that both sides have changed, which is not a conflict.
    public internal(set) var mergedValues: [MergedValue] = []
    /// Values that must be unique and are taken.
    public internal(set) var constraintConflicts: [ConstraintConflict] = []
    /// What one store would append.
    package internal(set) var changes: [Change] = []
    /// What the save would throw; nil when it would go through.
    public internal(set) var refusal: StoreError?
}

extension SavePreview {
    /// Previews the save to one store.
    mutating func add(_ request: CoordinatedStores.StoreRequest) throws {
        do {
            let result = try request.store.store.preview(request.request)
            conflicts += result.conflicts.inStore(request.store.identifier)
            constraintConflicts += result.constraintConflicts
            mergedValues += result.merged
            changes += result.changes
        } catch let error as StoreError where error.isRefusal {
            add(error)
        }
    }

    /// Records why nothing would be saved.
    mutating func add(_ error: StoreError) {
        conflicts += error.conflicts
        constraintConflicts += error.constraintConflicts
        refusal = refusal ?? error
    }
}

extension StoreError {
    /// Whether a save is refused because of its contents, and not because the store cannot be read.
    var isRefusal: Bool {
        [
            .conflict, .validation, .duplicate, .crossStoreRelationship, .readOnly, .noSuchStore,
            .undoBlocked,
        ].contains(code)
    }
}
