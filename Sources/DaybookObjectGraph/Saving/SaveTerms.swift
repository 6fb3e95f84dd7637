import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// The terms on which a context is saved: what the next save refuses, what it watches, who is credited
/// with it, and the outcome of the last one.
///
/// Confined to the context's queue.
final class SaveTerms {
    /// Objects that others must not change before the next save.
    private var watched: Set<ManagedObject> = []
    /// What must hold in a store for the save that is under way, and what happens there with it.
    private var condition: JudgedCondition?
    /// The cursor that the save under way moves, for saves that its hooks make.
    private var movingCursor: CursorTask?
    /// Who saved into the context since it was last saved.
    private var attributions = ChildAttributions()
    /// What each save refuses until it is fixed.
    private var references = RefusedReferences()
    /// Conflicts that automatic merges have met and that have not been reported.
    private var untold: [MergeConflict] = []
    /// Why a new object could not get a number from the store.
    private var insertFailure: (any Error)?
    /// Why a change was not made: the record of its object could not be read.
    private var unmade: StoreError?
    /// What a save has found about the object whose hook it calls.
    private var failuresFound: (object: ManagedObject, failures: [ValidationFailure])?
    private var merged: [MergedValue] = []
    private var savedCount = 0
    /// Saves of which it is not known whether they are in the journal of their store.
    private var doubts: [UInt32: Doubt] = [:]

    private struct Doubt {
        var save: DoubtfulSave
        /// Kept while the save may be made again.
        var watch: DoubtWatch?
        /// Whether a merge has met its entry, which is in the journal then.
        var isMerged = false
    }

    // MARK: - Doubts

    /// The stores for which a save is in doubt.
    var storesInDoubt: [UInt32] { doubts.keys.sorted() }

    /// The save to a store that is in doubt, and that the next one repeats; nil for none.
    func doubtfulSave(in store: UInt32) -> DoubtfulSave? { doubts[store]?.save }

    /// Forgets a save in doubt, because what stands in its place has been merged under what is pending.
    func forgetDoubt(in store: UInt32, mergedThrough sequence: SequenceNumber) {
        guard let doubt = doubts[store], !doubt.isMerged, doubt.save.doubt.sequence <= sequence
        else { return }
        doubts[store] = nil
    }

    /// Keeps of a save in doubt whose entry has been merged the changes that the next save has yet to compare with what
    /// is pending.
    func mergeDoubt(in store: UInt32, leaving changes: [Change]) {
        guard let doubt = doubts[store]?.save.doubt else { return }
        doubts[store] = Doubt(save: DoubtfulSave(doubt, changes), isMerged: true)
    }

    /// Keeps a save that was refused because it is in doubt.
    func keepDoubt(of request: SaveRequest, in store: UInt32, after error: any Error) {
        guard let error = error as? StoreError, let doubt = error.doubt else { return }
        doubts[store] = Doubt(save: DoubtfulSave(doubt, request.changes), watch: error.watch)
    }

    // MARK: - Watched objects

    /// Makes any change of an object by others a conflict for the next save.
    func watch(_ object: ManagedObject) {
        watched.insert(object)
    }

    /// The watched objects of a store, and the entries that had last changed them when they were read.
    func watched(in store: UInt32) -> [ObjectID: SequenceNumber] {
        let pairs = watched.filter { $0.graphID.store == store }.map {
            ($0.graphID.object, SequenceNumber($0.since))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    // MARK: - Conditions

    /// What one store judges of a save, in the transaction that writes.
    struct JudgedCondition {
        let store: UInt32
        /// What must hold; nil for nothing.
        var condition: SaveCondition?
        /// The cursor that moves with the save; nil for none.
        var cursor: CursorTask?
    }

    /// Runs a save on a condition that one store judges; for nil on none.
    func with<Result>(
        _ condition: JudgedCondition?, _ save: () throws -> Result
    ) rethrows -> Result {
        let outer = movingCursor
        if let cursor = condition?.cursor { movingCursor = cursor }
        self.condition = condition
        defer {
            self.condition = nil
            movingCursor = outer
        }
        return try save()
    }

    /// The condition of the save that begins. Those that hooks make meanwhile are not on it.
    ///
    /// - Throws: ``QueryError`` for a save that a hook makes before a cursor has moved: what it took would not be
    ///   in the same write as the move.
    func takeCondition() throws -> JudgedCondition? {
        defer { condition = nil }
        if let movingCursor, !movingCursor.isDone, condition?.cursor !== movingCursor {
            throw QueryError(
                "The context is being saved with a cursor, and a hook saves it before. The cursor would move "
                    + "in another write. Leave the saving to the save that is under way.")
        }
        return condition
    }

    /// The conditions of the save that is under way, as far as a store judges them.
    func conditions(in store: UInt32) -> [SaveCondition] {
        guard let condition, condition.store == store else { return [] }
        return condition.condition.map { [$0] } ?? []
    }

    /// The cursor that moves with the save that is under way, if it is kept in a store.
    func cursor(in store: UInt32) -> CursorTask? {
        condition.flatMap { $0.store == store ? $0.cursor : nil }
    }

    /// The store that judges the condition of the save that is under way; nil for none.
    var judge: UInt32? { condition?.store }

    // MARK: - Attribution

    /// Records who has saved changes of some objects into the context.
    func credit(_ attribution: Attribution, for objects: [GraphID]) {
        attributions.record(attribution, for: objects)
    }

    /// An attribution, with missing parts taken from children's saves that are still pending in the
    /// context.
    func credited(_ attribution: Attribution, in journal: WorkingJournal) -> Attribution {
        attribution.completed(from: attributions.counting(in: journal))
    }

    /// Forgets who saved what is no longer pending, when nothing can be redone.
    func forgetIdleAttributions(in journal: WorkingJournal) {
        attributions.forgetIdle(in: journal)
    }

    // MARK: - Refusals

    /// Whether a relationship was set to what it cannot lead to.
    var hasRefusedReferences: Bool { !references.isEmpty }

    /// Records an attempt to set a relationship to what it cannot lead to.
    func refuse(_ reference: RefusedReference) {
        references.insert(reference)
    }

    /// Forgets the attempt with one relationship.
    func forgetReference(_ property: SchemaProperty, of owner: ManagedObject) {
        references.remove(property, of: owner)
    }

    /// Forgets the attempts with the relationships of an object.
    func forgetReferences(of object: ManagedObject) {
        references.remove { $0.owner === object }
    }

    /// Forgets the attempts with objects that exist again.
    func forgetMendedReferences() {
        references.remove(where: \.isMended)
    }

    /// Makes the attempts follow an object to another identifier.
    func moveReferences(of object: ManagedObject) {
        references.move(object)
    }

    /// The relationships for which a save is refused.
    func countingReferences() -> [RefusedReference] {
        references.remove { !$0.counts }
        return references.all
    }

    /// Remembers why a new object could not get a number from the store.
    func rememberInsertFailure(_ error: any Error) {
        insertFailure = error
    }

    /// Refuses to save objects without a number of the store.
    func refuse(_ items: @autoclosure () -> [NetChange]) throws {
        if let insertFailure, items().contains(where: \.isUnsavable) { throw insertFailure }
    }

    /// Remembers why a change was not made, until a save has told.
    func rememberUnmade(_ error: StoreError) {
        unmade = unmade ?? error
    }

    /// Why a change was not made since a save has told; nil where all were.
    var unmadeChange: StoreError? { unmade }

    /// Refuses one save after a change that was not made.
    func refuseUnmade() throws {
        if let error = unmade.take() { throw error }
    }

    // MARK: - Conflicts that nobody was told of

    /// The conflicts that automatic merges have met and that have not been reported.
    var untoldConflicts: [MergeConflict] { untold }

    /// Keeps the conflicts of a merge until somebody asks.
    func keep(_ conflicts: [MergeConflict]) {
        untold += conflicts
    }

    /// Forgets conflicts that are settled or reported.
    func forgetConflicts(where isSettled: (MergeConflict) -> Bool = { _ in true }) {
        untold.removeAll(where: isSettled)
    }

    // MARK: - Validation

    /// Runs a hook of an object that may ask what has just been found about it.
    func with<Result>(
        _ failures: [ValidationFailure], of object: ManagedObject,
        _ hook: () throws -> Result
    ) rethrows -> Result {
        failuresFound = failures.isEmpty ? nil : (object, failures)
        defer { failuresFound = nil }
        return try hook()
    }

    /// What the save that is calling an object's hook has just found about it; nil for nothing.
    func failures(foundOf object: ManagedObject) -> [ValidationFailure]? {
        failuresFound?.object === object ? failuresFound?.failures : nil
    }

    // MARK: - Saving and starting over

    /// Where the last save met others' changes of attributes that merge.
    var mergedValues: [MergedValue] { merged }

    /// How often the context has saved something, into a store or its parent.
    var entryCount: Int { savedCount }

    /// Begins a save, which has met no changes of others yet.
    func beginSave() {
        merged = []
    }

    /// Counts a save of something.
    func countSave() {
        savedCount += 1
    }

    /// Records where a save met others' changes of attributes that merge.
    func recordMerged(_ values: [MergedValue]) {
        merged += values
    }

    /// Ends the terms, now that everything is saved.
    func finishSave() {
        watched.removeAll()
        untold.removeAll()
        attributions.removeAll()
        doubts.removeAll()
    }

    /// Ends the terms of what is in some stores, now that these are saved and another has refused.
    func finishSave(inStores stores: Set<UInt32>) {
        watched = watched.filter { !stores.contains($0.graphID.store) }
        for store in stores { doubts[store] = nil }
        attributions.remove(inStores: stores)
    }

    /// Ends the terms, now that nothing is pending any more.
    func clear() {
        finishSave()
        unmade = nil
        references.removeAll()
    }
}

/// The attempts to relate what cannot be related, by relationship.
private struct RefusedReferences {
    private var references: [RelationKey: RefusedReference] = [:]

    var isEmpty: Bool { references.isEmpty }
    var all: [RefusedReference] { Array(references.values) }

    mutating func insert(_ reference: RefusedReference) {
        references[key(reference.property, of: reference.owner)] = reference
    }

    mutating func remove(_ property: SchemaProperty, of owner: ManagedObject) {
        guard !references.isEmpty else { return }
        references[key(property, of: owner)] = nil
    }

    mutating func remove(where isMended: (RefusedReference) -> Bool) {
        guard !references.isEmpty else { return }
        references = references.filter { !isMended($0.value) }
    }

    /// Finds the attempts with an object by its current identifier.
    mutating func move(_ object: ManagedObject) {
        for (key, reference) in references where reference.owner === object {
            references[key] = nil
            insert(reference)
        }
    }

    mutating func removeAll() { references.removeAll() }

    private func key(_ property: SchemaProperty, of owner: ManagedObject) -> RelationKey {
        RelationKey(owner: owner.graphID, property: property.number)
    }
}
