import JournalLog
import ObjectGraph
import ObjectModel
import SnapshotStore

extension Simulation {
    func merge(_ index: Int) throws {
        say(index, "merge")
        try contexts[index].mergeChanges()
        let sight = sights[index]
        let goners = Set(sight.mine.keys).union(sight.deleted)
            .filter { !sight.inserted.contains($0) && head[$0] == nil }
        for id in goners {
            sights[index].disturbUndo(id)
            sights[index].forget(id)
        }
        for id in Set(sights[index].seen.keys) { rebaseOntoHead(id, index) }
        sights[index].isFresh = true
        if !goners.isEmpty || isGuessing(index) {
            sights[index].foreseesUndo = sights[index].groups.isEmpty
            try adopt(index)
        }

        let before = try dump(index)
        let again = try contexts[index].mergeChanges()
        let after = try dump(index)
        if !again.isEmpty || before != after {
            throw Mismatch("Merge law: merging twice changed something.")
        }
    }

    /// Takes others' values where an object has not been edited here.
    private func rebaseOntoHead(_ id: ObjectID, _ index: Int) {
        guard let theirs = head[id], let base = sights[index].seen[id], theirs != base else {
            return
        }
        sights[index].disturbUndo(id)
        sights[index].seen[id] = theirs
        guard let ours = sights[index].mine[id] else { return }
        for field in rules.fields(id) where field.isStored {
            guard let base = base[field.name], let ours = ours[field.name],
                let theirs = theirs[field.name]
            else { continue }
            let merged = ReferenceOffice.merge(field, base: base, ours: ours, theirs: theirs)
            if field.kind == .list, ours != base, theirs != base, let identifier = identifiers[id],
                let object = contexts[index].registeredObject(for: identifier)
            {
                // Where members stand when both sides moved them, only a policy can tell.
                let found = read(field, of: object)
                if Set(found.destinations) == Set(merged?.destinations ?? []) {
                    sights[index].mine[id]?[field.name] = found
                    continue
                }
            }
            sights[index].mine[id]?[field.name] = merged ?? ours
        }
    }

    func refresh(_ index: Int, mergeChanges: Bool) throws {
        let sight = sights[index]
        let ids = sight.mine.keys.filter { !sight.inserted.contains($0) && head[$0] != nil }
        guard let id = pick(ids.sorted()) else { return }
        say(index, "refresh \(rules.entity(id)) \(id), \(mergeChanges ? "keeping" : "dropping")")
        let object = try object(id, index)
        guard !object.isDeleted else { return }
        let isGuess = isGuessing(index)
        contexts[index].refresh(object, mergeChanges: mergeChanges)
        if mergeChanges {
            rebaseOntoHead(id, index)
        } else {
            if sight.isDirty(id) { sights[index].disturbUndo(id) }
            sights[index].disturbUnsaved(id)
            if sight.seen[id] != head[id] { sights[index].disturbUndo(id) }
            sights[index].forget(id)
            if !object.isFault { throw Mismatch("S39: \(id) is no fault after the refresh.") }
        }
        if isGuess {
            if sights[index].view(head) != sight.view(head), !sight.groups.isEmpty {
                sights[index].foreseesUndo = false
            }
            try adopt(index)
        }
    }

    func refreshAll(_ index: Int) throws {
        say(index, "refresh all")
        let isGuess = isGuessing(index)
        contexts[index].refreshAllObjects()
        let sight = sights[index]
        for id in sight.mine.keys {
            if sight.inserted.contains(id) { continue }
            if sight.isDirty(id) {
                rebaseOntoHead(id, index)
            } else {
                if sight.seen[id] != head[id] { sights[index].disturbUndo(id) }
                sights[index].forget(id)
            }
        }
        if isGuess {
            sights[index].foreseesUndo = sights[index].groups.isEmpty
            try adopt(index)
        }
    }

    // MARK: - Saving

    /// What a save should come to.
    private struct Forecast {
        var world: World
        /// Cells that only the policy can tell.
        var told: Set<[String]> = []
        var collides = false
        /// Objects deleted on one side and needed on the other, or two holders where one may hold.
        var isTangled = false
    }

    private func forecast(_ index: Int, _ policy: MergePolicy) -> Forecast {
        let sight = sights[index]
        var forecast = Forecast(world: head)
        for id in sight.deleted {
            if let there = head[id], there != sight.seen[id] { forecast.isTangled = true }
            forecast.world[id] = nil
        }
        for (id, ours) in sight.mine where sight.isDirty(id) {
            guard let base = sight.seen[id] else {
                // Others have brought back what an undo brings back here.
                if head[id] != nil { forecast.isTangled = true }
                forecast.world[id] = ours
                continue
            }
            guard let theirs = head[id] else {
                forecast.isTangled = true
                continue
            }
            settle(id, base, ours, theirs, policy, &forecast)
        }
        for (id, record) in forecast.world {
            for field in rules.fields(id) where field.isStored && field.inverse == nil {
                for target in record[field.name]?.destinations ?? []
                where forecast.world[target] == nil {
                    forecast.world[id]?[field.name] = .one(nil)
                }
            }
        }
        for (id, ours) in sight.mine where sight.isDirty(id) {
            for (name, cell) in ours where cell != sight.seen[id]?[name] {
                if cell.destinations.contains(where: { forecast.world[$0] == nil }) {
                    forecast.isTangled = true
                }
            }
        }
        if !rules.flaws(in: forecast.world, afterSave: true).isEmpty { forecast.isTangled = true }
        return forecast
    }

    private func settle(
        _ id: ObjectID, _ base: Record, _ ours: Record, _ theirs: Record, _ policy: MergePolicy,
        _ forecast: inout Forecast
    ) {
        var record = theirs
        var collides = false
        for field in rules.fields(id) where field.isStored {
            guard let base = base[field.name], let ours = ours[field.name],
                let theirs = theirs[field.name]
            else { continue }
            if field.kind == .list, ours != base, theirs != base, ours != theirs {
                // Two orders of one list.
                forecast.told.insert(["\(id)", field.name])
                forecast.isTangled = true
            }
            if let merged = ReferenceOffice.merge(
                field, base: base, ours: ours, theirs: theirs)
            {
                record[field.name] = merged
            } else {
                collides = true
                record[field.name] = policy == .mergeByPropertyStoreTrump ? theirs : ours
            }
        }
        if collides {
            forecast.collides = true
            if policy == .rollback { record = theirs }
            if policy == .overwrite {
                for field in rules.fields(id) where ours[field.name] == base[field.name] {
                    forecast.told.insert(["\(id)", field.name])
                }
            }
        }
        forecast.world[id] = record
    }

    func save(_ index: Int) throws {
        let context = contexts[index]
        let policies: [MergePolicy] = [
            .error, .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
            .rollback,
        ]
        let policy = pick(policies) ?? .error
        context.mergePolicy = policy
        let sight = sights[index]
        var forecast = forecast(index, policy)
        let isDenied = rules.isDenied(sight.deleted, in: sight.view(head))
        let isDuplicate = rules.duplicates(in: forecast.world)
        // The other policies may make a new object one with the object that has its value.
        if isDuplicate, policy != .error { forecast.isTangled = true }
        let mustFail = isDenied || isDuplicate || (forecast.collides && policy == .error)
        counts["save by \(policy)", default: 0] += 1
        say(index, "save by \(policy)")
        let sequence: UInt64?
        do {
            sequence = try context.save()?.rawValue
        } catch let error as StoreError {
            say(index, "  refused: \(error.code) \(error)")
            counts["refused: \(error.code)", default: 0] += 1
            var allowed: Set<StoreError.Code> = []
            if isDenied || !sight.isFresh { allowed.insert(.validation) }
            if isDuplicate || forecast.isTangled { allowed.insert(.duplicate) }
            if forecast.isTangled || (forecast.collides && policy == .error) {
                allowed.insert(.conflict)
            }
            guard allowed.contains(error.code) else {
                throw Mismatch("A save that should succeed was refused: \(error)")
            }
            return try compareStore("after a refused save")
        }
        if mustFail && !forecast.isTangled && (sight.isFresh || !isDenied) {
            throw Mismatch(
                "A save should be refused: denied \(isDenied), duplicate \(isDuplicate), "
                    + "conflict \(forecast.collides).")
        }
        try take(sequence, forecast, index)
    }

    private func take(_ sequence: UInt64?, _ forecast: Forecast, _ index: Int) throws {
        var expected = forecast.world
        let found = try storeWorld()
        if forecast.isTangled {
            counts["settled tangle", default: 0] += 1
            let flaws = rules.flaws(in: found, afterSave: true)
            if let flaw = flaws.first { throw Mismatch("The store is inconsistent: \(flaw)") }
            expected = found
        }
        for cell in forecast.told {
            for id in expected.keys where "\(id)" == cell[0] {
                expected[id]?[cell[1]] = found[id]?[cell[1]]
            }
        }
        let isEmpty = expected == head
        if isEmpty != (sequence == nil) {
            throw Mismatch(
                isEmpty ? "An empty net change was appended." : "Nothing was appended.")
        }
        sights[index].savedCursor = sights[index].cursor
        let sight = sights[index]
        let old = head
        if let sequence {
            worlds.append(expected)
            if sequence != UInt64(worlds.count) {
                throw Mismatch("The entry is \(sequence), should be \(worlds.count).")
            }
            for other in sights.indices where other != index { sights[other].isFresh = false }
        }
        try compareStore("after a save")
        if contexts[index].hasChanges { throw Mismatch("A saved context still has changes.") }
        sights[index].inserted = []
        sights[index].deleted = []
        for id in sight.deleted { sights[index].forget(id) }
        for (id, record) in sight.mine where sight.isDirty(id) {
            try settle(id, record, sight.seen[id], old[id], index)
        }
        if forecast.isTangled { try adopt(index) }
        for id in Set(sights[index].mine.keys) where sights[index].seen[id] == nil {
            sights[index].seen[id] = sights[index].mine[id]
        }
        for (id, record) in sights[index].mine where sight.mine[id] != nil {
            if record != sight.mine[id] { sights[index].disturbUndo(id) }
            sights[index].seen[id] = record
        }
        if forecast.isTangled, !sights[index].groups.isEmpty { sights[index].foreseesUndo = false }
        noteEmptied(index, sight, old)
    }

    /// References without inverse that the save has emptied, since it deleted where they led.
    private func noteEmptied(_ index: Int, _ sight: Sight, _ old: World) {
        for (id, record) in head {
            for field in rules.fields(id) where field.isStored && field.inverse == nil {
                guard let had = sight.mine[id] ?? old[id],
                    case .one(let target?)? = had[field.name], record[field.name] == .one(nil),
                    sight.deleted.contains(target)
                        || (old[target] == nil && sight.seen[id]?[field.name] != had[field.name])
                else { continue }
                sights[index].noteEmptied(id, had, field.name, from: target)
            }
        }
    }

    /// After a save the object has the saved values; what it did not change may be old or new.
    private func settle(
        _ id: ObjectID, _ record: Record, _ base: Record?, _ old: Record?, _ index: Int
    ) throws {
        guard let now = head[id], let identifier = identifiers[id],
            let object = contexts[index].registeredObject(for: identifier)
        else { return sights[index].forget(id) }
        if object.isFault { return sights[index].forget(id) }
        let found = read(object)
        var result = record
        for field in rules.fields(id) where field.isStored {
            guard let have = found[field.name], let saved = now[field.name] else { continue }
            if rules.dangles(field, saved, reads: have, in: head) {
                result[field.name] = saved
                continue
            }
            let isChanged = base == nil || base?[field.name] != record[field.name]
            if have != saved && (isChanged || have != record[field.name]) {
                throw Mismatch(
                    "After the save \(rules.entity(id)) \(id).\(field.name) is \(have) in the "
                        + "context, \(saved) in the store.")
            }
            result[field.name] = have
        }
        sights[index].mine[id] = result
        sights[index].seen[id] = result
    }
}
