import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore

extension Simulation {
    /// A fetch finds what is in the store and what is pending, and disturbs nothing.
    func fetch(_ index: Int) throws {
        guard let entity = pick(Office.entities),
            let field = pick((Office.fields[entity] ?? []).filter(\.isAttribute))
        else { return }
        let limit: Value =
            field.isNumber
            ? .int(Int64(int(0...4))) : .string("\(pick("abcdefgh") ?? "a")1")
        let text = field.isNumber ? "\(field.name) >= %@" : "\(field.name) < %@"
        let argument: any AttributeValue
        switch limit {
        case .int(let number): argument = Int(number)
        case .string(let string): argument = string
        default: argument = ""
        }
        say(index, "fetch \(entity) where \(text) \(limit)")
        let request = FetchRequest<ManagedObject>(
            entityName: entity, where: Condition(text, argument))
        let objects = try contexts[index].fetch(request)
        let found = Set(objects.map(\.objectID.object))
        if found.count != objects.count { throw Mismatch("A fetch gave an object twice.") }
        if try contexts[index].count(request) != objects.count {
            throw Mismatch("The count differs from the fetch.")
        }
        for object in objects
        where contexts[index].registeredObject(for: object.objectID) !== object {
            throw Mismatch("Uniquing: a fetch gave another instance.")
        }
        let known = Set(head.keys).union(view(index).keys)
        for id in known where rules.entity(id) == entity {
            guard let expected = finds(id, index, field, limit), found.contains(id) != expected
            else { continue }
            throw Mismatch(
                "Fetch \(entity) where \(text) \(limit) in context \(index) should "
                    + "\(expected ? "find" : "not find") \(id).")
        }
    }

    /// Whether a fetch finds an object: a changed one by what it is here, others by what they are
    /// under the context. Nil for what is deleted under the context and changed here, and for what was
    /// inserted and deleted here and others have brought back: until the next save it is not found as
    /// long as it can be undone.
    private func finds(_ id: ObjectID, _ index: Int, _ field: Field, _ limit: Value) -> Bool? {
        let sight = sights[index]
        if sight.deleted.contains(id) { return false }
        if sight.annihilated.contains(id) { return nil }
        let parent = shape.contexts[index].parent
        let below =
            parent.map { finds(id, $0, field, limit) }
            ?? head[id].map { matches($0, field, limit) } ?? false
        guard let mine = sight.mine[id] else { return below }
        if sight.inserted.contains(id) { return matches(mine, field, limit) }
        if under(index)[id] == nil { return nil }
        let own = matches(mine, field, limit)
        if sight.isDirty(id) || own == below { return own }
        // An edit that came to nothing counts as a change, too.
        return registered(id, index)?.hasChanges == false ? below : nil
    }

    private func registered(_ id: ObjectID, _ index: Int) -> ManagedObject? {
        let context = contexts[index]
        return context.performAndWait {
            identifiers[id].flatMap { context.registeredObject(for: $0) }
        }
    }

    private func matches(_ record: Record, _ field: Field, _ limit: Value) -> Bool {
        switch (record[field.name], limit) {
        case (.value(.int(let number)), .int(let limit)): number >= limit
        case (.value(.string(let string)), .string(let limit)): string < limit
        default: false
        }
    }

    /// Compares everything a context can see, both sides of every relationship included.
    func compareAll(_ index: Int) throws {
        guard isCurrent(index), isConsistent(index) else { return }
        say(index, "compare all")
        // What was inserted and deleted here, and others have brought back, is not found as long as that can be
        // undone; lists may lead to it.
        try compare(
            view(index), in: contexts[index], "Context \(index)",
            besides: sights[index].annihilated)
    }

    private func compare(
        _ world: World, in context: ManagedObjectContext, _ name: String,
        besides others: Set<ObjectID> = []
    ) throws {
        for entity in Office.entities {
            let ids = Set(world.keys.filter { rules.entity($0) == entity }).subtracting(others)
            let found = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
            let foundIDs = Set(found.map(\.objectID.object)).subtracting(others)
            if foundIDs != ids {
                let odd = foundIDs.symmetricDifference(ids).sorted()
                throw Mismatch("\(name): a fetch of \(entity) differs in \(odd).")
            }
            for object in found where !others.contains(object.objectID.object) {
                let id = object.objectID.object
                guard try context.existingObject(with: object.objectID) === object else {
                    throw Mismatch("Uniquing: \(id) has another instance by its identifier.")
                }
                for field in rules.fields(id) {
                    try compare(object, id, field, world, context, name)
                }
            }
        }
    }

    private func compare(
        _ object: ManagedObject, _ id: ObjectID, _ field: Field, _ world: World,
        _ context: ManagedObjectContext, _ name: String
    ) throws {
        let have = read(field, of: object)
        var want = Cell.one(nil)
        if field.isStored {
            want = world[id]?[field.name] ?? want
        } else {
            let ids = rules.related(id, field, in: world)
            want = field.kind == .toOne ? .one(ids.first) : .many(ids)
        }
        guard have == want || have == ReferenceOffice.living(want, in: world) else {
            throw Mismatch(
                "\(name): \(rules.entity(id)) \(id).\(field.name) is \(have), should be \(want).")
        }
        guard !field.isAttribute else { return }
        for other in object.relatedObjects(forKey: field.name)
        where context.registeredObject(for: other.objectID) !== other {
            throw Mismatch("Uniquing: \(id).\(field.name) leads to another instance.")
        }
    }

    /// A context at an old entry sees what the reference remembers of it.
    func comparePast() throws {
        let number = int(1...worlds.count)
        log.append("   the past at \(number)")
        let context = try office.container.context(at: .sequence(SequenceNumber(UInt64(number))))
        try context.performAndWait {
            try compare(worlds[number - 1], in: context, "The context at entry \(number)")
        }
    }

    /// A projection made anew from the journal is the same byte for byte, and so is a new context.
    func replay() throws {
        log.append("   replay")
        let before = try store.projectionDigest()
        try store.rebuild()
        let after = try store.projectionDigest()
        for (table, digest) in before where after[table] != digest {
            throw Mismatch("Replay: table '\(table)' differs after a rebuild.")
        }
        let context = office.container.newBackgroundContext()
        try context.performAndWait { try compare(head, in: context, "A new context") }
    }
}
