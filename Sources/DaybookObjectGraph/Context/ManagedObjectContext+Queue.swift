import DaybookStopping
import Synchronization

/// When asynchronous work starts.
public enum ScheduledTaskType: Sendable, Hashable {
    /// At once if the caller is already in the context, such as on the main actor for a main-queue
    /// context; otherwise after the queued work.
    case immediate
    /// After the queued work, wherever the caller is.
    case enqueued
}

extension ManagedObjectContext {
    /// Runs `body` on the context's queue and returns its result, without blocking.
    ///
    /// Ends the event: what `body` changed is one undo step.
    ///
    /// - Parameters:
    ///   - schedule: When `body` starts.
    ///   - isolation: The actor that the caller is on; leave it to the compiler.
    ///   - body: What to do in the context.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `CancellationError` when the task is cancelled while `body` waits for
    ///   its turn, and then `body` never runs. Once begun, it runs to its end.
    public func perform<Result: Sendable>(
        schedule: ScheduledTaskType = .immediate, isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        if schedule == .immediate, lock.isMine { return try asOneEvent(body) }
        let turn = Turn<Result>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard turn.wait(continuation) else { return }
                lock.submit {
                    guard let continuation = turn.begin() else { return }
                    continuation.resume(with: Swift.Result { try self.asOneEvent(body) })
                }
            }
        } onCancel: {
            turn.cancel()
        }
    }

    /// Runs `body` on the context's queue later. Ends the event.
    public func perform(_ body: @escaping @Sendable () -> Void) {
        lock.submit { self.asOneEvent(body) }
    }

    /// Runs `body` in the context after everything queued before, and waits for it.
    ///
    /// May be called from the context itself, from a parent, a child or any other context: while it
    /// waits, others may work in the contexts that the caller is in, so two contexts that wait for
    /// each other do not block.
    ///
    /// Ends the event, unless the caller is in the context already.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func performAndWait<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if lock.isMine { return try body() }
        return try lock.run(.queued) { () throws(Failure) in try asOneEvent(body) }
    }

    /// Runs `body` in the context as a step of what a child is doing.
    func performForChild<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try lock.run(.atOnce, body)
    }

    func asOneEvent<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { processPendingChanges() }
        return try body()
    }

    /// Stops a debug build when the context is used off its queue, where the check would cost a release
    /// build more than the work itself.
    func assertOnQueue() {
        assert(lock.isMine, misuse)
    }

    /// Stops the program when the context is used off its queue.
    func requireQueue() {
        if !lock.isMine { stop(misuse) }
    }

    private var misuse: String {
        """
        The context '\(name ?? "without a name")' of \(concurrencyType == .mainQueue ? "the main" : "a private") \
        queue was used on \(ContextLock.whereabouts); use perform.
        """
    }
}

/// Work that waits for its turn in a context, and can be cancelled until then.
private final class Turn<Result: Sendable>: Sendable {
    private enum State {
        case asked
        case waiting(CheckedContinuation<Result, any Error>)
        case over
    }

    private let state = Mutex(State.asked)

    /// Begins to wait.
    ///
    /// - Returns: Whether there is something to wait for; otherwise the task was cancelled and is told
    ///   so.
    func wait(_ continuation: CheckedContinuation<Result, any Error>) -> Bool {
        let isCancelled = state.withLock { state in
            if case .over = state { return true }
            state = .waiting(continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        return !isCancelled
    }

    /// Begins the work.
    ///
    /// - Returns: The continuation that waits; nil when none does any more.
    func begin() -> CheckedContinuation<Result, any Error>? {
        state.withLock { state in
            guard case .waiting(let continuation) = state else { return nil }
            state = .over
            return continuation
        }
    }

    /// Cancels work that has not begun.
    func cancel() {
        let continuation = state.withLock { state -> CheckedContinuation<Result, any Error>? in
            defer { state = .over }
            guard case .waiting(let continuation) = state else { return nil }
            return continuation
        }
        continuation?.resume(throwing: CancellationError())
    }
}
