// What a list tells of its steps.

extension StepList {
    /// How many steps can be undone.
    var undoCount: Int { cursor + (open.changes.isEmpty ? 0 : 1) }

    /// How many steps can be redone.
    var redoCount: Int { groups.count - cursor }

    /// The name of what undo would reverse; empty when it has none.
    var undoActionName: String {
        if !open.changes.isEmpty { return open.actionName }
        return cursor > 0 ? groups[cursor - 1].actionName : ""
    }

    /// The name of what redo would make again; empty when it has none.
    var redoActionName: String { cursor < groups.count ? groups[cursor].actionName : "" }

    /// How many groups have been begun and not ended.
    var groupingLevel: Int { open.level }

    /// How many changes are kept.
    var changeCount: Int { groups.reduce(open.changes.count) { $0 + $1.changes.count } }

    /// The step that undo takes back next.
    var last: ChangeGroup? { cursor > 0 ? groups[cursor - 1] : nil }

    /// The step that redo makes next.
    var next: ChangeGroup? { cursor < groups.count ? groups[cursor] : nil }

    /// All steps, the open group, and the steps that have left the list and are not saved so yet.
    var all: [ChangeGroup] { left.steps.map(\.group) + groups + [open.step] }

    /// The steps over which the cursor has moved since the last save of a store, one way or the other,
    /// and the open group.
    func moved(inStore store: UInt32) -> [MovedStep] {
        // Nested groups may have been taken back behind them.
        let steps = base.stepsMovedOver(inStore: store, to: cursor).lowerBound..<groups.count
        return left.steps + steps.map(movedStep) + [MovedStep(group: open.step, isMade: true)]
    }

    /// A step with where the cursor stands.
    func movedStep(_ index: Int) -> MovedStep {
        MovedStep(group: groups[index], isMade: index < cursor)
    }
}
