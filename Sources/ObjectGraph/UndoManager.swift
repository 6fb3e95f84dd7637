import ObjectModel

/// A step for undo: the changes of one event, or of several grouped together.
struct ChangeGroup {
    var changes: [RecordedChange]
    var actionName = ""
    /// Whether the changes have been saved since they were made.
    var isSaved = false
}

/// The journal of a context with its cursor.
///
/// The groups before the cursor can be undone, those after it redone. Undoing rewinds the cursor by
/// one group and applies the inverses; it works across saves, in which case the inverse becomes a
/// pending change that the next save appends. By default the journal is unlimited.
///
/// Belongs to the queue of its context. It keeps the objects it mentions alive.
public final class UndoManager {
    private weak var context: ManagedObjectContext?
    private var groups: [ChangeGroup] = []
    private var cursor = 0
    /// Where the cursor stood at the last save: the groups between the two are pending.
    private var savedCursor = 0
    private var openGroups: [ChangeGroup] = []
    private var disableCount = 0

    /// How many groups are kept; 0 for all.
    public var levelsOfUndo = 0 {
        didSet { trim() }
    }

    /// Makes an empty journal.
    public init() {}

    func attach(to context: ManagedObjectContext) {
        precondition(
            self.context == nil || self.context === context,
            "An undo manager serves one context.")
        self.context = context
    }

    func detach() {
        context = nil
        removeAllActions()
    }

    // MARK: - Undoing

    /// Whether there is a group to undo.
    public var canUndo: Bool {
        context?.processPendingChanges()
        return cursor > 0 || openGroups.contains { !$0.changes.isEmpty }
    }

    /// Whether there is a group to redo.
    public var canRedo: Bool {
        context?.processPendingChanges()
        return cursor < groups.count
    }

    /// Reverses the last group. Does nothing when there is none.
    public func undo() {
        guard let context else { return }
        context.processPendingChanges()
        while !openGroups.isEmpty { endUndoGrouping() }
        guard cursor > 0 else { return }
        cursor -= 1
        // What is made again is what was taken back, which may not be what was once recorded.
        var changes: [RecordedChange] = []
        for recorded in groups[cursor].changes.reversed() {
            let inverse = RecordedChange(object: recorded.object, change: recorded.change.inverse)
            guard let made = context.move(inverse, isRewinding: true) else { continue }
            changes.append(RecordedChange(object: made.object, change: made.change.inverse))
        }
        groups[cursor].changes = changes.reversed()
        context.awake(
            after: changes.map { RecordedChange(object: $0.object, change: $0.change.inverse) })
    }

    /// Makes the last undone group again. Does nothing when there is none.
    public func redo() {
        guard let context else { return }
        context.processPendingChanges()
        guard cursor < groups.count else { return }
        groups[cursor].changes = groups[cursor].changes.compactMap {
            context.move($0, isRewinding: false)
        }
        cursor += 1
        context.awake(after: groups[cursor - 1].changes)
    }

    /// Forgets all groups and lets go of their objects.
    public func removeAllActions() {
        groups.removeAll()
        openGroups.removeAll()
        cursor = 0
        savedCursor = 0
    }

    // MARK: - Grouping

    /// Begins a group: all events until the matching ``endUndoGrouping()`` are one step.
    public func beginUndoGrouping() {
        context?.processPendingChanges()
        openGroups.append(ChangeGroup(changes: []))
    }

    /// Ends the group begun last.
    public func endUndoGrouping() {
        context?.processPendingChanges()
        guard let group = openGroups.popLast() else { return }
        if openGroups.isEmpty {
            push(group)
        } else {
            openGroups[openGroups.count - 1].changes += group.changes
        }
    }

    /// Names the group being recorded, or the last one.
    public func setActionName(_ name: String) {
        context?.processPendingChanges()
        if !openGroups.isEmpty {
            openGroups[openGroups.count - 1].actionName = name
        } else if cursor > 0 {
            groups[cursor - 1].actionName = name
        }
    }

    /// The name of what undo would reverse.
    public var undoActionName: String { cursor > 0 ? groups[cursor - 1].actionName : "" }

    /// The name of what redo would make again.
    public var redoActionName: String { cursor < groups.count ? groups[cursor].actionName : "" }

    // MARK: - Registering

    /// Stops recording until the matching ``enableUndoRegistration()``. The changes themselves are
    /// made and saved as ever.
    public func disableUndoRegistration() {
        context?.processPendingChanges()
        disableCount += 1
    }

    /// Starts recording again.
    public func enableUndoRegistration() {
        context?.processPendingChanges()
        precondition(disableCount > 0, "enableUndoRegistration needs a disable before it.")
        disableCount -= 1
    }

    /// Whether changes are recorded.
    public var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    func register(_ changes: [RecordedChange]) {
        guard !changes.isEmpty, isUndoRegistrationEnabled else { return }
        if openGroups.isEmpty {
            push(ChangeGroup(changes: changes))
        } else {
            openGroups[openGroups.count - 1].changes += changes
        }
    }

    private func push(_ group: ChangeGroup) {
        guard !group.changes.isEmpty else { return }
        groups.removeSubrange(cursor...)
        savedCursor = min(savedCursor, cursor)
        groups.append(group)
        cursor += 1
        trim()
    }

    private func trim() {
        guard levelsOfUndo > 0, groups.count > levelsOfUndo else { return }
        let surplus = min(groups.count - levelsOfUndo, cursor)
        groups.removeFirst(surplus)
        cursor -= surplus
        savedCursor = max(savedCursor - surplus, 0)
    }

    // MARK: - Saves and merges

    /// Notes that everything recorded so far has been saved.
    func noteSave() {
        for index in groups.indices { groups[index].isSaved = true }
        savedCursor = cursor
    }

    /// Forgets every change of an object that is no more.
    func forget(_ object: ManagedObject) {
        rewrite { _, recorded in recorded.object === object ? nil : recorded }
    }

    /// Forgets the changes of an object whose edits since the last save were dropped. What was saved
    /// before can still be undone.
    func forgetUnsaved(_ object: ManagedObject) {
        rewrite { place, recorded in
            recorded.object === object && place.index >= savedCursor ? nil : recorded
        }
    }

    /// Makes the journal follow a value that somebody else has set.
    ///
    /// The first unsaved edit of the property then starts from their value. Edits before it, which
    /// theirs has overtaken, are dropped: undoing them must not undo what somebody else did.
    func rebase(
        _ object: ManagedObject, _ property: PropertyNumber, inSlot slot: Int, onto theirs: Value
    ) {
        var isRebased = false
        rewrite { place, recorded in
            guard recorded.object === object else { return recorded }
            if case .delete(var values, let members) = recorded.change.kind, !place.isSaved {
                var rewritten = recorded
                values[slot] = theirs
                rewritten.change.kind = .delete(values: values, members: members)
                return rewritten
            }
            guard
                case .update(var edits, let members) = recorded.change.kind,
                let index = edits.firstIndex(where: { $0.property == property })
            else { return recorded }
            var rewritten = recorded
            if place.isSaved {
                edits.remove(at: index)
            } else if !isRebased {
                edits[index].old = theirs
                isRebased = true
            }
            rewritten.change.kind = .update(edits: edits, members: members)
            return rewritten.change.isEmpty ? nil : rewritten
        }
    }

    /// Makes the journal follow an object to the identifier that it has now, and forget what it was
    /// related to.
    func move(_ object: ManagedObject, from old: GraphID) {
        dropReferences(to: [old.object], inStore: old.store)
        rewrite { _, recorded in
            guard recorded.object === object else { return recorded }
            var rewritten = recorded
            rewritten.change = Change(
                object: object.graphID.object,
                kind: recorded.change.unrelated(of: object.binding.schema),
                cause: recorded.change.cause)
            return rewritten
        }
    }

    /// Makes the journal as if some objects had never been referred to.
    func dropReferences(to lost: Set<ObjectID>, inStore store: UInt32) {
        // What a reference was before it came to lead to a lost object.
        var earlier: [RelationKey: Value] = [:]
        rewrite { _, recorded in
            guard recorded.object.graphID.store == store else { return recorded }
            var rewritten = recorded
            let entity = recorded.object.binding.schema
            func emptied(_ values: [Value]) -> [Value] {
                values.map { $0.leads(to: lost) ? .null : $0 }
            }
            switch recorded.change.kind {
            case .insert(let values, let members):
                rewritten.change.kind = .insert(
                    values: emptied(values), members: members.without(lost))
                return rewritten
            case .delete(let values, let members):
                rewritten.change.kind = .delete(
                    values: emptied(values), members: members.without(lost))
                return rewritten
            case .update(var edits, let members):
                for index in edits.indices {
                    let key = RelationKey(
                        owner: recorded.object.graphID, property: edits[index].property)
                    if edits[index].old.leads(to: lost) {
                        edits[index].old = earlier[key] ?? .null
                    }
                    if edits[index].new.leads(to: lost) {
                        let back = entity.mayShare(key.property) ? edits[index].old : .null
                        edits[index].new = back
                        earlier[key] = back
                    }
                }
                let kept = Change(
                    object: recorded.change.object,
                    kind: .update(
                        edits: edits.filter { $0.old != $0.new }, members: members.without(lost)),
                    cause: recorded.change.cause)
                guard kept != recorded.change else { return recorded }
                rewritten.change = kept
                return kept.isEmpty ? nil : rewritten
            }
        }
    }

    /// A place in the journal; groups still open come after all others.
    private struct Place {
        let index: Int
        let isSaved: Bool
    }

    private func rewrite(_ transform: (Place, RecordedChange) -> RecordedChange?) {
        var rewritten: [ChangeGroup] = []
        var places = (cursor: cursor, saved: savedCursor)
        for (index, group) in groups.enumerated() {
            var copy = group
            let place = Place(index: index, isSaved: group.isSaved)
            copy.changes = rewrite(group.changes, at: place, transform)
            if copy.changes.isEmpty {
                if index < cursor { places.cursor -= 1 }
                if index < savedCursor { places.saved -= 1 }
            } else {
                rewritten.append(copy)
            }
        }
        for index in openGroups.indices {
            let place = Place(index: groups.count, isSaved: false)
            openGroups[index].changes = rewrite(openGroups[index].changes, at: place, transform)
        }
        groups = rewritten
        (cursor, savedCursor) = places
    }

    /// Rewrites the changes of one group. A change that goes no longer counts as pending.
    private func rewrite(
        _ changes: [RecordedChange], at place: Place,
        _ transform: (Place, RecordedChange) -> RecordedChange?
    ) -> [RecordedChange] {
        let isOpen = place.index == groups.count
        var weight = 0
        if isOpen || (savedCursor..<max(savedCursor, cursor)).contains(place.index) { weight = 1 }
        if !isOpen, (cursor..<max(savedCursor, cursor)).contains(place.index) { weight = -1 }
        return changes.compactMap { recorded in
            let kept = transform(place, recorded)
            if kept == nil, weight != 0 { context?.noteForgotten(recorded.object, weight) }
            return kept
        }
    }
}
