import DaybookObjectGraph
import DaybookObjectModel

extension Simulation {
    /// One event of a few edits.
    func edit(_ index: Int) throws {
        held = Array(contexts[index].registeredObjects)
        made = []
        let before = view(index)
        var world = before
        for _ in 0..<int(1...3) {
            switch int(0...9) {
            case 0...2: try insert(index, &world)
            case 3...5: try setAttribute(index, &world)
            default: try relate(index, &world)
            }
        }
        if int(0...9) == 0, let id = pick(world.keys.sorted()) {
            try delete([id], index, &world)
        }
        try close(index, before, world)
    }

    /// One event of deletes.
    func delete(_ index: Int) throws {
        held = Array(contexts[index].registeredObjects)
        made = []
        let before = view(index)
        var world = before
        let count = world.count > 40 ? 8 : int(1...2)
        let ids = Array(world.keys.sorted().shuffled(using: &random).prefix(count))
        try delete(ids, index, &world)
        try close(index, before, world)
    }

    private func close(_ index: Int, _ before: World, _ after: World) throws {
        contexts[index].processPendingChanges()
        held = []
        let inserted = sights[index].inserted
        sights[index].take(after, under(index))
        releaseAnnihilated(inserted.union(made).subtracting(after.keys), index)
        // An object that others deleted and that was only let go of has not been changed.
        let sight = sights[index]
        let view = sight.view(under(index))
        var known = before.filter { id, _ in
            view[id] != nil || sight.deleted.contains(id) || inserted.contains(id)
        }
        // Nor one that was let go of after it had been read long ago.
        for id in known.keys where sight.mine[id] == nil && !sight.deleted.contains(id) {
            if !inserted.contains(id) { known[id] = view[id] }
        }
        // What was new here is gone by this event, also where others have it, too.
        sights[index].record(
            from: known,
            to: view.filter { !inserted.contains($0.key) || sight.inserted.contains($0.key) })
    }

    /// Empties what has no inverse, has been changed here and leads to objects that were new here and have been deleted
    /// again: the store, which does so for others, never learns of these.
    func releaseAnnihilated(_ lost: Set<ObjectID>, _ index: Int) {
        for (id, record) in sights[index].mine where sights[index].isDirty(id) {
            for field in rules.fields(id) where field.kind == .toOne && field.inverse == nil {
                guard case .one(let target?)? = record[field.name], lost.contains(target) else {
                    continue
                }
                sights[index].mine[id]?[field.name] = .one(nil)
            }
        }
    }

    // MARK: - Single edits

    private func insert(_ index: Int, _ world: inout World) throws {
        guard world.count < 60, let entity = pick(Office.entities) else { return }
        let object = contexts[index].insertNewObject(forEntityName: entity)
        let id = object.objectID.object
        identifiers[id] = object.objectID
        made.insert(id)
        world[id] = ReferenceOffice.empty(entity)
        counts["insert", default: 0] += 1
        say(index, "insert \(entity) \(id)")
        if int(0...1) == 0 { try setAttribute(index, &world, of: id) }
    }

    private func setAttribute(
        _ index: Int, _ world: inout World, of chosen: ObjectID? = nil
    ) throws {
        guard let id = chosen ?? candidate(index, world),
            let field = pick(rules.fields(id).filter(\.isAttribute))
        else { return }
        let value: Value
        switch field.kind {
        case .number, .sum: value = .int(Int64(int(0...4)))
        default: value = .string("\(pick("abcdefgh") ?? "a")\(int(0...2))")
        }
        try object(id, index).setStoredValue(value, forKey: field.name)
        world[id]?[field.name] = .value(value)
        counts["set attribute", default: 0] += 1
        say(index, "\(rules.entity(id)) \(id).\(field.name) = \(value)")
    }

    private func relate(_ index: Int, _ world: inout World) throws {
        guard let id = candidate(index, world),
            let field = pick(rules.fields(id).filter { !$0.isAttribute })
        else { return }
        let others = world.keys.filter { rules.entity($0) == field.destination }.sorted()
        let usable = usable(others, index)
        var targets = rules.related(id, field, in: world).filter { world[$0] != nil }
        switch field.kind {
        case .toOne:
            targets = int(0...3) == 0 ? [] : pick(usable).map { [$0] } ?? []
        default:
            targets = self.usable(targets, index)
            for _ in 0..<int(1...2) {
                guard let other = pick(usable) else { continue }
                if targets.contains(other) {
                    targets.removeAll { $0 == other }
                } else {
                    targets.insert(other, at: int(0...targets.count))
                }
            }
            if field.kind == .list, int(0...3) == 0 { targets.shuffle(using: &random) }
        }
        let objects = try targets.map { try object($0, index) }
        let shown = try shown(around: [id] + targets, index)
        say(index, "\(rules.entity(id)) \(id).\(field.name) = \(targets)")
        let owner = try object(id, index)
        owner.setRelatedObjects(objects, forKey: field.name)
        counts["set \(field.kind)", default: 0] += 1
        let found = read(field, of: owner).destinations
        let expected = field.kind == .list ? targets : targets.sorted()
        if (field.kind == .list ? found : found.sorted()) != expected {
            throw Mismatch(
                "\(rules.entity(id)) \(id).\(field.name) reads \(found) after \(expected) was set.")
        }
        rules.relate(id, field, to: targets, in: &world) { shown[$0]?[$1.name] ?? [] }
    }

    private func delete(_ ids: [ObjectID], _ index: Int, _ world: inout World) throws {
        let usable = usable(ids, index)
        let shown = try shownToDelete(usable, index)
        for id in usable {
            say(index, "delete \(rules.entity(id)) \(id)")
            counts["delete", default: 0] += 1
            contexts[index].delete(try object(id, index))
        }
        rules.delete(usable, from: &world) { shown[$0]?[$1.name] ?? [] }
    }

    /// What the relationships of some objects lead to as the context shows it.
    private func shown(
        around ids: [ObjectID], _ index: Int, where isConcerned: (Field) -> Bool = { _ in true }
    ) throws -> [ObjectID: [String: [ObjectID]]] {
        var shown: [ObjectID: [String: [ObjectID]]] = [:]
        for id in ids {
            let object = try object(id, index)
            for field in rules.fields(id) where !field.isAttribute && isConcerned(field) {
                shown[id, default: [:]][field.name] =
                    object.objectIDs(forRelationshipNamed: field.name).map(\.object)
            }
        }
        return shown
    }

    /// What the relationships lead to that the deletes of some objects concern.
    private func shownToDelete(
        _ ids: [ObjectID], _ index: Int
    ) throws -> [ObjectID: [String: [ObjectID]]] {
        var all: [ObjectID: [String: [ObjectID]]] = [:]
        var queue = usable(ids, index)
        while let id = queue.popLast() {
            guard all[id] == nil else { continue }
            let shown = try shown(around: [id], index) {
                $0.rule == .cascade || $0.rule == .nullify
            }
            // What was new here and is there no more leaves nothing: whoever has brought it back is right.
            all[id] = shown[id, default: [:]].mapValues { usable($0, index, orBack: true) }
            for field in rules.fields(id) where field.rule == .cascade {
                try spare(from: id, field, &all, index)
                queue += all[id]?[field.name] ?? []
            }
        }
        return all
    }

    /// Leaves out what a list still leads to and others have taken out of it: neither the member nor what lies under
    /// the context leads back.
    private func spare(
        from owner: ObjectID, _ field: Field,
        _ all: inout [ObjectID: [String: [ObjectID]]], _ index: Int
    ) throws {
        guard !field.isStored, let inverse = field.inverse else { return }
        let head = under(index)
        try all[owner]?[field.name]?.removeAll { member in
            guard head[member]?[inverse] != .one(owner) else { return false }
            let object = try object(member, index)
            return object.objectIDs(forRelationshipNamed: inverse).map(\.object) != [owner]
        }
    }

    private func candidate(_ index: Int, _ world: World) -> ObjectID? {
        pick(usable(world.keys.sorted(), index))
    }

    /// The objects whose record nobody else has deleted: those that can be worked with.
    private func usable(
        _ ids: [ObjectID], _ index: Int, orBack isBackUsable: Bool = false
    ) -> [ObjectID] {
        let head = under(index)
        return ids.filter { id in
            guard let identifier = identifiers[id],
                isBackUsable || !sights[index].annihilated.contains(id)
            else { return false }
            guard let object = contexts[index].registeredObject(for: identifier) else {
                return head[id] != nil
            }
            return !object.isDeleted && (!object.isFault || head[id] != nil)
        }
    }

    // MARK: - Undo

    func undo(_ index: Int) throws {
        guard let manager = contexts[index].undoManager, manager.canUndo else { return }
        say(index, "undo")
        noticeOthers(index, sights[index].cursor - 1) { $0.after }
        contexts[index].undo()
        if sights[index].undoMeetsOthers {
            sights[index].cursor = max(0, sights[index].cursor - 1)
            try followUndo(index)
        } else {
            sights[index].undo(under(index), by: rules)
        }
    }

    /// Undo that brings back, or deletes, what others have brought back already passes it over, and so
    /// does one that changes what others have deleted: `start` tells what a step begins with.
    private func noticeOthers(
        _ index: Int, _ place: Int,
        from start: ((before: Record?, after: Record?)) -> Record?
    ) {
        let sight = sights[index]
        guard !sight.undoMeetsOthers, sight.groups.indices.contains(place) else { return }
        let head = under(index)
        let view = sight.view(head)
        // It is passed over.
        if sight.groups[place].contains(where: { (start($0.value) == nil) != (view[$0.key] == nil) }
        ) {
            sights[index].undoMeetsOthers = true
        }
        for (id, step) in sight.groups[place] where step.before == nil || step.after == nil {
            let isOthers = head[id] != nil && sight.seen[id] == nil
            if isOthers && !sight.inserted.contains(id) && view[id] == nil {
                sights[index].undoMeetsOthers = true
            }
            if sight.seen[id] == nil && head[id] != nil { sights[index].undoMeetsOthers = true }
            // What was deleted here comes back as others have made it meanwhile.
            if let seen = sight.seen[id], let theirs = head[id], seen != theirs {
                sights[index].undoMeetsOthers = true
            }
        }
    }

    func redo(_ index: Int) throws {
        guard let manager = contexts[index].undoManager, manager.canRedo else { return }
        say(index, "redo")
        noticeOthers(index, sights[index].cursor) { $0.before }
        contexts[index].redo()
        if sights[index].undoMeetsOthers {
            sights[index].cursor = min(sights[index].groups.count, sights[index].cursor + 1)
            try followUndo(index)
        } else {
            sights[index].redo(under(index), by: rules)
        }
    }

    /// Undo then redo, or redo then undo, restores every value and relationship.
    func undoRedo(_ index: Int) throws {
        let context = contexts[index]
        guard let manager = context.undoManager else { return }
        let before = try dump(index)
        let isForward = int(0...1) == 0
        if isForward ? manager.canRedo : manager.canUndo {
            say(index, isForward ? "redo, undo" : "undo, redo")
            if isForward {
                context.redo()
                context.undo()
            } else {
                context.undo()
                context.redo()
            }
        }
        let after = try dump(index)
        for (id, record) in before {
            guard let identifier = identifiers[id],
                let object = context.registeredObject(for: identifier)
            else { continue }
            if object.isDeleted {
                throw Mismatch("Undo law: \(id) is deleted after undo and redo.")
            }
            guard let now = after[id], now != record else { continue }
            // A derived list that was read after others had changed it need not agree with this side.
            let isCurrent = isCurrent(index)
            let names = rules.fields(id).filter { $0.isStored || isCurrent }.map(\.name)
                .filter { now[$0] != record[$0] }
            guard !names.isEmpty else { continue }
            throw Mismatch(
                "Undo law: \(rules.entity(id)) \(id) was \(names.map { record[$0] as Any }), is "
                    + "\(names.map { now[$0] as Any }) in \(names).")
        }
        if sights[index].undoMeetsOthers { try adopt(index, isForeseen: false) }
    }

    /// Undo of everything, then redo of everything.
    func undoAll(_ index: Int) throws {
        guard let manager = contexts[index].undoManager else { return }
        say(index, "undo all")
        while manager.canUndo { try undo(index) }
        if int(0...1) == 0 {
            say(index, "redo all")
            while manager.canRedo { try redo(index) }
        }
    }

    func rollback(_ index: Int) throws {
        say(index, "rollback")
        contexts[index].rollback()
        let dirty = Set(sights[index].mine.keys).union(sights[index].deleted)
            .filter(sights[index].isDirty)
        for id in sights[index].inserted { sights[index].forget(id) }
        sights[index].mine = sights[index].seen
        sights[index].deleted = []
        sights[index].annihilated = []
        sights[index].clearUndo()
        if !sights[index].isFresh { for id in dirty { readListsAgain(id, index) } }
        let below = under(index)
        for id in sights[index].mine.keys where below[id] == nil { adoptLists(id, index) }
        if contexts[index].hasChanges { throw Mismatch("Rollback law: there are changes left.") }
    }

    /// A list that was not in memory is read when it is asked for, with what others have saved.
    private func readListsAgain(_ id: ObjectID, _ index: Int) {
        guard sights[index].mine[id] != nil,
            let identifier = identifiers[id],
            let object = contexts[index].registeredObject(for: identifier), !object.isFault
        else { return }
        for field in rules.fields(id) where field.isStored {
            guard field.kind == .toMany || field.kind == .list,
                let now = under(index)[id].map({ $0[field.name] }) ?? .many([]),
                read(field, of: object) == now
            else { continue }
            sights[index].seen[id]?[field.name] = now
            sights[index].mine[id]?[field.name] = now
        }
    }

    /// What has gone below is not read again: its lists are what they were here.
    private func adoptLists(_ id: ObjectID, _ index: Int) {
        guard let identifier = identifiers[id],
            let object = contexts[index].registeredObject(for: identifier), !object.isFault
        else { return }
        for field in rules.fields(id) where field.isStored && field.isList {
            let found = read(field, of: object)
            sights[index].seen[id]?[field.name] = found
            sights[index].mine[id]?[field.name] = found
        }
    }

    func reset(_ index: Int) throws {
        say(index, "reset")
        contexts[index].reset()
        sights[index] = Sight()
        sights[index].mergedThrough = worlds.count
        if contexts[index].hasChanges || !contexts[index].registeredObjects.isEmpty {
            throw Mismatch("A reset context still has objects or changes.")
        }
    }
}
