// The room of undoing: the public face of the working journal, and what undo and redo do to objects. It
// applies the changes that the journal gives back, reads saved entries from the parent store, and keeps
// nothing of its own but what observers are told.

import DaybookObjectModel
import DaybookStopping
import Foundation

/// What can be undone and redone in a context: the public face of the context's journal.
///
/// The groups before the journal's cursor can be undone, those after it redone. Undoing rewinds the
/// cursor by one group and applies the inverses; it works across saves, in which case the inverse becomes a
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
/// Undo and redo write the values directly and bypass the accessors of a subclass.
///
/// Belongs to the queue of its context. It keeps the objects it mentions alive, saved or not: release
/// them with ``removeAllActions()``, limit their number with ``levelsOfUndo``, or give a context that
/// needs no undo no manager at all.
public final class UndoManager {
    private(set) weak var context: ManagedObjectContext?
    /// Where groups are begun as long as there is no context.
    private var ownJournal: WorkingJournal?
    private var hadContext = false
    private var disableCount = 0

    /// The journal behind this undo manager.
    private var journal: WorkingJournal {
        if let context { return context.journal }
        let journal = ownJournal ?? WorkingJournal()
        ownJournal = journal
        return journal
    }

    /// How many steps can be undone, and how many redone; 0, the default, for all.
    ///
    /// The oldest steps beyond the limit are forgotten and release their objects. What they changed
    /// stays changed and is saved as usual.
    public var levelsOfUndo = 0 {
        didSet { context?.journal.keepSteps(atMost: levelsOfUndo) }
    }

    /// Whether the end of an event ends a step, which is the default.
    ///
    /// When false, what is changed outside the groups that are begun explicitly is collected in one
    /// step, however many events there are. That step ends when a group is begun, at the next undo,
    /// and when this is set to true.
    public var groupsByEvent = true {
        willSet { context?.processPendingChanges() }
        didSet { if groupsByEvent { journal.closeOpenGroup() } }
    }

    /// Whether ``undo()`` or ``undoNestedGroup()`` is running.
    public private(set) var isUndoing = false
    /// Whether ``redo()`` is running.
    public private(set) var isRedoing = false

    /// Makes an undo manager for one context.
    public init() {}

    func attach(to context: ManagedObjectContext) {
        require(
            self.context == nil || self.context === context,
            "An undo manager serves one context.")
        guard self.context == nil else { return }
        self.context = context
        hadContext = true
        if let ownJournal { context.journal.takeGroups(from: ownJournal) }
        ownJournal = nil
        context.journal.keepSteps(atMost: levelsOfUndo)
    }

    func detach() {
        requireRest()
        guard let left = context?.journal else { return }
        left.forgetList()
        left.keepSteps(atMost: 0)
        context = nil
        journal.takeGroups(from: left)
    }

    // MARK: - Undoing

    /// Whether there is a step to undo; the changes of the current event are one.
    ///
    /// Reading this does not end the event.
    public var canUndo: Bool { context != nil && (undoCount > 0 || isEventUndoable) }

    /// Whether there is a step to redo; there is none once something else was changed.
    ///
    /// Reading this does not end the event.
    public var canRedo: Bool { context != nil && redoCount > 0 && !isEventUndoable }

    /// How many steps can be undone; the current event is not counted.
    public var undoCount: Int { journal.list.undoCount }

    /// How many steps can be redone.
    public var redoCount: Int { journal.list.redoCount }

    private var isEventUndoable: Bool {
        isUndoRegistrationEnabled && journal.records.contains { $0.change != nil }
    }

    /// Undoes the last step. Does nothing when there is none.
    ///
    /// Ends the event, and the group that is open if it is the only one.
    ///
    /// - Precondition: No group nested in another is open, and neither undo nor redo is running.
    /// - Complexity: O(*k*), *k* the number of changes in the step.
    public func undo() {
        guard let context else { return }
        requireRest()
        post(.checkpoint)
        context.processPendingChanges()
        require(groupingLevel < 2, "Undo needs nested groups to be ended first.")
        if groupingLevel == 0 { journal.closeOpenGroup() } else { endUndoGrouping() }
        guard context.isReadyToUndo() else { return }
        work(\.isUndoing, .willUndo, .didUndo) { context.journal.undo(in: context) }
    }

    /// Undoes the group that was ended last, even if it is nested in a group that is still open. Does
    /// nothing when there is none.
    ///
    /// In an open group, ``redo()`` redoes it there.
    ///
    /// - Precondition: Nothing was changed since the group was ended, and neither undo nor redo is
    ///   running.
    public func undoNestedGroup() {
        guard let context, groupingLevel > 0 else { return undo() }
        requireRest()
        post(.checkpoint)
        context.processPendingChanges()
        guard let changes = journal.list.lastNested, context.isReady(toTakeBack: changes) else {
            return
        }
        work(\.isUndoing, .willUndo, .didUndo) { context.journal.undoNested(in: context) }
    }

    /// Redoes the last undone step. Does nothing when there is none.
    ///
    /// Ends the event. In an open group, the redone changes become a part of it.
    ///
    /// - Precondition: Neither undo nor redo is running.
    /// - Complexity: O(*k*), *k* the number of changes in the step.
    public func redo() {
        guard let context else { return }
        requireRest()
        post(.checkpoint)
        context.processPendingChanges()
        guard let step = journal.list.next, context.isReady(toMake: step.changes) else { return }
        work(\.isRedoing, .willRedo, .didRedo) { context.journal.redo(in: context) }
    }

    /// Stops the program while undo or redo is running.
    func requireRest() {
        require(
            !isUndoing && !isRedoing,
            "An undo manager must not be used while undo or redo is running."
        )
    }

    private func work(
        _ flag: ReferenceWritableKeyPath<UndoManager, Bool>, _ before: Notice,
        _ after: Notice, _ body: () -> Void
    ) {
        post(before)
        self[keyPath: flag] = true
        body()
        // What hooks have changed meanwhile is not a step of its own.
        context?.processPendingChanges()
        context?.terms.forgetMendedReferences()
        self[keyPath: flag] = false
        post(after)
    }

    /// Forgets all steps and releases their objects. Open groups stay open, empty.
    ///
    /// Ends the event, which is forgotten as well. What was changed stays changed and is saved as usual,
    /// and registration stays enabled or disabled as it was.
    ///
    /// - Precondition: Neither undo nor redo is running.
    public func removeAllActions() {
        context?.processPendingChanges()
        requireRest()
        journal.forgetList()
    }

    // MARK: - Grouping

    /// How many groups have been begun and not ended.
    public var groupingLevel: Int { journal.list.groupingLevel }

    /// Begins a group: all events until the matching ``endUndoGrouping()`` are one step, also if a
    /// save lies between.
    ///
    /// Ends the event. A group begun in another becomes a part of it.
    public func beginUndoGrouping() {
        post(.checkpoint)
        context?.processPendingChanges()
        journal.beginGroup()
        post(.didOpenGroup)
    }

    /// Ends the group begun last. A group in which nothing was changed is not a step.
    ///
    /// - Precondition: A group has been begun and not ended.
    public func endUndoGrouping() {
        // The group has gone with its context.
        if context == nil, hadContext, groupingLevel == 0 { return }
        require(groupingLevel > 0, "endUndoGrouping needs a beginUndoGrouping before it.")
        post(.checkpoint)
        context?.processPendingChanges()
        journal.endGroup()
        post(.didCloseGroup)
    }

    // MARK: - Naming

    /// Names the step: the group begun last, or, when none is open, the last step.
    ///
    /// Ends the event. A group without a name takes that of the first group nested in it that has
    /// one.
    public func setActionName(_ name: String) {
        context?.processPendingChanges()
        journal.name(name)
    }

    /// The action name of the step that undo would take back; empty when it has none.
    public var undoActionName: String { journal.list.undoActionName }

    /// The action name of the step that redo would make; empty when it has none.
    public var redoActionName: String { journal.list.redoActionName }

    // MARK: - Registering

    /// Stops recording until the matching ``enableUndoRegistration()``. The changes themselves are made
    /// and saved as usual, and what could be undone or redone before still can.
    ///
    /// Ends the event, so that what was changed before is still recorded.
    public func disableUndoRegistration() {
        context?.processPendingChanges()
        disableCount += 1
    }

    /// Starts recording again, with what is changed from here on.
    ///
    /// - Precondition: It follows a ``disableUndoRegistration()``.
    public func enableUndoRegistration() {
        require(disableCount > 0, "enableUndoRegistration needs a disable before it.")
        context?.processPendingChanges()
        disableCount -= 1
    }

    /// Whether changes are recorded.
    public var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Where in the journal's list the changes made now belong; nil where they are not recorded.
    var destination: StepList.Destination? {
        guard isUndoRegistrationEnabled, !isUndoing, !isRedoing else { return nil }
        return groupsByEvent ? .step : .openGroup
    }
}
