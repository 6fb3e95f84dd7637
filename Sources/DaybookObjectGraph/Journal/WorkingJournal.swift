// The room of the working journal: what has changed in a context since its base, and undo, redo and
// rollback on it. `WorkingJournal` owns all of it: the event that goes on (`OpenEvent`), the list of
// changes with base and cursor (`StepList`), and the index of what lies between (`JournalIndex`). `UndoManager` is its public face. The extensions of `ManagedObjectContext` in this
// room apply changes to objects and keep nothing. The room asks the parent store about saved entries,
// and writes to no store.

import DaybookObjectModel

/// The journal of a context: one list of changes with a base, where the last save was, and a cursor.
///
/// What is edited is recorded in the open event. When the event ends, its changes are appended to the
/// list at the cursor. Undo rewinds the cursor and redo advances it; a rollback rewinds it to the
/// base; a save moves the base to the cursor; a merge puts what others have saved under the base.
///
/// Invariants:
/// - What is pending for an object (`net(of:)`) is everything that lies between base and cursor, as
///   one change. The index of it is derived from the list: no change gets into or out of the list, and
///   the cursor does not move, but by a verb that lets the index follow.
/// - Without an undo manager, with registration disabled and beyond `levelsOfUndo`, changes are in no
///   step. Then the index is all that is kept of them: one change for each object.
/// - An object for which nothing is pending is in the index as long as something of it lies between
///   base and cursor: it is dirty until the next save, or until all of that is undone.
final class WorkingJournal {
    private var event = OpenEvent()
    private var steps = StepList()
    private let index = JournalIndex()
    private var unlisted: [(store: UInt32, origin: UndoneEntries)] = []
    private var attempts = JournalAttempts()
    /// What the list is to follow at the end of `gatheringRebases(_:)`; nil outside.
    private var gathered: [ManagedObject: [Rebase]]?
    private var endedEvents = 0

    // MARK: - What is pending

    /// Everything between base and cursor, a change for each object.
    var net: [NetChange] { index.net }

    /// The net changes of objects of some entities.
    func net(of entities: [EntityNumber]) -> some Sequence<NetChange> { index.net(of: entities) }

    /// What lies between base and cursor of an object; nil for nothing.
    func net(of id: GraphID) -> NetChange? { index[id] }

    /// What is pending for an object, as one change; nil when nothing is to be saved.
    func change(of id: GraphID) -> Change? { index[id]?.change }

    /// Whether the cursor stands on the base.
    var isAtBase: Bool { index.isEmpty }

    /// Whether anybody has joined, left or moved in a relationship.
    func hasMoves(_ key: RelationKey) -> Bool { index.hasMoves(key) }

    /// Lays what is pending over the members that lie under the context.
    func overlay(_ key: RelationKey, on members: inout [ObjectID: Double]) {
        index.overlay(key, on: &members)
    }

    /// Takes back what is pending from the members that the context has.
    func takeBack(_ key: RelationKey, from members: inout [ObjectID: Double]) {
        index.takeBack(key, from: &members)
    }

    // MARK: - Recording

    /// What has happened since the last event ended.
    var records: [EventRecord] { event.records }

    /// Whether anything has happened in the event.
    var hasEvent: Bool { !event.isEmpty }

    /// How many events have ended in which something happened.
    var eventCount: Int { endedEvents }

    /// What has happened to an object in the event; nil for nothing.
    func record(of object: ManagedObject) -> EventRecord? { event.record(of: object) }

    /// Records an insert.
    func recordInsert(of object: ManagedObject) { event.insert(object) }

    /// Records that a property is about to change.
    func recordEdit(_ property: PropertyNumber, from old: Value, of object: ManagedObject) {
        event.touch(property, old, of: object)
    }

    /// Records that a member joins, leaves or moves.
    func recordMembership(
        _ member: ObjectID, in property: PropertyNumber, of object: ManagedObject,
        from old: Double?, to new: Double?
    ) {
        event.move(member, in: property, of: object, from: old, to: new)
    }

    /// Records what one end of a relationship sees of the event.
    func record(_ link: RelationLink) { index.note(link) }

    /// Records a delete.
    func recordDelete(of object: ManagedObject, _ values: [Value], because cause: ObjectID?) {
        event.delete(object, values, because: cause)
    }

    /// Records whose deletion has changed an object in the event.
    func record(cause: ObjectID, of object: ManagedObject) { event.note(cause: cause, of: object) }

    /// Ends the event.
    ///
    /// - Returns: What has happened in it.
    func endEvent() -> [EventRecord] {
        endedEvents += 1
        return event.end()
    }

    /// Appends the changes of an event that has ended.
    ///
    /// - Parameters:
    ///   - changes: At most one for each object.
    ///   - destination: Where in the list they belong; nil for nowhere.
    /// - Returns: Whether they have become a step, and the objects that were inserted since the base and
    ///   are no more.
    func append(
        _ changes: [RecordedChange], to destination: StepList.Destination?
    ) -> (isStep: Bool, annihilated: [ManagedObject]) {
        if destination != nil { forgetRedo() }
        let annihilated = index.append(changes, destination == nil ? .unrecorded : .forward)
        return (append(ChangeGroup(changes: changes), to: destination), annihilated)
    }

    /// Notes that an object was changed and changed back in one event, which leaves it dirty.
    func touch(_ object: ManagedObject) { index.touch(object) }

    /// Appends changes that were made one after the other by ``make(_:as:in:)``, together with what
    /// they take back.
    ///
    /// - Returns: Whether they have become a step.
    func append(_ group: ChangeGroup, to destination: StepList.Destination?) -> Bool {
        guard let destination else {
            for (store, origin) in group.origins { unlisted.append((store, origin)) }
            return false
        }
        return steps.append(group, to: destination) { index.keep($0, $1) }
    }

    /// Makes a change a part of a step that was made before; see ``steps(thatDelete:)``. With nil it is
    /// in no step.
    func append(_ recorded: RecordedChange, toStep step: Int?) {
        if !recorded.isSaved {
            index.follow(recorded.change, of: recorded.object, step == nil ? .unrecorded : .forward)
        }
        if let step {
            holdStarts()
            steps.append(recorded, toStep: step)
        }
    }

    /// In which steps objects were deleted last.
    func steps(thatDelete deleted: Set<GraphID>) -> [GraphID: Int] {
        steps.steps(thatDelete: deleted)
    }

    /// Puts steps of the past under all others, oldest first.
    ///
    /// - Returns: How many of them there was room for.
    func insertBelow(_ steps: [ChangeGroup]) -> Int {
        holdStarts()
        return self.steps.insertBelow(steps) { index.keep($0, $1) }
    }

    // MARK: - Moving the cursor

    /// Rewinds the cursor by one step.
    func undo(in context: ManagedObjectContext) {
        guard let step = steps.last else { return }
        holdStarts()
        steps.rewind()
        let taken = index.takeBack(step.changes, in: context)
        steps.noteTakenBack(taken)
        // Hooks come last: they may change the list.
        context.awake(after: taken, .back)
    }

    /// Takes the nested group back that was ended last in the open one.
    func undoNested(in context: ManagedObjectContext) {
        guard let changes = steps.lastNested else { return }
        steps.removeLastNested()
        let taken = index.takeBack(changes, in: context)
        steps.noteNestedTakenBack(taken)
        context.awake(after: taken, .back)
    }

    /// Advances the cursor by one step; in an open group, what is made again becomes a part of it.
    func redo(in context: ManagedObjectContext) {
        guard let step = steps.next else { return }
        let made = index.makeAgain(step.changes, in: context)
        steps.advance(over: made) { index.keep($0, $1) }
        context.awake(after: made, .forward)
    }

    /// Makes a change from where its object stands.
    ///
    /// - Returns: The change that was made; nil when it was passed over.
    func make(
        _ recorded: RecordedChange, as move: NetChanges.Move, in context: ManagedObjectContext
    ) -> RecordedChange? {
        index.make(recorded, as: move, in: context)
    }

    // MARK: - Moving the base

    /// Moves the base to the cursor.
    ///
    /// - Parameter saves: In which entry of each store, and what it changed.
    func markSaved(as saves: [UInt32: UndoneEntries] = [:]) {
        index.removeAll()
        unlisted.removeAll()
        steps.markSaved(as: saves)
        attempts.beginAllAgain(at: steps)
    }

    /// Moves the base of some stores to the cursor, where another store has refused.
    ///
    /// An attempt that goes on starts again with what they have taken as a step of its own, since that
    /// stays whatever becomes of the rest.
    ///
    /// - Parameters:
    ///   - items: Everything that was pending there.
    ///   - stores: The stores.
    ///   - saves: In which entry of each store, and what it changed.
    func markSaved(
        _ items: [NetChange], inStores stores: Set<UInt32>, as saves: [UInt32: UndoneEntries]
    ) {
        for item in items { index.clear(item.object) }
        unlisted.removeAll { stores.contains($0.store) }
        holdStarts()
        steps.markSaved(as: saves, inStores: stores)
        guard !attempts.isEmpty else { return }
        let changes = items.filter(\.isUndoable).compactMap { item in
            item.change.map { RecordedChange(object: item.object, change: $0, isSaved: true) }
        }
        attempts.change { $0.appendSaved(ChangeGroup(changes: changes, origins: saves)) }
    }

    /// Takes what is pending for an object out, because it is saved or dropped. What is in the list
    /// stays there.
    func clear(_ object: ManagedObject) { index.clear(object) }

    /// Takes what is pending for an object out, and its changes out of the list; with `onlyUnsaved`,
    /// what was saved before can still be undone.
    func forget(_ object: ManagedObject, onlyUnsaved: Bool = false) {
        clear(object)
        guard object.isJournaled else { return }
        rewrite { $0.forget(object, onlyUnsaved: onlyUnsaved, $1) }
    }

    /// Puts what is pending for an object on the base that others have made, from where it is another
    /// change, or none.
    func rebase(_ object: ManagedObject, to change: Change?) { index.rebase(object, to: change) }

    /// Puts the list on a value that others have set, now or at the end of ``gatheringRebases(_:)``.
    func rebase(
        _ object: ManagedObject, _ property: PropertyNumber, inSlot slot: Int, onto theirs: Value
    ) {
        guard object.isJournaled else { return }
        let rebase = Rebase(property, inSlot: slot, onto: theirs)
        gatheringRebases { gathered?[object, default: []].append(rebase) }
    }

    /// Runs `body`, and lets the list follow everything that it rebases in one walk.
    func gatheringRebases(_ body: () -> Void) {
        guard gathered == nil else { return body() }
        gathered = [:]
        body()
        let rebases = gathered ?? [:]
        gathered = nil
        guard !rebases.isEmpty else { return }
        rewrite { $0.rebase(rebases, $1) }
    }

    /// Makes the journal follow an object to the identifier that it has now, and forget what it was
    /// related to.
    func move(_ object: ManagedObject, from old: GraphID) {
        index.move(old, to: object.graphID)
        rewrite { $0.move(object, from: old, $1) }
    }

    /// Makes the list as if some objects that others have deleted had never been referred to.
    func dropReferences(to deleted: Set<ObjectID>, inStore store: UInt32) {
        rewrite { $0.dropReferences(to: deleted, inStore: store, $1) }
    }

    /// Makes the steps after a saved delete start without the references to what it deleted; see
    /// ``steps(thatDelete:)``.
    func emptyReferences(to deleted: Set<GraphID>, deletedIn steps: [GraphID: Int]) {
        holdStarts()
        self.steps.emptyReferences(to: deleted, deletedIn: steps)
    }

    /// Rewrites the list. An object of which nothing is left in it, and for which nothing is pending,
    /// is clean.
    private func rewrite(_ rewriting: (inout StepList, StepList.Leaving) -> Void) {
        holdStarts()
        rewriting(&steps) { index.forget($0, $1) }
        attempts.change { rewriting(&$0) { _, _ in } }
    }

    /// Rewinds the cursor to the base and forgets all steps.
    func rollback() {
        _ = event.end()
        index.removeAll()
        unlisted.removeAll()
        forgetList()
    }

    // MARK: - Attempts

    /// Runs `body`, in which ``returnToStart(_:)`` gets the list back as it is now.
    func attempting<Result>(_ body: () throws -> Result) rethrows -> Result {
        attempts.begin(at: steps)
        defer { attempts.end() }
        return try body()
    }

    /// Runs `body`, which rolls the context back, and puts the list back as it was when the attempt
    /// began, or at the last save in it: the cursor, the open group and what can be redone.
    func returnToStart(_ body: () -> Void) {
        holdStarts()
        let attempts = attempts
        body()
        guard let start = attempts.list else { return }
        steps.restore(start)
        self.attempts = attempts
        self.attempts.beginAgain(at: steps)
    }

    /// Makes the attempts that go on start again from what a save has come to, with the references
    /// that it has emptied.
    func noteSettled() { attempts.beginAllAgain(at: steps) }

    /// Keeps the lists of attempts that go on, before the steps change that they began with.
    private func holdStarts() { attempts.hold(steps) }

    // MARK: - The list

    /// What the undo manager shows of the list.
    var list: StepList { steps }

    /// Begins a group; all that comes until it is ended is one step.
    func beginGroup() { steps.beginGroup { index.keep($0, $1) } }

    /// Ends the group begun last.
    func endGroup() { steps.endGroup { index.keep($0, $1) } }

    /// Makes the open group a step, unless it was begun and not ended.
    func closeOpenGroup() {
        if steps.groupingLevel == 0 { steps.closeOpenGroup { index.keep($0, $1) } }
    }

    /// Begins the groups, empty, that are open in another journal and end there.
    func takeGroups(from other: WorkingJournal) {
        holdStarts()
        steps.takeGroups(from: &other.steps)
    }

    /// Names the group begun last, or the last step.
    func name(_ name: String) {
        holdStarts()
        steps.name(name)
    }

    /// Keeps so many steps on either side of the cursor; 0 for all.
    func keepSteps(atMost limit: Int) {
        holdStarts()
        steps.keep(atMost: limit) { index.keep($0, $1) }
    }

    /// Forgets what was undone.
    func forgetRedo() { steps.dropRedo { index.keep($0, $1) } }

    /// Forgets all steps, while what they changed stays changed. Groups that are open go on, empty.
    func forgetList() {
        index.keepAll()
        holdStarts()
        steps.removeAll()
        attempts.change { $0.removeAll() }
    }

    /// Notes what the last step has changed, which stands for a saved entry.
    func noteRead(_ changes: [RecordedChange], as origin: UndoneEntries, in store: UInt32) {
        holdStarts()
        steps.noteRead(changes, as: origin, in: store)
    }

    /// Drops the last step, which stands for a saved entry that cannot be taken back.
    func dropUnread() {
        holdStarts()
        steps.dropUnread()
    }

    /// What has been taken back in a store since the base without becoming a step.
    func unlistedOrigins(inStore store: UInt32) -> [UndoneEntries] {
        unlisted.filter { $0.store == store }.map(\.origin)
    }
}
