import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Objects that come one after the other.
@Suite struct StreamTests {
    private let race: Race
    private var view: ManagedObjectContext { race.container.viewContext }

    init() throws {
        race = try Race()
    }

    private var inPages: FetchRequest<Runner> {
        var request = FetchRequest<Runner>()
        request.fetchBatchSize = 3
        return request
    }

    @MainActor @Test func `objects come with their values, in the main actor`() async throws {
        try race.fill(10)

        var names: [String] = []
        for try await runner in view.stream(inPages) {
            #expect(!runner.isFault)
            names.append(runner.name)
        }

        #expect(names == (0..<10).map { "\($0)" })
    }

    @Test func `values come anywhere`() async throws {
        try race.fill(10)
        let context = race.container.newBackgroundContext()

        var ids: [ManagedObjectID] = []
        for try await id in context.stream(inPages, { $0.objectID }) { ids.append(id) }

        let expected = try race.with { try $0.identifiers(of: inPages) }
        #expect(ids == expected)
        #expect(ids.count == 10)
    }

    @Test func `a stream of values whose closure has thrown has ended`() async throws {
        try race.fill(10)
        let context = race.container.newBackgroundContext()
        var values = context.stream(inPages) { runner in
            guard runner.name != "4" else { throw QueryError("four") }
            return runner.name
        }.makeAsyncIterator()

        for name in ["0", "1", "2"] { #expect(try await values.next() == name) }
        await #expect(throws: QueryError.self) { try await values.next() }
        #expect(try await values.next() == nil)
    }

    @Test func `a hundred thousand objects are never in memory together`() throws {
        let count = 100_000
        try race.with { context in
            _ = try context.execute(
                BatchInsertRequest<Runner>(
                    objects: (0..<count).map { ["name": "r\($0 % 999)", "rank": $0] }))
        }
        let orders: [[FetchOrder<Runner>]] = [[], [.ascending(\.rank)]]
        for order in orders {
            try race.with { context in
                var request = FetchRequest<Runner>()
                request.order = order
                var seen = 0
                var most = (objects: 0, registered: 0)
                try context.enumerate(request) { _ in
                    seen += 1
                    most.registered = max(most.registered, context.registry.count)
                    guard seen % 1_000 == 0 else { return }
                    most.objects = max(most.objects, context.registry.objects.count)
                }

                #expect(seen == count)
                #expect(most.objects <= 256)
                #expect(most.registered <= 256)
                #expect(context.registeredObjects.isEmpty)
            }
        }
    }

    @Test func `edits on the way neither add nor move objects`() throws {
        try race.fill(10)
        try race.with { context in
            var request = inPages
            request.order = [.ascending(\.rank)]
            var seen: [String] = []
            try context.enumerate(request) { runner in
                seen.append(runner.name)
                runner.rank = (runner.rank ?? 0) + 100
                Runner(context: context).rank = (runner.rank ?? 0) + 1
            }

            #expect(seen == (0..<10).map { "\($0)" })
            try context.save()
        }
        #expect(try race.with { try $0.count(FetchRequest<Runner>()) } == 20)
    }

    @Test func `what the program deletes on the way does not come`() throws {
        try race.fill(10)
        try race.with { context in
            var seen: [String] = []
            try context.enumerate(inPages) { runner in
                seen.append(runner.name)
                guard runner.name == "2" else { return }
                for other in try context.fetch(FetchRequest<Runner>(where: \.rank < 8)) {
                    context.delete(other)
                }
            }

            #expect(seen == ["0", "1", "2", "8", "9"])
        }
    }

    @Test func `a context that has merged meanwhile gets the values of now`() throws {
        try race.fill(10)
        try race.with { context in
            var seen: [String] = []
            try context.enumerate(inPages) { runner in
                seen.append(runner.name)
                guard runner.name == "2" else { return }
                try race.with { other in
                    for runner in try other.fetch(FetchRequest<Runner>()) {
                        if runner.name == "5" { other.delete(runner) }
                        runner.name += "!"
                    }
                    try other.save()
                }
                _ = try context.mergeChanges()
            }

            #expect(seen == ["0", "1", "2", "3!", "4!", "6!", "7!", "8!", "9!"])
        }
    }

    @Test func `objects that were edited before keep their edits`() throws {
        try race.fill(4)
        try race.with { context in
            for runner in try context.fetch(FetchRequest<Runner>(where: \.rank == 1)) {
                runner.name = "edited"
                runner.rank = 7
            }
            let new = Runner(context: context)
            new.name = "new"
            new.rank = 0
            var request = inPages
            request.order = [.ascending(\.rank)]
            var seen: [String] = []
            try context.enumerate(request) { seen.append($0.name) }

            #expect(seen == ["0", "new", "2", "3", "edited"])
            request.includesPendingChanges = false
            seen = []
            try context.enumerate(request) { seen.append($0.name) }
            #expect(seen == ["0", "edited", "2", "3"])
        }
    }

    @MainActor @Test func `a cancelled task gets an error with the next object`() async throws {
        try race.fill(10)
        let view = view
        let request = inPages
        let task = _Concurrency.Task { @MainActor in
            var seen = 0
            do {
                for try await _ in view.stream(request) {
                    seen += 1
                    if seen == 4 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            } catch is CancellationError {
                return seen
            }
            return -1
        }

        #expect(try await task.value == 4)
        let other = _Concurrency.Task {
            var seen = 0
            do {
                for try await _ in view.stream(request, { $0.name }) {
                    seen += 1
                    if seen == 4 { withUnsafeCurrentTask { $0?.cancel() } }
                }
            } catch is CancellationError {
                return seen
            }
            return -1
        }
        #expect(try await other.value == 4)
    }

    @Test func `what the body throws ends it`() throws {
        try race.fill(10)
        try race.with { context in
            var seen = 0
            #expect(throws: StoreError.self) {
                try context.enumerate(inPages) { _ in
                    seen += 1
                    if seen == 5 { throw StoreError(.noSuchEntry, "Enough.") }
                }
            }
            #expect(seen == 5)
        }
    }

    @Test func `prefetched relationships are read with the page`() throws {
        try race.with { context in
            let club = RaceClub(context: context)
            for _ in 0..<5 { Runner(context: context).club = club }
            try context.save()
        }
        try race.with { context in
            var request = inPages
            request.relationshipKeyPathsForPrefetching = ["club"]
            var wasRead: [Bool] = []
            try context.enumerate(request) { wasRead.append($0.club?.isFault == false) }

            #expect(wasRead == Array(repeating: true, count: 5))
        }
    }

    @Test func `a wrong request is refused with the first object`() throws {
        try race.with { context in
            var request = inPages
            request.limit = -1
            #expect(throws: QueryError.self) { try context.enumerate(request) { _ in } }
            request = inPages
            request.relationshipKeyPathsForPrefetching = ["nothing"]
            #expect(throws: QueryError.self) { try context.enumerate(request) { _ in } }
        }
    }
}
