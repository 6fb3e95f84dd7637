// The room of the working journal: what has changed in a context since its base, and undo, redo and
// rollback on it. It changes objects by making recorded changes or taking them back, and asks the parent
// store about saved entries. It writes to none.

import DaybookObjectModel
import DaybookStopping
import Foundation

/// A step for undo: the changes of one event, or of several grouped together.
struct ChangeGroup {
    var changes: [RecordedChange] = []
    var actionName = ""
    /// What moving the cursor over the group takes back, by the number of the store.
    var origins: [UInt32: UndoneEntries] = [:]
    /// The saved entry whose changes the group stands for and that has not been read yet.
    var unread: UnreadEntry?

    /// Whether there is nothing in the group.
    var isEmpty: Bool { changes.isEmpty && unread == nil }
}

/// The journal of a context with its cursor.
///
/// The groups before the cursor can be undone, those after it redone. Undoing rewinds the cursor by
/// one group and applies the inverses; it works across saves, in which case the inverse becomes a
/// pending change that the next save appends. By default the journal is unlimited.
///
/// Each event of the context becomes a group of its own when it ends: by
/// ``ManagedObjectContext/processPendingChanges()``, a fetch or a count, or with the block given to
/// `perform`. Several events are made one step by ``beginUndoGrouping()`` and ``endUndoGrouping()``.
///
/// ```swift
/// manager.beginUndoGrouping()
/// turkey.name = "Türkiye"
/// turkey.flag = "🇹🇷"
/// manager.setActionName("Rename")
/// manager.endUndoGrouping()
/// context.undo()  // both are taken back
/// ```
///
/// Undo and redo write the values themselves and pass by the accessors of a subclass.
///
/// Belongs to the queue of its context. It keeps the objects it mentions alive, saved or not: let
/// them go with ``removeAllActions()``, bound their number with ``levelsOfUndo``, or give a context
/// that needs no undo no manager at all.
public final class UndoManager {
    // Invariants:
    // - The order of the journal is: the groups before the cursor, the open group, the groups after
    //   the cursor. The first two have been made, the last have been taken back.
    // - A change is marked as saved if it had been made at the last save. All in the groups before
    //   `savedCursor` are.
    // - What is pending for an object counts its changes that have been made and are not saved, less
    //   those that are saved and have been taken back.
    weak var context: ManagedObjectContext?
    var groups: [ChangeGroup] = []
    var cursor = 0
    var savedCursor = 0
    /// How many groups there were at the last save; others' values overtake what is in these.
    var settledCount = 0
    /// What was changed since the outermost open group began, or, without one and where events do
    /// not end steps, since the last step.
    var open = ChangeGroup()
    /// The groups that have been begun and not ended, outermost first.
    var levels: [Level] = []
    /// Where in the open group the nested groups lie that have been ended.
    var nested: [Range<Int>] = []
    private var disableCount = 0
    /// What the journal is to follow at the end of ``gatheringRebases(_:)``; nil outside.
    var gathered: [ManagedObject: [Rebase]]?

    /// A group that has been begun and not ended.
    struct Level {
        /// Where in the open group it starts.
        var start: Int
        var actionName = ""
    }

    /// How many steps can be undone, and how many redone; 0, the default, for all.
    ///
    /// The oldest steps beyond the limit are forgotten and let go of their objects. What they changed
    /// stays changed and is saved as ever.
    public var levelsOfUndo = 0 {
        didSet { trim() }
    }

    /// Whether the end of an event ends a step, which is the default.
    ///
    /// When false, what is changed outside the groups that are begun explicitly is collected in one
    /// step, however many events there are. That step ends when a group is begun, at the next undo,
    /// and when this is set to true.
    public var groupsByEvent = true {
        willSet { context?.processPendingChanges() }
        didSet { if groupsByEvent, levels.isEmpty { closeOpenGroup() } }
    }

    /// Whether ``undo()`` or ``undoNestedGroup()`` is at work.
    public private(set) var isUndoing = false
    /// Whether ``redo()`` is at work.
    public private(set) var isRedoing = false

    /// Makes an empty journal, to be given to one context.
    public init() {}

    func attach(to context: ManagedObjectContext) {
        require(
            self.context == nil || self.context === context,
            "An undo manager serves one context.")
        self.context = context
    }

    func detach() {
        forgetAll()
        context = nil
    }

    // MARK: - Undoing

    /// Whether there is a step to undo; what has been changed in the event that goes on is one.
    ///
    /// Asking does not end the event.
    public var canUndo: Bool {
        context != nil && (cursor > 0 || !open.changes.isEmpty || isEventUndoable)
    }

    /// Whether there is a step to redo; there is none any more once something else was changed.
    ///
    /// Asking does not end the event.
    public var canRedo: Bool {
        context != nil && cursor < groups.count && !isEventUndoable
    }

    /// How many steps can be undone; the event that goes on is not counted.
    public var undoCount: Int { cursor + (open.changes.isEmpty ? 0 : 1) }

    /// How many steps can be redone.
    public var redoCount: Int { groups.count - cursor }

    private var isEventUndoable: Bool {
        isUndoRegistrationEnabled && context?.event.contains { $0.change != nil } == true
    }

    /// Reverses the last step. Does nothing when there is none.
    ///
    /// Ends the event, and the group that is open if it is the only one.
    ///
    /// - Precondition: No group nested in another is open, and neither undo nor redo is at work.
    /// - Complexity: O(*k*), *k* the number of changes in the step.
    public func undo() {
        guard let context else { return }
        assertIsAtRest()
        post(.checkpoint)
        context.processPendingChanges()
        require(levels.count < 2, "Undo needs nested groups to be ended first.")
        if levels.isEmpty { closeOpenGroup() } else { endUndoGrouping() }
        guard cursor > 0, readStep(before: cursor, in: context) else { return }
        work(\.isUndoing, .willUndo, .didUndo) {
            cursor -= 1
            groups[cursor].changes = takeBack(groups[cursor].changes, in: context)
        }
    }

    /// Reverses the group that was ended last, even if it is nested in a group that is still open.
    /// Does nothing when there is none.
    ///
    /// In an open group, ``redo()`` makes it again there.
    ///
    /// - Precondition: Nothing was changed since the group was ended, and neither undo nor redo is at
    ///   work.
    public func undoNestedGroup() {
        guard let context, let level = levels.last else { return undo() }
        assertIsAtRest()
        post(.checkpoint)
        context.processPendingChanges()
        guard let range = nested.last, range.lowerBound >= level.start else { return }
        require(
            range.upperBound == open.changes.count,
            "A nested group is undone before anything else is changed.")
        work(\.isUndoing, .willUndo, .didUndo) {
            nested.removeLast()
            let changes = Array(open.changes[range])
            open.changes.removeSubrange(range)
            open.origins.removeAll()
            groups.insert(ChangeGroup(changes: takeBack(changes, in: context)), at: cursor)
            unsettleGroupsAfterCursor()
        }
    }

    /// Makes the last undone step again. Does nothing when there is none.
    ///
    /// Ends the event. In an open group, what is made again becomes a part of it.
    ///
    /// - Precondition: Neither undo nor redo is at work.
    /// - Complexity: O(*k*), *k* the number of changes in the step.
    public func redo() {
        guard let context else { return }
        assertIsAtRest()
        post(.checkpoint)
        context.processPendingChanges()
        guard cursor < groups.count else { return }
        work(\.isRedoing, .willRedo, .didRedo) {
            let changes = makeAgain(groups[cursor].changes, in: context)
            if levels.isEmpty {
                groups[cursor].changes = changes
                cursor += 1
                trim()
            } else {
                groups.remove(at: cursor)
                unsettleGroupsAfterCursor()
                nested.append(open.changes.count..<open.changes.count + changes.count)
                appendToOpenGroup(changes)
            }
        }
    }

    /// Applies the inverses of changes, last first.
    ///
    /// - Returns: What is to be made again: what was taken back, which may not be what was once
    ///   recorded.
    private func takeBack(
        _ changes: [RecordedChange], in context: ManagedObjectContext
    ) -> [RecordedChange] {
        // Mostly changes are taken back as they were recorded, and the list stays what it is.
        var taken = changes
        var passedOver: Set<Int> = []
        context.pending.makeRoom(for: changes)
        let recorded = changes.span
        var index = recorded.count
        while index > 0 {
            index -= 1
            switch context.takeBack(recorded[index]) {
            case .asRecorded:
                if recorded[index].change.cause != nil { taken[index].change.cause = nil }
            case .otherwise(let change):
                taken[index].change = change
            case .passedOver:
                passedOver.insert(index)
                if !recorded[index].isSaved {
                    context.pending.settleBeyondUndo(recorded[index].object.graphID, 1)
                }
            }
        }
        if !passedOver.isEmpty {
            taken = taken.indices.filter { !passedOver.contains($0) }.map { taken[$0] }
        }
        context.awake(after: taken, .back)
        return taken
    }

    private func makeAgain(
        _ changes: [RecordedChange], in context: ManagedObjectContext
    ) -> [RecordedChange] {
        var made: [RecordedChange] = []
        made.reserveCapacity(changes.count)
        for recorded in changes {
            if let change = context.make(recorded, as: .forward) {
                made.append(change)
            } else if recorded.isSaved {
                context.pending.settleBeyondUndo(recorded.object.graphID, -1)
            }
        }
        context.awake(after: made, .forward)
        return made
    }

    private func assertIsAtRest() {
        require(
            !isUndoing && !isRedoing, "An undo manager is left alone while undo or redo is at work."
        )
    }

    private func work(
        _ flag: ReferenceWritableKeyPath<UndoManager, Bool>, _ before: Notice,
        _ after: Notice, _ body: () -> Void
    ) {
        post(before)
        self[keyPath: flag] = true
        body()
        // What hooks have changed meanwhile is no step of its own.
        context?.processPendingChanges()
        context?.terms.forgetMendedReferences()
        self[keyPath: flag] = false
        post(after)
    }

    /// Forgets all steps and lets go of their objects. Groups that are open go on, empty.
    ///
    /// Ends the event, which is forgotten as well. What was changed stays changed and is saved as
    /// ever, and registration stays enabled or disabled as it was.
    ///
    /// - Precondition: Neither undo nor redo is at work.
    public func removeAllActions() {
        context?.processPendingChanges()
        forgetAll()
    }

    /// Forgets all steps; the event is left as it is.
    func forgetAll() {
        assertIsAtRest()
        context?.pending.settleBeyondUndo()
        groups.removeAll()
        open = ChangeGroup()
        nested.removeAll()
        for index in levels.indices {
            levels[index] = Level(start: 0, actionName: levels[index].actionName)
        }
        cursor = 0
        savedCursor = 0
        settledCount = 0
    }

    // MARK: - Grouping

    /// How many groups have been begun and not ended.
    public var groupingLevel: Int { levels.count }

    /// Begins a group: all events until the matching ``endUndoGrouping()`` are one step, also if a
    /// save lies between.
    ///
    /// Ends the event. A group begun in another becomes a part of it.
    public func beginUndoGrouping() {
        post(.checkpoint)
        context?.processPendingChanges()
        if levels.isEmpty { closeOpenGroup() }
        levels.append(Level(start: open.changes.count))
        post(.didOpenGroup)
    }

    /// Ends the group begun last. A group in which nothing was changed is no step.
    ///
    /// - Precondition: A group has been begun and not ended.
    public func endUndoGrouping() {
        require(!levels.isEmpty, "endUndoGrouping needs a beginUndoGrouping before it.")
        post(.checkpoint)
        context?.processPendingChanges()
        let level = levels.removeLast()
        if levels.isEmpty {
            open.actionName = level.actionName
            closeOpenGroup()
        } else {
            let outer = levels.count - 1
            if levels[outer].actionName.isEmpty { levels[outer].actionName = level.actionName }
            nested.removeAll { $0.lowerBound >= level.start }
            if level.start < open.changes.count { nested.append(level.start..<open.changes.count) }
        }
        post(.didCloseGroup)
    }

    private func closeOpenGroup() {
        let group = open
        open = ChangeGroup()
        nested.removeAll()
        push(group)
    }

    // MARK: - Naming

    /// Names the step: the group begun last, or, when none is open, the last step.
    ///
    /// Ends the event. A group without a name takes that of the first group nested in it that has
    /// one.
    public func setActionName(_ name: String) {
        context?.processPendingChanges()
        if !levels.isEmpty {
            levels[levels.count - 1].actionName = name
        } else if !open.changes.isEmpty {
            open.actionName = name
        } else if cursor > 0 {
            groups[cursor - 1].actionName = name
        }
    }

    /// The name of what undo would reverse; empty when it has none.
    public var undoActionName: String {
        if let level = levels.first, !open.changes.isEmpty { return level.actionName }
        if !open.changes.isEmpty { return open.actionName }
        return cursor > 0 ? groups[cursor - 1].actionName : ""
    }

    /// The name of what redo would make again; empty when it has none.
    public var redoActionName: String { cursor < groups.count ? groups[cursor].actionName : "" }

    // MARK: - Registering

    /// Stops recording until the matching ``enableUndoRegistration()``. The changes themselves are
    /// made and saved as ever, and what could be undone or redone before still can.
    ///
    /// Ends the event, so that what was changed before is still recorded.
    public func disableUndoRegistration() {
        context?.processPendingChanges()
        disableCount += 1
    }

    /// Starts recording again, with what is changed from here on.
    ///
    /// - Precondition: A ``disableUndoRegistration()`` has gone before.
    public func enableUndoRegistration() {
        require(disableCount > 0, "enableUndoRegistration needs a disable before it.")
        context?.processPendingChanges()
        disableCount -= 1
    }

    /// Whether changes are recorded.
    public var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Whether the changes of an event that ends now become a step.
    var isRecording: Bool { isUndoRegistrationEnabled && !isUndoing && !isRedoing }

    /// Forgets what could be redone, since something else is to be recorded.
    func prepareToRegister() {
        if isRecording { dropRedo(keeping: 0) }
    }

    /// Takes in the changes of an event that has ended.
    func register(_ changes: [RecordedChange]) {
        guard isRecording else { return }
        guard levels.isEmpty, groupsByEvent else {
            appendToOpenGroup(changes)
            return
        }
        push(ChangeGroup(changes: changes))
        post(.didCloseGroup)
    }

    private func push(_ group: ChangeGroup) {
        guard !group.changes.isEmpty else { return }
        groups.insert(group, at: cursor)
        unsettleGroupsAfterCursor()
        cursor += 1
        trim()
    }

    private func unsettleGroupsAfterCursor() {
        savedCursor = min(savedCursor, cursor)
        settledCount = min(settledCount, cursor)
    }

    // MARK: - Limits

    /// Forgets the oldest steps beyond the limit.
    func trim() {
        guard levelsOfUndo > 0 else { return }
        dropRedo(keeping: levelsOfUndo)
        let surplus = max(cursor - levelsOfUndo, 0)
        for recorded in groups.prefix(surplus).flatMap(\.changes) where !recorded.isSaved {
            context?.pending.settleBeyondUndo(recorded.object.graphID, 1)
        }
        groups.removeFirst(surplus)
        cursor -= surplus
        savedCursor = max(savedCursor - surplus, 0)
        settledCount = max(settledCount - surplus, 0)
    }

    /// Forgets what was undone, but for some steps that would be redone first.
    private func dropRedo(keeping count: Int) {
        let kept = min(cursor + count, groups.count)
        guard kept < groups.count else { return }
        for recorded in groups[kept...].flatMap(\.changes) where recorded.isSaved {
            context?.pending.settleBeyondUndo(recorded.object.graphID, -1)
        }
        groups.removeSubrange(kept...)
        savedCursor = min(savedCursor, kept)
        settledCount = min(settledCount, kept)
    }
}
