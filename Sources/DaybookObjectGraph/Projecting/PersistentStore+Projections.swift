public import DaybookJournalLog
public import DaybookSnapshotStore
import DaybookStopping

extension PersistentStore {
    /// A projection: what a fold makes of the journal, kept in the store under a name.
    ///
    /// Nothing is folded before ``JournalProjection/catchUp()``, and nothing is written.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - version: The version of the fold, from 1. Raise it whenever the fold, the filter or the types change: a new
    ///     state is built then, beside the one of before.
    ///   - type: What the keys and values are. Values are kept as JSON.
    ///   - filter: The entries and changes that the fold gets.
    ///   - fold: What is done with each entry. It may depend on the entry and the state, and on nothing else, and may
    ///     not use the store.
    /// - Returns: The projection, for reading the state and for moving it.
    /// - Throws: ``StoreError`` with code `projectionName` for a name that is empty, longer than 200 bytes, begins
    ///   with a hyphen or has invisible characters; with `noSuchEntity` when the filter names what the model does
    ///   not have or entries do not; with `noSuchStore` when the coordinator is gone.
    /// - Precondition: The version is above 0.
    public func project<Key: ProjectionKey, Value: Codable & Sendable>(
        _ name: String, version: Int = 1, as type: [Key: Value].Type,
        where filter: EntryFilter = .all,
        fold: @escaping @Sendable (FollowedEntry, inout ProjectionState<Key, Value>) throws -> Void
    ) throws(StoreError) -> JournalProjection<Key, Value> {
        require(version > 0, "The version of a projection is above 0.")
        return try store.refusing {
            try FoldedState.check(name: name)
            let model = try graphModel()
            return JournalProjection(
                name, version: version, in: self, try filter.resolved(in: self, model), model, fold)
        }
    }

    /// The projections that the store keeps, whoever folds them, sorted by name.
    ///
    /// - Returns: Their versions, places and sizes.
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func projections() throws(StoreError) -> [ProjectionStatus] {
        try store.refusing { try store.states().map(ProjectionStatus.init) }
    }

    /// Removes a projection with its state, whoever folds it; does nothing when there is none of the name. A program
    /// that still folds it begins again with the first entry.
    ///
    /// - Parameter name: The name.
    /// - Throws: ``StoreError`` with code `readOnly`, `busy`, `full` or `inputOutput`.
    /// - Complexity: O(*n* log *n*) page reads and writes, *n* the number of its keys, in writes of a bounded size
    ///   between which others can save.
    public func removeProjection(named name: String) throws(StoreError) {
        try store.refusing { try whileNotMoving { try store.removeState(named: name) } }
    }
}

/// What a store says of one of its projections.
public struct ProjectionStatus: Sendable, Hashable {
    /// A state of it.
    public struct State: Sendable, Hashable {
        /// The version of the fold.
        public let version: Int
        /// The entry behind which it stands.
        public let position: SequenceNumber
        /// What its keys are.
        public let keyForm: ProjectionKeyForm
        /// How many keys it has.
        public let keyCount: Int
        /// How many bytes its keys and values have together.
        public let byteCount: Int
    }

    /// The name.
    public let name: String
    /// The state that is read.
    public let current: State
    /// The one that is being built beside it; nil for none.
    public let successor: State?

    init(_ kept: FoldedState) {
        name = kept.name
        current = State(kept.current)
        successor = kept.successor.map(State.init)
    }
}

extension ProjectionStatus.State {
    init(_ generation: StateGeneration) {
        version = generation.version
        position = generation.place.sequence
        keyForm = generation.form
        keyCount = generation.keyCount
        byteCount = generation.byteCount
    }
}
