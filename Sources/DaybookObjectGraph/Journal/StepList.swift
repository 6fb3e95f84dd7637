import DaybookObjectModel

/// The list of a working journal: what can be undone and redone, and where base and cursor stand in
/// it.
///
/// Invariants:
/// - The order is: the groups before the cursor, the open group, the groups after the cursor. The
///   changes of the first two are in force; those of the last have been taken back.
/// - A change is marked as saved if it was in force at the last save of its object's store, as all
///   changes in the groups before that store's base are.
struct StepList {
    private(set) var groups: [ChangeGroup] = []
    private(set) var cursor = 0
    private(set) var base = ListBase()
    private(set) var open = OpenGroup()
    /// The saved steps that have been moved over since the last save and are in the list no more.
    private(set) var left = LeftSteps()
    /// How many steps are kept on either side of the cursor; 0 for all.
    private var limit = 0

    /// Called for a change that leaves the list, with its object and how far it led from the base towards
    /// the cursor: 1 if it was made since the last save, -1 if it was saved and has been taken back
    /// since, otherwise 0.
    typealias Leaving = (ManagedObject, Int) -> Void

    // MARK: - Taking in

    /// Where the changes that come next belong.
    enum Destination {
        /// They are a step of their own, unless a group is open.
        case step
        /// They belong to the open group.
        case openGroup
    }

    /// Adds changes that have been made.
    ///
    /// - Returns: Whether they have become a step.
    mutating func append(
        _ group: ChangeGroup, to destination: Destination, _ leaving: Leaving
    ) -> Bool {
        guard open.level == 0, destination == .step else {
            open.append(group)
            return false
        }
        push(group, leaving)
        return true
    }

    /// Whether what a save adds belongs to the step before: no group is open, and the cursor has moved since
    /// the last save, to behind this step.
    var canJoin: Bool {
        open.isUnused && cursor > 0 && !base.stepsMovedOver(to: cursor).isEmpty
    }

    /// Adds changes to the step before, which is no longer what an entry has saved.
    mutating func join(_ changes: [RecordedChange]) {
        groups[cursor - 1].changes += changes
        groups[cursor - 1].addParts(of: ChangeGroup(origins: groups[cursor - 1].origins))
        for change in changes { groups[cursor - 1].origins[change.object.graphID.store] = nil }
    }

    /// Adds a change to a step that has been made; the open group counts as the step after all others.
    mutating func append(_ recorded: RecordedChange, toStep step: Int) {
        guard step == openStep else { return groups[step].changes.append(recorded) }
        open.extend(with: recorded)
    }

    /// Puts steps of the past below all others, oldest first.
    ///
    /// - Returns: How many of them the limit allows.
    mutating func insertBelow(_ steps: [ChangeGroup], _ leaving: Leaving) -> Int {
        groups.insert(contentsOf: steps, at: 0)
        cursor += steps.count
        base.follow { $0 + steps.count }
        let count = cursor
        trim(leaving)
        return max(steps.count - (count - cursor), 0)
    }

    private mutating func push(_ group: ChangeGroup, _ leaving: Leaving) {
        guard !group.changes.isEmpty else { return }
        insertAtCursor(group)
        cursor += 1
        trim(leaving)
    }

    /// Puts a step behind the cursor. What had been recorded there at the last save still was.
    private mutating func insertAtCursor(_ group: ChangeGroup) {
        let cursor = cursor
        groups.insert(group, at: cursor)
        base.follow { $0 > cursor ? $0 + 1 : $0 }
    }

    private mutating func removeAtCursor() -> ChangeGroup {
        let cursor = cursor
        base.follow { $0 > cursor ? $0 - 1 : $0 }
        return groups.remove(at: cursor)
    }

    // MARK: - Groups

    /// Begins a group in the open one.
    mutating func beginGroup(_ leaving: Leaving) {
        if open.level == 0 { closeOpenGroup(leaving) }
        open.begin()
    }

    /// Ends the group begun last.
    mutating func endGroup(_ leaving: Leaving) {
        if open.end() { closeOpenGroup(leaving) }
    }

    /// Makes the open group a step, unless it is empty.
    mutating func closeOpenGroup(_ leaving: Leaving) { push(open.take(), leaving) }

    /// Names the group begun last, or, when none is open, the last step.
    mutating func name(_ name: String) {
        if !open.name(name), cursor > 0 { groups[cursor - 1].actionName = name }
    }

    /// Takes over the groups that are open in another list, without their changes, and ends them there.
    mutating func takeGroups(from other: inout StepList) { open.takeGroups(from: &other.open) }

    // MARK: - The cursor

    /// Moves the cursor back over one step.
    mutating func rewind() { cursor -= 1 }

    /// Records what redo has to make again of the step that was just taken back. With nothing it stays a step, so that
    /// redo and undo go on in turn over the same steps.
    mutating func recordTakenBack(_ changes: [RecordedChange]) { groups[cursor].changes = changes }

    /// The changes of the nested group that was ended last in the open one; nil when there is none.
    ///
    /// - Precondition: Nothing was changed since it was ended.
    var lastNested: [RecordedChange]? { open.lastNested }

    /// Removes the nested group that was ended last from the open one.
    mutating func removeLastNested() { open.removeLastNested() }

    /// Records what redo has to make again of a nested group that was just taken back.
    mutating func recordNestedTakenBack(_ changes: [RecordedChange]) {
        insertAtCursor(ChangeGroup(changes: changes, parts: open.step.parts))
    }

    /// Moves the cursor over the step that was just made again, or adds the step to the open group.
    mutating func advance(over changes: [RecordedChange], _ leaving: Leaving) {
        guard open.level == 0 else {
            var step = removeAtCursor()
            step.changes = changes
            return open.appendNested(step)
        }
        groups[cursor].changes = changes
        cursor += 1
        trim(leaving)
    }

    /// Records the changes of the step before the cursor, which stands for a saved entry.
    mutating func recordRead(
        _ changes: [RecordedChange], as origin: UndoneEntries, in store: UInt32
    ) {
        groups[cursor - 1].changes = changes
        groups[cursor - 1].unread = nil
        groups[cursor - 1].origins[store] = origin
    }

    /// Drops the step before the cursor, which stands for a saved entry and has not been read.
    mutating func dropUnread() {
        groups.remove(at: cursor - 1)
        cursor -= 1
        base.follow { max($0 - 1, 0) }
    }

    // MARK: - The base

    /// Moves the base to the cursor.
    ///
    /// - Parameters:
    ///   - saves: The entry that each store has appended, and what it changed.
    ///   - stores: The stores that were saved; nil for all.
    /// - Complexity: O(*k*), *k* the number of changes since the last save and after the cursor.
    mutating func markSaved(
        as saves: [UInt32: UndoneEntries], inStores stores: Set<UInt32>? = nil
    ) {
        let first = base.stepsMovedOver(to: cursor).lowerBound
        let moved = (first..<groups.count).filter { movedStep($0).isMoved }
        let count = moved.reduce(0) { $0 + groups[$1].changes.count }
        let origins = saves.mapValues { $0.keeping(atMost: count) }
        if stores == nil, base.isCommon {
            for index in moved { groups[index].origins = origins }
        } else {
            for index in moved { setOrigins(origins, inStores: stores, ofStep: index) }
        }
        // What was taken back is saved as taken back: of what that was a part, is no longer asked.
        for index in moved where index >= cursor {
            groups[index].parts = groups[index].parts.filter { stores?.contains($0.key) == false }
        }
        for index in first..<groups.count {
            groups[index].changes.mark(isSaved: index < cursor, inStores: stores)
        }
        open.markSaved(as: saves, inStores: stores)
        left.removeAll(inStores: stores)
        base.move(to: cursor, of: groups.count, inStores: stores)
    }

    /// Sets the origins of a step for the stores that were saved and over whose part of it the cursor has
    /// moved.
    private mutating func setOrigins(
        _ origins: [UInt32: UndoneEntries], inStores stores: Set<UInt32>?, ofStep index: Int
    ) {
        for store in Set(origins.keys).union(groups[index].origins.keys)
        where stores?.contains(store) != false
            && movedStep(index).concerns(store: store)
        {
            groups[index].origins[store] = origins[store]
        }
    }

    /// Adds a step that has been saved, instead of the steps to redo. Nothing else has changed since the
    /// last save.
    mutating func appendSaved(_ group: ChangeGroup) {
        dropRedo { _, _ in }
        _ = append(group, to: .step) { _, _ in }
        base.move(to: cursor, of: groups.count)
    }

    // MARK: - Forgetting

    /// Limits the steps on either side of the cursor; 0 for no limit.
    mutating func keep(atMost limit: Int, _ leaving: Leaving) {
        self.limit = limit
        trim(leaving)
    }

    /// Forgets the steps that can be redone.
    mutating func dropRedo(_ leaving: Leaving) { dropRedo(keeping: 0, leaving) }

    /// Becomes another list, with the limit of this one.
    mutating func restore(_ other: StepList) {
        let limit = limit
        self = other
        keep(atMost: limit) { _, _ in }
    }

    /// Where a list ends in which nothing can be redone and no group is open.
    struct End {
        fileprivate let count: Int
        fileprivate let base: ListBase
    }

    /// The end of the list; nil if only a copy of the list can restore it.
    var end: End? {
        guard open.isUnused, cursor == groups.count, limit == 0, left.steps.isEmpty else {
            return nil
        }
        return End(count: groups.count, base: base)
    }

    /// The list as it was at an end; since then steps have only been added.
    func cut(to end: End) -> StepList {
        var list = StepList()
        list.groups = Array(groups.prefix(end.count))
        list.cursor = end.count
        list.base = end.base
        list.limit = limit
        return list
    }

    /// Forgets the steps that have left the list, since nothing of them is pending any more.
    mutating func forgetLeft() { left.removeAll() }

    /// Forgets what steps that have left the list did to an object, since it is not pending any more.
    mutating func forgetLeft(of object: ManagedObject) { left.forget(object) }

    /// Forgets all steps. Open groups stay open, and are empty.
    mutating func removeAll() {
        for index in groups.indices { left.keep(groups[index], isMade: index < cursor) }
        left.keep(open.step, isMade: true)
        groups.removeAll()
        open.removeAll()
        (cursor, base) = (0, ListBase())
    }

    private mutating func trim(_ leaving: Leaving) {
        guard limit > 0 else { return }
        dropRedo(keeping: limit, leaving)
        let surplus = max(cursor - limit, 0)
        guard surplus > 0 else { return }
        for group in groups.prefix(surplus) {
            group.changes.leave(wereMade: true, leaving)
            left.keep(group, isMade: true)
        }
        groups.removeFirst(surplus)
        cursor -= surplus
        base.follow { max($0 - surplus, 0) }
    }

    private mutating func dropRedo(keeping count: Int, _ leaving: Leaving) {
        let kept = min(cursor + count, groups.count)
        guard kept < groups.count else { return }
        for group in groups[kept...] {
            group.changes.leave(wereMade: false, leaving)
            left.keep(group, isMade: false)
        }
        groups.removeSubrange(kept...)
        base.follow { min($0, kept) }
    }

    // MARK: - Rewriting

    /// Where a change stands in the list.
    struct Position {
        /// The step; that after all for the open group.
        let step: Int
        /// Whether the change there has been made, and not taken back since.
        let isMade: Bool
        /// Whether it was recorded before the last save.
        let isSettled: Bool
    }

    /// The number of the open group, which comes after all steps.
    var openStep: Int { groups.count }

    /// The steps that have been made, without the open group.
    var madeSteps: Range<Int> { 0..<cursor }

    /// The changes of a step.
    func changes(ofStep step: Int) -> [RecordedChange] {
        step == openStep ? open.changes : groups[step].changes
    }

    /// Replaces the changes that were made after a step.
    mutating func rewriteMade(
        after first: Int, _ transform: (Int, RecordedChange) -> RecordedChange
    ) {
        for step in groups[..<cursor].indices where step > first {
            groups[step].changes = groups[step].changes.map { transform(step, $0) }
        }
        let openStep = openStep
        open.rewrite { transform(openStep, $0) }
    }

    /// Replaces or removes changes, in the order of the list: those before the cursor, those of the open group, those
    /// after the cursor. Steps that become empty are removed.
    mutating func rewrite(
        _ transform: (Position, RecordedChange) -> RecordedChange?, _ leaving: Leaving
    ) {
        func rewrite(_ recorded: RecordedChange, _ position: Position) -> RecordedChange? {
            let kept = transform(position, recorded)
            if kept == nil { leaving(recorded.object, recorded.distance(isMade: position.isMade)) }
            return kept
        }
        var kept: [ChangeGroup] = []
        // The new positions of each step and of the end.
        var positions: [Int] = []
        let (old, cursor, base) = (groups, cursor, base)
        func rewrite(_ steps: Range<Int>) {
            for index in steps {
                positions.append(kept.count)
                var group = old[index]
                group.changes = group.changes.compactMap {
                    let isSettled = $0.isSaved || index < base[$0.object.graphID.store].count
                    return rewrite(
                        $0, Position(step: index, isMade: index < cursor, isSettled: isSettled))
                }
                guard !group.isEmpty else { continue }
                kept.append(group)
            }
        }
        rewrite(0..<cursor)
        let openStep = openStep
        open.rewrite { recorded in
            rewrite(
                recorded, Position(step: openStep, isMade: true, isSettled: recorded.isSaved))
        }
        rewrite(cursor..<old.count)
        positions.append(kept.count)
        groups = kept
        self.cursor = positions[cursor]
        self.base.follow { positions[$0] }
    }
}
