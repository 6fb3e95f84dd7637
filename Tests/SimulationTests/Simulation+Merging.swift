import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// What a context that others follow tells them: which objects it has saved or merged.
struct SimulationNews {
    let source: Int
    let ids: Set<ObjectID>
    /// The child that knows already, because it made the changes.
    var saver: Int?
}

extension Simulation {
    /// Takes in everything, perhaps in two steps, which must come to the same.
    func merge(_ index: Int) throws {
        mailbox.mergedIDs = []
        let listening = listenToMerges(of: contexts[index])
        defer { NotificationCenter.default.removeObserver(listening) }
        switch int(0...5) {
        case 0...1: try mergeNotification(index)
        case 2 where shape.contexts[index].parent == nil && !hasEdits(index):
            let number = UInt64(int(1...worlds.count))
            say(index, "merge through \(number)")
            _ = try contexts[index].mergeChanges(through: SequenceNumber(number))
        default: break
        }
        say(index, "merge")
        _ = try contexts[index].mergeChanges()
        let isChild = shape.contexts[index].parent != nil
        try absorb(nil, index, telling: isChild ? mailbox.mergedIDs : entryObjects(index))
        sights[index].isFresh = true

        // What is read between the two is told of by the second.
        defer { if isChild { news.append(SimulationNews(source: index, ids: mailbox.mergedIDs)) } }
        guard isCurrent(index) else { return }
        let before = try dump(index)
        let again = try contexts[index].mergeChanges()
        let after = try dump(index)
        if !again.isEmpty || before != after {
            let changed = Set(before.keys).union(after.keys)
                .filter { before[$0] != after[$0] }.sorted()
                .map { "\($0) \(differences(before[$0], after[$0]))" }
            throw Mismatch(
                "Merge law: merging twice changed something, with \(again.count) conflicts: "
                    + changed.joined(separator: "; "))
        }
    }

    private func differences(_ old: Record?, _ new: Record?) -> String {
        guard let old, let new else { return old == nil ? "has come" : "has gone" }
        return old.filter { new[$0.key] != $0.value }.sorted { $0.key < $1.key }
            .map { "\($0.key) was \($0.value), is \(new[$0.key].map { "\($0)" } ?? "missing")" }
            .joined(separator: ", ")
    }

    /// Keeps what a context says it has merged: that is what those that follow it are told of.
    private func listenToMerges(of context: ManagedObjectContext) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(
            forName: .managedObjectContextDidMergeChangesObjectIDs, object: context, queue: nil
        ) { [mailbox] notification in
            for ids in (notification.userInfo ?? [:]).values.compactMap({
                $0 as? Set<ManagedObjectID>
            }) {
                mailbox.mergedIDs.formUnion(ids.map(\.object))
            }
        }
    }

    /// Merges what was saved last.
    private func mergeNotification(_ index: Int) throws {
        guard let lastSave = mailbox.lastSave, lastSave.object as AnyObject? !== contexts[index],
            shape.contexts[index].parent != nil || !hasEdits(index)
        else { return }
        say(index, "merge what was saved last")
        counts["merge by notification", default: 0] += 1
        _ = try contexts[index].mergeChanges(fromContextDidSave: lastSave)
        // A child takes in those objects alone.
        guard shape.contexts[index].parent != nil else { return }
        try absorb(mailbox.savedIDs, index, telling: mailbox.savedIDs)
    }

    private func hasEdits(_ index: Int) -> Bool {
        let sight = sights[index]
        return Set(sight.mine.keys).union(sight.deleted).contains(where: sight.isDirty)
    }

    /// Takes in what has changed under a context of some objects, or of all, as a merge has done.
    private func absorb(
        _ ids: Set<ObjectID>?, _ index: Int, telling news: Set<ObjectID>
    ) throws {
        let head = under(index)
        let sight = sights[index]
        let known = Set(sight.mine.keys).union(sight.deleted).union(sight.made).union(sight.edited)
        let goners = known.filter {
            ids?.contains($0) != false && !sight.inserted.contains($0) && head[$0] == nil
        }
        for id in goners {
            sights[index].disturbUndo(id)
            sights[index].forget(id)
        }
        for id in Set(sights[index].seen.keys) where ids?.contains(id) != false {
            rebaseOntoHead(id, index, head)
        }
        // What was edited and then dropped is read again from what others have made of it.
        for id in news where sights[index].seen[id] == nil { sights[index].disturbUndo(id) }
        if let ids {
            // Lists that are changed here are read again, whatever is told of.
            for id in Set(sights[index].mine.keys).subtracting(ids) {
                rebaseOntoHead(id, index, head, ofGone: true) { field in
                    let ours = sight.mine[id]?[field.name]
                    guard field.isList, ours != sight.seen[id]?[field.name] else { return false }
                    // What others have put in as well stays an edit for as long as nobody has told of it.
                    return ours != head[id]?[field.name] || !isEdited(id, field, index)
                }
            }
        }
        dropReferences(news, index, head)
        sights[index].mergedThrough = worlds.count
        if !news.isEmpty { self.news.append(SimulationNews(source: index, ids: news)) }
        if !goners.isEmpty { sights[index].undoMeetsOthers = !sights[index].groups.isEmpty }
    }

    /// Whether a context says that it has changed a property of an object.
    private func isEdited(_ id: ObjectID, _ field: Field, _ index: Int) -> Bool {
        identifiers[id].flatMap { contexts[index].registeredObject(for: $0) }?
            .changedValues()[field.name] != nil
    }

    /// Takes back what is pending here and leads to what others have deleted.
    private func dropReferences(_ ids: Set<ObjectID>, _ index: Int, _ head: World) {
        let sight = sights[index]
        let lost = ids.filter { head[$0] == nil && !isDeletedHere($0, index) }
        if sight.mentions(lost) { sights[index].undoMeetsOthers = true }
        for (id, record) in sight.mine where sight.isDirty(id) {
            for field in rules.fields(id) where field.isStored && !field.isAttribute {
                guard var cell = record[field.name] else { continue }
                let base = sight.seen[id]?[field.name]
                for target in cell.destinations
                where base?.destinations.contains(target) != true && lost.contains(target)
                    && !sight.inserted.contains(target) && !sight.deleted.contains(target)
                {
                    let isShared =
                        field.inverse.map { Office.field(field.destination, $0).kind != .toOne }
                        ?? true
                    cell = cell.removing(target)
                    if field.kind == .toOne, isShared, let base { cell = base }
                    sights[index].mine[id]?[field.name] = cell
                    sights[index].disturbUndo(id)
                }
            }
        }
    }

    /// Whether a context itself has deleted an object from the store, whatever others had done to it before.
    private func isDeletedHere(_ id: ObjectID, _ index: Int) -> Bool {
        guard shape.contexts[index].parent == nil else { return false }
        let last = worlds.indices.dropFirst().last {
            worlds[$0 - 1][id] != nil && worlds[$0][id] == nil
        }
        return last.map { savers[$0] == index } ?? false
    }

    /// What others have done to the store since a context last merged.
    private func entryObjects(_ index: Int) -> Set<ObjectID> {
        var ids: Set<ObjectID> = []
        for number in sights[index].mergedThrough..<worlds.count where savers[number] != index {
            let (old, new) = (worlds[number - 1], worlds[number])
            ids.formUnion(Set(old.keys).union(new.keys).filter { old[$0] != new[$0] })
        }
        return ids
    }

    /// Lets the contexts that follow others take in what those have just saved or merged.
    func followUp(_ index: Int) throws {
        for other in contexts.indices where shape.contexts[other].isFollowing {
            let ids: Set<ObjectID>
            if let parent = shape.contexts[other].parent {
                ids = news.filter { $0.source == parent && $0.saver != other }
                    .reduce(into: []) { $0.formUnion($1.ids) }
                guard !ids.isEmpty else { continue }
            } else {
                if other == index { sights[other].mergedThrough = worlds.count }
                guard sights[other].mergedThrough < worlds.count else { continue }
                ids = entryObjects(other)
            }
            counts["automatic merge", default: 0] += 1
            say(other, "merges automatically")
            try contexts[other].performAndWait { try follow(ids, other) }
        }
        news = []
    }

    private func follow(_ ids: Set<ObjectID>, _ index: Int) throws {
        let (before, now) = (undersBefore[index], under(index))
        let wasFresh = sights[index].isFresh
        let isAll = Set(before.keys).union(now.keys)
            .allSatisfy { ids.contains($0) || before[$0] == now[$0] }
        if !isAll { sights[index].isFresh = false }
        try absorb(ids, index, telling: ids)
        if wasFresh && isAll { undersBefore[index] = now }
    }

    /// Takes others' values where an object has not been edited here.
    private func rebaseOntoHead(
        _ id: ObjectID, _ index: Int, _ head: World, ofGone isOfGone: Bool = false,
        where isConcerned: (Field) -> Bool = { _ in true }
    ) {
        let none = isOfGone ? ReferenceOffice.empty(rules.entity(id)) : nil
        guard let underlying = head[id] ?? none, let seen = sights[index].seen[id] else { return }
        for field in rules.fields(id) where field.isStored && isConcerned(field) {
            guard let base = seen[field.name], let theirs = underlying[field.name], theirs != base
            else { continue }
            sights[index].disturbUndo(id)
            sights[index].overtake(id, field.name, by: theirs)
            sights[index].seen[id]?[field.name] = theirs
            guard var ours = sights[index].mine[id]?[field.name] else { continue }
            // A reference to what was new here and has been deleted was taken back with it.
            if field.kind == .toOne, field.inverse == nil, !isEdited(id, field, index),
                !sights[index].annihilated.isDisjoint(with: ours.destinations)
            {
                ours = base
            }
            let merged = ReferenceOffice.merge(field, base: base, ours: ours, theirs: theirs)
            if field.kind == .list, let identifier = identifiers[id],
                let object = contexts[index].registeredObject(for: identifier),
                ours != base || object.changedValues()[field.name] != nil
            {
                // Where members stand when both sides moved them, or put the same one in, only a policy can
                // tell. What was moved here stays as long as nobody has told of the list that lost it.
                let found = read(field, of: object)
                let moved = isOfGone ? Set(ours.destinations).intersection(base.destinations) : []
                let living = merged.map { ReferenceOffice.living($0, in: sights[index].view(head)) }
                if [merged, living].contains(where: {
                    let members = Set($0?.destinations ?? [])
                    return members.isSubset(of: found.destinations)
                        && members.union(moved).isSuperset(of: found.destinations)
                }) {
                    sights[index].mine[id]?[field.name] = found
                    continue
                }
            }
            sights[index].mine[id]?[field.name] = merged ?? ours
        }
    }

    // MARK: - Refreshing

    func refresh(_ index: Int, mergeChanges: Bool) throws {
        let head = under(index)
        let sight = sights[index]
        let ids = sight.mine.keys.filter { !sight.inserted.contains($0) && head[$0] != nil }
        guard let id = pick(ids.sorted()) else { return }
        say(index, "refresh \(rules.entity(id)) \(id), \(mergeChanges ? "keeping" : "dropping")")
        let object = try object(id, index)
        guard !object.isDeleted else { return }
        contexts[index].refresh(object, mergeChanges: mergeChanges)
        if mergeChanges {
            rebaseOntoHead(id, index, head)
        } else {
            if sight.isDirty(id) { sights[index].disturbUndo(id) }
            sights[index].disturbUnsaved(id)
            overtake(id, index, head)
            sights[index].forget(id)
            if !object.isFault { throw Mismatch("S39: \(id) is no fault after the refresh.") }
        }
    }

    func refreshAll(_ index: Int) throws {
        say(index, "refresh all")
        let head = under(index)
        contexts[index].refreshAllObjects()
        let sight = sights[index]
        for id in sight.seen.keys {
            if sight.inserted.contains(id) { continue }
            if sight.isDirty(id), head[id] == nil {
                sights[index].disturbUndo(id)
                sights[index].forget(id)
            } else if sight.isDirty(id) {
                rebaseOntoHead(id, index, head)
            } else {
                overtake(id, index, head)
                sights[index].forget(id)
            }
        }
    }

    /// Notes what others have made of an object that will be read anew.
    private func overtake(_ id: ObjectID, _ index: Int, _ head: World) {
        guard let theirs = head[id], let seen = sights[index].seen[id], theirs != seen else {
            return
        }
        sights[index].disturbUndo(id)
        for (name, cell) in theirs where seen[name] != cell {
            sights[index].overtake(id, name, by: cell)
        }
    }
}
