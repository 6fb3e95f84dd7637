import DaybookJournalLog
import DaybookObjectModel

extension WorkingJournal {
    /// What has been taken back in a store since the base; nil when something was changed besides.
    func origins(inStore store: UInt32) -> [UndoneEntries]? {
        list.origins(inStore: store).map { $0 + unlistedSteps(inStore: store).map(\.origin) }
    }

    /// The saved entries of a store of which something has been taken back since the base.
    func entriesTouchedBack(inStore store: UInt32) -> [TouchedEntries] {
        var found = list.entriesTouchedBack(inStore: store)
        for step in unlistedSteps(inStore: store) {
            let entries = step.origin.entries
            var touched = found[entries] ?? TouchedEntries(range: entries)
            for change in step.changes { touched.reach.add(change) }
            found[entries] = touched
        }
        return Array(found.values)
    }

    /// What has been done since the base to values that some saved entries have changed, where it takes these entries
    /// back or makes them again: the edits of each property, in the order in which they were made.
    func editsMovedOver(
        of entries: ClosedRange<SequenceNumber>, inStore store: UInt32
    ) -> [RelationKey: [Edit]] {
        var found: [RelationKey: [Edit]] = [:]
        func add(_ edit: Edit, of object: ObjectID) {
            let owner = GraphID(store: store, object: object)
            found[RelationKey(owner: owner, property: edit.property), default: []].append(edit)
        }
        for (object, edit) in list.editsMovedOver(of: entries, inStore: store) {
            add(edit, of: object)
        }
        for step in unlistedSteps(inStore: store) where step.origin.entries.overlaps(entries) {
            for change in step.changes {
                guard case .update(let edits, _) = change.kind else { continue }
                for edit in edits { add(edit, of: change.object) }
            }
        }
        return found
    }

    /// The saved entries of a store that steps stand for or that have been taken back.
    func entriesKnown(inStore store: UInt32) -> [ClosedRange<SequenceNumber>] {
        list.entriesKnown(inStore: store) + unlistedSteps(inStore: store).map(\.origin.entries)
    }
}
