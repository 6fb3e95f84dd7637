import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Whatever way a plan takes, it finds what a look at every object finds.
struct PlanTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Shop",
            attributes: [AttributeDescription(name: "city", type: .string, isIndexed: true)]),
        EntityDescription(
            name: "Item",
            attributes: [
                AttributeDescription(name: "code", type: .int32, isIndexed: true),
                AttributeDescription(name: "kind", type: .string, isIndexed: true),
                AttributeDescription(name: "price", type: .decimal, isIndexed: true),
                AttributeDescription(name: "weight", type: .double, isIndexed: true),
                AttributeDescription(name: "isSold", type: .bool, isIndexed: true),
                AttributeDescription(name: "sku", type: .int64, isUnique: true),
                AttributeDescription(name: "label", type: .string),
            ],
            relationships: [RelationshipDescription(name: "shop", destinationName: "Shop")]),
        EntityDescription(name: "Used", superentityName: "Item"),
    ])
    private static let itemCount = 2_000

    /// A store of shops and items, of which some have changed since the second entry.
    static func store(_ random: inout SeededGenerator) throws -> TemporaryStore {
        let temporary = try TemporaryStore(
            model, options: .counting(verification: .off))
        let store = temporary.store
        let shops = try (0..<40).map { _ in try store.newObject("Shop") }
        try store.commit(
            SaveRequest(
                changes: shops.enumerated().map { number, shop in
                    store.insert(shop, ["city": .string("c\(number % 13)")])
                }))
        var items: [ObjectID] = []
        for number in 0..<itemCount {
            items.append(try store.newObject(number % 9 == 0 ? "Used" : "Item"))
        }
        try store.commit(
            SaveRequest(
                changes: items.enumerated().map { number, item in
                    var values = values(&random)
                    values["sku"] = .int(Int64(number))
                    values["shop"] = random.chance(8) ? .null : .object(random.pick(shops))
                    return store.insert(item, values)
                }))
        for _ in 0..<2 {
            let changed = Set((0..<50).map { _ in random.pick(items) }).sorted()
            let code = try #require(store.schema.entity(named: "Item")?.property(named: "code"))
            var changes: [Change] = []
            for item in changed {
                let old = try store.read { try $0.value(of: code, in: item) }
                let new = Value.int(Int64.random(in: 100..<190, using: &random))
                changes.append(store.update(item, "code", from: old, to: new))
            }
            try store.commit(SaveRequest(changes: changes))
        }
        return temporary
    }

    private static func values(_ random: inout SeededGenerator) -> [String: Value] {
        [
            "code": random.chance(12) ? .null : .int(Int64.random(in: 0..<90, using: &random)),
            "kind": random.chance(12)
                ? .null : .string("k\(Int.random(in: 0..<25, using: &random))"),
            "price": .decimal(
                random.chance(40)
                    ? .nan : Decimal(Int.random(in: 0..<5_000, using: &random)) / 100),
            "weight": .double(Double(Int.random(in: 0..<500, using: &random)) / 4),
            "isSold": .bool(random.chance(3)),
            "label": .string("l\(Int.random(in: 0..<7, using: &random))"),
        ]
    }

    private static func condition(_ depth: Int, _ random: inout SeededGenerator) -> String {
        if depth > 0, !random.chance(3) {
            let joint = random.chance(2) ? " AND " : " OR "
            let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                condition(depth - 1, &random)
            }
            return "(" + parts.joined(separator: joint) + ")"
        }
        let code = Int.random(in: 0..<90, using: &random)
        return switch Int.random(in: 0..<16, using: &random) {
        case 0: "code == \(code)"
        case 1: "code > \(code)"
        case 2: "code >= \(code) AND code < \(code + 5)"
        case 3: "kind == 'k\(code % 25)'"
        case 4: "kind BEGINSWITH 'k1'"
        case 5: "price < \(code).5"
        case 6: "price BETWEEN {\(code % 50), \(code % 50 + 2)}"
        case 7: "weight >= \(code)"
        case 8: "isSold == \(code % 2 == 0)"
        case 9: "sku IN {\(code), \(code * 11), \(code * 17)}"
        case 10: "code IN {\(code), nil, 3}"
        case 11: "label == 'l\(code % 7)'"
        case 12: "shop.city == 'c\(code % 13)'"
        case 13: "code > \(code) AND code BETWEEN {\(code + 2), \(code + 6)}"
        case 14: "price < \(code) AND price BETWEEN {\(code / 2), \(code / 2 + 9)}"
        default: "code == nil"
        }
    }

    @Test(arguments: [1_201, 1_202, 1_203])
    func `every way finds what a look at all finds, now and then`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let temporary = try Self.store(&random)
        let store = temporary.store
        let item = try #require(store.schema.entity(named: "Item"))
        let sorts = item.properties.filter { $0.attribute != nil }
        var ways: Set<String> = []

        for number in 0..<120 {
            let text = Self.condition(2, &random)
            var query = Query(
                item, includesSubentities: !random.chance(4),
                filter: try Filter(parsing: text, for: item, in: store.schema))
            if random.chance(2) {
                query.sortings = [
                    Sorting(FilterPath([random.pick(sorts)]), isAscending: random.chance(2))
                ]
                query.limit = Int.random(in: 1...40, using: &random)
                query.offset = random.chance(3) ? Int.random(in: 0...9, using: &random) : 0
            }
            let moments: [SequenceNumber?] = number % 4 == 0 ? [nil, SequenceNumber(3)] : [nil]
            for moment in moments {
                try store.read(at: moment) { snapshot in
                    var matches: [ObjectID] = []
                    try snapshot.objects(of: query.entities) { object in
                        if try query.filter.matches(object, in: snapshot) { matches.append(object) }
                        return .proceed
                    }
                    let expected = try query.arranged(matches, in: snapshot)
                    let plan = try snapshot.plan(query)
                    ways.insert(try Self.way(of: plan, query, snapshot))
                    let explanation = try snapshot.explanation(of: query)
                    #expect(
                        try snapshot.fetch(query) == expected,
                        "seed \(seed), query \(number), at \(String(describing: moment)): \(text); \(explanation)"
                    )
                    #expect(
                        try snapshot.count(query) == expected.count,
                        "seed \(seed), query \(number), at \(String(describing: moment)): \(text); \(explanation)"
                    )
                }
            }
        }

        #expect(
            ways.isSuperset(of: [
                "index", "cover", "union", "intersection", "join", "walk", "order", "passed over",
            ]), "seed \(seed): \(ways.sorted())")
    }

    static func way(
        of plan: FilterPlan, _ query: Query, _ snapshot: borrowing Snapshot
    ) throws -> String {
        if try snapshot.order(of: query, plan) != nil { return "order" }
        if plan.cover(of: query.filter) != nil { return "cover" }
        return switch plan.access {
        case .objects: "objects"
        case .index: "index"
        case .compound: "compound"
        case .referrers: "referrers"
        case .join: "join"
        case .changes: "changes"
        case .changeIndex: "index of changes"
        case .everIndex: "index of former values"
        case .union: "union"
        case .intersection: "intersection"
        case .scan: plan.passedOver.isEmpty ? "walk" : "passed over"
        }
    }

    @Test func `the numbers of a plan are near to what there is`() throws {
        var random = SeededGenerator(seed: 1)
        let temporary = try Self.store(&random)
        let item = try #require(temporary.store.schema.entity(named: "Item"))
        let text = "code == 3 AND kind == 'k1'"
        let filter = try Filter(parsing: text, for: item, in: temporary.store.schema)

        let plan = try temporary.store.read { try $0.plan(Query(item, filter: filter)) }

        #expect(plan.total > Self.itemCount / 2 && plan.total < Self.itemCount * 2)
        #expect(plan.count < 100)
    }

    @Test func `a count by an index is that of the rows where ranges overlap, or are of nothing`()
        throws
    {
        var random = SeededGenerator(seed: 2)
        let temporary = try Self.store(&random)
        let store = temporary.store
        let item = try #require(store.schema.entity(named: "Item"))
        for text in [
            "code > 5 AND code BETWEEN {7, 10}", "code BETWEEN {7, 10} AND code > 5",
            "code < 9 AND code BETWEEN {7, 10}", "code BETWEEN {10, 7}", "code > 9 AND code < 3",
            "price < 5", "price <= 5.5 AND price > 2", "price < 5.5 AND price BETWEEN {3, 5}",
            "price > 20", "code IN {nil, 3}", "isSold == TRUE", "sku == 7",
        ] {
            let query = Query(
                item, filter: try Filter(parsing: text, for: item, in: store.schema))
            try store.read { snapshot in
                var expected = 0
                try snapshot.objects(of: query.entities) { object in
                    if try query.filter.matches(object, in: snapshot) { expected += 1 }
                    return .proceed
                }
                #expect(try snapshot.count(query) == expected, "\(text)")
                #expect(try snapshot.fetch(query).count == expected, "\(text)")
            }
        }
        for constant in [Decimal.nan, 3] {
            let price = try #require(item.property(named: "price"))
            for comparison in [FilterOperator.less, .greater, .equal, .lessOrEqual] {
                let filter = Filter.comparison(
                    FilterComparison(
                        .path(FilterPath([price])), comparison, .constant(.decimal(constant))))
                let query = Query(item, filter: filter)
                try store.read { snapshot in
                    let found = try snapshot.fetch(query)
                    #expect(try snapshot.count(query) == found.count)
                }
            }
        }
    }
}
