import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Tasks that wait for a context and are cancelled.
@Suite struct CancellationTests {
    private let context: ManagedObjectContext
    private let store: StaffStore

    init() throws {
        store = try StaffStore()
        context = store.context()
    }

    /// Keeps the context busy.
    private func occupy(until gate: DispatchSemaphore) {
        context.perform { gate.wait() }
    }

    @Test func `a task that is cancelled before its turn stops waiting, and nothing of it is done`()
        async
        throws
    {
        let gate = DispatchSemaphore(value: 0)
        let hasBegun = Mutex(false)
        occupy(until: gate)
        let waiting = _Concurrency.Task { [context] in
            try await context.perform { hasBegun.withLock { $0 = true } }
        }

        waiting.cancel()

        // The context is still busy, so only a task that stops waiting can continue.
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.signal()
        context.performAndWait {}
        #expect(!hasBegun.withLock { $0 })
    }

    @Test func `a task that was cancelled already does not begin`() async throws {
        let task = _Concurrency.Task { [context] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await context.perform { 1 }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `what has begun when its task is cancelled runs to its end`() async throws {
        let begun = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let task = _Concurrency.Task { [context] in
            try await context.perform {
                begun.signal()
                gate.wait()
                let ada = Employee(context: context)
                ada.lastName = "Lovelace"
                try context.save()
                return 1
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                begun.wait()
                continuation.resume()
            }
        }
        task.cancel()
        gate.signal()

        #expect(try await task.value == 1)
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Employee>()) == 1)
        }
    }

    @Test func `a background task that is cancelled throws the same`() async throws {
        let container = store.container
        let task = _Concurrency.Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await container.performBackgroundTask { _ in 1 }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
