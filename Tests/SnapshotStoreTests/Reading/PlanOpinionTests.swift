import DaybookJournalLog
import DaybookObjectModel
import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Whatever way a plan takes, it finds what SQLite finds, in the same order.
///
/// `DAYBOOK_SEED` runs another seed only, and `DAYBOOK_FILTERS` as many queries.
struct PlanOpinionTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["DAYBOOK_SEED"].flatMap(UInt64.init)
    private static let seeds: [UInt64] = seed.map { [$0] } ?? [1_251, 1_252]
    private static let count = environment["DAYBOOK_FILTERS"].flatMap { Int($0) } ?? 100

    @Test(arguments: seeds)
    func `every way finds what SQLite finds, in its order, now and then`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let temporary = try PlanTests.store(&random)
        let store = temporary.store
        let item = try #require(store.schema.entity(named: "Item"))
        let moments: [(SequenceNumber?, Connection)] = try [nil, SequenceNumber(3)].map {
            ($0, try SayableItems.tables(of: store, at: $0, in: temporary.folder))
        }
        // Text that is no number has an order of its own in each.
        let sorts = SayableItems.columns.filter { $0 != "price" }
        var ways: Set<String> = []
        var found = 0

        for number in 0..<Self.count {
            let condition = SayableItems.condition(Int.random(in: 1...3, using: &random), &random)
            var query = Query(
                item, includesSubentities: !random.chance(4),
                filter: try Filter(parsing: condition.predicate, for: item, in: store.schema))
            var sql = "SELECT id FROM Item o WHERE \(condition.sql)"
            if !query.includesSubentities { sql += " AND isUsed = 0" }
            sql += " ORDER BY "
            if random.chance(2) {
                let (name, isAscending) = (random.pick(sorts), random.chance(2))
                let property = try #require(item.property(named: name))
                query.sortings = [Sorting(FilterPath([property]), isAscending: isAscending)]
                sql += "\(name) \(isAscending ? "ASC" : "DESC"), "
            }
            sql += "id"
            if random.chance(2) {
                let (limit, offset) = (
                    Int.random(in: 1...40, using: &random), Int.random(in: 0...9, using: &random)
                )
                (query.limit, query.offset) = (limit, offset)
                sql += " LIMIT \(limit) OFFSET \(offset)"
            }
            // Most of them of now, where there are more ways.
            for (moment, database) in number % 4 == 0 ? moments : [moments[0]] {
                let opinion = try database.statement(sql).rows().map(\.[0])
                try store.read(at: moment) { snapshot in
                    let plan = try snapshot.plan(query)
                    ways.insert(try PlanTests.way(of: plan, query, snapshot))
                    let place: Comment =
                        "seed \(seed), query \(number), \(try snapshot.explanation(of: query))\n\(sql)"
                    let objects = try snapshot.fetch(query).map {
                        SQLiteValue.integer(Int64($0.number))
                    }
                    #expect(objects == opinion, place)
                    #expect(try snapshot.count(query) == opinion.count, place)
                }
                found += opinion.count
            }
        }

        #expect(found > 0)
        #expect(
            ways.isSuperset(of: [
                "index", "cover", "union", "intersection", "join", "walk", "order",
            ]),
            "seed \(seed): \(ways.sorted())")
    }
}
