import DaybookJournalLog
import DaybookObjectModel

/// Saved entries that some changes of a context take back.
struct UndoneEntries {
    let entries: ClosedRange<SequenceNumber>
    /// The changes that take them back; nil for the inverse of everything they changed.
    var changes: [Change]?
    /// What they changed, if this context has saved it; nil if the store must be read.
    var saved: [Change]?

    /// How many changes a step had that was read as the whole of the entries; nil for others.
    var count: Int?

    /// The same with no more changes than the saved steps have: those can never take a larger entry
    /// back, and would keep all of it in memory as long as they exist.
    func keeping(atMost count: Int) -> UndoneEntries {
        guard let saved, saved.count > count else { return self }
        return UndoneEntries(entries: entries)
    }
}

/// A saved entry that is read when its step is undone.
struct UnreadEntry {
    let store: UInt32
    let sequence: SequenceNumber
}

extension StepList {
    /// What the moves since the last save take back in a store; nil when something else was changed as
    /// well.
    func origins(inStore store: UInt32) -> [UndoneEntries]? {
        // Most saves follow an edit: this alone is asked of each, and makes no list.
        guard !hasChangesOfItsOwn(inStore: store) else { return nil }
        var found: [UndoneEntries] = []
        // Changes in other stores are saved there.
        for step in moved(inStore: store) where step.concerns(store: store) {
            guard let origin = step.group.origins[store] else { return nil }
            found.append(origin)
        }
        return found
    }

    /// Whether a step in the list has changes of a store for which no saved entry stands.
    private func hasChangesOfItsOwn(inStore store: UInt32) -> Bool {
        func isOwn(_ step: MovedStep) -> Bool {
            step.group.origins[store] == nil && step.concerns(store: store)
        }
        let first = base.stepsMovedOver(inStore: store, to: cursor).lowerBound
        return isOwn(MovedStep(group: open.step, isMade: true))
            || (first..<groups.count).contains { isOwn(movedStep($0)) }
    }

    /// The saved entries of a store of which steps were taken back, which are not saved so yet.
    func entriesTouchedBack(
        inStore store: UInt32
    ) -> [ClosedRange<SequenceNumber>: TouchedEntries] {
        var found: [ClosedRange<SequenceNumber>: TouchedEntries] = [:]
        for step in moved(inStore: store) where !step.isMade && step.concerns(store: store) {
            guard let origin = step.group.origins[store] else { continue }
            var touched = found[origin.entries] ?? TouchedEntries(range: origin.entries)
            if origin.count == step.group.changes.count { touched.isWhole = true }
            touched.saved = touched.saved ?? origin.saved
            for recorded in step.changes(inStore: store) {
                touched.reach.add(recorded.change.moved(to: recorded.object.graphID.object))
            }
            found[origin.entries] = touched
        }
        return found
    }

    /// The edits by which the cursor has moved over steps in which saved entries have a part, in the order in which
    /// that was done.
    func editsMovedOver(
        of entries: ClosedRange<SequenceNumber>, inStore store: UInt32
    ) -> [(object: ObjectID, edit: Edit)] {
        let steps = moved(inStore: store).filter { $0.group.concerns(entries, inStore: store) }
        let made = steps.lazy.filter(\.isMade).flatMap { step in
            step.changes(inStore: store).flatMap(\.edits)
        }
        let takenBack = steps.reversed().lazy.filter { !$0.isMade }.flatMap { step in
            Array(step.changes(inStore: store)).reversed().flatMap(\.inverse.edits)
        }
        return Array(made) + Array(takenBack)
    }

    /// The saved entries of a store that steps represent or take back.
    func entriesKnown(inStore store: UInt32) -> [ClosedRange<SequenceNumber>] {
        var known: [ClosedRange<SequenceNumber>] = []
        for group in all {
            if let origin = group.origins[store] { known.append(origin.entries) }
            if let unread = group.unread, unread.store == store {
                known.append(unread.sequence...unread.sequence)
            }
        }
        return known
    }
}

extension Change {
    /// The same change of the object as it is called now.
    fileprivate func moved(to object: ObjectID) -> Change {
        self.object == object ? self : Change(object: object, kind: kind)
    }
}

extension RecordedChange {
    /// The edits of an update.
    fileprivate var edits: [(object: ObjectID, edit: Edit)] {
        guard case .update(let edits, _) = change.kind else { return [] }
        return edits.map { (object.graphID.object, $0) }
    }
}

extension StepList {
    /// The values to which the changes in force lead; none for what they do not concern.
    ///
    /// - Complexity: O(*n*), *n* the length of the list.
    func valuesReached(
        of objects: Set<ManagedObject>
    ) -> [ManagedObject: [PropertyNumber: Value]] {
        var found: [ManagedObject: [PropertyNumber: Value]] = [:]
        for step in Array(madeSteps) + [openStep] {
            for recorded in changes(ofStep: step) where objects.contains(recorded.object) {
                switch recorded.change.kind {
                case .insert(let values, _):
                    for property in recorded.object.binding.schema.slots {
                        guard let slot = property.slot, slot < values.count else { continue }
                        found[recorded.object, default: [:]][property.number] = values[slot]
                    }
                case .update(let edits, _):
                    for edit in edits {
                        found[recorded.object, default: [:]][edit.property] = edit.new
                    }
                case .delete: found[recorded.object] = nil
                }
            }
        }
        return found
    }
}
