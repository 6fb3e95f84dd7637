// The room of the working journal: what has changed in a context since its base, and how undo, redo and
// rollback move over it. `WorkingJournal` owns all of it: the current event (`OpenEvent`), the list of
// changes with base and cursor (`StepList`), and the index of what lies between them (`JournalIndex`).
// It hands what is undone and redone to the context; what that does to objects is in the room of undoing.

import DaybookObjectModel

/// The journal of a context: one list of changes with a base, where the last save was, and a cursor.
///
/// Edits are recorded in the open event. When the event ends, its changes are added to the list at the
/// cursor. Undo moves the cursor back and redo moves it forward; a rollback moves it back to the base; a
/// save moves the base to the cursor; a merge puts what others have saved under the base.
///
/// Invariants:
/// - What is pending for an object (`net(of:)`) is everything that lies between base and cursor, as
///   one change. The index is derived from the list: every function that adds changes, removes them or
///   moves the cursor also updates the index.
/// - Without an undo manager, with registration disabled and beyond `levelsOfUndo`, changes belong to no
///   step. Only the index keeps them then: one change for each object.
/// - An object with nothing pending stays in the index as long as any of its changes lie between base
///   and cursor: it is dirty until the next save, or until all of them are undone.
final class WorkingJournal {
    private var event = OpenEvent()
    private var steps = StepList()
    private let index: JournalIndex
    private var unlisted: [UnlistedStep] = []
    /// The saves that have taken back entries and could not name them, so that neither blocks the steps below.
    private var unnamed: [UnnamedUndo] = []
    private var attempts = JournalAttempts()
    /// The values to which the list is adapted at the end of `gatheringRebases(_:)`; nil outside it.
    private var gathered: [ManagedObject: [any StepRebase]]?
    private var endedEvents = 0
    private var joinsSteps = false

    /// Makes an empty journal.
    ///
    /// - Parameter interest: Whether lists ask for what comes and goes.
    init(for interest: ListInterest = ListInterest()) {
        index = JournalIndex(for: interest)
    }

    // MARK: - What is pending

    /// Everything between base and cursor, a change for each object.
    var net: [NetChange] { index.net }

    /// The net changes of objects of some entities.
    func net(of entities: [EntityNumber]) -> some Sequence<NetChange> { index.net(of: entities) }

    /// What lies between base and cursor of an object; nil for nothing.
    func net(of id: GraphID) -> NetChange? { index[id] }

    /// What of an object is laid over what lies under the context. One that was inserted here and is so no more leaves
    /// nothing: whoever else has brought it back is right.
    func overlay(of id: GraphID) -> NetChange? {
        index[id].flatMap { $0.isAnnihilated ? nil : $0 }
    }

    /// What is pending for an object, as one change; nil when nothing is to be saved.
    func change(of id: GraphID) -> Change? { index[id]?.change }

    /// Whether the cursor stands on the base.
    var isAtBase: Bool { index.isEmpty }

    /// Whether anybody has joined, left or moved in a relationship.
    func hasMoves(_ key: RelationKey) -> Bool { index.hasMoves(key) }

    /// Lays what is pending over the members that lie under the context.
    func overlay(_ key: RelationKey, on members: inout RelationMembers) {
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

    /// How many events with changes have ended.
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

    /// Records how the event changes one end of a relationship.
    func record(_ link: RelationLink) { index.record(link) }

    /// Records a delete.
    func recordDelete(of object: ManagedObject, _ values: [Value], because cause: ObjectID?) {
        event.delete(object, values, because: cause)
    }

    /// Records the object whose deletion has changed another in the event.
    func record(cause: ObjectID, of object: ManagedObject) {
        event.record(cause: cause, of: object)
    }

    /// Ends the event.
    ///
    /// - Returns: What has happened in it.
    func endEvent() -> [EventRecord] {
        endedEvents += 1
        return event.end()
    }

    /// Adds the changes of an event that has ended.
    ///
    /// - Parameters:
    ///   - changes: At most one for each object.
    ///   - destination: Where in the list they belong; nil to leave them out.
    /// - Returns: Whether they have become a step, and the objects that were inserted since the base and
    ///   are deleted now.
    func append(
        _ changes: [RecordedChange], to destination: StepList.Destination?
    ) -> (isStep: Bool, annihilated: [ManagedObject]) {
        if joinsSteps, destination == .step, steps.canJoin {
            holdStarts()
            steps.join(changes)
            return (false, index.append(changes, .forward))
        }
        if destination != nil { forgetRedo() }
        let annihilated = index.append(changes, destination == nil ? .unrecorded : .forward)
        return (append(ChangeGroup(changes: changes), to: destination), annihilated)
    }

    /// Runs the hooks of a save: what they change belongs to the step behind which the cursor stands, whether that
    /// is saved now or steps after it have been taken back.
    func joiningSteps(_ hooks: () throws -> Void) rethrows {
        let outer = joinsSteps
        joinsSteps = true
        defer { joinsSteps = outer }
        try hooks()
    }

    /// Marks an object as dirty that was changed and changed back in one event.
    func touch(_ object: ManagedObject) { index.touch(object) }

    /// Adds changes that ``make(_:as:in:)`` has made one after the other, together with the entries that
    /// they take back.
    ///
    /// - Returns: Whether they have become a step.
    func append(_ group: ChangeGroup, to destination: StepList.Destination?) -> Bool {
        guard let destination else {
            for (store, origin) in group.origins {
                let changes = group.changes.filter { $0.object.graphID.store == store }
                    .map(\.change)
                unlisted.append(UnlistedStep(store: store, origin: origin, changes: changes))
            }
            return false
        }
        return steps.append(group, to: destination) { index.keep($0, $1) }
    }

    /// Adds a change to an earlier step; see ``steps(thatDelete:)``. With nil it belongs to no step.
    func append(_ recorded: RecordedChange, toStep step: Int?) {
        if !recorded.isSaved {
            index.follow(recorded.change, of: recorded.object, step == nil ? .unrecorded : .forward)
        }
        if let step {
            holdStarts()
            steps.append(recorded, toStep: step)
        }
    }

    /// The last step in which each object was deleted.
    func steps(thatDelete deleted: Set<GraphID>) -> [GraphID: Int] {
        steps.steps(thatDelete: deleted)
    }

    /// Puts steps of the past below all others, oldest first.
    ///
    /// - Returns: How many of them the limit allows.
    func insertBelow(_ steps: [ChangeGroup]) -> Int {
        holdStarts()
        return self.steps.insertBelow(steps) { index.keep($0, $1) }
    }

    // MARK: - Moving the cursor

    /// Moves the cursor back over one step.
    func undo(in context: ManagedObjectContext) {
        guard let step = steps.last else { return }
        holdStarts()
        steps.rewind()
        let taken = index.takeBack(step.changes, in: context)
        steps.recordTakenBack(taken)
        // Hooks come last: they may change the list.
        context.awake(after: taken, .back)
    }

    /// Takes back the nested group that was ended last in the open one.
    func undoNested(in context: ManagedObjectContext) {
        guard let changes = steps.lastNested else { return }
        steps.removeLastNested()
        let taken = index.takeBack(changes, in: context)
        steps.recordNestedTakenBack(taken)
        context.awake(after: taken, .back)
    }

    /// Moves the cursor forward over one step. In an open group the changes become a part of the group.
    func redo(in context: ManagedObjectContext) {
        guard let step = steps.next else { return }
        let made = index.makeAgain(step.changes, in: context)
        steps.advance(over: made) { index.keep($0, $1) }
        context.awake(after: made, .forward)
    }

    /// Makes a change, starting from the current state of its object.
    ///
    /// - Returns: The change that was made; nil when it was skipped.
    func make(
        _ recorded: RecordedChange, as move: NetChanges.Move, in context: ManagedObjectContext
    ) -> RecordedChange? {
        index.make(recorded, as: move, in: context)
    }

    // MARK: - For lists

    /// What has become pending, and ceased to be, other than by an event, since this was last called.
    func takeNotedChanges() -> [(id: GraphID, change: Change)] { index.takeNotedChanges() }

    // MARK: - Moving the base

    /// Moves the base to the cursor.
    ///
    /// - Parameter saves: The entry that each store has appended, and what it changed.
    func markSaved(as saves: [UInt32: UndoneEntries] = [:]) {
        index.removeAll()
        unlisted.removeAll()
        steps.markSaved(as: saves)
        attempts.beginAllAgain(at: steps)
    }

    /// Moves the base of some stores to the cursor after another store has refused.
    ///
    /// An attempt that is running then begins with what these stores have saved as a step of its own,
    /// because that is saved whatever happens to the rest.
    ///
    /// - Parameters:
    ///   - items: Everything that was pending for these stores.
    ///   - stores: The numbers of the stores.
    ///   - saves: The entry that each store has appended, and what it changed.
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

    /// Forgets what is pending for an object, because it is saved or dropped. The list keeps it.
    func clear(_ object: ManagedObject) { index.clear(object) }

    /// Forgets what is pending for an object and removes its changes from the list. With `onlyUnsaved`,
    /// changes that were saved before and not taken back can still be undone.
    func forget(_ object: ManagedObject, onlyUnsaved: Bool = false) {
        clear(object)
        guard object.isJournaled else { return }
        let id = object.graphID
        for index in unlisted.indices where unlisted[index].store == id.store {
            unlisted[index].changes.removeAll { $0.object == id.object }
        }
        unlisted.removeAll(where: \.changes.isEmpty)
        rewrite { $0.forget(object, onlyUnsaved: onlyUnsaved, $1) }
    }

    /// Replaces what is pending for an object after others have changed its base; nil for nothing. The list then
    /// takes out, with a deleted object, the members that they have put in.
    func rebase(_ object: ManagedObject, to change: Change?) {
        if object.isJournaled, let before = index[object.graphID]?.change,
            let rebase = change.flatMap({ MemberRebase(from: before, to: $0) })
        {
            gatheringRebases { gathered?[object, default: []].append(rebase) }
        }
        index.rebase(object, to: change)
    }

    /// Adapts the list to a value that others have set, now or at the end of ``gatheringRebases(_:)``.
    func rebase(
        _ object: ManagedObject, _ property: PropertyNumber, inSlot slot: Int, onto theirs: Value
    ) {
        guard object.isJournaled else { return }
        var replaced: Value?
        if case .delete(let values, _)? = change(of: object.graphID)?.kind {
            replaced = values[slot]
        }
        let rebase = Rebase(property, inSlot: slot, onto: theirs, insteadOf: replaced)
        gatheringRebases { gathered?[object, default: []].append(rebase) }
    }

    /// Adapts the list to members that others have moved, now or at the end of ``gatheringRebases(_:)``.
    func rebase(_ object: ManagedObject, onto theirs: [MembershipEdit]) {
        guard object.isJournaled else { return }
        gatheringRebases { gathered?[object, default: []].append(MoveRebase(onto: theirs)) }
    }

    /// Runs `body`, and adapts the list in one walk to everything that it rebases.
    func gatheringRebases(_ body: () -> Void) {
        guard gathered == nil else { return body() }
        gathered = [:]
        body()
        let rebases = gathered ?? [:]
        gathered = nil
        guard !rebases.isEmpty else { return }
        rewrite { $0.rebase(rebases, $1) }
    }

    /// Gives an object its new identifier throughout the journal, without what it was related to.
    func move(_ object: ManagedObject, from old: GraphID) {
        index.move(old, to: object.graphID)
        rewrite { $0.move(object, from: old, $1) }
    }

    /// Rewrites the list as if objects that others have deleted had never been referred to.
    func dropReferences(
        to deleted: Set<ObjectID>, inStore store: UInt32,
        keeping isKept: (SchemaProperty) -> Bool = { _ in false }
    ) {
        rewrite { $0.dropReferences(to: deleted, inStore: store, keeping: isKept, $1) }
    }

    /// Removes references to deleted objects from the steps after the saved delete; see
    /// ``steps(thatDelete:)``.
    func emptyReferences(to deleted: Set<GraphID>, deletedIn steps: [GraphID: Int]) {
        holdStarts()
        self.steps.emptyReferences(to: deleted, deletedIn: steps)
    }

    /// Rewrites the list. An object is clean when it has no changes left in it and nothing is pending.
    private func rewrite(_ rewriting: (inout StepList, StepList.Leaving) -> Void) {
        holdStarts()
        rewriting(&steps) { index.forget($0, $1) }
        attempts.change { rewriting(&$0) { _, _ in } }
    }

    /// Moves the cursor back to the base and forgets all steps.
    func rollback() {
        _ = event.end()
        index.removeAll()
        unlisted.removeAll()
        forgetList()
        steps.forgetLeft()
    }

    // MARK: - Attempts

    /// Runs `body`, in which ``returnToStart(_:)`` restores the list as it is now.
    func attempting<Result>(_ body: () throws -> Result) rethrows -> Result {
        attempts.begin(at: steps)
        defer { attempts.end() }
        return try body()
    }

    /// Runs `body`, which rolls the context back, and restores the list as it was when the attempt began,
    /// or at the last save in it, with the cursor, the open group and the steps to redo.
    func returnToStart(_ body: () -> Void) {
        holdStarts()
        let attempts = attempts
        body()
        guard let start = attempts.list else { return }
        steps.restore(start)
        self.attempts = attempts
        self.attempts.beginAgain(at: steps)
    }

    /// Lets all running attempts begin with the result of a save, which has emptied references.
    func beginAttemptsAgain() { attempts.beginAllAgain(at: steps) }

    /// Keeps the lists of running attempts before the steps change with which they began.
    private func holdStarts() { attempts.hold(steps) }

    // MARK: - The list

    /// What the undo manager shows of the list.
    var list: StepList { steps }

    /// Begins a group: everything until its end is one step.
    func beginGroup() { steps.beginGroup { index.keep($0, $1) } }

    /// Ends the group begun last.
    func endGroup() { steps.endGroup { index.keep($0, $1) } }

    /// Makes the open group a step, unless it was begun explicitly and has not ended.
    func closeOpenGroup() {
        if steps.groupingLevel == 0 { steps.closeOpenGroup { index.keep($0, $1) } }
    }

    /// Takes over the groups that are open in another journal, without their changes, and ends them there.
    func takeGroups(from other: WorkingJournal) {
        holdStarts()
        steps.takeGroups(from: &other.steps)
    }

    /// Names the group begun last, or the last step.
    func name(_ name: String) {
        holdStarts()
        steps.name(name)
    }

    /// Limits the steps on either side of the cursor; 0 for no limit.
    func keepSteps(atMost limit: Int) {
        holdStarts()
        steps.keep(atMost: limit) { index.keep($0, $1) }
    }

    /// Forgets the steps that can be redone.
    func forgetRedo() { steps.dropRedo { index.keep($0, $1) } }

    /// Forgets all steps but not what they have changed. Open groups stay open, and are empty.
    func forgetList() {
        index.keepAll()
        holdStarts()
        unnamed.removeAll()
        steps.removeAll()
        attempts.change { $0.removeAll() }
    }

    /// Records the changes of the last step, which stands for a saved entry.
    func recordRead(_ changes: [RecordedChange], as origin: UndoneEntries, in store: UInt32) {
        holdStarts()
        steps.recordRead(changes, as: origin, in: store)
    }

    /// Drops the last step, which stands for a saved entry that cannot be taken back.
    func dropUnread() {
        holdStarts()
        steps.dropUnread()
    }

    /// Remembers a save that has taken back entries and cannot name them.
    func record(_ undo: UnnamedUndo) { unnamed.append(undo) }

    /// The saves to a store that have taken back entries and could not name them.
    func unnamedUndos(inStore store: UInt32) -> [UnnamedUndo] {
        unnamed.filter { $0.store == store }
    }

    /// What has taken back entries of a store since the base, outside of any step.
    func unlistedSteps(inStore store: UInt32) -> [UnlistedStep] {
        unlisted.filter { $0.store == store }
    }
}
