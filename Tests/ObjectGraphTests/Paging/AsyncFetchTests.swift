import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Fetches that report how far they have come, and can be cancelled.
@Suite struct AsyncFetchTests {
    private let race: Race

    init() throws {
        race = try Race()
    }

    private var all: FetchRequest<Runner> { FetchRequest<Runner>() }

    /// Keeps a context busy.
    private func occupy(_ context: ManagedObjectContext, until gate: DispatchSemaphore) {
        context.perform { gate.wait() }
    }

    @MainActor @Test func `objects come in the main actor, and the progress is complete`()
        async throws
    {
        try race.fill(3_000)
        var request = all
        request.order = [.descending(\.rank)]
        request.returnsObjectsAsFaults = false
        let progress = Progress(totalUnitCount: 1)

        let runners = try await race.container.viewContext.fetch(request, reporting: progress)

        #expect(runners.map(\.rank) == (0..<3_000).reversed())
        #expect(runners.allSatisfy { !$0.isFault })
        #expect(progress.isFinished)
        #expect(progress.completedUnitCount == progress.totalUnitCount)
        // About so many are looked at, and then made.
        #expect((5_000..<7_000).contains(progress.totalUnitCount))
    }

    actor Timekeeper: ContextActor {
        nonisolated let context: ManagedObjectContext

        init(_ context: ManagedObjectContext) {
            self.context = context
        }

        func names(_ request: FetchRequest<Runner>) async throws -> [String] {
            let runners = try await context.fetch(request, reporting: Progress(totalUnitCount: 1))
            precondition(context.lock.isMine)
            return runners.map(\.name)
        }
    }

    @Test func `objects come in the actor of their context`() async throws {
        try race.fill(5)
        let keeper = Timekeeper(race.container.newBackgroundContext())

        let names = try await keeper.names(all)
        #expect(names == ["0", "1", "2", "3", "4"])
        let nobody = try await keeper.names(FetchRequest(where: \.rank == 9))
        #expect(nobody == [])
    }

    @Test func `the store is searched while the context's queue is busy`() async throws {
        try race.fill(100)
        let context = race.container.newBackgroundContext()
        let request = all
        let how = try await context.perform { try context.search(for: request) }
        let search = try #require(SearchUnderWay(how), "A store finds all runners.")
        let gate = DispatchSemaphore(value: 0)
        occupy(context, until: gate)

        let found = try await search.find()

        gate.signal()
        #expect(found.count == 100)
        #expect(search.counts.looked == 100)
        #expect(search.counts.expected == 100)
    }

    @Test func `what others save after the fetch has begun is not found`() async throws {
        try race.fill(10)
        let context = race.container.newBackgroundContext()
        let request = all
        let how = try await context.perform { () throws in
            Runner(context: context).name = "pending"
            return try context.search(for: request)
        }
        try race.fill(3)
        try await context.perform { Runner(context: context).name = "late" }
        let search = try #require(SearchUnderWay(how), "A store finds all runners.")

        let found = try await search.find()

        #expect(found.count == 11)
    }

    @Test func `what the context deletes meanwhile is left out`() async throws {
        try race.fill(2_500)
        let context = race.container.newBackgroundContext()
        var request = all
        request.order = [.ascending(\.rank)]
        let last = try await context.perform {
            try #require(try context.fetch(FetchRequest<Runner>(where: \.rank == 2_499)).first)
                .objectID
        }

        let names = try await context.fetch(request, reporting: Progress(totalUnitCount: 1)) {
            runner in
            if runner.rank == 0, let gone = context.object(with: last) { context.delete(gone) }
            if runner.rank == 1 { try context.save() }
            return runner.name
        }

        let expected = (0..<2_499).map { "\($0)" }
        #expect(names == expected)
    }

    @Test func `a progress that is cancelled before reads nothing`() async throws {
        try race.fill(3)
        let context = race.container.newBackgroundContext()
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        await #expect(throws: CancellationError.self) {
            try await context.fetch(FetchRequest<Runner>(), reporting: progress) { $0.name }
        }
        #expect(progress.completedUnitCount == 0)
    }

    @Test func `whoever cancels the progress or the task gets no second portion`() async throws {
        try race.fill(3_000)
        let context = race.container.newBackgroundContext()
        let request = all
        let made = Mutex(0)
        let progress = Progress(totalUnitCount: 1)
        await #expect(throws: CancellationError.self) {
            try await context.fetch(request, reporting: progress) { runner in
                progress.cancel()
                return made.withLock { $0 += 1 }
            }
        }
        #expect(made.withLock { $0 } == 1_024)
        #expect(!progress.isFinished)

        made.withLock { $0 = 0 }
        let gate = DispatchSemaphore(value: 0)
        let task = _Concurrency.Task {
            try await context.fetch(request, reporting: Progress(totalUnitCount: 1)) { _ in
                // The first portion, on the context's queue, waits until the task is cancelled.
                if made.withLock({
                    $0 += 1; return $0
                }) == 1 {
                    gate.wait()
                }
            }
        }
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(made.withLock { $0 } <= 1_024)
        // The context goes on as if nothing had been.
        let names = try await context.fetch(request, reporting: Progress(totalUnitCount: 1)) {
            $0.name
        }
        #expect(names.count == 3_000)
    }

    @Test func `a progress that was cancelled ends a fetch that finds nothing, wherever it looks`()
        async throws
    {
        try race.fill(300)
        let context = race.container.newBackgroundContext()
        let child = ManagedObjectContext(parent: context)
        let nobody = FetchRequest<Runner>(where: \.name == "nobody")
        for (context, request) in [(context, nobody), (child, nobody)] {
            let progress = Progress(totalUnitCount: 1)
            progress.cancel()
            await #expect(throws: CancellationError.self) {
                _ = try await context.fetch(request, reporting: progress) { $0.name }
            }
            #expect(!progress.isFinished)
        }
    }

    @Test func `what another has deleted meanwhile is in no result as an empty object`()
        async throws
    {
        try race.fill(3)
        let context = race.container.newBackgroundContext()
        let other = race.container.newBackgroundContext()
        let request = all
        let deleted = Mutex(false)
        // Deleted when the first portion is made, of which each has one object.
        let names = try await context.fetch(request, reporting: Progress(totalUnitCount: 1)) {
            runner in
            if !deleted.withLock({ was in
                defer { was = true }; return was
            }) {
                try other.performAndWait {
                    for runner in try other.fetch(request) { other.delete(runner) }
                    try other.save()
                }
            }
            return runner.name
        }

        #expect(!names.contains(""))
    }

    @Test func `a search that was stopped ends without reading`() async throws {
        try race.fill(3)
        let context = race.container.newBackgroundContext()
        let request = all
        let how = try await context.perform { try context.search(for: request) }
        let search = try #require(SearchUnderWay(how), "A store finds all runners.")
        search.stop()
        await #expect(throws: CancellationError.self) { try await search.find() }
        #expect(search.counts.looked == 0)
    }

    @Test func `a search of many rows ends within some hundred of them`() throws {
        let rows = 60_000
        try race.with { (context) throws in
            _ = try context.execute(
                BatchInsertRequest<Runner>(objects: (0..<rows).map { ["name": "r\($0 % 99)"] }))
        }
        let store = race.container.persistentStoreCoordinator.persistentStores[0]
        let told = Mutex(0)
        let own = Mutex<ReadWatch?>(nil)
        let watch = ReadWatch { count in
            told.withLock { $0 += count }
            own.withLock { $0 }?.stop()
        }
        own.withLock { $0 = watch }
        let query = try race.with { (context) throws in
            try FetchRequest<Runner>(where: \.minutes == 1).query(
                for: QueryTarget(
                    model: context.coordinator.model, store: store, stores: [store]))
        }

        #expect(throws: CancellationError.self) {
            try store.read(at: nil, watchedBy: watch) { try $0.fetch(query) }
        }

        // Each thread looks after 128 records, and begins no other part.
        let threads = 8 * ProcessInfo.processInfo.activeProcessorCount
        #expect(told.withLock { $0 } <= 128 * threads)
        own.withLock { $0 = nil }
    }

    @Test func `an error of the request, and of the closure, is thrown`() async throws {
        try race.fill(3)
        let context = race.container.newBackgroundContext()
        await #expect(throws: QueryError.self) {
            try await context.fetch(
                FetchRequest<Runner>(where: Condition("nam == 1")),
                reporting: Progress(totalUnitCount: 1)
            ) { $0.name }
        }
        await #expect(throws: StoreError.self) {
            try await context.fetch(FetchRequest<Runner>(), reporting: Progress(totalUnitCount: 1))
            {
                runner -> String in
                throw StoreError.noContext(runner.name)
            }
        }
    }

    @Test func `a predicate that is evaluated in memory is refused without pending changes`() throws
    {
        try race.fill(3)
        try race.with { (context) throws in
            var request = FetchRequest<Runner>(where: #Predicate<Runner> { $0.shout == "ANN" })
            request.includesPendingChanges = false

            let errors = [
                #expect(throws: QueryError.self) { try context.fetch(request) },
                #expect(throws: QueryError.self) { try context.count(request) },
                #expect(throws: QueryError.self) {
                    try ResultsObserver(request, in: context).objects
                },
            ]

            #expect(errors.allSatisfy { $0?.message.contains("includesPendingChanges") == true })
        }
    }

    @Test(arguments: UInt64(300)..<312)
    func `an asynchronous fetch finds what a fetch finds`(seed: UInt64) async throws {
        let now = race.container.newBackgroundContext()
        let child = ManagedObjectContext(parent: now)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3 {
            try race.with { (context) throws in
                try Race.edit(context, &random)
                try context.save()
            }
        }
        try race.container.setTag("then")
        try race.with { (context) throws in
            try Race.edit(context, &random)
            try context.save()
        }
        let past = try race.container.context(at: .tag("then"))
        try await check(now, "now, seed \(seed)", &random)
        try await check(past, "past, seed \(seed)", &random)
        try race.with(now) { try Race.edit($0, &random) }
        try await check(now, "pending, seed \(seed)", &random)
        try race.with(child) { try Race.edit($0, &random) }
        try await check(child, "child, seed \(seed)", &random)
    }

    private func check(
        _ context: ManagedObjectContext, _ place: Comment, _ random: inout SeededGenerator
    ) async throws {
        var requests = Race.requests(&random)
        requests.append(FetchRequest(where: #Predicate<Runner> { $0.shout == "ANN" }))
        for index in requests.indices {
            if random.chance(2) { requests[index].limit = Int.random(in: 1...9, using: &random) }
            if random.chance(3) { requests[index].offset = Int.random(in: 0...4, using: &random) }
            let isLast = index == requests.count - 1
            // The last is evaluated in memory, on what is pending.
            requests[index].includesPendingChanges = isLast || !random.chance(5)
            requests[index].fetchBatchSize = random.pick([0, 2, 5])
            let request = requests[index]
            let expected = try await context.perform { try context.identifiers(of: request) }
            let progress = Progress(totalUnitCount: 1)
            let found = try await context.fetch(request, reporting: progress) { $0.objectID }
            #expect(found == expected, place)
            #expect(progress.isFinished, place)
        }
    }

    @Test func `several stores are searched as by a fetch`() async throws {
        try race.fill(4)
        let coordinator = race.container.persistentStoreCoordinator
        let other = try coordinator.addPersistentStore(
            at: race.folder.url.appendingPathComponent("other.daybook"))
        try race.with { (context) throws in
            for rank in [1, 7] {
                let runner = Runner(context: context)
                runner.rank = rank
                try context.assign(runner, to: other)
            }
            try context.save()
        }
        var request = all
        request.order = [.descending(\.rank)]
        let context = race.container.newBackgroundContext()

        let ranks = try await context.fetch(request, reporting: Progress(totalUnitCount: 1)) {
            $0.rank
        }

        #expect(ranks == [7, 3, 2, 1, 1, 0])
    }
}
