import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Actors that live on the queue of a context.
@Suite struct ContextActorTests {
    actor Crew: ContextActor {
        nonisolated let context: ManagedObjectContext
        private var hired: [Employee] = []

        init(_ context: ManagedObjectContext) {
            self.context = context
        }

        var isOnQueue: Bool { context.lock.isMine }

        @discardableResult
        func hire(_ names: String...) -> [ManagedObjectID] {
            for name in names {
                let employee = Employee(context: context)
                employee.lastName = name
                hired.append(employee)
            }
            return hired.map(\.objectID)
        }

        func save() throws -> SequenceNumber? { try context.save() }

        func undo() { context.undo() }

        var names: [String] {
            get throws { try context.fetch(FetchRequest<Employee>()).map(\.lastName).sorted() }
        }

        var hasChanges: Bool { context.hasChanges }

        /// Hires, waits for others, and hires again.
        func hire(_ first: String, then wait: @Sendable () async throws -> Void, _ last: String)
            async throws
        {
            hire(first)
            try await wait()
            precondition(context.lock.isMine)
            hire(last)
        }

        /// The names, one object after the other.
        func streamed() async throws -> [String] {
            var request = FetchRequest<Employee>()
            request.fetchBatchSize = 2
            request.order = [.ascending(\.lastName)]
            var names: [String] = []
            for try await employee in context.stream(request) {
                precondition(context.lock.isMine)
                names.append(employee.lastName)
            }
            return names
        }

        func refuse() throws {
            hire("Zoe")
            throw StoreError(.noSuchEntry, "No.")
        }

        nonisolated func assume() { assumeIsolated { _ in } }

        func rollback() { context.rollback() }
    }

    private let store: StaffStore

    init() throws {
        store = try StaffStore()
    }

    @Test func `an actor runs on the queue of its context`() async throws {
        let crew = Crew(store.context())

        #expect(await crew.isOnQueue)
        await crew.hire("Ada", "Bea")
        #expect(await crew.hasChanges)
        #expect(try await crew.save() == SequenceNumber(2))
        #expect(try await crew.names == ["Ada", "Bea"])
        #expect(try await crew.streamed() == ["Ada", "Bea"])
        #expect(!crew.context.lock.isMine)
    }

    @Test func `blocks of the context and methods of the actor take turns`() async throws {
        let crew = Crew(store.context())
        await crew.hire("Ada")

        let count = try await crew.context.perform {
            crew.assumeIsolated { crew in crew.context.insertedObjects.count }
        }

        #expect(count == 1)
    }

    @Test func `assuming the actor elsewhere stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try StaffStore()
            let crew = Crew(store.context())
            crew.assume()
        }
    }

    @Test func `each stretch is one step of undo`() async throws {
        let crew = Crew(store.context())

        try await crew.hire("Ada", then: { await _Concurrency.Task.yield() }, "Bea")
        await crew.undo()

        #expect(try await crew.names == ["Ada"])
        await crew.undo()
        #expect(try await crew.names.isEmpty)
    }

    @Test func `two actors on one container do not wait for each other`() async throws {
        let (first, second) = (Crew(store.context()), Crew(store.context()))

        // The second one saves while the first is in the middle of its work.
        try await first.hire(
            "Ada",
            then: {
                await second.hire("Bea")
                let saved = try await second.save()
                #expect(saved == SequenceNumber(2))
            }, "Cid")

        #expect(try await first.save() == SequenceNumber(3))
        #expect(try await second.names == ["Ada", "Bea", "Cid"])
    }

    @Test func `an error leaves the context usable, with what was changed pending`() async throws {
        let crew = Crew(store.context())
        await #expect(throws: StoreError.self) { try await crew.refuse() }

        #expect(await crew.hasChanges)
        await crew.rollback()
        await crew.hire("Ada")
        #expect(try await crew.save() == SequenceNumber(2))
        #expect(try await crew.names == ["Ada"])
    }

    @Test func `a cancelled task leaves the context usable`() async throws {
        let crew = Crew(store.context())
        let task = _Concurrency.Task {
            try await crew.hire(
                "Ada",
                then: {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try _Concurrency.Task.checkCancellation()
                }, "Bea")
        }
        await #expect(throws: CancellationError.self) { try await task.value }

        #expect(try await crew.names == ["Ada"])
        #expect(try await crew.save() == SequenceNumber(2))
    }

    @Test func `what is pending when an actor goes away is not saved`() async throws {
        do {
            let crew = Crew(store.context())
            await crew.hire("Ada")
        }
        let other = Crew(store.context())

        #expect(try await other.names.isEmpty)
        #expect(try await other.save() == nil)
    }

    @Test func `many actors write at the same time`() async throws {
        let store = store
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    let crew = Crew(store.context())
                    for turn in 0..<5 {
                        await crew.hire("\(number).\(turn)")
                        _ = try await crew.save()
                    }
                }
            }
            try await group.waitForAll()
        }

        #expect(try await Crew(store.context()).names.count == 40)
    }

    @MainActor @Test func `an actor may live on the main queue`() async throws {
        let crew = Crew(store.container.viewContext)

        await crew.hire("Ada")

        #expect(await crew.isOnQueue)
        #expect(store.container.viewContext.insertedObjects.count == 1)
    }
}
