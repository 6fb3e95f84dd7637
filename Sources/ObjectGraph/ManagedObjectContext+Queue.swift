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
        // Where the main actor runs on Dispatch without a run loop, as on Linux, the main queue is
        // served by any thread once the first one waits in `dispatchMain`.
        case .mainQueue: Thread.isMainThread || MainQueue.isCurrent
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

/// Tells whether the code at hand runs on the main queue, whichever thread serves it.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
