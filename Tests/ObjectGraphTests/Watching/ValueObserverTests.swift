import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
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

    @Test func `a list that could not be read tells later what it could not tell then`() throws {
        try context.performAndWait { () throws in
            let (ann, bea, cid) = (try person("Ann"), try person("Bea"), try person("Cid"))
            // Read in memory, and so as a whole with each change.
            var request = FetchRequest<WatchedPerson>(where: #Predicate { $0.isDeleted == false })
            request.order = [.ascending(\.name)]
            let asked = request
            var isReadable = true
            let list = WatchedList(in: context, .byItself) { [context] in
                guard isReadable else { throw StoreError(.busy, "The store is busy.") }
                return try WatchedRequest(asked, section: nil, in: context)
            }
            list.follow(true)
            try list.fetch()
            var steps: [ListStep] = []
            list.onChange = { steps.append($0) }
            var failures = 0
            context.mergeFailureHandler = { _ in failures += 1 }

            isReadable = false
            ann.points = 10
            bea.name = "Zoe"
            context.processPendingChanges()
            #expect(failures == 1 && steps.isEmpty)
            isReadable = true
            cid.points = 11
            context.processPendingChanges()

            #expect(steps.count == 1)
            #expect(Set(steps.flatMap { $0.updates.map(\.id) }) == [ann.graphID, cid.graphID])
            #expect(steps.flatMap { $0.objects.insertions.map(\.element) } == [bea.graphID])
            cid.points = 12
            context.processPendingChanges()
            #expect(steps.last?.updates.map(\.id) == [cid.graphID])
        }
    }
}
