import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Observation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Lists that are observed: whoever changes what they show.
@Suite struct ResultsObserverTests {
    private let store: ClassStore
    private let context: ManagedObjectContext
    private let ids: [ManagedObjectID]

    /// Ann, Bea and Cid, in one team, of whom each has as many points as come before it.
    init() throws {
        store = try ClassStore(watchedClasses)
        context = store.container.newBackgroundContext()
        let context = context
        ids = try context.performAndWait { () throws in
            let team = WatchedTeam(context: context)
            team.city = "Berlin"
            let people = ["Ann", "Bea", "Cid"].enumerated().map { index, name in
                let person = WatchedPerson(context: context)
                person.name = name
                person.points = index
                person.team = team
                return person
            }
            try context.save()
            return people.map(\.objectID)
        }
    }

    private var byName: FetchRequest<WatchedPerson> {
        var request = FetchRequest<WatchedPerson>()
        request.order = [.ascending(\.name)]
        return request
    }

    private func person(_ index: Int, _ context: ManagedObjectContext) throws -> WatchedPerson {
        try #require(context.existingObject(with: ids[index]) as? WatchedPerson)
    }

    /// Edits in a context of its own and saves.
    @discardableResult
    private func others(
        _ author: String = "grace", _ edit: (ManagedObjectContext) throws -> Void
    ) throws -> SequenceNumber? {
        try store.inContext { (other) throws in
            try edit(other)
            return try other.save(author: author)
        }
    }

    private func run(_ body: (ManagedObjectContext) throws -> Void) rethrows {
        try context.performAndWait { try body(context) }
    }

    @Test func `a pending change names no entry, a save of others names its number and author`()
        throws
    {
        try run { context in
            context.automaticallyMergesChangesFromParent = true
            let observer = try ResultsObserver(byName, in: context)
            let differences = observer.differences

            try person(0, context).name = "Dan"
            context.processPendingChanges()
            let pending = try #require(differences.takeWaiting())
            #expect(pending.changes == [.move(ids[0], from: 0, to: 2)])
            #expect(pending.entries == [])
            try context.save(author: "ada")
            // What the context saves, the list has shown already.
            #expect(differences.takeWaiting() == nil)

            let sequence = try others { try person(1, $0).name = "Eve" }
            _ = try context.mergeChanges()
            let merged = try #require(differences.takeWaiting())
            #expect(merged.changes == [.move(ids[1], from: 0, to: 2)])
            #expect(merged.entry(of: ids[1])?.sequence == sequence)
            #expect(merged.entry(of: ids[1])?.author == "grace")
            #expect(merged.entries.map(\.storeIdentifier) == [store.store.identifier])
        }
    }

    @Test func `what another opening of the store saves is followed, as of another process`() throws
    {
        let elsewhere = try TestContainer.make(
            store.folder.url.appendingPathComponent("classes.daybook"), model: watchedClasses)
        try run { context in
            context.automaticallyMergesChangesFromParent = true
            let observer = try ResultsObserver(byName, in: context)
            let differences = observer.differences
            let other = elsewhere.newBackgroundContext()
            try other.performAndWait { () throws in
                let new = WatchedPerson(context: other)
                new.name = "Abe"
                try other.save(author: "another")
            }

            _ = try context.mergeChanges()

            #expect(observer.objects.map(\.name) == ["Abe", "Ann", "Bea", "Cid"])
            #expect(differences.takeWaiting()?.entries.map(\.author) == ["another"])
        }
    }

    @Test func `a list of what is saved changes with the save, which it names`() throws {
        try run { context in
            var request = byName
            request.includesPendingChanges = false
            let observer = try ResultsObserver(request, in: context)
            let differences = observer.differences

            try person(0, context).name = "Dan"
            context.processPendingChanges()
            #expect(observer.objects.map(\.objectID) == ids)
            #expect(differences.takeWaiting() == nil, "Nothing has been saved.")
            let sequence = try context.save(author: "ada")

            let difference = try #require(differences.takeWaiting())
            #expect(difference.changes == [.move(ids[0], from: 0, to: 2)])
            #expect(difference.entries.map(\.sequence) == [try #require(sequence)])
            #expect(difference.entries.map(\.author) == ["ada"])
        }
    }

    @Test func `undo, redo and rollback are followed`() throws {
        try run { context in
            let observer = try ResultsObserver(byName, in: context)

            context.delete(try person(0, context))
            try person(1, context).name = "Eve"
            context.processPendingChanges()
            #expect(observer.objects.map(\.objectID) == [ids[2], ids[1]])
            context.undo()
            #expect(observer.objects.map(\.objectID) == ids)
            context.redo()
            #expect(observer.objects.map(\.objectID) == [ids[2], ids[1]])
            context.rollback()
            #expect(observer.objects.map(\.objectID) == ids)
        }
    }

    @Test func `a reset leaves what is saved, and objects that can be read`() throws {
        try run { context in
            let observer = try ResultsObserver(byName, in: context)
            let differences = observer.differences
            let new = WatchedPerson(context: context)
            new.name = "Abe"
            context.processPendingChanges()
            #expect(observer.count == 4)
            _ = differences.takeWaiting()

            context.reset()

            #expect(observer.objects.map(\.name) == ["Ann", "Bea", "Cid"])
            #expect(differences.takeWaiting()?.changes == [.delete(new.objectID, from: 0)])
        }
    }

    @Test func `a child's list follows what is pending in the parent, and its rollback`() throws {
        let child = ManagedObjectContext(parent: context)
        let observer = try child.performAndWait { () throws in
            child.automaticallyMergesChangesFromParent = true
            return try ResultsObserver(byName, in: child)
        }
        func names() -> [String?] { child.performAndWait { observer.objects.map(\.name) } }

        try run { context in
            try person(0, context).name = "Dan"
            context.processPendingChanges()
        }
        #expect(
            child.performAndWait { observer.objects.map(\.objectID) } == [ids[1], ids[2], ids[0]])
        run { $0.rollback() }
        #expect(names() == ["Ann", "Bea", "Cid"])
    }

    @Test func `a parent's list follows what a child saves into it`() throws {
        try run { context in
            let observer = try ResultsObserver(byName, in: context)
            let differences = observer.differences
            let child = ManagedObjectContext(parent: context)

            try child.performAndWait { () throws in
                child.delete(try person(2, child))
                try child.save(author: "child")
            }

            #expect(observer.objects.map(\.objectID) == [ids[0], ids[1]])
            #expect(differences.takeWaiting()?.changes == [.delete(ids[2], from: 2)])
        }
    }

    @Test func `a change of a related object moves those that depend on it in and out`() throws {
        try run { context in
            context.automaticallyMergesChangesFromParent = true
            let observer = try ResultsObserver(
                FetchRequest<WatchedPerson>(where: \.team?.city == "Bonn"), in: context)
            let differences = observer.differences
            #expect(observer.count == 0)

            let sequence = try others { other in
                try other.fetch(FetchRequest<WatchedTeam>()).first?.city = "Bonn"
            }
            _ = try context.mergeChanges()
            let difference = try #require(differences.takeWaiting())
            #expect(Set(observer.objects.map(\.objectID)) == Set(ids))
            #expect(difference.entries.map(\.sequence) == [try #require(sequence)])

            let team = try #require(context.fetch(FetchRequest<WatchedTeam>()).first)
            context.delete(team)
            context.processPendingChanges()
            #expect(observer.count == 0)
        }
    }

    @Test func `a property on which nothing depends asks nothing of related objects`() throws {
        try run { context in
            let observer = try ResultsObserver(
                FetchRequest<WatchedPerson>(where: \.team?.city == "Berlin"), in: context)
            let request = try WatchedRequest(
                observer.fetchRequest, section: nil, in: context)
            let team = try #require(context.fetch(FetchRequest<WatchedTeam>()).first)
            let schema = context.coordinator.model.schema
            func notices(_ name: String) throws -> ListNotices {
                let entity = try #require(schema.entity(named: "WatchedTeam"))
                let property = try #require(entity.property(named: name))
                var notices = ListNotices()
                notices.take(team.graphID, [property.number], .update)
                return notices
            }

            #expect(try request.dependents(of: notices("city"), in: context).count == 3)
            #expect(try request.dependents(of: notices("league"), in: context).isEmpty)
        }
    }

    @Test func `a list in a past context is constant`() throws {
        let past = try store.container.context(at: .sequence(SequenceNumber(rawValue: 2)))
        let observer = try past.performAndWait { try ResultsObserver(byName, in: past) }

        try others { $0.delete(try person(0, $0)) }
        past.performAndWait {}

        #expect(past.performAndWait { observer.objects.map(\.name) } == ["Ann", "Bea", "Cid"])
    }

    @Test func `a list of a held context moves with its generation`() throws {
        try run { context in
            try context.setQueryGeneration(from: .current)
            let observer = try ResultsObserver(byName, in: context)
            try others { $0.delete(try person(0, $0)) }
            #expect(observer.count == 3)

            try context.setQueryGeneration(from: nil)

            #expect(observer.objects.map(\.objectID) == [ids[1], ids[2]])
        }
    }

    @Test func `a condition that no filter stands for is evaluated again`() throws {
        try run { context in
            let predicate = #Predicate<WatchedPerson> { ($0.name ?? "").count > 3 }
            let observer = try ResultsObserver(
                FetchRequest<WatchedPerson>(where: predicate), in: context)
            #expect(observer.count == 0)

            try person(1, context).name = "Beatrix"
            context.processPendingChanges()

            #expect(observer.objects.map(\.objectID) == [ids[1]])
        }
    }

    @Test func `what is transient is refused, and what does not fit the model`() throws {
        try StaffStore().inContext { (context) throws in
            #expect(throws: QueryError.self) {
                try ResultsObserver(
                    FetchRequest<Employee>(where: Condition("fullName == 'Ada'")), in: context)
            }
            #expect(throws: QueryError.self) {
                try ResultsObserver(
                    FetchRequest<Employee>(), sectionedBy: "nothing", in: context)
            }
            #expect(!context.news.isWatched)
        }
    }

    @Test func `several stores are merged in the list as in a fetch`() throws {
        let second = try store.container.persistentStoreCoordinator.addPersistentStore(
            with: .inMemory())
        try run { context in
            let observer = try ResultsObserver(byName, in: context)
            let new = WatchedPerson(context: context)
            new.name = "Bea"
            try context.assign(new, to: second)
            try context.save()

            #expect(observer.objects == (try context.fetch(byName)))
            #expect(observer.count == 4)
            #expect(observer.objects[2] === new)
        }
    }

    @Test func `a store that comes back behind another is told of`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.hire("Adams", in: stores[0])
        try set.hire("Bohr", in: stores[1])
        let context = set.context()
        nonisolated(unsafe) var watched:
            (list: ResultsObserver<Employee>, differences: ResultsChanges<ResultsDifference>)?
        var copy: [ManagedObjectID] = []
        try context.performAndWait {
            let list = try ResultsObserver(FetchRequest<Employee>(), in: context)
            watched = (list, list.differences)
            copy = list.objects.map(\.objectID)
            // The context is busy meanwhile, and learns of both at once.
            let done = DispatchSemaphore(value: 0)
            Thread {
                let result = Result {
                    try set.coordinator.remove(stores[0])
                    try set.coordinator.addPersistentStore(at: set.url("first"))
                }
                if case .failure(let error) = result { Issue.record(error) }
                done.signal()
            }.start()
            done.wait()
        }
        try context.performAndWait {
            let (list, differences) = try #require(watched)
            while let next = differences.takeWaiting() { next.apply(to: &copy) }

            #expect(list.objects.map(\.lastName) == ["Bohr", "Adams"])
            #expect(list.objects == (try context.fetch(FetchRequest<Employee>())))
            #expect(copy == list.objects.map(\.objectID))
        }
    }

    // MARK: - Observation and sequences

    @Test func `reading a list is tracked, until it changes`() throws {
        try run { context in
            let observer = try ResultsObserver(byName, in: context)
            let changes = Atomic<Int>(0)
            _ = withObservationTracking {
                observer.objects
            } onChange: {
                changes.wrappingAdd(1, ordering: .relaxed)
            }

            let league = WatchedLeague(context: context)
            league.title = "unrelated"
            context.processPendingChanges()
            #expect(changes.load(ordering: .relaxed) == 0)
            try person(0, context).points = 9
            context.processPendingChanges()
            #expect(changes.load(ordering: .relaxed) == 1)
            #expect(observer[0].points == 9)
            #expect(observer.offset(of: try person(2, context)) == 2)
        }
    }

    @Test func `a slow reader gets one difference for all that has happened`() throws {
        try run { context in
            let observer = try ResultsObserver(byName, in: context)
            let differences = observer.differences
            let new = WatchedPerson(context: context)
            new.name = "Abe"
            context.processPendingChanges()
            try person(0, context).name = "Zoe"
            context.processPendingChanges()
            try person(1, context).points = 5
            context.processPendingChanges()
            context.delete(new)
            context.processPendingChanges()

            var copy = ids
            let difference = try #require(differences.takeWaiting())
            difference.apply(to: &copy)
            #expect(copy == [ids[1], ids[2], ids[0]])
            #expect(
                difference.changes == [
                    .move(ids[0], from: 0, to: 2), .update(ids[1], from: 1, to: 0),
                ])
        }
    }

    @Test
    func `a task gets each difference, and its cancellation ends the loop and leaves nothing`()
        async throws
    {
        let context = context
        let request = byName
        weak var kept: ResultsObserver<WatchedPerson>?
        let (names, received) = AsyncStream<Int>.makeStream()
        do {
            let observer = try await context.perform { try ResultsObserver(request, in: context) }
            kept = observer
            let differences = try await context.perform { observer.differences }
            let task = _Concurrency.Task {
                for await difference in differences { received.yield(difference.changes.count) }
                received.finish()
            }
            var seen = names.makeAsyncIterator()
            for number in 1...3 {
                try await context.perform {
                    let person = WatchedPerson(context: context)
                    person.name = "N\(number)"
                }
                #expect(await seen.next() == 1)
            }
            task.cancel()
            await task.value
            #expect(await seen.next() == nil)
        }
        // The loop has held the list, and the context has not.
        try await context.perform { context.processPendingChanges() }
        #expect(kept == nil)
        #expect(!context.news.isWatched)
    }

    @Test func `two lists of one context are told of the same, and a dropped one of nothing`()
        throws
    {
        try run { context in
            let one = try ResultsObserver(byName, in: context)
            var two: ResultsObserver<WatchedPerson>? = try ResultsObserver(byName, in: context)
            context.delete(try person(0, context))
            context.processPendingChanges()
            #expect(one.count == 2)
            #expect(two?.count == 2)

            two = nil
            context.delete(try person(1, context))
            context.processPendingChanges()
            #expect(one.count == 1)
            #expect(context.news.liveLists.count == 1)
        }
    }
}
