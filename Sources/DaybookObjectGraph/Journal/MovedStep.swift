import DaybookJournalLog
import DaybookObjectModel

/// A step over which the cursor has moved since the last save.
struct MovedStep {
    var group: ChangeGroup
    /// Whether the cursor stands behind it: it was made, or made again, and not taken back.
    let isMade: Bool

    /// The changes that are not as they were at the last save of a store.
    func changes(inStore store: UInt32) -> some Sequence<RecordedChange> {
        group.changes.lazy.filter { [isMade] in
            $0.distance(isMade: isMade) != 0 && $0.object.graphID.store == store
        }
    }

    /// Whether anything is not as it was at the last save.
    var isMoved: Bool { group.changes.contains { $0.distance(isMade: isMade) != 0 } }

    /// Whether anything of a store has been changed or taken back.
    func concerns(store: UInt32) -> Bool {
        group.changes.contains {
            $0.distance(isMade: isMade) != 0 && $0.object.graphID.store == store
        }
    }
}

/// What takes saved entries of a store back since the last save, and belongs to no step.
struct UnlistedStep {
    let store: UInt32
    let origin: UndoneEntries
    /// What was changed and is pending.
    var changes: [Change]
}

/// Saved steps that the cursor has moved over since the last save and that have left the list, because redo was
/// given up or steps were forgotten.
///
/// What they changed is pending all the same, and the saved entries that they take back must not be taken back a
/// second time. Objects are kept by nothing else here than by what is pending for them anyway.
struct LeftSteps {
    /// In the order in which they have left.
    private(set) var steps: [MovedStep] = []

    /// Keeps what a step that leaves the list takes back of saved entries.
    mutating func keep(_ group: ChangeGroup, isMade: Bool) {
        guard !group.origins.isEmpty || !group.parts.isEmpty else { return }
        var step = MovedStep(group: group, isMade: isMade)
        guard step.isMoved else { return }
        step.group.changes.removeAll { $0.distance(isMade: isMade) == 0 }
        steps.append(step)
    }

    /// Forgets the changes of an object, which are pending no more.
    mutating func forget(_ object: ManagedObject) {
        removeChanges { $0.object === object }
    }

    /// Forgets what was pending in some stores, or in all.
    mutating func removeAll(inStores stores: Set<UInt32>? = nil) {
        guard !steps.isEmpty else { return }
        guard let stores else { return steps.removeAll() }
        removeChanges { stores.contains($0.object.graphID.store) }
    }

    private mutating func removeChanges(where isGone: (RecordedChange) -> Bool) {
        guard !steps.isEmpty else { return }
        for index in steps.indices { steps[index].group.changes.removeAll(where: isGone) }
        steps.removeAll(where: \.group.changes.isEmpty)
    }
}
