import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Whatever an index over several properties serves, the answer is that of a look at every object.
struct CompoundIndexTests {
    private static let indexes: [IndexDescription] = [
        ["customer", .descending("placedOn")], ["kind", "price", "number"],
        [.descending("isPaid"), .descending("price"), "label"], ["customer", "folded"],
        ["code", .descending("weight")], ["number", "kind"],
    ]

    private static func model(_ indexes: [IndexDescription]) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Customer",
                relationships: [
                    RelationshipDescription(
                        name: "orders", destinationName: "Order", inverseName: "customer",
                        isToMany: true)
                ]),
            EntityDescription(
                name: "Order",
                attributes: [
                    AttributeDescription(name: "number", type: .int64),
                    AttributeDescription(name: "kind", type: .string, isIndexed: true),
                    AttributeDescription(name: "placedOn", type: .date),
                    AttributeDescription(name: "price", type: .decimal),
                    AttributeDescription(name: "weight", type: .double),
                    AttributeDescription(name: "isPaid", type: .bool),
                    AttributeDescription(name: "code", type: .uuid),
                    AttributeDescription(name: "label", type: .string),
                    AttributeDescription(
                        name: "folded", type: .string,
                        derivation: .text(.canonical, attribute: "label")),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "customer", destinationName: "Customer", inverseName: "orders")
                ], indexes: indexes),
            EntityDescription(
                name: "Rush", superentityName: "Order",
                attributes: [AttributeDescription(name: "fee", type: .int32)]),
        ])
    }

    // MARK: - A store

    /// Two stores of the same random history, of which one has indexes; and moments in it.
    private struct Pair {
        let indexed: TemporaryStore
        let plain: TemporaryStore
        let moments: [SequenceNumber]

        init(seed: UInt64, count: Int) throws {
            let all = try [CompoundIndexTests.indexes, []].map { indexes in
                let temporary = try TemporaryStore(
                    CompoundIndexTests.model(indexes),
                    options: .counting(verification: indexes.isEmpty ? .off : .afterCommit))
                try Self.fill(temporary.store, seed, count)
                return temporary
            }
            (indexed, plain) = (all[0], all[1])
            let head = try indexed.store.head()
            moments = [head, SequenceNumber(3), SequenceNumber(5)]
        }

        private static func fill(_ store: Store, _ seed: UInt64, _ count: Int) throws {
            var random = SeededGenerator(seed: seed)
            let customers = try (0..<7).map { _ in try store.newObject("Customer") }
            try store.commit(SaveRequest(changes: customers.map { store.insert($0) }))
            var orders: [ObjectID] = []
            for _ in 0..<count {
                orders.append(try store.newObject(random.chance(5) ? "Rush" : "Order"))
            }
            var values: [ObjectID: [String: Value]] = [:]
            for order in orders {
                for name in CompoundIndexTests.names {
                    values[order, default: [:]][name] = CompoundIndexTests.value(
                        name, customers, &random)
                }
            }
            try store.commit(
                SaveRequest(changes: orders.map { store.insert($0, values[$0] ?? [:]) }))
            for _ in 0..<5 {
                var changes: [Change] = []
                for order in orders where random.chance(12) {
                    guard let own = values[order] else { continue }
                    if random.chance(6) {
                        changes.append(try store.delete(order))
                        values[order] = nil
                        continue
                    }
                    let name = random.pick(CompoundIndexTests.names)
                    let new = CompoundIndexTests.value(name, customers, &random)
                    let old = own[name] ?? .null
                    guard new.encoded != old.encoded else { continue }
                    changes.append(store.update(order, name, from: old, to: new))
                    values[order]?[name] = new
                }
                try store.commit(SaveRequest(changes: changes))
            }
        }
    }

    private static let names = [
        "number", "kind", "placedOn", "price", "weight", "isPaid", "code", "label", "customer",
    ]

    private static func value(
        _ name: String, _ customers: [ObjectID], _ random: inout SeededGenerator
    ) -> Value {
        if random.chance(7) { return .null }
        let number = Int.random(in: 0..<12, using: &random)
        switch name {
        case "number": return .int(Int64(number - 4))
        case "kind": return .string("k\(number % 4)")
        case "placedOn":
            return .date(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400))
        case "price": return .decimal(random.chance(20) ? .nan : Decimal(number - 5) / 4)
        case "weight":
            return .double(random.chance(20) ? .nan : Double(number - 6) / 8)
        case "isPaid": return .bool(number % 2 == 0)
        case "code":
            let byte = UInt8(number % 5) &* 63
            return .uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte)))
        case "label":
            // Some are longer than a key.
            let start = String(repeating: "Ä", count: random.chance(9) ? 210 : number % 2)
            return .string(start + random.pick(["a", "A", "\u{0}", "b", ""]))
        default: return .object(random.pick(customers))
        }
    }

    // MARK: - Questions

    private static func condition(_ random: inout SeededGenerator) -> String {
        let number = Int.random(in: 0..<12, using: &random)
        let sign = random.pick(["<", "<=", ">", ">=", "=="])
        let day = "2001-01-\(number < 9 ? "0" : "")\(number + 1)T00:00:00Z"
        return switch Int.random(in: 0..<16, using: &random) {
        case 0: "customer == 'Customer/\(number % 8 + 1)'"
        case 1: "customer == nil"
        case 2: "customer IN {'Customer/2', 'Customer/\(number % 8 + 1)'}"
        case 3: "placedOn \(sign) '\(day)'"
        case 4: "placedOn == nil"
        case 5: "kind == 'k\(number % 5)'"
        case 6: "kind IN {'k1', nil, 'k\(number % 5)'}"
        case 7: "kind BEGINSWITH 'k'"
        case 8: "price \(sign) \(Double(number - 5) / 4)"
        case 9: "price > \(number / 4) AND price <= \(number)"
        case 10: "number \(sign) \(number - 4)"
        case 11: "isPaid == \(number % 2 == 0)"
        case 12: "weight \(sign) \(Double(number - 6) / 8)"
        case 13:
            "label \(random.pick(["==", "==[cd]", "BEGINSWITH[cd]", "<"])) 'ä\(number % 2 == 0 ? "a" : "")'"
        case 14: "code != nil"
        default: "NOT (isPaid == nil)"
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        if random.chance(10) { return "TRUEPREDICATE" }
        let joint = random.chance(6) ? " OR " : " AND "
        return (0..<Int.random(in: 1...4, using: &random)).map { _ in condition(&random) }
            .joined(separator: joint)
    }

    /// The same question to either store.
    private static func query(
        _ schema: Schema, seed: UInt64, limited: Bool = true
    ) throws -> Query {
        var random = SeededGenerator(seed: seed)
        let entity = try #require(schema.entity(named: random.chance(5) ? "Rush" : "Order"))
        let text = text(&random)
        var sortings: [Sorting] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let property = try #require(entity.property(named: random.pick(names)))
            guard property.isAttribute else { continue }
            sortings.append(Sorting(FilterPath([property]), isAscending: random.chance(2)))
        }
        var query = Query(
            entity, filter: try Filter(parsing: text, for: entity, in: schema), sortings: sortings)
        query.includesSubentities = !random.chance(5)
        if limited, random.chance(2) { query.limit = Int.random(in: 1...12, using: &random) }
        if limited, random.chance(4) { query.offset = Int.random(in: 0...5, using: &random) }
        query.descendsAmongEquals = random.chance(6)
        return query
    }

    @Test(arguments: [51, 52, 53] as [UInt64])
    func `what is fetched and counted is what a store without the indexes finds`(
        seed: UInt64
    ) throws {
        let pair = try Pair(seed: seed, count: 160)
        var plans: [String: Int] = [:]
        var found = 0

        for number in 0..<250 {
            let own = seed &* 10_000 &+ UInt64(number)
            for moment in pair.moments {
                let about: Comment = "seed \(seed), question \(number), entry \(moment)"
                var expected: [ObjectID] = []
                var count = 0
                try pair.plain.store.read(at: moment) { snapshot in
                    var query = try Self.query(snapshot.schema, seed: own)
                    let (limit, offset) = (query.limit, query.offset)
                    (query.limit, query.offset) = (nil, 0)
                    let all = try snapshot.fetch(query)
                    count = all.count
                    expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
                }
                try pair.indexed.store.read(at: moment) { snapshot in
                    var query = try Self.query(snapshot.schema, seed: own)
                    let explanation = try snapshot.explanation(of: query)
                    plans[explanation.plan, default: 0] += 1
                    #expect(try snapshot.fetch(query) == expected, "\(about): \(explanation)")
                    (query.limit, query.offset) = (nil, 0)
                    #expect(try snapshot.count(query) == count, "\(about): \(explanation)")
                    found += count
                }
            }
        }

        #expect(found > 0)
        for plan in ["range", "order", "records alone", "past"] {
            #expect(plans[plan, default: 0] > 5, "seed \(seed): \(plans)")
        }
    }

    @Test(arguments: [61, 62] as [UInt64])
    func `pages follow each other in the order of an index`(seed: UInt64) throws {
        let pair = try Pair(seed: seed, count: 160)
        var pages = 0

        for number in 0..<150 {
            let own = seed &* 10_000 &+ UInt64(number)
            for moment in pair.moments {
                try pair.indexed.store.read(at: moment) { snapshot in
                    var query = try Self.query(snapshot.schema, seed: own, limited: false)
                    let all = try snapshot.fetch(query)
                    guard !all.isEmpty else { return }
                    query.limit = 4
                    var found: [ObjectID] = []
                    while found.count < all.count {
                        let page = try snapshot.fetch(query)
                        guard let last = page.last else { break }
                        found += page
                        let keys = try query.sortings.map { try $0.key(of: last, in: snapshot) }
                        query.start = QueryPlace(keys: keys, object: last)
                        pages += try snapshot.hasPlaces(query) ? 1 : 0
                    }
                    let about: Comment = "seed \(seed), question \(number), entry \(moment)"
                    #expect(found == all, about)
                }
            }
        }
        #expect(pages > 20)
    }

    @Test(arguments: [71, 72] as [UInt64])
    func `aggregates, groups and columns come from records as from rows`(seed: UInt64) throws {
        let pair = try Pair(seed: seed, count: 160)
        var covered = 0

        for number in 0..<300 {
            let own = seed &* 10_000 &+ UInt64(number)
            var random = SeededGenerator(seed: own)
            // Some have all that is asked in one index.
            let known: (text: String, key: String, measured: String)? =
                random.chance(2)
                ? nil
                : random.pick([
                    ("kind IN {'k1', 'k2'}", "kind", "number"),
                    ("kind == 'k1' AND price >= 0.25", "number", "price"),
                    ("isPaid == TRUE AND price > -1", "isPaid", "label"),
                    (
                        "customer == 'Customer/2' AND placedOn > '2001-01-03T00:00:00Z'",
                        "customer", "placedOn"
                    ),
                    ("code != nil AND number >= 2", "kind", "number"),
                    ("number == 3", "number", "kind"),
                    ("kind == nil", "price", "number"), ("number > 5", "kind", "number"),
                ])
            let key =
                known?.key ?? random.pick(["kind", "isPaid", "number", "customer", "placedOn"])
            let measured =
                known?.measured
                ?? random.pick(["number", "price", "weight", "placedOn", "label", "code"])
            let isNumber = ["number", "price", "weight"].contains(measured)
            let function: AggregateFunction =
                isNumber
                ? random.pick([.sum, .minimum, .maximum, .count, .distinct, .median])
                : random.pick([.count, .distinct, .minimum])
            let about: Comment =
                "seed \(seed), question \(number): \(function) of \(measured) by \(key)"

            func answer(_ store: Store) throws -> [[String]] {
                try store.read { snapshot in
                    var query = try Self.query(snapshot.schema, seed: own, limited: false)
                    if let known {
                        query.filter = try Filter(
                            parsing: known.text, for: query.entity, in: snapshot.schema)
                    }
                    let keyPath = FilterPath([try #require(query.entity.property(named: key))])
                    let property = try #require(query.entity.property(named: measured))
                    if try snapshot.covered(
                        query, snapshot.plan(query), of: [keyPath.steps[0].number, property.number])
                        != nil
                    {
                        covered += 1
                    }
                    var grouping = Grouping(query.entity)
                    try grouping.group(by: keyPath)
                    grouping.close()
                    _ = try grouping.column(function, of: FilterPath([property]))
                    _ = try grouping.column(.count, of: nil)
                    var table = grouping.table
                    try snapshot.group(&table, by: grouping, query)
                    var groups: [String] = []
                    for group in 0..<table.count {
                        let value = table.value(of: 0, in: group)?.encoded
                        groups.append(
                            "\(try table.key(of: group).map(\.encoded)) \(value ?? []) "
                                + "\(table.objectCount(of: group))")
                    }
                    let type = try #require(property.attribute?.type)
                    var aggregation = Aggregation(function, of: type)
                    try snapshot.aggregate(&aggregation, of: property, query)
                    var unsorted = query
                    unsorted.sortings = []
                    unsorted.descendsAmongEquals = false
                    let columns = try snapshot.values(
                        at: [keyPath, FilterPath([property])], of: unsorted)
                    return [
                        groups.sorted(), ["\(aggregation.value?.encoded ?? [])"],
                        columns.map { "\($0.map(\.encoded))" },
                    ]
                }
            }
            #expect(try answer(pair.indexed.store) == answer(pair.plain.store), about)
        }
        #expect(covered > 10)
    }

    @Test func `the tables with such indexes are those that a rebuild makes`() throws {
        let pair = try Pair(seed: 81, count: 120)

        let before = try pair.indexed.store.projectionDigest()
        #expect(try pair.indexed.store.verify().isSound)
        try pair.indexed.store.rebuild()

        #expect(try pair.indexed.store.projectionDigest() == before)
        #expect(try pair.indexed.store.verify().isSound)
    }

    @Test func `a record too many and one that is missing are found`() throws {
        for isMissing in [true, false] {
            let pair = try Pair(seed: 82, count: 20)
            let store = pair.indexed.store
            let order = try #require(store.schema.entity(named: "Order"))
            let index = try #require(order.indexes.first)
            var values: [Value] = []
            let object = try #require(try store.read { try $0.fetch(Query(order)).first })
            try store.read { snapshot in
                for element in index.elements {
                    values.append(try snapshot.value(of: element.property, in: object))
                }
            }
            if !isMissing { values[1] = .date(Date(timeIntervalSinceReferenceDate: 5)) }
            let key = StoreKey.index(index, values, object)
            try store.writing { [tables = store.parts.tables] transaction in
                if isMissing {
                    _ = try transaction.delete(tables.index, key.span.bytes)
                } else {
                    let nothing: [UInt8] = []
                    try transaction.put(tables.index, key.span.bytes, nothing.span.bytes, .upsert)
                }
            }

            let report = try store.verify()

            #expect(report.findings.count == 1, "\(report.findings)")
            let said = report.findings.first?.message ?? ""
            #expect(
                said.contains("index, 'code', 'weight' (descending) of Order/"), "\(said)")
        }
    }

    // MARK: - The model

    @Test(arguments: [IndexBuilding.immediate, .deferred])
    func `an index is built for the objects that are there, and dropped again`(
        building: IndexBuilding
    ) throws {
        let temporary = try TemporaryStore(Self.model([]))
        for number in 0..<30 {
            let entity = number % 3 == 0 ? "Rush" : "Order"
            let order = try temporary.store.newObject(entity)
            let values: [String: Value] = [
                "number": .int(Int64(number % 4)),
                "kind": number % 5 == 0 ? .null : .string("k\(number % 3)"),
            ]
            try temporary.store.commit(
                SaveRequest(changes: [temporary.store.insert(order, values)]))
        }
        let empty = try temporary.store.projectionDigest()
        var options = StoreOptions.counting()
        options.migration = .automatic
        options.indexes = building
        let store = try TestStore.open(
            at: temporary.path, model: Self.model([["kind", .descending("number")]]),
            options: options)
        func found(_ store: Store) throws -> ([ObjectID], String) {
            let order = try #require(store.schema.entity(named: "Order"))
            let filter = try Filter(
                parsing: "kind == 'k1' AND number > 1", for: order, in: store.schema)
            return try store.read { snapshot in
                let query = Query(order, filter: filter)
                return (try snapshot.fetch(query), try snapshot.explanation(of: query))
            }
        }
        let expected = try found(temporary.store).0

        if building == .deferred {
            #expect(try store.pendingIndexes() == ["kind, number"])
            let (objects, explanation) = try found(store)
            #expect(objects == expected)
            #expect(
                explanation.contains("the index of 'kind', 'number' (descending) is being built"))
            let late = try store.newObject("Order")
            try store.commit(
                SaveRequest(changes: [
                    store.insert(late, ["kind": .string("k0"), "number": .int(9)])
                ]))
            #expect(try store.verify().isSound)
            try store.buildIndexes(objectsAtOnce: 7)
        }

        #expect(try store.pendingIndexes().isEmpty)
        let (objects, explanation) = try found(store)
        #expect(objects == expected)
        #expect(
            explanation.hasPrefix("index of 'kind', 'number' (descending), 1 range"),
            "\(explanation)")
        #expect(try store.verify().isSound)
        let older = try found(temporary.store)
        #expect(older.0 == expected)
        let built = try store.projectionDigest()
        try store.rebuild()
        #expect(try store.projectionDigest() == built)
        try store.close()

        // With a model that the store had before, it would be opened as by an older program.
        var newest = Self.model([])
        newest.entities[0].userInfo = ["version": "3"]
        let without = try TestStore.open(at: temporary.path, model: newest, options: options)
        #expect(try without.verify().isSound)
        let records = try #require(try without.statistics().tables.first { $0.name == "index" })
            .records
        #expect(records == (building == .deferred ? 31 : 30), "only those of 'kind'")
        #expect(empty != built)
        try without.close()
    }

    @Test func `a program whose index was dropped reads all objects and says so`() throws {
        let temporary = try TemporaryStore(Self.model([["number", "kind"]]))
        let order = try #require(temporary.store.schema.entity(named: "Order"))
        let object = try temporary.store.newObject("Order")
        try temporary.store.commit(
            SaveRequest(
                changes: [
                    temporary.store.insert(object, ["number": .int(3), "kind": .string("k")])
                ]))
        var options = StoreOptions.counting()
        options.migration = .automatic
        let newer = try TestStore.open(at: temporary.path, model: Self.model([]), options: options)

        let filter = try Filter(
            parsing: "number == 3 AND kind > 'a'", for: order, in: temporary.store.schema)
        let query = Query(order, filter: filter)
        let (found, explanation) = try temporary.store.read { snapshot in
            (try snapshot.fetch(query), try snapshot.explanation(of: query))
        }
        #expect(found == [object])
        #expect(
            explanation.contains(
                "the index of 'number', 'kind' is not in the store's model any more"))
        try newer.close()
    }

    @Test(arguments: ["placedOn > %@", "placedOn < %@"])
    func `a date that is kept as one beyond the constant is found`(condition: String) throws {
        let temporary = try TemporaryStore(Self.model(Self.indexes))
        let store = temporary.store
        let order = try #require(store.schema.entity(named: "Order"))
        let customer = try store.add("Customer")
        // Kept in parts of a second that are powers of two.
        let dates = (1...9).map { Date(timeIntervalSinceReferenceDate: Double($0) / 10) }
        for date in dates {
            try store.add("Order", ["placedOn": .date(date), "customer": .object(customer)])
        }

        try store.read { snapshot in
            for date in dates {
                let own = try Filter(
                    parsing: "customer == %@ AND " + condition, for: order, in: snapshot.schema,
                    arguments: [.object(customer), .date(date)])
                var query = Query(order, filter: own)
                let candidates = try snapshot.fetch(Query(order)).filter { object in
                    try own.matches(object, in: snapshot)
                }
                #expect(try snapshot.fetch(query) == candidates)
                query.sortings = [
                    Sorting(FilterPath([try #require(order.property(named: "placedOn"))]))
                ]
                query.limit = 20
                #expect(try snapshot.fetch(query).sorted() == candidates)
            }
        }
    }

    @Test func `a page among objects with equal values is read from its place`() throws {
        let temporary = try TemporaryStore(Self.model([["kind", "number"]]))
        let store = temporary.store
        let rush = try #require(store.schema.entity(named: "Rush"))
        try store.commit(
            SaveRequest(
                changes: try (0..<300).map { _ in
                    store.insert(
                        try store.newObject("Rush"), ["kind": .string("k"), "number": .int(1)])
                }))
        try store.read { snapshot in
            var query = Query(
                rush, filter: try Filter(parsing: "kind == 'k'", for: rush, in: snapshot.schema))
            query.sortings = [Sorting(FilterPath([try #require(rush.property(named: "number"))]))]
            let all = try snapshot.fetch(query)
            #expect(all.count == 300)
            query.limit = 5
            query.start = QueryPlace(keys: [.int(1)], object: all[199])
            #expect(try snapshot.fetch(query) == Array(all[200..<205]))
        }
        let watch = ReadWatch()
        try store.read(at: nil, watchedBy: watch) { snapshot in
            var query = Query(
                rush, filter: try Filter(parsing: "kind == 'k'", for: rush, in: snapshot.schema))
            query.sortings = [Sorting(FilterPath([try #require(rush.property(named: "number"))]))]
            query.limit = 5
            query.start = QueryPlace(
                keys: [.int(1)], object: ObjectID(entity: rush.number, number: 200))
            #expect(try snapshot.fetch(query).count == 5)
        }
        #expect(watch.counts.rows < 20)
    }

    @Test func `explanations name the index, its ranges and what is not read`() throws {
        let pair = try Pair(seed: 91, count: 60)
        func explanation(
            _ text: String, by name: String? = nil, at moment: SequenceNumber? = nil
        ) throws -> String {
            try pair.indexed.store.read(at: moment ?? pair.moments[0]) { snapshot in
                let order = try #require(snapshot.schema.entity(named: "Order"))
                var query = Query(
                    order, filter: try Filter(parsing: text, for: order, in: snapshot.schema))
                if let name {
                    query.sortings = [
                        Sorting(FilterPath([try #require(order.property(named: name))]))
                    ]
                    query.limit = 5
                }
                return try snapshot.explanation(of: query)
            }
        }

        let counted = try explanation("kind == 'k1' AND price > 0.5")
        #expect(counted.hasPrefix("index of 'kind', 'price', 'number', 1 range for kind == \"k1\""))
        #expect(counted.hasSuffix("; to count them, its records alone are read"))
        #expect(
            try explanation("kind == 'k1'", by: "price")
                == "index of 'kind', 'price', 'number' in its order, 1 range, until 5 objects are found, "
                + "by its records alone")
        let past = try explanation("kind == 'k1' AND price > 0.5", at: SequenceNumber(3))
        #expect(past.contains("; as of entry 3, with what "), "\(past)")
        #expect(!past.contains("records alone"))
    }
}

extension String {
    /// What a plan is, in a word.
    fileprivate var plan: String {
        if contains("as of entry"), contains("index of") { return "past" }
        if contains("by its records alone") || contains("its records alone are read") {
            return "records alone"
        }
        if contains("in its order") { return "order" }
        return contains("',") && contains("range") ? "range" : "other"
    }
}
