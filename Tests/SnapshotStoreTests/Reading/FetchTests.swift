import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct FetchTests {
    @Test(arguments: [51, 52, 53] as [UInt64])
    func `fetches by index, past or present, find what evaluating every object finds`(
        seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 60)
        let store = history.store
        let texts = [
            "name == 'n3'", "name BEGINSWITH 'n'", "age >= 0 AND age < 5", "code == 'c7'",
            "age == nil", "name BETWEEN {'n', 'nn'}", "name IN {'1', '2', 'n4'}", "age > -3",
        ]
        let entities = try ["Party", "Person"].map {
            try #require(store.schema.entity(named: $0))
        }

        for entity in entities {
            for text in texts where entity.name == "Person" || !text.contains("age") {
                let filter = try Filter(parsing: text, for: entity, in: store.schema)
                for number in [history.reference.head.rawValue, 30] {
                    try store.read(at: SequenceNumber(number)) { snapshot in
                        var expected: [ObjectID] = []
                        try snapshot.objects(of: entity.family) { object in
                            if try filter.matches(object, in: snapshot) { expected.append(object) }
                            return .proceed
                        }
                        let query = Query(entity, filter: filter)
                        expected = try query.arranged(expected, in: snapshot)
                        #expect(
                            try snapshot.fetch(query) == expected,
                            "seed \(seed), \(text), entry \(number)")
                        #expect(try snapshot.count(query) == expected.count)
                    }
                }
            }
        }
    }

    @Test(arguments: [54, 55, 56] as [UInt64], [true, false])
    func `the first few in index order are the first few of all sorted objects`(
        seed: UInt64, isAscending: Bool
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 60)
        let store = history.store
        let entity = try #require(store.schema.entity(named: "Party"))
        let name = try #require(entity.property(named: "name"))
        let sorting = Sorting(FilterPath([name]), isAscending: isAscending)

        try store.read { snapshot in
            let all = try snapshot.fetch(Query(entity, sortings: [sorting]))
            for limit in 0...all.count {
                let few = try snapshot.fetch(
                    Query(entity, sortings: [sorting], limit: limit, offset: 1))
                #expect(few == Array(all.dropFirst().prefix(limit)), "seed \(seed), \(limit)")
            }
        }
    }

    /// Of one value there are more than are kept while the index is walked.
    @Test(arguments: [57, 58] as [UInt64], [true, false])
    func `of very many objects with the same value the first by number are found`(
        seed: UInt64, isAscending: Bool
    ) throws {
        var random = SeededGenerator(seed: seed)
        let temporary = try PlanTests.store(&random)
        let store = temporary.store
        let item = try #require(store.schema.entity(named: "Item"))
        let isSold = try #require(item.property(named: "isSold"))
        let sorting = Sorting(FilterPath([isSold]), isAscending: isAscending)

        try store.read { snapshot in
            let all = try snapshot.fetch(Query(item, sortings: [sorting]))
            #expect(all.count == 2_000)
            for limit in [1, 50, 600, 700, 1_990] {
                let few = try snapshot.fetch(
                    Query(item, sortings: [sorting], limit: limit, offset: 3))
                #expect(few == Array(all.dropFirst(3).prefix(limit)), "seed \(seed), \(limit)")
            }
        }
    }
}
