import DaybookJournalLog
import DaybookObjectModel

/// Saved entries that some changes of a context take back.
struct UndoneEntries {
    let entries: ClosedRange<SequenceNumber>
    /// What takes them back; nil for the inverse of all that they changed.
    var changes: [Change]?
    /// What they changed, where this context has saved it; nil where the store has to be asked.
    var saved: [Change]?

    /// The same, keeping no more changes than the steps have that were saved: those can never take a
    /// larger entry back, and would keep all of it in memory for as long as they are there.
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

extension UndoManager {
    /// The steps over which the cursor has moved since the last save, one way or the other.
    var movedSteps: Range<Int> {
        min(savedCursor, cursor)..<min(max(savedCursor, cursor), groups.count)
    }

    /// What the moves since the last save take back in a store; nil when something was changed besides.
    func origins(inStore store: UInt32) -> [UndoneEntries]? {
        var found: [UndoneEntries] = []
        for group in groups[movedSteps] + [open] {
            guard let origin = group.origins[store] else {
                // What was changed in other stores is saved there.
                if group.changes.contains(where: { $0.object.graphID.store == store }) {
                    return nil
                }
                continue
            }
            found.append(origin)
        }
        return found
    }

    /// The saved entries of a store that this context has taken back and not saved yet.
    func entriesTakenBack(inStore store: UInt32) -> Set<SequenceNumber> {
        guard cursor < savedCursor else { return [] }
        let ranges = groups[cursor..<min(savedCursor, groups.count)].compactMap {
            $0.origins[store]?.entries
        }
        return Set(
            ranges.flatMap { range in
                (range.lowerBound.rawValue...range.upperBound.rawValue).map { SequenceNumber($0) }
            })
    }

    /// The saved entries of a store over which the cursor has moved since the last save, one way or
    /// the other.
    func entriesMovedOver(inStore store: UInt32) -> [ClosedRange<SequenceNumber>] {
        (groups[movedSteps] + [open]).compactMap { $0.origins[store]?.entries }
    }

    /// Puts steps of the past under all others, oldest first.
    ///
    /// - Returns: How many of them there was room for.
    func insertBelow(_ steps: [ChangeGroup]) -> Int {
        groups.insert(contentsOf: steps, at: 0)
        cursor += steps.count
        savedCursor += steps.count
        settledCount += steps.count
        let count = cursor
        trim()
        return max(steps.count - (count - cursor), 0)
    }

    /// Adds a step that has been made and takes saved entries back.
    func pushStep(_ group: ChangeGroup) {
        let stores = Set(open.changes.map(\.object.graphID.store))
        register(group.changes)
        guard !group.changes.isEmpty, isRecording else { return }
        guard levels.isEmpty, groupsByEvent else {
            // A step that changes something else besides takes nothing back as a whole.
            for (store, origin) in group.origins where !stores.contains(store) {
                open.origins[store] = origin
            }
            return
        }
        groups[cursor - 1].origins = group.origins
        groups[cursor - 1].actionName = group.actionName
    }

    /// Takes changes into the open group, which so takes no saved entries of their stores back any
    /// more.
    func appendToOpenGroup(_ changes: [RecordedChange]) {
        open.changes += changes
        for store in Set(changes.map(\.object.graphID.store)) { open.origins[store] = nil }
    }

    /// Reads the step before a place, if it stands for a saved entry.
    ///
    /// A step that cannot be undone is dropped, and the context is told why.
    ///
    /// - Returns: Whether the step can be undone.
    func readStep(before place: Int, in context: ManagedObjectContext) -> Bool {
        guard let unread = groups[place - 1].unread else { return true }
        do {
            groups[place - 1].changes = try context.changes(
                of: unread, ignoring: entriesTakenBack(inStore: unread.store))
            groups[place - 1].unread = nil
            groups[place - 1].origins[unread.store] = UndoneEntries(
                entries: unread.sequence...unread.sequence)
            return true
        } catch {
            groups.remove(at: place - 1)
            cursor -= 1
            savedCursor -= 1
            settledCount = max(settledCount - 1, 0)
            context.noteUndoFailure(error)
            return false
        }
    }
}
