import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

extension Simulation {
    /// What a save should come to.
    private struct Forecast {
        var world: World
        /// Cells that only the policy can tell.
        var told: Set<[String]> = []
        /// The cells that both sides have changed, with what they started from.
        var collisions: [String] = []
        var collides: Bool { !collisions.isEmpty }
        /// Whether objects are settled together (see Merging): what is deleted on one side is needed on the
        /// other, one may hold what two hold, two orders of a list meet, or two objects become one. Then
        /// the reference follows, and checks what a settlement may come to.
        var isSettledTogether = false
    }

    private func forecast(_ index: Int, _ policy: MergePolicy) throws -> Forecast {
        let sight = sights[index]
        let head = under(index)
        let isChild = shape.contexts[index].parent != nil
        var forecast = Forecast(world: head)
        for id in sight.deleted {
            if let there = head[id], there != sight.seen[id] || leadsNowhere(there, id, head) {
                forecast.isSettledTogether = true
            }
            // The parent carries out delete rules on what it has.
            for field in rules.fields(id) where isChild && field.rule == .cascade {
                let goners = rules.related(id, field, in: head)
                if !sight.deleted.isSuperset(of: goners) { forecast.isSettledTogether = true }
            }
            if isHeldBelow(id, index) { forecast.isSettledTogether = true }
            forecast.world[id] = nil
        }
        let pending = pendingRecords(index)
        for (id, ours) in pending {
            guard let base = sight.seen[id] else {
                // Others have brought back what an undo brings back here, or have changed it below a
                // parent that has deleted it.
                let isBelow = shape.contexts[index].parent.map {
                    sights[$0].deleted.contains(id) && !isCurrent($0)
                }
                if head[id] != nil || isBelow == true { forecast.isSettledTogether = true }
                forecast.world[id] = ours
                continue
            }
            guard let theirs = head[id] else {
                forecast.isSettledTogether = true
                continue
            }
            settle(id, base, ours, theirs, policy, &forecast)
        }
        // Only a store takes back what leads to a deleted object and has no inverse.
        for (id, record) in forecast.world where !isChild {
            for field in rules.fields(id) where field.isStored && field.inverse == nil {
                for target in record[field.name]?.destinations ?? []
                where forecast.world[target] == nil {
                    forecast.world[id]?[field.name] = .one(nil)
                }
            }
        }
        for (id, ours) in pending {
            for (name, cell) in ours where cell != sight.seen[id]?[name] {
                let field = Office.field(rules.entity(id), name)
                let isLoose = isChild && field.inverse == nil
                let lost = cell.destinations.filter { forecast.world[$0] == nil }
                if lost.contains(where: { !isLoose || !sight.deleted.contains($0) }) {
                    forecast.isSettledTogether = true
                }
                // What others have given to somebody else meanwhile is in conflict (see Merging), though
                // the parent still shows whoever has it with something else.
                let had = sight.seen[id]?[name]?.destinations ?? []
                guard rules.isExclusive(field), let inverse = field.inverse else { continue }
                let end = Office.field(field.destination, inverse)
                for member in cell.destinations where !had.contains(member) {
                    let isHeld = isHeldBelow(member, index, except: id) { $0.name == inverse }
                    if try isHeld || isShownHeld(member, over: end, index, except: id) {
                        forecast.isSettledTogether = true
                    }
                }
            }
        }
        if !rules.flaws(in: forecast.world, afterSave: !isChild).isEmpty {
            forecast.isSettledTogether = true
        }
        let hidden = hiddenEdits(index)
        forecast.told.formUnion(hidden)
        // Of an object that is gone they may bring it back.
        if hidden.contains(where: { edit in head.keys.allSatisfy { "\($0)" != edit[0] } }) {
            forecast.isSettledTogether = true
        }
        return forecast
    }

    /// The records that a context has changed, as it hands them over: a reference without inverse that was set there, and
    /// leads to what is deleted in the same save, has become empty.
    private func pendingRecords(_ index: Int) -> World {
        let sight = sights[index]
        var pending = sight.mine.filter { sight.isDirty($0.key) }
        for (id, ours) in pending {
            for field in rules.fields(id) where field.kind == .toOne && field.inverse == nil {
                guard case .one(let target?)? = ours[field.name],
                    ours[field.name] != sight.seen[id]?[field.name],
                    sight.deleted.contains(target)
                else { continue }
                pending[id]?[field.name] = .one(nil)
            }
        }
        return pending
    }

    /// Whether a reference without inverse reads as none, since its object has gone.
    private func leadsNowhere(_ record: Record, _ id: ObjectID, _ world: World) -> Bool {
        rules.fields(id).contains { field in
            guard field.isStored, field.kind == .toOne, field.inverse == nil,
                case .one(let target?)? = record[field.name]
            else { return false }
            return world[target] == nil
        }
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
                forecast.isSettledTogether = true
            }
            if policy == .error, field.collidesWhenEqual, ours == theirs, ours != base {
                // What a delete rule has emptied on both sides is no conflict, and what a program has
                // emptied is one.
                if ours == .one(nil) {
                    forecast.isSettledTogether = true
                } else {
                    collides = true
                    forecast.collisions.append("\(id).\(field.name) \(base), twice \(ours)")
                }
            } else if let merged = ReferenceOffice.merge(
                field, base: base, ours: ours, theirs: theirs)
            {
                record[field.name] = merged
            } else {
                collides = true
                forecast.collisions.append("\(id).\(field.name) \(base), \(ours), \(theirs)")
                record[field.name] = policy == .mergeByPropertyStoreTrump ? theirs : ours
            }
        }
        if collides {
            if policy == .rollback { record = theirs }
            if policy == .overwrite {
                for field in rules.fields(id)
                where field.isStored && ours[field.name] == base[field.name] {
                    forecast.told.insert(["\(id)", field.name])
                    // What others have given to another owner meanwhile is taken back from it.
                    if rules.isExclusive(field), ours[field.name] != theirs[field.name] {
                        forecast.isSettledTogether = true
                    }
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
        let isChild = shape.contexts[index].parent != nil
        var forecast = try forecast(index, policy)
        let isDenied = rules.isDenied(sight.deleted, in: view(index))
        let isDuplicate = !isChild && rules.duplicates(in: forecast.world)
        // The other policies may make a new object one with the object that has its value.
        if isDuplicate, policy != .error { forecast.isSettledTogether = true }
        let mustFail = isDenied || isDuplicate || (forecast.collides && policy == .error)
        let name = "\(isChild ? "child " : "")save by \(policy)"
        counts[name, default: 0] += 1
        say(index, name)
        let sequence: UInt64?
        // Children are told of edits that came to nothing as well, which only the context knows of.
        let dirty = Set(sight.mine.keys).union(sight.deleted).filter(sight.isDirty)
            .union(context.updatedObjects.map(\.objectID.object))
        let listening = listen(to: context)
        defer { NotificationCenter.default.removeObserver(listening) }
        do {
            sequence = try context.save()?.rawValue
        } catch let error as StoreError {
            say(index, "  refused: \(error.code) \(error)")
            counts["refused: \(error.code)", default: 0] += 1
            var allowed: Set<StoreError.Code> = []
            if isDenied || !sight.isFresh { allowed.insert(.validation) }
            if isDuplicate || forecast.isSettledTogether { allowed.insert(.duplicate) }
            if forecast.isSettledTogether || (forecast.collides && policy == .error) {
                allowed.insert(.conflict)
            }
            // What an object that is gone had been changed to cannot be read of it any more.
            let head = under(index)
            if error.code == .conflict, error.conflicts.allSatisfy({ head[$0.object] == nil }) {
                allowed.insert(.conflict)
            }
            guard allowed.contains(error.code) else {
                throw Mismatch("A save that should succeed was refused: \(error)")
            }
            return try compareStore("after a refused save")
        }
        if mustFail && !forecast.isSettledTogether && (sight.isFresh || !isDenied) {
            throw Mismatch(
                "A save should be refused: denied \(isDenied), duplicate \(isDuplicate), "
                    + "conflicts \(forecast.collisions).")
        }
        let old = under(index)
        if let parent = shape.contexts[index].parent {
            if sequence != nil { throw Mismatch("A child's save has made an entry.") }
            try compareStore("after a child's save")
            try contexts[parent].performAndWait {
                try receive(forecast, policy, from: index, parent)
            }
        } else {
            try append(forecast, policy, index, sequence)
        }
        if !dirty.isEmpty {
            news.append(SimulationNews(source: index, ids: dirty))
            mailbox.savedIDs = dirty
        }
        if contexts[index].hasChanges { throw Mismatch("A saved context still has changes.") }
        try settle(forecast, of: dirty, index, old)
    }

    /// Keeps what a context posts when it is saved. A save of nothing posts nothing, and what was posted
    /// last stays what was saved last.
    private func listen(to context: ManagedObjectContext) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(
            forName: .managedObjectContextDidSave, object: context, queue: nil
        ) { [mailbox] notification in
            mailbox.lastSave = notification
        }
    }

    /// The parent has a child's changes as its own, and as one step for undo.
    private func receive(
        _ forecast: Forecast, _ policy: MergePolicy, from child: Int, _ parent: Int
    ) throws {
        let pending = pendingRecords(child)
        var before = view(parent)
        // What was found gone in the parent is looked for again where the child deletes it or leads to it.
        var forecast = forecast
        let missed = sights[parent].gone
        noteGone(parent)
        for id in missed.subtracting(sights[parent].gone) {
            before[id] = under(parent)[id]
            guard let theirs = before[id], !sights[child].deleted.contains(id) else { continue }
            forecast.world[id] = theirs
            guard let base = sights[child].seen[id], let ours = pending[id] else { continue }
            settle(id, base, ours, theirs, policy, &forecast)
        }
        let wasConsistent = isConsistent(parent) && isConsistent(child)
        var expected = forecast.world
        for cell in forecast.told {
            for id in expected.keys where "\(id)" == cell[0] {
                let field = Office.field(rules.entity(id), cell[1])
                expected[id]?[cell[1]] = try read(field, of: object(id, parent))
            }
        }
        let inserted = sights[parent].inserted
        sights[parent].take(expected, under(parent))
        releaseAnnihilated(inserted.subtracting(sights[parent].inserted), parent)
        if forecast.isSettledTogether {
            counts["settled together", default: 0] += 1
            try adopt(parent, isForeseen: false)
            try checkSettlement(view(parent), forecast.world, before, child, policy)
        }
        let after = view(parent)
        // What was let go of after it had been read long ago has not been changed.
        for id in before.keys where after[id] != nil && sights[parent].mine[id] == nil {
            before[id] = after[id]
        }
        // What is denied shows when the root is saved.
        let flaws = rules.flaws(
            in: shownWorld(parent), afterSave: false, isBehind: !isCurrent(parent),
            ignoring: [.noAction, .deny], lost: lostBelow(parent))
        if wasConsistent, let flaw = flaws.first {
            throw Mismatch("A child's save has made its parent inconsistent: \(flaw)")
        }
        sights[parent].record(from: before, to: after)
        if forecast.isSettledTogether, !sights[parent].groups.isEmpty {
            sights[parent].undoMeetsOthers = true
        }
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        if !changed.isEmpty {
            news.append(SimulationNews(source: parent, ids: changed, saver: child))
        }
        // What could be redone is no longer held.
        forgetReleased(parent)
    }

    /// The store has a context's changes as one entry.
    private func append(
        _ forecast: Forecast, _ policy: MergePolicy, _ index: Int, _ sequence: UInt64?
    ) throws {
        var expected = forecast.world
        let found = try storeWorld()
        if forecast.isSettledTogether {
            counts["settled together", default: 0] += 1
            let flaws = rules.flaws(in: found, afterSave: true)
            if let flaw = flaws.first { throw Mismatch("The store is inconsistent: \(flaw)") }
            try checkSettlement(found, forecast.world, head, index, policy)
            expected = found
        }
        for cell in forecast.told {
            for id in expected.keys where "\(id)" == cell[0] {
                expected[id]?[cell[1]] = found[id]?[cell[1]]
            }
        }
        let isEmpty = expected == head
        if isEmpty != (sequence == nil), try !onlyMoves(sequence) {
            throw Mismatch(
                isEmpty ? "An empty net change was appended." : "Nothing was appended.")
        }
        if let sequence {
            worlds.append(expected)
            savers.append(index)
            if sequence != UInt64(worlds.count) {
                throw Mismatch("The entry is \(sequence), should be \(worlds.count).")
            }
        }
        try compareStore("after a save")
    }

    /// Whether an entry only moves members of lists. Where two have put the same object into a list, each in a place
    /// of its own, the one who saves later has moved it, and it may stand among the others where it stood.
    private func onlyMoves(_ sequence: UInt64?) throws -> Bool {
        guard let sequence else { return false }
        return try store.entry(SequenceNumber(sequence)).changes.allSatisfy { change in
            guard case .update(let edits, let members) = change.kind, edits.isEmpty else {
                return false
            }
            return members.allSatisfy { edit in
                Set(edit.added.map(\.object)) == Set(edit.removed.map(\.object))
            }
        }
    }

    /// Makes the reference follow what a save does to the context that was saved. Objects whose edits came to nothing
    /// count as saved, too.
    private func settle(
        _ forecast: Forecast, of saved: Set<ObjectID>, _ index: Int, _ old: World
    ) throws {
        noteOvertaken(index, old)
        let sight = sights[index]
        let now = under(index)
        sights[index].settleSteps()
        sights[index].inserted = []
        sights[index].deleted = []
        sights[index].annihilated = []
        for id in sight.deleted { sights[index].forget(id) }
        for (id, record) in sight.mine
        where sight.isDirty(id) || saved.contains(id) && now[id] != nil {
            try settle(id, record, sight.seen[id], index, now)
        }
        if forecast.isSettledTogether { try adopt(index, isForeseen: false) }
        for id in Set(sights[index].mine.keys) where sights[index].seen[id] == nil {
            sights[index].seen[id] = sights[index].mine[id]
        }
        for (id, record) in sights[index].mine where sight.mine[id] != nil {
            if record != sight.mine[id] { sights[index].disturbUndo(id) }
            sights[index].seen[id] = record
        }
        if forecast.isSettledTogether, !sights[index].groups.isEmpty {
            sights[index].undoMeetsOthers = true
        }
        guard shape.contexts[index].parent == nil else {
            return readAgain(holding: sight.deleted, index)
        }
        readAdditions(index, sight, old)
        noteEmptied(index, sight, old)
    }

    /// Undo of what the policy has settled leads to what others had saved.
    private func noteOvertaken(_ index: Int, _ old: World) {
        let sight = sights[index]
        for (id, ours) in sight.mine where sight.isDirty(id) {
            guard let base = sight.seen[id], let theirs = old[id] else { continue }
            for field in rules.fields(id)
            where field.isStored && base[field.name] != ours[field.name] {
                guard let cell = theirs[field.name], cell != base[field.name] else { continue }
                sights[index].noteUnder(id, field.name, cell)
                sights[index].disturbUndo(id)
            }
        }
    }

    /// A list that shows what a child's save has deleted is read again.
    private func readAgain(holding deleted: Set<ObjectID>, _ index: Int) {
        let now = under(index)
        for (id, record) in sights[index].mine {
            for field in rules.fields(id) where field.isStored && field.kind != .toOne {
                guard let cell = record[field.name], let now = now[id]?[field.name],
                    !deleted.isDisjoint(with: cell.destinations)
                else { continue }
                sights[index].mine[id]?[field.name] = now
                sights[index].seen[id]?[field.name] = now
            }
        }
    }

    /// What a save changes besides what was sent to it, since it empties references to what it deletes,
    /// is read again: the object takes its newest row whole, as that is what it stands on from then
    /// on.
    private func readAdditions(_ index: Int, _ sight: Sight, _ old: World) {
        for (id, record) in head
        where old[id] != record && sight.mine[id] != nil && !sight.isDirty(id) {
            if sights[index].seen[id] != record { sights[index].disturbUndo(id) }
            sights[index].seen[id] = record
            sights[index].mine[id] = record
        }
    }

    /// References without inverse that the save has emptied, since it deleted where they led.
    private func noteEmptied(_ index: Int, _ sight: Sight, _ old: World) {
        for (id, record) in head {
            for field in rules.fields(id) where field.isStored && field.inverse == nil {
                guard let had = sight.mine[id] ?? old[id],
                    case .one(let target?)? = had[field.name], record[field.name] == .one(nil),
                    sight.deleted.contains(target) && old[target] != nil
                        || (old[target] == nil && sight.seen[id]?[field.name] != had[field.name])
                else { continue }
                sights[index].noteEmptied(id, had, field.name, from: target)
            }
        }
    }

    /// After a save the object has the saved values; what it did not change may be old or new.
    private func settle(
        _ id: ObjectID, _ record: Record, _ base: Record?, _ index: Int, _ head: World
    ) throws {
        guard let now = head[id], let identifier = identifiers[id],
            let object = contexts[index].registeredObject(for: identifier)
        else { return sights[index].forget(id) }
        if object.isFault { return sights[index].forget(id) }
        let found = read(object)
        var result = record
        for field in rules.fields(id) where field.isStored {
            guard let have = found[field.name], let saved = now[field.name] else { continue }
            if rules.isEmptied(field, saved, have, in: head) {
                result[field.name] = saved
                continue
            }
            let isChanged = base == nil || base?[field.name] != record[field.name]
            let isOld =
                have == record[field.name]
                || field.kind != .toOne
                    && have == record[field.name].map { ReferenceOffice.living($0, in: head) }
            // An edit that the save has not taken, since where it led has gone, leaves what was there when it was
            // read, whatever others have made of it.
            let isLeftOut =
                isChanged && have == base?[field.name] && saved != record[field.name]
            if have != saved && (isChanged || !isOld) && !isLeftOut {
                throw Mismatch(
                    "After the save \(rules.entity(id)) \(id).\(field.name) is \(have) in the "
                        + "context, \(saved) in the store; it was read as "
                        + "\(base?[field.name].map { "\($0)" } ?? "new") and made "
                        + "\(record[field.name].map { "\($0)" } ?? "missing").")
            }
            result[field.name] = have
        }
        sights[index].mine[id] = result
        sights[index].seen[id] = result
    }
}
