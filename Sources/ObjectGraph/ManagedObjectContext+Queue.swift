import Dispatch
import Foundation

extension ManagedObjectContext {
    /// Runs `body` on the context's queue and returns its result, without blocking.
    ///
    /// Ends the event: what `body` changed is one step for undo.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Swift.Result { try self.asOneEvent(body) })
            }
        }
    }

    /// Runs `body` on the context's queue some time later.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        queue.async { self.asOneEvent(body) }
    }

    /// Runs `body` on the context's queue and waits for it. May be called from the queue itself.
    public func performAndWait<Result>(_ body: () throws -> Result) rethrows -> Result {
        if isOnQueue { return try body() }
        return try queue.sync { try asOneEvent(body) }
    }

    private func asOneEvent<Result>(_ body: () throws -> Result) rethrows -> Result {
        defer { processPendingChanges() }
        return try body()
    }

    var isOnQueue: Bool {
        switch concurrencyType {
        case .mainQueue: Thread.isMainThread
        case .privateQueue: DispatchQueue.getSpecific(key: Self.queueKey) == ObjectIdentifier(self)
        }
    }

    /// Stops a debug build when the context is used off its queue.
    func assertOnQueue() {
        assert(
            isOnQueue,
            "The context '\(name ?? "without a name")' was used off its queue; use perform.")
    }
}
