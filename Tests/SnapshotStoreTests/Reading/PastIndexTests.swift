import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// The past asked by index against the past walked object by object.
///
/// `DAYBOOK_SEED` runs another seed only, and `DAYBOOK_SEEDS` as many from it on.
struct PastIndexTests {
    private static func seeds(_ count: UInt64, from first: UInt64) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        guard let seed = environment["DAYBOOK_SEED"].flatMap(UInt64.init) else {
            return Array(first..<first + count)
        }
        let wanted = environment["DAYBOOK_SEEDS"].flatMap(UInt64.init) ?? 1
        return Array(seed..<seed + max(1, wanted))
    }

    // MARK: - Histories

    @Test(arguments: seeds(4, from: 301))
    func `any moment of a history that goes on is asked by index as it is walked`(
        seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 150)
        let store = history.store
        var steps = RandomWorld(seed: seed, store.schema)
        var random = SeededGenerator(seed: seed)
        var uses: Set<String> = []

        for round in 0..<30 {
            let head = try store.head().rawValue
            // The same moments are asked again, after more has changed.
            let moments = [head, head - 1, head - 3, 60, 120, 1 + random.next() % head]
            for moment in moments {
                let about: Comment = "seed \(seed), round \(round), entry \(moment)"
                for name in ["Party", "Person", "Company"] {
                    let entity = try #require(store.schema.entity(named: name))
                    try expectSame(store, at: moment, entity, count: 2, &random, &uses, about)
                }
            }
            if round % 3 == 0 { try undoSomething(store, &random) }
            let before = try store.world()
            let after = try steps.step(from: before) { try store.allocateObjectNumber() }
            let changes = ReferenceModel.changes(from: before, to: after, store.schema)
            try store.commit(SaveRequest(changes: changes))
        }
        #expect(uses == ["present", "entries", "versions"])
    }

    /// Takes back one of the last entries, where no later one stands against it.
    private func undoSomething(_ store: Store, _ random: inout SeededGenerator) throws {
        let head = try store.head().rawValue
        let sequence = SequenceNumber(head - random.next() % 10)
        do {
            try store.commit(try store.undoRequest(of: sequence))
        } catch let error as StoreError where error.code == .undoBlocked {
            return
        }
    }

    @Test(arguments: seeds(6, from: 311) + [1002, 2008, 2015, 2032])
    func `every program asks the past by index as it walks it, whatever became of the model`(
        seed: UInt64
    ) throws {
        let history = try EvolvingHistory(seed: seed)
        var random = SeededGenerator(seed: seed)
        var uses: Set<String> = []

        for step in 1...6 {
            for _ in 0..<6 { _ = try history.save(by: history.versions.count - 1) }
            _ = try history.migrate()
            let head = try history.store.head().rawValue
            for version in history.versions {
                for entity in version.store.schema.entities {
                    for moment in [1 + random.next() % head, 1 + random.next() % head, head] {
                        let about: Comment = "seed \(seed), step \(step), entry \(moment)"
                        try expectSame(
                            version.store, at: moment, entity, count: 2, &random, &uses, about)
                    }
                }
            }
        }
        // A model may have no index at all.
        #expect(uses.isSubset(of: ["present", "entries", "versions", "none"]))
    }

    // MARK: - Traps

    private static let people = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "age", type: .int64, isIndexed: true),
                AttributeDescription(name: "name", type: .string, isIndexed: true),
                AttributeDescription(name: "remark", type: .string),
            ])
    ])

    /// People of the ages 0 to 19, each in an entry of its own from 2 to 21, and many changes of somebody else.
    private func makePeople() throws -> (TemporaryStore, [ObjectID]) {
        let temporary = try TemporaryStore(Self.people)
        let store = temporary.store
        let people = try (0..<20).map { age in
            let person = try store.newObject("Person")
            try store.commit(
                SaveRequest(changes: [
                    store.insert(person, ["age": .int(Int64(age)), "name": .string("p\(age)")])
                ]))
            return person
        }
        let other = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(other, ["remark": .string("0")])]))
        for number in 0..<200 {
            try store.commit(
                SaveRequest(changes: [
                    store.update(
                        other, "remark", from: .string("\(number)"), to: .string("\(number + 1)"))
                ]))
        }
        return (temporary, people)
    }

    private func query(
        _ text: String, _ store: Store, sortedBy name: String? = nil, limit: Int? = nil
    ) throws -> Query {
        let entity = try #require(store.schema.entity(named: "Person"))
        let sortings = try name.map {
            [Sorting(FilterPath([try #require(entity.property(named: $0))]))]
        }
        return Query(
            entity, filter: try Filter(parsing: text, for: entity, in: store.schema),
            sortings: sortings ?? [], limit: limit)
    }

    /// Reads as ``Store/read(at:_:)`` does, with other memory of the past.
    private func read(
        _ store: Store, at moment: SequenceNumber, _ past: PastIndexes,
        _ body: (borrowing Snapshot) throws -> Void
    ) throws {
        try store.reading { transaction in
            try body(
                Snapshot(
                    sequence: moment, projection: store.parts.projection, models: store.models,
                    journal: store.parts.journal, past: past, transaction: transaction.shared()))
        }
    }

    private func use(of name: String, _ store: Store, at moment: SequenceNumber) throws -> IndexUse
    {
        let entity = try #require(store.schema.entity(named: "Person"))
        let property = try #require(entity.property(named: name))
        return try store.read(at: moment) { try $0.indexUse(of: property) }
    }

    @Test func `an object that came back by undo is found with what it had then`() throws {
        let (temporary, people) = try makePeople()
        let store = temporary.store
        let moment = try store.head()
        let deleted = try store.commit(SaveRequest(changes: [store.delete(people[3])]))
        let gone = try #require(deleted.sequence)
        try store.commit(try store.undoRequest(of: gone))
        try store.commit(
            SaveRequest(changes: [store.update(people[3], "age", from: .int(3), to: .int(99))]))

        let person = people[3]
        #expect(try store.read(at: moment) { try $0.fetch(query("age == 3", store)) } == [person])
        #expect(try store.read(at: gone) { try $0.fetch(query("age == 3", store)) } == [])
        let back = gone.next
        #expect(try store.read(at: back) { try $0.fetch(query("age == 3", store)) } == [person])
        #expect(try store.read { try $0.fetch(query("age == 3", store)) } == [])
        #expect(try store.read(at: moment) { try $0.fetch(query("age == 99", store)) } == [])
        #expect(
            try use(of: "age", store, at: moment)
                == .past(changed: 1, since: moment, inEntries: true))
    }

    @Test func `an entry that cannot be read does not keep the past from being asked`() throws {
        let (temporary, people) = try makePeople()
        let store = temporary.store
        let moment = try store.head()
        let change = store.update(people[3], "age", from: .int(3), to: .int(99))
        let damaged = try #require(try store.commit(SaveRequest(changes: [change])).sequence)
        try store.commit(
            SaveRequest(changes: [store.update(people[4], "age", from: .int(4), to: .int(99))]))
        try TimeTests.Damage.recordingTime.apply(to: damaged.rawValue, of: store)

        let found = try store.read(at: moment) { try $0.fetch(query("age IN {3, 4, 99}", store)) }

        #expect(found == [people[3], people[4]])
        #expect(
            try use(of: "age", store, at: moment)
                == .past(changed: 2, since: moment, inEntries: false))
    }

    @Test func `where too many objects have changed, all are walked, and it is said`() throws {
        let (temporary, people) = try makePeople()
        let store = temporary.store
        let moment = try store.head()
        for (age, person) in people.prefix(5).enumerated() {
            let change = store.update(
                person, "age", from: .int(Int64(age)), to: .int(Int64(age) + 50))
            try store.commit(SaveRequest(changes: [change]))
        }

        for room in [4, 5] {
            let past = PastIndexes(countMaximum: room)
            try read(store, at: moment, past) { snapshot in
                let age = try #require(
                    try query("age == 1", store).entity.property(named: "age"))
                for _ in 0..<2 {
                    #expect(try snapshot.fetch(query("age < 7", store)) == Array(people[..<7]))
                    #expect(
                        try snapshot.fetch(query("age >= 0", store, sortedBy: "age", limit: 6))
                            == Array(people[..<6]))
                    #expect(
                        try snapshot.indexUse(of: age)
                            == (room < 5
                                ? .tooManyChanges(since: moment)
                                : .past(changed: 5, since: moment, inEntries: true)))
                }
            }
        }
    }

    @Test func `what is remembered from a later state does no harm in an earlier one`() throws {
        let (temporary, people) = try makePeople()
        let store = temporary.store
        let moment = try store.head()
        try store.commit(
            SaveRequest(changes: [store.update(people[0], "age", from: .int(0), to: .int(50))]))
        let entity = try query("age == 1", store).entity
        let age = try #require(entity.property(named: "age"))
        // As if another thread had seen a change of a person that is not in this state yet.
        let keys = [0, 1].map { StoreKey.index(age.number, .int(Int64($0)), people[$0]) }
        var records = FormerRecords(through: moment, from: .entries)
        records.add(keys, through: SequenceNumber(1000))
        let past = PastIndexes()
        #expect(
            past.remember(
                records, of: PastIndexes.Place(property: age.number, moment: moment, rewinds: 0)))

        let inOrder = Query(entity, sortings: [Sorting(FilterPath([age]))], limit: 5, offset: 1)
        try read(store, at: moment, past) { snapshot throws in
            // Somebody has no age.
            #expect(try snapshot.fetch(inOrder) == Array(people[..<5]))
            #expect(try snapshot.fetch(query("age < 5", store)) == Array(people[..<5]))
        }
    }

    @Test func `nothing is remembered of entries that were cut off`() throws {
        let (temporary, people) = try makePeople()
        let store = temporary.store
        let moment = try store.head()
        func save(_ person: Int) throws {
            let change = store.update(
                people[person], "age", from: .int(Int64(person)), to: .int(60))
            try store.commit(SaveRequest(changes: [change]))
        }
        func young() throws -> [ObjectID] {
            try store.read(at: moment) { try $0.fetch(query("age < 5", store)) }
        }
        try save(0)
        #expect(try young() == Array(people[..<5]))

        try store.cutBack(to: moment)
        try save(1)

        #expect(try young() == Array(people[..<5]))
    }

    @Test func `only so many records are remembered, those asked for last`() {
        let past = PastIndexes(countMaximum: 10)
        func records(_ count: UInt64) -> FormerRecords {
            var records = FormerRecords(through: SequenceNumber(9), from: .versions)
            records.add((0..<count).map { [UInt8($0)] }, through: SequenceNumber(9))
            return records
        }
        func isKnown(_ property: UInt32) -> Bool {
            past.knowledge(of: place(property)) != nil
        }
        func place(_ property: UInt32) -> PastIndexes.Place {
            PastIndexes.Place(
                property: PropertyNumber(rawValue: property), moment: SequenceNumber(5), rewinds: 0)
        }
        for property in 1...2 as ClosedRange<UInt32> {
            #expect(past.remember(records(5), of: place(property)))
        }
        #expect(isKnown(2) && isKnown(1))

        #expect(past.remember(records(1), of: place(3)))
        #expect(!isKnown(2) && isKnown(1) && isKnown(3))
        #expect(!past.remember(records(11), of: place(4)))
        #expect(isKnown(1) && isKnown(3) && isKnown(4))
    }

    @Test(arguments: [3, 200])
    func `records are kept in order and once, few or many at a time`(step: Int) {
        var records = FormerRecords(through: SequenceNumber(1), from: .entries)
        var random = SeededGenerator(seed: 5)
        var expected: Set<[UInt8]> = []

        for round in 1...20 {
            let keys = (0..<step).map { _ in [UInt8(random.next() % 9), UInt8(random.next() % 40)] }
            records.add(keys, through: SequenceNumber(UInt64(round)))
            expected.formUnion(keys)
        }

        let found = (0..<records.count).map { index in
            records.withKey(at: index) { key in key.withUnsafeBytes { Array($0) } }
        }
        #expect(found == expected.sorted { $0.lexicographicallyPrecedes($1) })
        let range = records.indices(from: [4], to: [6, 7])
        let within = found.filter {
            !$0.lexicographicallyPrecedes([4]) && $0.lexicographicallyPrecedes([6, 7])
        }
        #expect(Array(found[range]) == within)
        #expect(!within.isEmpty)
    }
}

// MARK: - Comparing

extension PastIndexTests {
    /// Compares answers to random questions with those found by evaluating every object.
    private func expectSame(
        _ store: Store, at moment: UInt64, _ entity: SchemaEntity, count: Int,
        _ random: inout SeededGenerator, _ uses: inout Set<String>, _ about: Comment
    ) throws {
        let indexed = entity.properties.filter { $0.isIndexed && $0.slot != nil }
        guard let property = indexed.randomElement(using: &random) else { return }
        try store.read(at: SequenceNumber(moment)) { snapshot in
            var values: [Value] = []
            try snapshot.objects(of: entity.family) { object in
                values.append(try snapshot.value(of: property, in: object))
                return .proceed
            }
            for _ in 0..<count {
                let query = question(entity, property, indexed, values, &random)
                var expected: [ObjectID] = []
                try snapshot.objects(of: query.entities) { object in
                    if try query.filter.matches(object, in: snapshot) { expected.append(object) }
                    return .proceed
                }
                expected = try query.arranged(expected, in: snapshot)
                let text = query.filter.text(in: store.schema)
                let found = try snapshot.fetch(query)
                let use = try snapshot.indexUse(of: property)
                #expect(found == expected, "\(about), \(entity.name): \(text), \(use)")
                #expect(try snapshot.count(query) == expected.count, "\(about): \(text)")
            }
            switch try snapshot.indexUse(of: property) {
            case .present: uses.insert("present")
            case .past(_, _, inEntries: true): uses.insert("entries")
            case .past(_, _, inEntries: false): uses.insert("versions")
            case .none: uses.insert("none")
            case .tooManyChanges: uses.insert("too many")
            }
        }
    }

    private func question(
        _ entity: SchemaEntity, _ property: SchemaProperty, _ indexed: [SchemaProperty],
        _ values: [Value], _ random: inout SeededGenerator
    ) -> Query {
        func value() -> Value { values.randomElement(using: &random) ?? .null }
        let path = FilterExpression.path(FilterPath([property]))
        func comparison(_ operator: FilterOperator, _ value: Value) -> Filter {
            .comparison(FilterComparison(path, `operator`, .constant(value)))
        }
        var filter: Filter
        switch Int.random(in: 0..<8, using: &random) {
        case 0: filter = comparison(.equal, value())
        case 1: filter = comparison(.equal, .null)
        case 2: filter = .membership(path, FilterValues([value(), value(), .null]), [])
        case 3: filter = .between(path, .constant(value()), .constant(value()))
        case 4: filter = comparison(random.chance(2) ? .less : .greaterOrEqual, value())
        case 5:
            filter = .and([comparison(.greater, value()), comparison(.lessOrEqual, value())])
        case 6:
            guard case .string(let text) = value() else { fallthrough }
            filter = comparison(.beginsWith, .string(String(text.prefix(1))))
        default: filter = .constant(true)
        }
        if random.chance(4) {
            let other = FilterExpression.path(FilterPath([random.pick(indexed)]))
            let condition = FilterComparison(other, .notEqual, .constant(.null))
            filter = .and([filter, .comparison(condition)])
        }
        let sortings = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            Sorting(FilterPath([random.pick(indexed)]), isAscending: random.chance(2))
        }
        return Query(
            entity, includesSubentities: !random.chance(4), filter: filter, sortings: sortings,
            limit: random.chance(2) ? nil : Int.random(in: 0...9, using: &random),
            offset: random.chance(2) ? 0 : Int.random(in: 0...4, using: &random))
    }
}
