internal import CLMDB
internal import Dispatch
internal import Synchronization

/// One call of ``Environment/write(_:)`` on its way into the file.
final class WriteRequest: Sendable {
    typealias Body = @Sendable (borrowing WriteTransaction) throws -> Void

    private struct State {
        var body: Body?
        var failure: (any Error)?
        var isFinished = false
    }

    private let state: Mutex<State>
    private let news = DispatchSemaphore(value: 0)

    init(_ body: @escaping Body) {
        state = Mutex(State(body: body))
    }

    /// Runs the caller's body, which keeps what it returns for itself.
    func run(_ transaction: borrowing WriteTransaction) throws {
        guard let body = state.withLock({ $0.body }) else {
            preconditionFailure("A request that was answered is not run again.")
        }
        try body(transaction)
    }

    /// Answers the caller. The body is dropped before: what it holds, perhaps the environment
    /// itself, must not live on in another thread after the caller went on.
    func finish(_ error: (any Error)?) {
        state.withLock { state in
            state.body = nil
            state.failure = error
            state.isFinished = true
        }
        news.signal()
    }

    /// Has the caller write, for itself and for those behind it.
    func appoint() {
        news.signal()
    }

    /// Waits for the answer, or for the turn to write.
    ///
    /// - Returns: Whether there is an answer.
    func waitForNews() -> Bool {
        news.wait()
        return state.withLock(\.isFinished)
    }

    /// The answer.
    func check() throws {
        if let failure = state.withLock(\.failure) { throw failure }
    }
}

/// The order in which threads write to an environment, one at a time because LMDB has one write
/// transaction.
///
/// Who finds nobody writing writes on its own thread, without waiting for another to wake up.
/// Requests that arrive meanwhile line up. The first of them writes next, and runs all the others
/// in its transaction, those that arrive while it runs them as well: they share its sync (group
/// commit).
///
/// Invariants:
/// - While requests wait, a thread writes or has been appointed to.
/// - A request that waits is answered, or appointed, once.
final class Writer: Sendable {
    private struct State {
        var waiting: [WriteRequest] = []
        var isBusy = false
    }

    private let state = Mutex(State())
    private let leader = Atomic<UInt>(0)

    /// Has a request done, by this thread or by another one that writes.
    ///
    /// - Parameters:
    ///   - request: What is to be done.
    ///   - perform: Does and answers the requests it gets; `joining` says which have arrived since.
    func run(
        _ request: WriteRequest,
        perform: (_ group: [WriteRequest], _ joining: (Int) -> [WriteRequest]) -> Void
    ) {
        let isWaiting = state.withLock { state in
            if state.isBusy { state.waiting.append(request) }
            defer { state.isBusy = true }
            return state.isBusy
        }
        if isWaiting, request.waitForNews() { return }
        leader.store(UInt(daybook_thread_identity()), ordering: .relaxed)
        perform([request]) { count in joining(count) }
        leader.store(0, ordering: .relaxed)
        handOver()
    }

    /// Whether the calling thread is in the middle of a write.
    var isCurrentThread: Bool {
        leader.load(ordering: .relaxed) == UInt(daybook_thread_identity())
    }

    /// How many requests stand in line.
    var waitingCount: Int {
        state.withLock { $0.waiting.count }
    }

    /// Those who wait, to join a group of so many.
    private func joining(_ count: Int) -> [WriteRequest] {
        state.withLock { state in
            let room = max(0, Self.groupCountMaximum - count)
            let group = Array(state.waiting.prefix(room))
            state.waiting.removeFirst(group.count)
            return group
        }
    }

    private func handOver() {
        let next = state.withLock { state -> WriteRequest? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.appoint()
    }

    /// Bounds how much one abort can make the others repeat, and how long the first one waits for
    /// those who join.
    private static let groupCountMaximum = 256
}
