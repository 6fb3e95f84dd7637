import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// The parent of a context, with everything that is pending in it.
///
/// The child asks in the middle of its own work, so each question waits only until the parent's queue is
/// free; see ``ContextLock``. The child keeps its own lock meanwhile.
final class ParentContext: ParentStore, @unchecked Sendable {
    // @unchecked Sendable because all mutable state is confined to the queue of the child; everything
    // else is constant.

    private let parent: ManagedObjectContext
    /// What the parent's revision was when the child last agreed with it.
    private var agreedRevision: UInt64
    private var follows = false

    /// Makes a parent with whose current state the child agrees.
    init(_ parent: ManagedObjectContext) {
        self.parent = parent
        agreedRevision = parent.news.revision
    }

    var context: ManagedObjectContext? { parent }
    var isFollowing: Bool { follows }
    var sharedRows: RowCache? { nil }
    var rowFinder: (any RowFinder)? { nil }

    // MARK: - Reading

    func row(of id: GraphID, within interval: Double) throws -> Row? {
        try parent.performForChild { try parent.currentRow(of: id) }
    }

    func row(
        for object: ManagedObject, from source: ReadSource, within interval: Double
    ) throws -> Row? {
        try row(of: object.graphID, within: interval)
    }

    func exists(_ id: GraphID) throws -> Bool {
        try parent.performForChild { try parent.currentRow(of: id) != nil }
    }

    func isFound(_ id: GraphID) throws -> Bool {
        try parent.performForChild { try parent.isFound(id) }
    }

    func isUnsaved(_ id: GraphID) throws -> Bool {
        guard let store = parent.coordinator.store(id.store) else { return true }
        return try !store.read(at: nil) { try $0.exists(id.object) }
    }

    func members(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers {
        try parent.performForChild { try parent.currentMembers(of: property, in: id) }
    }

    func freshMembers(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers {
        try parent.performForChild { try parent.freshMembers(of: property, in: id) }
    }

    func value(of property: SchemaProperty, in id: GraphID) throws -> Value {
        try parent.performForChild { try parent.currentValue(of: property, in: id) }
    }

    func find(_ query: Query, in store: PersistentStore) throws -> [ObjectID] {
        try parent.performForChild { try parent.currentFetch(query, store) }
    }

    func count(_ query: Query, in store: PersistentStore) throws -> Int {
        let all = try count(query, without: [], in: store)
        return max(0, min(all, query.windowEnd ?? .max) - max(0, query.offset))
    }

    func count(
        _ query: Query, without others: [ObjectID], in store: PersistentStore
    ) throws -> Int {
        try parent.performForChild { try parent.currentCount(query, without: others, store) }
    }

    func explanation(of query: Query, in store: PersistentStore) throws -> String {
        try parent.performForChild { try parent.parentStore.explanation(of: query, in: store) }
    }

    func holds(_ question: FilterPast, of id: GraphID) throws -> Bool {
        try parent.performForChild { try parent.parentStore.holds(question, of: id) }
    }

    func changes(
        meeting questions: [FilterChange], of objects: [ObjectID], in store: PersistentStore
    ) throws -> [FoundChange] {
        try parent.performForChild {
            try parent.parentStore.changes(meeting: questions, of: objects, in: store)
        }
    }

    func absence(of id: GraphID) throws -> StoreError {
        try parent.performForChild { try parent.currentAbsence(of: id) }
    }

    func changesOfDelete(of id: GraphID) throws -> [Change] {
        try parent.performForChild { try parent.changesOfDelete(of: id) }
    }

    func readTogether(_ objects: [ManagedObject], _ body: CommonReading) throws {
        try parent.performForChild {
            try body(
                objects,
                { ids, take in
                    for id in ids {
                        if let row = try parent.currentRow(of: id) { take(id, row, nil) }
                    }
                },
                { try parent.currentMembers(of: $0, in: $1) })
        }
    }

    func inOneTurn<Result>(_ body: () throws -> Result) throws -> Result {
        try parent.performForChild(body)
    }

    func stateToRead() throws -> ReadState {
        try parent.performForChild { try parent.parentStore.stateToRead() }
    }

    func reading<Result>(_ state: ReadState, _ body: () throws -> Result) throws -> Result {
        try parent.performForChild { try parent.parentStore.reading(state, body) }
    }

    func watching<Result>(_ watch: ReadWatch, _ body: () throws -> Result) throws -> Result {
        try parent.performForChild { try parent.parentStore.watching(watch, body) }
    }

    func mayHaveMerged(after state: ReadState) -> Bool { true }

    func graphID(of id: ManagedObjectID) -> GraphID? { parent.coordinator.graphID(of: id) }

    func history(of id: ManagedObjectID) throws -> [ObjectRevision] {
        try parent.performForChild { try parent.history(of: id) }
    }

    func blame(of id: ManagedObjectID) throws -> [PropertyBlame] {
        try parent.performForChild { try parent.blame(of: id) }
    }

    func blame(of id: ManagedObjectID, property: String) throws -> PropertyBlame {
        try parent.performForChild { try parent.blame(of: id, property: property) }
    }

    // MARK: - Positions

    var generation: QueryGenerationToken? { nil }
    var isHeld: Bool { false }
    var isSpeculative: Bool { false }

    func hold(to token: QueryGenerationToken?) throws {
        throw StoreError.noGeneration(isChild: true)
    }

    func reset() {}

    // MARK: - Saving

    var keepsEntries: Bool { false }

    func unmergedTouches(
        of changes: [Change], in store: PersistentStore
    ) throws -> [UndoObstacle] { [] }

    func save(
        _ items: [NetChange], of child: ManagedObjectContext,
        _ attribution: Attribution, at time: Int64?,
        undoing undone: ClosedRange<SequenceNumber>?
    ) throws -> SaveOutcome {
        // Here, where somebody can mend it, and not when the root is saved.
        try EntryInfo.check(attribution.info)
        let save = child.childSave(of: items, attribution, readAt: agreedRevision)
        return try parent.performForChild {
            let (isAsSent, merged) = try parent.accept(save, from: child)
            // Otherwise the child has still to take in what else has changed there.
            if isAsSent { agree() }
            return .takenIn(isAsSent: isAsSent, merged: merged)
        }
    }

    func saveNothing() {}

    func preview(_ child: ManagedObjectContext, into preview: inout SavePreview) throws {
        let save = child.childSave(
            of: child.journal.net, Attribution(), readAt: agreedRevision)
        (preview.conflicts, preview.mergedValues) = try parent.performForChild {
            try parent.meetings(of: save)
        }
    }

    // MARK: - What others have changed

    var mayHaveNews: Bool { agreedRevision != parent.news.revision }

    func hasMoved() throws -> Bool {
        if mayHaveNews { return true }
        return try parent.performForChild { try parent.parentStore.hasMoved() }
    }

    private func agree() {
        agreedRevision = parent.news.revision
    }

    func merge(
        through sequence: SequenceNumber?, into child: ManagedObjectContext
    ) -> [MergeConflict] {
        agree()
        return child.telling { child.mergeWholeParent() }
    }

    func merge(
        saved information: [AnyHashable: Any], into child: ManagedObjectContext
    ) -> [MergeConflict] {
        let saved = information[ManagedObjectContext.changesKey] as? SavedChanges
        return child.news.mergingSave {
            child.telling { child.mergeParent(saved?.changes ?? []) }
        }
    }

    func follow(_ isFollowing: Bool, for child: ManagedObjectContext) {
        guard isFollowing != follows else { return }
        follows = isFollowing
        parent.performForChild { parent.news.setFollowing(isFollowing, of: child) }
        // Nobody tells of what has changed there before.
        if isFollowing { child.tellListsOfEverything() }
    }

    func knewFault(_ id: GraphID, before sequence: SequenceNumber?) -> Bool {
        // The child has the fault from its parent.
        true
    }

    // MARK: - Stores that come and go

    // The parent hears of them itself.

    func add(_ store: PersistentStore, for child: ManagedObjectContext) {}

    func remove(_ store: PersistentStore) {}

    func replace(
        _ old: PersistentStore, with store: PersistentStore, for child: ManagedObjectContext
    ) {}
}
