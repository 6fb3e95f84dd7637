import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// What was read for a fetch that was carried out.
@Suite struct ReadCountTests {
    private static let count = 2_000
    private let race: Race

    init() throws {
        race = try Race()
        try race.fill(Self.count)
    }

    @Test func `an index reads its records, and the rows of what it finds`() throws {
        try race.with { (context) throws in
            let found = try context.explain(
                carryingOut: FetchRequest<Runner>(where: \.name == "77"))

            #expect(found.plan.hasPrefix("index of 'name', 1 range"))
            #expect(found.foundCount == 1)
            #expect(found.rowsRead == 1)
            #expect(found.indexRecordsRead == 1)
            #expect(found.rowsPassedOver == 0)
            #expect(found.versionsRead == 0)
            #expect((1..<60).contains(found.pagesRead))
            #expect(found.description.hasPrefix(found.plan))
            #expect(
                found.description.hasSuffix(
                    "; found: 1; read: 1 row, 1 index record, \(found.pagesRead) pages"))
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func `rows are passed over that an index or a walk finds in vain`() throws {
        try race.with { (context) throws in
            let odd = FetchRequest<Runner>(where: \.name == "77" && \.minutes == 3)
            let byIndex = try context.explain(carryingOut: odd)
            #expect(byIndex.rowsRead == 1)
            #expect(byIndex.rowsPassedOver == 1)
            #expect(byIndex.description.hasSuffix(" pages; passed over: 1"))

            let walk = try context.explain(
                carryingOut: FetchRequest<Runner>(where: \.minutes == 3))
            #expect(walk.foundCount == 0)
            #expect(walk.rowsRead == Self.count)
            #expect(walk.rowsPassedOver == Self.count)
            #expect(walk.indexRecordsRead == 0)

            let memory = try context.explain(
                carryingOut: FetchRequest(where: #Predicate<Runner> { $0.shout == "7" }))
            #expect(memory.plan.hasPrefix("Every object of 'Runner' is read"))
            #expect(memory.foundCount == 1)
            // Once for the list of them, and once for the value of each.
            #expect(memory.rowsRead >= Self.count)
        }
    }

    @Test func `an order by an index reads no more than the limit`() throws {
        try race.with { (context) throws in
            var request = FetchRequest<Runner>()
            request.order = [.ascending(\.name)]
            request.limit = 10
            let first = try context.explain(carryingOut: request)
            #expect(first.foundCount == 10)
            #expect(first.rowsRead == 0)
            #expect((10..<50).contains(first.indexRecordsRead))
        }
    }

    @Test func `the past is read from versions`() throws {
        let store = race.container.persistentStoreCoordinator.persistentStores[0]
        let then = try store.head()
        try race.with { (context) throws in
            var request = FetchRequest<Runner>()
            request.limit = 50
            for runner in try context.fetch(request) { runner.minutes = 1 }
            try context.save()
        }
        let past = try race.container.context(at: .sequence(then))
        try race.with(past) { (context) throws in
            let found = try context.explain(
                carryingOut: FetchRequest<Runner>(where: \.minutes == nil))
            #expect(found.foundCount == Self.count)
            #expect(found.versionsRead >= 50)
        }
    }

    @Test func `what is pending is found and not read, and a child reads below its parent`() throws
    {
        try race.with { (context) throws in
            let new = Runner(context: context)
            new.name = "77"
            let request = FetchRequest<Runner>(where: \.name == "77")
            let found = try context.explain(carryingOut: request)
            #expect(found.foundCount == 2)
            #expect(found.rowsRead == 1)
            #expect(found.rowsPassedOver == 0)

            let child = ManagedObjectContext(parent: context)
            try race.with(child) { (child) throws in
                let found = try child.explain(carryingOut: request)
                #expect(found.foundCount == 2)
                #expect(found.rowsRead == 1)
            }
            // Nothing counts any more.
            #expect(try context.explain(carryingOut: request) == found)
        }
    }

    @Test func `groups read each row once`() throws {
        try race.with { (context) throws in
            let minutes = FetchRequest<Runner>().select(\.minutes, .count)
            let found = try context.explain(carryingOut: minutes)
            #expect(found.plan.hasSuffix("; rows are grouped where they lie, by 'minutes'"))
            #expect(found.foundCount == 1)
            #expect(found.rowsRead == Self.count)
            #expect(found.rowsPassedOver == 0)
            let names = try context.explain(
                carryingOut: FetchRequest<Runner>(where: \.minutes == 3).select(\.name))
            #expect(names.foundCount == 0)
            #expect(names.rowsPassedOver == Self.count)
        }
    }

    @Test func `an explanation is a value`() throws {
        let found = try race.with {
            try $0.explain(carryingOut: FetchRequest<Runner>(where: \.rank == 1))
        }
        let copy = try JSONDecoder().decode(
            FetchExplanation.self, from: JSONEncoder().encode(found))
        #expect(copy == found)
        #expect(copy.description == found.description)
    }

    @Test func `a mistake is refused as by a fetch`() throws {
        let error = try race.with { (context) throws in
            #expect(throws: QueryError.self) {
                try context.explain(carryingOut: FetchRequest<Runner>(where: Condition("nam == 1")))
            }
        }
        #expect(error?.message.contains("'nam'") == true)
    }
}
