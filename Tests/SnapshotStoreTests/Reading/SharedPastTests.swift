import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Synchronization
import Testing

@testable import DaybookSnapshotStore

/// Questions about the past of so many objects that their walk is shared among cores, compared with the states
/// themselves and with the walk on one core.
struct SharedPastTests {
    fileprivate static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            attributes: [
                AttributeDescription(name: "number", type: .int64),
                AttributeDescription(name: "place", type: .int64, isIndexed: true),
                AttributeDescription(name: "weight", type: .double),
                AttributeDescription(name: "kind", type: .string),
                AttributeDescription(name: "text", type: .string),
            ])
    ])

    /// The values of an object that tests ask about.
    fileprivate struct Item: Equatable {
        var number: Int64
        var place: Int64
        var weight: Double
        var kind: String
    }

    /// Items of which many change, go and come, and at last most go.
    fileprivate struct History {
        let temporary: TemporaryStore
        let entity: SchemaEntity
        private(set) var states: [(SequenceNumber, [ObjectID: Item])] = []
        private var items: [ObjectID: Item] = [:]
        private var random: SeededGenerator

        var store: Store { temporary.store }

        init(seed: UInt64) throws {
            temporary = try TemporaryStore(
                SharedPastTests.model, options: .counting(verification: .off))
            entity = try #require(temporary.store.schema.entity(named: "Item"))
            random = SeededGenerator(seed: seed)
            try save(inserting: 3_000)
            for _ in 0..<4 { try save(inserting: 60, updating: 400, deleting: 60) }
            try save(deleting: 2_500)
            try save(inserting: 10)
        }

        private mutating func save(
            inserting inserts: Int = 0, updating updates: Int = 0, deleting deletes: Int = 0
        ) throws {
            var changes: [Change] = []
            var rest = items.keys.sorted()
            for _ in 0..<deletes {
                let object = rest.remove(at: Int.random(in: rest.indices, using: &random))
                changes.append(try store.delete(object))
                items[object] = nil
            }
            for _ in 0..<updates {
                let object = rest.remove(at: Int.random(in: rest.indices, using: &random))
                guard var item = items[object] else { continue }
                let place = Int64.random(in: 0..<40, using: &random)
                changes.append(
                    store.update(object, "place", from: .int(item.place), to: .int(place)))
                item.place = place
                items[object] = item
            }
            for _ in 0..<inserts {
                let object = try store.newObject("Item")
                let item = Item(
                    number: Int64.random(in: 0..<1_000, using: &random),
                    place: Int64.random(in: 0..<40, using: &random),
                    weight: Double.random(in: 0..<1, using: &random),
                    kind: random.pick(["a", "b", "c"]))
                // Long, so that not many rows are enough.
                let text = String(repeating: "x", count: 500 + Int(random.next() % 100))
                changes.append(
                    store.insert(
                        object,
                        [
                            "number": .int(item.number), "place": .int(item.place),
                            "weight": .double(item.weight), "kind": .string(item.kind),
                            "text": .string(text),
                        ]))
                items[object] = item
            }
            // An update of a place to itself is none.
            changes.removeAll { change in
                if case .update(let edits, _) = change.kind {
                    edits[0].old == edits[0].new
                } else {
                    false
                }
            }
            let result = try store.commit(SaveRequest(changes: changes))
            states.append((try #require(result.sequence), items))
        }

        func query(_ text: String, sortedBy name: String? = nil, limit: Int? = nil, offset: Int = 0)
            throws -> Query
        {
            let sorting = try name.map { Sorting(try path($0)) }
            return Query(
                entity, filter: try Filter(parsing: text, for: entity, in: store.schema),
                sortings: sorting.map { [$0] } ?? [], limit: limit, offset: offset)
        }

        func path(_ name: String) throws -> FilterPath {
            FilterPath([try #require(entity.property(named: name))])
        }
    }

    private static let seeds: [UInt64] = [2_101, 2_102]

    @Test(arguments: seeds)
    func `every state is found, counted, summed and grouped as it was`(seed: UInt64) throws {
        let history = try History(seed: seed)
        for (sequence, items) in history.states {
            let about: Comment = "seed \(seed), entry \(sequence)"
            let found = items.keys.sorted().filter { items[$0].map { $0.number < 700 } ?? false }
            let query = try history.query("number < 700")
            try history.store.read(at: sequence) { snapshot in
                #expect(try snapshot.fetch(query) == found, about)
                #expect(try snapshot.count(query) == found.count, about)
                #expect(
                    try snapshot.count(history.query("TRUEPREDICATE")) == items.count, about)
                let page = try history.query(
                    "number < 700", sortedBy: "weight", limit: 40, offset: 7)
                let byWeight = found.sorted {
                    (items[$0]?.weight ?? 0, $0.number) < (items[$1]?.weight ?? 0, $1.number)
                }
                #expect(try snapshot.fetch(page) == Array(byWeight.dropFirst(7).prefix(40)), about)
                let first = try history.query("number < 700", limit: 300)
                #expect(try snapshot.fetch(first) == Array(found.prefix(300)), about)

                let weight = try #require(history.entity.property(named: "weight"))
                var sum = Aggregation(.sum, of: .double)
                try snapshot.aggregate(&sum, of: weight, query)
                // To the last bit.
                let total = found.compactMap { items[$0]?.weight }.exactSum
                #expect(sum.value == .double(total), about)

                var grouping = Grouping(history.entity)
                grouping.show(try grouping.column(try history.path("kind")))
                grouping.close()
                grouping.show(try grouping.column(.count, of: nil))
                grouping.show(try grouping.column(.sum, of: try history.path("weight")))
                var table = grouping.table
                try snapshot.group(&table, by: grouping, query)
                let rows = try grouping.groups(of: table).map { group in
                    grouping.columns.map { group[$0] }
                }
                let expected = ["a", "b", "c"].map { kind -> [Value] in
                    let members = found.filter { items[$0]?.kind == kind }
                    return [
                        .string(kind), .int(Int64(members.count)),
                        .double(members.compactMap { items[$0]?.weight }.exactSum),
                    ]
                }
                #expect(rows == expected, about)
            }
        }
    }

    @Test(arguments: seeds)
    func `the rows of every state are those of a walk on one core, byte for byte`(
        seed: UInt64
    ) throws {
        let history = try History(seed: seed)
        for (sequence, _) in history.states {
            let query = try history.query("number >= 300")
            try history.store.read(at: sequence) { snapshot in
                var expected: [ObjectID] = []
                var bytes: [[UInt8]] = []
                try snapshot.forEachMatch(of: query, among: nil) { object, _, row in
                    expected.append(object)
                    bytes.append(row.array)
                    return .proceed
                }
                var shared: [ObjectID] = []
                var rows: [[UInt8]] = []
                try snapshot.gather(query, among: nil) {
                    [(ObjectID, [UInt8])]()
                } add: { part, object, _, row, _ in
                    part.append((object, row.array))
                    return .proceed
                } join: { part in
                    shared += part.map(\.0)
                    rows += part.map(\.1)
                    return .proceed
                }
                #expect(shared == expected, "seed \(seed), entry \(sequence)")
                #expect(rows == bytes, "seed \(seed), entry \(sequence)")
                var passed: [ObjectID] = []
                try snapshot.forEachRows(of: query) { rows in
                    rows.forEach { object, _ in passed.append(object) }
                }
                #expect(passed == expected, "seed \(seed), entry \(sequence)")
            }
        }
    }

    @Test func `many objects are walked in parts in the past, and few in one`() throws {
        let history = try History(seed: 2_103)
        let few = try History.few()
        let query = try history.query("number < 700")

        // At the last but one there are versions only of most.
        for (sequence, _) in history.states.dropLast() {
            let parts = try history.store.read(at: sequence) { try $0.partCount(query) }
            #expect(parts > 3, "entry \(sequence)")
        }
        let entity = try #require(few.store.schema.entity(named: "Item"))
        let past = try few.store.head().previous
        #expect(try few.store.read(at: past) { try $0.partCount(Query(entity)) } == 1)
    }

    @Test func `an index of a state is made from versions that several cores have read`() throws {
        let history = try History(seed: 2_104)
        for (sequence, items) in history.states.dropLast(2) {
            let found = items.keys.sorted().filter { items[$0]?.place == 17 }
            try history.store.read(at: sequence) { snapshot in
                #expect(try snapshot.fetch(history.query("place == 17")) == found)
                let place = try #require(history.entity.property(named: "place"))
                let use = try snapshot.indexUse(of: place)
                guard case .past(_, _, inEntries: false) = use else {
                    Issue.record("The index of entry \(sequence) was made otherwise: \(use)")
                    return
                }
            }
        }
    }

    // MARK: - Ends

    private struct Failure: Error, Equatable {
        let object: ObjectID
    }

    @Test func `what a part throws is thrown for the first object in order`() throws {
        let history = try History(seed: 2_105)
        let (sequence, items) = history.states[2]
        let objects = items.keys.sorted()
        let bad = Set([objects[1_400], objects[2_000], objects[2_900]])

        try history.store.read(at: sequence) { snapshot in
            var joined: [ObjectID] = []
            #expect(throws: Failure(object: objects[1_400])) {
                try snapshot.gather(history.query("TRUEPREDICATE"), among: nil) {
                    [ObjectID]()
                } add: { part, object, _, _, _ in
                    if bad.contains(object) { throw Failure(object: object) }
                    part.append(object)
                    return .proceed
                } join: { part in
                    joined += part
                    return .proceed
                }
            }
            #expect(joined == Array(objects.prefix(joined.count)))
            #expect(joined.count <= 1_400)
        }
    }

    @Test func `a damaged version is told as by a walk on one core`() throws {
        let history = try History(seed: 2_106)
        let store = history.store
        let (sequence, items) = history.states[4]
        let versions = store.parts.tables.versions
        // Most objects went with the next entry.
        let gone = items.keys.sorted().filter { history.states[5].1[$0] == nil }
        let key = StoreKey.version(gone[1_200], history.states[5].0)
        try store.writing { transaction in
            try transaction.put(versions, key.span.bytes, [UInt8(255)].span.bytes, .upsert)
        }

        try store.read(at: sequence) { snapshot in
            let query = try history.query("number < 700")
            let alone = #expect(throws: StoreError.self) {
                try snapshot.forEachMatch(of: query, among: nil) { _, _, _ in .proceed }
            }
            let shared = #expect(throws: StoreError.self) { try snapshot.fetch(query) }
            #expect(shared?.code == .corrupt)
            #expect(shared?.message == alone?.message)
        }
    }

    @Test func `reading that nobody wants any more ends, however many cores read`() throws {
        let history = try History(seed: 2_107)
        let stop = Mutex<ReadWatch?>(nil)
        let told = Mutex(0)
        let watch = ReadWatch { count in
            told.withLock { $0 += count }
            stop.withLock(\.self)?.stop()
        }
        stop.withLock { $0 = watch }

        #expect(throws: CancellationError.self) {
            try history.store.read(at: history.states[1].0, watchedBy: watch) { snapshot in
                try snapshot.fetch(history.query("number < 700"))
            }
        }

        #expect(told.withLock(\.self) < 1_500)
        stop.withLock { $0 = nil }
    }
}

extension SharedPastTests.History {
    /// A store with three items, two of which come with the last entry.
    fileprivate static func few() throws -> TemporaryStore {
        let temporary = try TemporaryStore(SharedPastTests.model)
        let store = temporary.store
        for count in 1...2 {
            let changes = try (0..<count).map { _ in store.insert(try store.newObject("Item")) }
            try store.commit(SaveRequest(changes: changes))
        }
        return temporary
    }
}
