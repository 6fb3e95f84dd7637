import DaybookObjectModel

/// What one context should see: the records it has read, as they were and as it has made them.
struct Sight {
    /// One step for undo: what each object was before and after.
    typealias Group = [ObjectID: (before: Record?, after: Record?)]

    /// The records as they were read.
    var seen: World = [:]
    /// The records as they are here.
    var mine: World = [:]
    var inserted: Set<ObjectID> = []
    var deleted: Set<ObjectID> = []
    /// What was inserted and deleted here since the last save, as by an undo and another delete.
    var annihilated: Set<ObjectID> = []
    /// What was found gone. It stays gone here, and for the children, until a merge, a refresh or a
    /// save looks for it again.
    var gone: Set<ObjectID> = []
    /// Whether nobody else has saved since the context last merged everything.
    var isFresh = true
    /// How many entries the context has merged.
    var mergedThrough = 1
    var groups: [Group] = []
    var cursor = 0
    /// Where the cursor stood at the last save.
    var savedCursor = 0
    typealias Values = [ObjectID: [String: [Cell]]]
    /// The values that properties have had in steps since the last save, and that have come in under
    /// them.
    private(set) var recorded: Values = [:]
    /// All of them, also those that others' values have overtaken: an object that an undo of its delete has brought
    /// back has its steps, too.
    private(set) var everRecorded: Values = [:]
    /// Those from before the last save, which others' values overtake.
    private(set) var settled: Values = [:]
    /// Whether others' values have come in under recorded steps. Undo leaves those alone (see Undo), and
    /// is followed from then on: it may change only what steps concern, to values that were here.
    var undoMeetsOthers = false

    func isDirty(_ id: ObjectID) -> Bool {
        inserted.contains(id) || deleted.contains(id) || mine[id] != seen[id]
    }

    /// All objects as the context sees them: its own where it has read them, else the store's.
    func view(_ head: World) -> World {
        head.filter { !deleted.contains($0.key) && !gone.contains($0.key) }
            .merging(mine) { _, mine in mine }
    }

    /// Takes over what an edit made of the view.
    mutating func take(_ after: World, _ head: World) {
        let before = view(head)
        for (id, record) in after where before[id] != record {
            annihilated.remove(id)
            if seen[id] == nil, !inserted.contains(id) {
                if let stored = head[id] { seen[id] = stored } else { inserted.insert(id) }
            }
            deleted.remove(id)
            mine[id] = record
        }
        for id in before.keys where after[id] == nil { remove(id, head) }
    }

    private mutating func remove(_ id: ObjectID, _ head: World) {
        mine[id] = nil
        if inserted.remove(id) != nil {
            seen[id] = nil
            annihilated.insert(id)
        } else {
            seen[id] = seen[id] ?? head[id]
            deleted.insert(id)
        }
    }

    /// Notes which of the objects that were new here are no longer there, as after an undo, if they
    /// are not the store's.
    mutating func annihilate(_ ids: Set<ObjectID>, _ head: World) {
        annihilated.formUnion(ids.filter { head[$0] == nil && !deleted.contains($0) })
        annihilated.subtract(inserted)
    }

    mutating func forget(_ id: ObjectID) {
        seen[id] = nil
        mine[id] = nil
        inserted.remove(id)
        deleted.remove(id)
    }

    // MARK: - Undo

    mutating func record(from before: World, to after: World) {
        var group: Group = [:]
        for id in Set(before.keys).union(after.keys) where before[id] != after[id] {
            group[id] = (before[id], after[id])
        }
        guard !group.isEmpty else { return }
        for (id, step) in group { note(step.before, step.after, of: id) }
        groups.removeLast(groups.count - cursor)
        savedCursor = min(savedCursor, cursor)
        groups.append(group)
        cursor += 1
    }

    private mutating func note(_ before: Record?, _ after: Record?, of id: ObjectID) {
        var values = recorded[id] ?? [:]
        for name in Set((before ?? [:]).keys).union((after ?? [:]).keys)
        where before?[name] != after?[name] {
            let cells = [before?[name], after?[name]].compactMap { $0 }
            values[name, default: []] += cells
            everRecorded[id, default: [:]][name, default: []] += cells
        }
        recorded[id] = values
    }

    /// Notes a value that has come in from others under recorded steps.
    mutating func overtake(_ id: ObjectID, _ name: String, by cell: Cell) {
        noteUnder(id, name, cell)
        if settled[id]?[name] != nil { settled[id]?[name] = [] }
    }

    /// Notes a value that may have come in under recorded steps.
    mutating func noteUnder(_ id: ObjectID, _ name: String, _ cell: Cell) {
        if values(of: id, name) != nil {
            recorded[id, default: [:]][name, default: []].append(cell)
        }
    }

    /// The values that undo may lead to; nil for what no step concerns.
    func values(of id: ObjectID, _ name: String) -> [Cell]? {
        let (new, old) = (recorded[id]?[name], settled[id]?[name])
        return new == nil && old == nil ? nil : (new ?? []) + (old ?? [])
    }

    /// Notes that all steps are from before the last save, but for those that were undone: they are not saved.
    mutating func settleSteps() {
        savedCursor = cursor
        settled.merge(recorded) { $0.merging($1) { $0 + $1 } }
        recorded = [:]
        for group in groups[cursor...] {
            for (id, step) in group { note(step.before, step.after, of: id) }
        }
    }

    mutating func undo(_ head: World, by rules: ReferenceOffice) {
        cursor -= 1
        let back = groups[cursor].mapValues { (before: $0.after, after: $0.before) }
        let made = move(back, head, rules)
        // What is made again is what was taken back, which may not be what was once recorded.
        groups[cursor] = made.mapValues { (before: $0.after, after: $0.before) }
    }

    mutating func redo(_ head: World, by rules: ReferenceOffice) {
        groups[cursor] = move(groups[cursor], head, rules)
        cursor += 1
    }

    /// Makes the steps of a group from where the objects stand now: values become what they were, and members come and
    /// go one by one.
    ///
    /// - Returns: What has really been done.
    private mutating func move(_ steps: Group, _ head: World, _ rules: ReferenceOffice) -> Group {
        var world = view(head)
        let old = world
        var made: Group = [:]
        for (id, step) in steps {
            if let before = step.before, let after = step.after {
                guard var record = world[id] else { continue }
                for field in rules.fields(id) where before[field.name] != after[field.name] {
                    guard let start = before[field.name], let end = after[field.name],
                        let now = record[field.name]
                    else { continue }
                    record[field.name] =
                        ReferenceOffice.merge(field, base: start, ours: end, theirs: now) ?? end
                }
                world[id] = record
            } else {
                // What others have brought back, or deleted, meanwhile is passed over.
                guard (old[id] == nil) == (step.before == nil) else { continue }
                world[id] = step.after.map { broughtBack($0, id, beside: steps, rules) }
            }
            made[id] = (old[id], world[id])
        }
        take(world, head)
        return made
    }

    /// What comes back of an object: not what only one may hold and the same step gives to another.
    private func broughtBack(
        _ record: Record, _ id: ObjectID, beside steps: Group, _ rules: ReferenceOffice
    ) -> Record {
        var record = record
        for field in rules.fields(id) where rules.isExclusive(field) {
            for (other, step) in steps where other != id {
                guard let before = step.before?[field.name], let after = step.after?[field.name]
                else { continue }
                for member in after.destinations where !before.destinations.contains(member) {
                    record[field.name] = record[field.name]?.removing(member)
                }
            }
        }
        return record
    }

    /// Whether what can be undone or redone leads to some objects.
    func mentions(_ lost: Set<ObjectID>) -> Bool {
        groups.contains { group in
            group.values.contains { step in
                let cells = [step.before, step.after].compactMap { $0 }.flatMap(\.values)
                return cells.contains { !lost.isDisjoint(with: $0.destinations) }
            }
        }
    }

    mutating func clearUndo() {
        groups = []
        recorded = [:]
        settled = [:]
        everRecorded = [:]
        cursor = 0
        savedCursor = 0
        undoMeetsOthers = false
    }

    /// Notes that the edits of an object since the last save were dropped.
    mutating func disturbUnsaved(_ id: ObjectID) {
        if groups.dropFirst(savedCursor).contains(where: { $0[id] != nil }) {
            undoMeetsOthers = true
        }
    }

    /// The objects that are there by the steps that have been made.
    var made: Set<ObjectID> {
        var made: Set<ObjectID> = []
        for (id, step) in groups[..<cursor].joined() {
            if step.after == nil { made.remove(id) } else { made.insert(id) }
        }
        return made
    }

    /// The objects that the steps have not made but edited or deleted.
    var edited: Set<ObjectID> {
        var known: Set<ObjectID> = []
        var edited: Set<ObjectID> = []
        for (id, step) in groups.joined() where known.insert(id).inserted && step.before != nil {
            edited.insert(id)
        }
        return edited
    }

    /// Notes that an object has taken somebody else's values.
    mutating func disturbUndo(_ id: ObjectID) {
        if groups.contains(where: { $0[id] != nil }) { undoMeetsOthers = true }
    }
}
