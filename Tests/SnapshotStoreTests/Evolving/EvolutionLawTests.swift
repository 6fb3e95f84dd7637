import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Random models that change at random between random saves, against a reference without numbers,
/// layouts and rows.
///
/// `DAYBOOK_SEED` runs another seed only, and `DAYBOOK_SEEDS` as many from it on.
struct EvolutionLawTests {
    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        guard let seed = environment["DAYBOOK_SEED"].flatMap(UInt64.init) else {
            return Array(1...6)
        }
        let count = environment["DAYBOOK_SEEDS"].flatMap(UInt64.init) ?? 1
        return Array(seed..<seed + max(1, count))
    }()

    @Test(arguments: seeds)
    func `a store is after every change of its model what the reference says`(seed: UInt64) throws {
        let history = try EvolvingHistory(seed: seed)
        var saves = 0

        for step in 1...8 {
            for _ in 0..<history.random.number(1...4) {
                if try history.save(by: history.versions.count - 1) { saves += 1 }
            }
            let outcome = try history.migrate()
            let migrated = try history.store.head()
            let about: Comment = "seed \(seed), step \(step), \(outcome)"
            try expectCurrent(history, about)
            try expectPast(history, about)
            try expectFound(history, about)
            try expectChanges(history, about)
            try expectUnique(history, about)
            if outcome == .migrated, step % 2 == 0 { try expectSound(history, about) }
            try expectOthers(history, about)
            if outcome == .migrated, try history.store.head() == migrated {
                try expectUndone(history, about)
            }
        }
        try expectSound(history, "seed \(seed), at the end")
        #expect(saves + history.versions.count > 1, "seed \(seed)")
    }

    /// All kinds but two: what entries have to say and may do is no part of objects; `RequiredAttributionTests` and
    /// `LawCheckTests` change it.
    private static let randomKinds = Set(ModelStep.Kind.allCases).subtracting([
        .changeRequirements, .changeLaws,
    ])

    @Test func `the random models take every kind of step`() throws {
        var kinds: Set<ModelStep.Kind> = []
        var outcomes: Set<EvolvingHistory.Outcome> = []
        let allOutcomes: Set<EvolvingHistory.Outcome> = [.migrated, .unchanged, .refused]

        for seed in UInt64(1)...90
        where kinds.count < Self.randomKinds.count || outcomes != allOutcomes {
            let history = try EvolvingHistory(seed: seed)
            do {
                for _ in 1...8 {
                    _ = try history.save(by: history.versions.count - 1)
                    outcomes.insert(try history.migrate())
                }
            } catch {
                Issue.record(error, "seed \(seed)")
            }
            for (before, after) in zip(history.versions, history.versions.dropFirst()) {
                kinds.formUnion(after.store.schema.steps(from: before.store.schema).map(\.kind))
            }
        }

        #expect(kinds == Self.randomKinds)
        #expect(outcomes == allOutcomes)
    }

    // MARK: - Reading

    private func expectCurrent(_ history: EvolvingHistory, _ about: Comment) throws {
        try expect(history, history.current, at: nil, about)
    }

    private func expectPast(_ history: EvolvingHistory, _ about: Comment) throws {
        for (sequence, world) in history.past.sorted(by: { $0.key < $1.key }) {
            try expect(history, world, at: sequence, "\(about), as of \(sequence)")
        }
    }

    /// Undoing the change of the model gives what there was, and redoing it what there is.
    private func expectUndone(_ history: EvolvingHistory, _ about: Comment) throws {
        let undone: Comment = "\(about), undone"
        try history.undoAndRedo { version, world in
            try expect(version, world, at: nil, undone)
            let report = try version.store.verify()
            #expect(report.isSound, "\(undone): \(report.findings)")
        }
        try expectCurrent(history, "\(about), redone")
        try expectPast(history, "\(about), redone")
    }

    private func expect(
        _ history: EvolvingHistory, _ world: PlannedWorld, at sequence: SequenceNumber?,
        _ about: Comment
    ) throws {
        let version = history.versions[history.versions.count - 1]
        try expect(version, world, at: sequence, about)
    }

    private func expect(
        _ version: EvolvingHistory.Version, _ world: PlannedWorld,
        at sequence: SequenceNumber?, _ about: Comment
    ) throws {
        let expected = try version.world(world)
        try version.store.read(at: sequence) { snapshot in
            var found: Set<ObjectID> = []
            try snapshot.objects(of: version.store.schema.entities.map(\.number)) {
                found.insert($0)
                return .proceed
            }
            try #require(found == Set(expected.keys), about)
            for (object, state) in expected {
                try #require(try snapshot.state(of: object) == state, about)
                #expect(try snapshot.row(object)?.values == state.values, about)
                try expectParts(snapshot, object, state, version, world, about)
            }
        }
    }

    /// Each property by itself, relationships from both ends.
    private func expectParts(
        _ snapshot: borrowing Snapshot, _ object: ObjectID, _ state: ObjectState,
        _ version: EvolvingHistory.Version, _ world: PlannedWorld, _ about: Comment
    ) throws {
        let entity = try #require(version.store.schema.entity(object.entity))
        for property in entity.properties where property.isAttribute {
            let slot = try #require(property.slot)
            #expect(try snapshot.value(of: property, in: object) == state.values[slot], about)
        }
        let planned = try #require(world.objects[object.number]?.entity)
        for key in version.plan.relationships(of: planned) {
            let end = try #require(version.plan.relationships[key])
            let property = try #require(entity.property(named: end.name))
            let others = world.others(of: key, from: object.number, version.plan)
                .compactMap { version.object($0, in: world) }
            let members: [ObjectID] = try snapshot.members(of: property, in: object)
            if end.isOrdered {
                #expect(members == others, about)
            } else {
                #expect(members == others.sorted(), about)
            }
        }
    }

    // MARK: - Finding

    private func expectFound(_ history: EvolvingHistory, _ about: Comment) throws {
        let (plan, world) = (history.plan, history.current)
        let version = history.versions[history.versions.count - 1]
        for (id, attribute) in plan.attributes where attribute.isIndexed || attribute.isUnique {
            let name = try #require(plan.entities[attribute.owner]?.name)
            let entity = try #require(history.store.schema.entity(named: name))
            let property = try #require(entity.property(named: attribute.name))
            let members = world.objects.filter {
                plan.lineage(of: $0.value.entity).contains(attribute.owner)
            }
            let values = Set(members.values.map { $0.values[id] ?? .null })
            for value in values.union([history.random.value(of: attribute.type), .null]) {
                let filter = Filter.comparison(
                    FilterComparison(.path(FilterPath([property])), .equal, .constant(value)))
                let expected = members.filter { $0.value.values[id] ?? .null == value }.keys
                    .compactMap { version.object($0, in: world) }
                let found = try history.store.read { try $0.fetch(Query(entity, filter: filter)) }
                #expect(Set(found) == Set(expected), "\(about), \(attribute.name) == \(value)")
            }
            try history.store.read { snapshot in
                for isAscending in [true, false] {
                    let sorting = Sorting(FilterPath([property]), isAscending: isAscending)
                    let few = try snapshot.fetch(
                        Query(entity, sortings: [sorting], limit: 3))
                    let all = try snapshot.fetch(Query(entity, sortings: [sorting]))
                    #expect(few == Array(all.prefix(3)), "\(about), by \(attribute.name)")
                    #expect(all.count == members.count, about)
                }
            }
        }
    }

    /// An index of changes finds the objects that a walk over all versions does not leave out.
    private func expectChanges(_ history: EvolvingHistory, _ about: Comment) throws {
        try history.store.read { snapshot in
            for entity in history.store.schema.entities {
                let all = try snapshot.fetch(Query(entity))
                for property in entity.slots where property.hasIndexedChanges {
                    try expectEver(property, of: entity, all, about, snapshot)
                    for direction in FilterChange.Direction.allCases
                    where direction == .changed || property.hasGreaterValues {
                        let change = Filter.past(
                            FilterPath([]), .change(try FilterChange(property, direction)))
                        let found = try snapshot.fetch(Query(entity, filter: change))
                        let others = try snapshot.fetch(Query(entity, filter: .not(change)))
                        let about: Comment =
                            "\(about), \(entity.name).\(property.name) \(direction)"
                        #expect(Set(found).isDisjoint(with: others), about)
                        #expect(Set(found + others) == Set(all), about)
                        #expect(found.count + others.count == all.count, about)
                    }
                }
            }
        }
    }

    /// The index of former values finds the objects that a look at every version finds.
    private func expectEver(
        _ property: SchemaProperty, of entity: SchemaEntity, _ all: [ObjectID], _ about: Comment,
        _ snapshot: borrowing Snapshot
    ) throws {
        guard let slot = property.slot, property.attribute != nil else { return }
        var values: Set<Value> = [.null]
        for object in all.prefix(8) {
            if let value = try snapshot.row(object)?.values[slot] { values.insert(value) }
        }
        for value in values {
            let comparison = FilterComparison(
                .path(FilterPath([property])), .equal, .constant(value), [])
            let question = FilterPast.ever(.comparison(comparison))
            let found = try snapshot.fetch(
                Query(entity, filter: .past(FilterPath([]), question)))
            let expected = try all.filter { try snapshot.holds(question, of: $0) }
            #expect(
                found.sorted() == expected.sorted(),
                "\(about), EVER \(entity.name).\(property.name) == \(value)")
        }
    }

    /// A second object with the values of a first one is refused by the newest program.
    private func expectUnique(_ history: EvolvingHistory, _ about: Comment) throws {
        let (plan, world) = (history.plan, history.current)
        let version = history.versions[history.versions.count - 1]
        for (number, object) in world.objects.sorted(by: { $0.key < $1.key }).prefix(6) {
            var keys = plan.constraints(of: object.entity)
            keys += plan.attributes(of: object.entity).filter {
                plan.attributes[$0]?.isUnique == true
            }
            .map { [$0] }
            let isTaken = keys.contains { key in key.allSatisfy { object.values[$0] != nil } }
            let id = try #require(version.object(number, in: world))
            let state = try #require(try version.world(world)[id])
            var twin = state
            twin.members = [:]
            let entity = try #require(version.store.schema.entity(id.entity))
            for property in entity.referenceSlots {
                if let slot = property.slot { twin.values[slot] = .null }
            }
            let change = Change(
                object: ObjectID(entity: id.entity, number: 1 << 40),
                kind: .insert(values: entity.withoutDerived(twin.values), members: []))
            do {
                _ = try history.store.preview(SaveRequest(changes: [change]))
                #expect(!isTaken, about)
            } catch let error as StoreError {
                #expect(error.code == .duplicate, about)
                #expect(isTaken, about)
            }
        }
    }

    // MARK: - Tables

    private func expectSound(_ history: EvolvingHistory, _ about: Comment) throws {
        let report = try history.store.verify()
        #expect(report.isSound, "\(about): \(report.findings) \(report.gaps)")
        let before = try history.store.projectionDigest()
        try history.store.rebuild()
        #expect(try history.store.projectionDigest() == before, about)
        try expectCurrent(history, about)
    }

    // MARK: - Older programs

    /// Every program with an older model reads, and saves if its model allows that.
    private func expectOthers(_ history: EvolvingHistory, _ about: Comment) throws {
        for index in history.versions.indices.dropLast() {
            let version = history.versions[index]
            let about: Comment = "\(about), version \(index)"
            try expectReading(history, version, about)
            if version.plan.isCompatible(with: history.plan) {
                if try history.save(by: index) {
                    try expectCurrent(history, about)
                    try expectReading(history, version, about)
                }
            } else {
                try expectSuperseded(history, version, about)
            }
        }
    }

    private func expectReading(
        _ history: EvolvingHistory, _ version: EvolvingHistory.Version, _ about: Comment
    ) throws {
        for (number, object) in history.current.objects {
            guard let id = version.object(number, in: history.current),
                let entity = version.store.schema.entity(id.entity)
            else { continue }
            try version.store.read { snapshot in
                let state = try #require(try snapshot.state(of: id), about)
                let known = history.plan.attributes(of: object.entity)
                for key in version.plan.attributes(of: object.entity) {
                    guard known.contains(key), let attribute = version.plan.attributes[key],
                        attribute.generation == history.plan.attributes[key]?.generation,
                        let slot = entity.property(named: attribute.name)?.slot
                    else { continue }
                    let expected = object.values[key] ?? .null
                    #expect(state.values[slot] == expected, about)
                }
            }
        }
    }

    private func expectSuperseded(
        _ history: EvolvingHistory, _ version: EvolvingHistory.Version, _ about: Comment
    ) throws {
        let schema = version.store.schema
        guard let entity = schema.entities.first(where: { !$0.isAbstract }) else { return }
        let values = entity.slots.map { property -> Value in
            guard let attribute = property.attribute, !attribute.isOptional else { return .null }
            return history.random.value(of: attribute.type)
        }
        let change = Change(
            object: ObjectID(
                entity: entity.number, number: try history.store.allocateObjectNumber()),
            kind: .insert(values: values, members: []))
        let head = try history.store.head()
        do {
            _ = try version.store.commit(SaveRequest(changes: [change]))
            Issue.record("A superseded program has saved: \(about)")
        } catch let error as StoreError {
            // The rules of its own model come first.
            #expect(error.code == .modelSuperseded || error.code == .validation, about)
        }
        #expect(try history.store.head() == head, about)
    }
}
