import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Values that are observed.
@Suite struct ValueObserverTests {
    private let store: ClassStore
    private let context: ManagedObjectContext

    /// Three people with 1, 2 and 4 points, of whom the last earns 10.
    init() throws {
        store = try ClassStore(watchedClasses)
        context = store.container.newBackgroundContext()
        let context = context
        try context.performAndWait { () throws in
            for (name, points) in [("Ann", 1), ("Bea", 2), ("Cid", 4)] {
                let person = WatchedPerson(context: context)
                person.name = name
                person.points = points
                if points == 4 { person.pay = 10 }
            }
            try context.save()
        }
    }

    private func person(_ name: String) throws -> WatchedPerson {
        try #require(context.fetch(FetchRequest<WatchedPerson>(where: \.name == name)).first)
    }

    @Test func `sums, means, extremes, counts and first values follow`() throws {
        try context.performAndWait { () throws in
            let sum = try ValueObserver(.sum(\WatchedPerson.points), in: context)
            let mean = try ValueObserver(.average(\WatchedPerson.points), in: context)
            let least = try ValueObserver(.minimum(\WatchedPerson.points), in: context)
            let pay = try ValueObserver(.maximum(\WatchedPerson.pay), in: context)
            let many = FetchRequest<WatchedPerson>(where: \.points > 1)
            let count = try ValueObserver(countOf: many, in: context)
            var last = FetchRequest<WatchedPerson>()
            last.order = [.descending(\.points)]
            let first = try ValueObserver(\WatchedPerson.name, ofFirst: last, in: context)
            #expect(sum.value == 7 && mean.value == 7 / 3 && least.value == 1)
            #expect(pay.value == 10 && count.value == 2 && first.value == "Cid")

            context.delete(try person("Cid"))
            try person("Ann").points = 5
            context.processPendingChanges()

            #expect(sum.value == 7 && mean.value == 3.5 && least.value == 2)
            #expect(pay.value == nil && count.value == 2 && first.value == "Ann")
            context.rollback()
            #expect(sum.value == 7 && mean.value == 7 / 3 && least.value == 1)
            #expect(pay.value == 10 && count.value == 2 && first.value == "Cid")
        }
    }

    @Test func `a sum that does not fit keeps the last one that did, and says so`() throws {
        try context.performAndWait { () throws in
            let sum = try ValueObserver(.sum(\WatchedPerson.points), in: context)

            try person("Ann").points = .max
            context.processPendingChanges()
            #expect(sum.value == 7)
            #expect(sum.error != nil)

            try person("Ann").points = 3
            context.processPendingChanges()
            #expect(sum.value == 9)
            #expect(sum.error == nil)
        }
    }

    @Test func `a change names its entries, and a slow reader gets the last value`() throws {
        try context.performAndWait { () throws in
            context.automaticallyMergesChangesFromParent = true
            let sum = try ValueObserver(.sum(\WatchedPerson.points), in: context)
            let changes = sum.changes
            for author in ["ada", "grace"] {
                try store.inContext { (other) throws in
                    let person = WatchedPerson(context: other)
                    person.points = 10
                    try other.save(author: author)
                }
                _ = try context.mergeChanges()
            }

            let change = try #require(changes.takeWaiting())
            #expect(change.value == 27)
            #expect(change.entries.map(\.author) == ["ada", "grace"])
            #expect(changes.takeWaiting() == nil)
        }
    }

    @Test func `no objects have a sum of zero and no extreme`() throws {
        try context.performAndWait { () throws in
            let nobody = FetchRequest<WatchedPerson>(where: \.points > 100)

            #expect(try ValueObserver(.sum(\.points), of: nobody, in: context).value == 0)
            #expect(try ValueObserver(.minimum(\.points), of: nobody, in: context).value == nil)
            #expect(try ValueObserver(\.name, ofFirst: nobody, in: context).value == nil)
        }
    }
}
