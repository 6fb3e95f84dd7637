package import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore

/// A store whose model changes at random between random saves, and its expected states.
package final class EvolvingHistory {
    /// A model that the store has had, and a program that has it.
    package struct Version {
        package let plan: PlannedModel
        package let store: Store
    }

    /// What came of a change of the model.
    package enum Outcome: Sendable, Hashable {
        case migrated, unchanged, refused
    }

    package let seed: UInt64
    package let temporary: TemporaryStore
    /// The models so far, each with an opening that stays.
    package private(set) var versions: [Version]
    /// What there is now, as the newest model has it.
    package private(set) var current = PlannedWorld()
    /// What there was before the last change of the model, as the model then had it.
    private var previous: PlannedWorld?
    /// What there was after each entry, as the newest model has it.
    package private(set) var past: [SequenceNumber: PlannedWorld] = [:]
    /// The source of more.
    package var random: RandomEvolution

    package init(seed: UInt64) throws {
        self.seed = seed
        random = RandomEvolution(seed: seed)
        let plan = random.firstModel()
        temporary = try TemporaryStore(plan.model())
        versions = [Version(plan: plan, store: temporary.store)]
        past[SequenceNumber(1)] = current
    }

    deinit {
        do {
            for version in versions { try version.store.close() }
        } catch {
            // The folder goes away with it.
            return
        }
    }

    /// The newest model.
    package var plan: PlannedModel { versions[versions.count - 1].plan }
    /// The opening with the newest model.
    package var store: Store { versions[versions.count - 1].store }

    // MARK: - Migrating

    /// Changes the model, where the objects allow it.
    ///
    /// - Throws: The store's error when it disagrees with the reference.
    package func migrate() throws -> Outcome {
        let after = random.next(after: plan)
        // A program with a model that the store has had is an older one.
        let model = after.model().versioned
        if versions.contains(where: { $0.store.schema.model == model }) { return .unchanged }
        if random.oneIn(4), !plan.bringsContent(to: after),
            !current.loses(from: plan, to: after)
        {
            return try stage(to: after)
        }
        let (names, schema) = (plan.entities.mapValues(\.name), store.schema)
        let wanted = current.mapped(from: plan, to: after, isNow: true) { entity in
            names[entity].flatMap { schema.entity(named: $0)?.number.rawValue } ?? 0
        }
        let isAllowed = wanted.isAllowed(by: after) && !current.loses(from: plan, to: after)
        var options = StoreOptions.counting()
        options.migration = .automatic
        let head = try store.head()
        let opened: Store
        do {
            opened = try TestStore.open(
                at: temporary.path, model: after.model(after: plan), options: options)
        } catch let error as StoreError where error.code == .validation && !isAllowed {
            return .refused
        } catch let error as StoreError where error.code == .model {
            throw Disagreement(error.details.joined(separator: " "))
        }
        guard isAllowed else { throw Disagreement("The objects do not allow \(after)") }
        return try take(wanted, after, opened, since: head)
    }

    /// Goes on with a model that the store has now.
    private func take(
        _ wanted: PlannedWorld, _ after: PlannedModel, _ opened: Store,
        since head: SequenceNumber
    ) throws -> Outcome {
        past = past.mapValues { $0.mapped(from: plan, to: after, isNow: false) }
        previous = current
        current = wanted
        versions.append(Version(plan: after, store: opened))
        let migrated = try opened.head()
        past[migrated] = current
        return migrated == head ? .unchanged : .migrated
    }

    /// Changes the model and some objects in one entry.
    private func stage(to model: PlannedModel) throws -> Outcome {
        var after = model
        after.stages += 1
        let start = current.mapped(from: plan, to: after, isNow: false)
        let (staged, _) = try store.staged(
            to: after.model(after: plan), as: "stage \(after.stages)")
        let version = Version(plan: after, store: staged)
        var next = start
        for _ in 0..<random.number(0...3) { try step(&next, version, after) }
        let changes = try changes(from: start, to: next, version)
        next.fill(by: after)
        next.derive(by: after)
        let isAllowed = next.isAllowed(by: after)
        let head = try store.head()
        do {
            _ = try staged.commit(SaveRequest(changes: changes))
        } catch let error as StoreError where error.code.isRefusal && !isAllowed {
            try staged.close()
            return .refused
        }
        try staged.close()
        guard isAllowed else { throw Disagreement("The objects do not allow the stage \(after)") }
        let opened = try TestStore.open(
            at: temporary.path, model: after.model(), options: StoreOptions.counting())
        return try take(next, after, opened, since: head)
    }

    // MARK: - Undoing

    /// Undoes the change of the model that was made last, lets the state be looked at, and redoes it.
    ///
    /// - Parameter look: Is given the version before, and what there was.
    /// - Throws: The store's error, and what `look` throws.
    package func undoAndRedo(_ look: (Version, PlannedWorld) throws -> Void) throws {
        guard let previous, versions.count > 1 else { return }
        let before = versions[versions.count - 2]
        let undone = try store.commit(try store.undoRequest(of: try store.head()))
        try look(before, previous)
        let redone = try before.store.commit(
            try before.store.undoRequest(of: try before.store.head()))
        guard undone.sequence != nil, let redo = redone.sequence else {
            throw Disagreement("There was nothing to undo or to redo.")
        }
        // What is to be seen between the two by a model that was not in force is nobody's promise.
        past[redo] = current
        // The model in force is that of another entry now.
        try store.close()
        let opened = try TestStore.open(
            at: temporary.path, model: plan.model(), options: StoreOptions.counting())
        versions[versions.count - 1] = Version(plan: plan, store: opened)
    }

    /// What the store does and the reference does not expect.
    package struct Disagreement: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    // MARK: - Saving

    /// Changes some objects by a program that has one of the models.
    ///
    /// - Parameter index: The version.
    /// - Returns: Whether there was something to save.
    /// - Throws: The store's error when it refuses what the reference allows.
    package func save(by index: Int) throws -> Bool {
        let version = versions[index]
        let before = current
        var next = current
        for _ in 0..<random.number(1...5) { try step(&next, version, plan) }
        next.derive(by: plan)
        guard next != before, next.isAllowed(by: plan) else { return false }
        let changes = try changes(from: before, to: next, version)
        guard !changes.isEmpty else { return false }
        let result = try version.store.commit(SaveRequest(changes: changes))
        guard let sequence = result.sequence else { return false }
        current = next
        past[sequence] = next
        return true
    }

    /// What a program has to save.
    private func changes(
        from before: PlannedWorld, to next: PlannedWorld, _ version: Version
    ) throws -> [Change] {
        ReferenceModel.changes(
            from: try version.world(before), to: try version.world(next), version.store.schema
        ).withoutDerived(in: version.store.schema).filter { !$0.isEmpty }
    }

    /// Takes a step by a program with a version, in a store that has the newest model.
    private func step(
        _ world: inout PlannedWorld, _ version: Version, _ newest: PlannedModel
    ) throws {
        let numbers = world.objects.keys.sorted().filter {
            world.objects[$0].map { version.plan.entities[$0.entity] != nil } ?? false
        }
        switch random.number(0...9) {
        case 0...3: try insert(into: &world, version, newest)
        case 4...6:
            guard let number = random.pick(numbers), let object = world.objects[number],
                let id = random.pick(version.plan.attributes(of: object.entity)),
                newest.attributes[id] != nil, version.plan.attributes[id]?.source == nil
            else { return }
            world.objects[number]?.values[id] = value(of: id, version.plan)
        case 7, 8: link(&world, numbers, version.plan)
        default:
            guard let number = random.pick(numbers) else { return }
            // What a program does not know of it cannot take back.
            let isKnown = world.links.keys.allSatisfy { link in
                (link.owner != number && link.other != number)
                    || version.plan.relationships[link.relationship] != nil
            }
            if isKnown { world.remove(number) }
        }
    }

    private func insert(
        into world: inout PlannedWorld, _ version: Version, _ newest: PlannedModel
    ) throws {
        let concrete = version.plan.entities.filter { !$0.value.isAbstract }.keys.sorted()
        guard let entity = random.pick(concrete), newest.entities[entity] != nil
        else { return }
        var object = PlannedWorld.Object(entity: entity)
        let known = version.plan.attributes(of: entity)
        for id in newest.attributes(of: entity) where newest.attributes[id]?.source == nil {
            object.values[id] =
                known.contains(id)
                ? value(of: id, version.plan) : newest.attributes[id]?.defaultValue
        }
        object.values = object.values.filter { !$0.value.isNull }
        world.objects[try store.allocateObjectNumber()] = object
        if !world.isAllowed(by: newest), let number = world.objects.keys.max() {
            world.objects[number] = nil
        }
    }

    private func value(of id: Int, _ plan: PlannedModel) -> Value? {
        guard let attribute = plan.attributes[id] else { return nil }
        if attribute.isOptional, random.oneIn(4) { return nil }
        let value = random.value(of: attribute.type)
        return attribute.allows(value) ? value : attribute.minimum.map { .int($0) }
    }

    private func link(_ world: inout PlannedWorld, _ numbers: [UInt64], _ plan: PlannedModel) {
        let ends = plan.relationships.keys.filter { plan.mainEnd(of: $0) == $0 }.sorted()
        guard let id = random.pick(ends), let end = plan.relationships[id] else { return }
        func members(_ entity: Int) -> [UInt64] {
            let family = plan.family(of: entity)
            return numbers.filter { world.objects[$0].map { family.contains($0.entity) } ?? false }
        }
        guard let owner = random.pick(members(end.owner)),
            let other = random.pick(members(end.destination))
        else { return }
        let link = PlannedWorld.Link(relationship: id, owner: owner, other: other)
        let last = world.links.filter { $0.key.relationship == id }.values.max() ?? 0
        if world.links[link] != nil {
            world.links[link] = nil
            return
        }
        if !end.isToMany {
            world.links = world.links.filter { $0.key.relationship != id || $0.key.owner != owner }
        }
        if let inverse = end.inverse, plan.relationships[inverse]?.isToMany == false {
            world.links = world.links.filter { $0.key.relationship != id || $0.key.other != other }
        }
        world.links[link] = end.isOrdered ? last + 1 : 0
    }
}

extension PlannedModel {
    /// Whether relationships bring their objects over on the way to a later model.
    fileprivate func bringsContent(to later: PlannedModel) -> Bool {
        relationships.contains { id, end in
            later.relationships[id].map { $0.generation != end.generation } ?? false
        }
    }
}

extension StoreError.Code {
    /// Whether objects do not allow what was asked for.
    fileprivate var isRefusal: Bool { [.validation, .duplicate].contains(self) }
}

extension EvolvingHistory.Version {
    /// The objects in the layout of the version.
    package func world(_ planned: PlannedWorld) throws -> ReferenceModel.World {
        var world: ReferenceModel.World = [:]
        for (number, object) in planned.objects {
            guard let id = self.object(number, in: planned),
                let entity = store.schema.entity(id.entity)
            else { continue }
            var state = ObjectState(
                values: [Value](repeating: .null, count: entity.storedSlotCount))
            for key in plan.attributes(of: object.entity) {
                guard let name = plan.attributes[key]?.name,
                    let slot = entity.property(named: name)?.slot
                else { throw EvolvingHistory.Disagreement("There is no attribute \(key)") }
                state.values[slot] = object.values[key] ?? .null
            }
            for key in plan.relationships(of: object.entity) {
                guard let end = plan.relationships[key],
                    let property = entity.property(named: end.name)
                else { throw EvolvingHistory.Disagreement("There is no relationship \(key)") }
                guard property.end?.isStored == true else { continue }
                let others = planned.others(of: key, from: number, plan)
                let objects = others.compactMap { self.object($0, in: planned) }
                if let slot = property.slot {
                    state.values[slot] = objects.first.map { .object($0) } ?? .null
                } else if !objects.isEmpty {
                    state.members[property.number] = Dictionary(
                        zip(objects, others).map { object, other in
                            let link = PlannedWorld.Link(
                                relationship: plan.mainEnd(of: key),
                                owner: plan.mainEnd(of: key) == key ? number : other,
                                other: plan.mainEnd(of: key) == key ? other : number)
                            return (object, planned.links[link] ?? 0)
                        }, uniquingKeysWith: { first, _ in first })
                }
            }
            world[id] = state
        }
        return world
    }

    /// The identifier of an object.
    package func object(_ number: UInt64, in world: PlannedWorld) -> ObjectID? {
        guard let object = world.objects[number], let name = plan.entities[object.entity]?.name,
            let entity = store.schema.entity(named: name)
        else { return nil }
        return ObjectID(entity: entity.number, number: number)
    }
}
