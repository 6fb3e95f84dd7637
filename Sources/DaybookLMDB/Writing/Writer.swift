internal import CDaybookLMDB
import DaybookStopping
internal import Dispatch
internal import Synchronization

/// One call of ``Environment/write(_:)``.
final class WriteRequest: Sendable {
    typealias Body = WriteBody

    private struct State {
        var body: Body?
        var failure: (any Error)?
        var isFinished = false
        /// Made for a caller that has to wait.
        var news: DispatchSemaphore?
    }

    /// Its wait for other processes that write.
    let wait: LockWait
    /// Whether the gate writes this itself.
    let isOfGate: Bool
    private let state: Mutex<State>

    init(
        _ body: @escaping Body, _ wait: LockWait = LockWait(LockPatience()), isOfGate: Bool = false
    ) {
        self.wait = wait
        self.isOfGate = isOfGate
        state = Mutex(State(body: body))
    }

    /// Runs the caller's body, which keeps its result itself.
    func run(_ transaction: borrowing WriteTransaction) throws {
        guard let body = state.withLock({ $0.body }) else {
            stop("A request that was answered is not run again.")
        }
        try body(transaction)
    }

    /// Settles the answer. The body is dropped before: what it holds, perhaps the environment
    /// itself, must not live on in another thread after the caller has continued.
    func finish(_ error: (any Error)?) {
        state.withLock { state in
            state.body = nil
            state.failure = error
            state.isFinished = true
        }
    }

    /// Wakes the caller once: for the answer, if there is one, and otherwise to write, for itself
    /// and for those behind it.
    func wake() {
        let news = state.withLock { state in
            defer { state.news = nil }
            return state.news
        }
        news?.signal()
    }

    /// Prepares the wait, before other threads see the request.
    func prepareToWait() {
        state.withLock { $0.news = DispatchSemaphore(value: 0) }
    }

    /// Waits until it is woken.
    ///
    /// - Returns: Whether there is an answer.
    func waitForNews() -> Bool {
        state.withLock(\.news)?.wait()
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
/// A thread that finds no writer writes itself, without waiting for another to wake up. Requests
/// that arrive meanwhile are queued. The first of them writes next, and runs all the others in its
/// transaction, including those that arrive while it runs them: they share its sync (group commit).
///
/// ``GroupPatience`` says how long a group waits for requests that are still on their way.
///
/// Invariants:
/// - While requests wait, a thread writes or has been appointed to.
/// - A request that waits is woken for its answer, or appointed, once.
final class Writer: Sendable {
    /// The clock of a writer.
    struct Clock: Sendable {
        /// The present time, in nanoseconds.
        var now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
        /// Waits for a bell, at most this many nanoseconds.
        var wait: @Sendable (_ bell: DispatchSemaphore, _ nanoseconds: UInt64) -> Void = {
            _ = $0.wait(timeout: .now() + .nanoseconds(Int($1)))
        }
    }

    /// The writer's request to those that queue up while it waits.
    private struct Call {
        /// The length of the queue at which the writer is called.
        let count: Int
        /// Belongs to this wait alone: if it rings too late, no other wait hears it.
        let bell = DispatchSemaphore(value: 0)
    }

    private struct State {
        var waiting: [WriteRequest] = []
        var isBusy = false
        var patience = GroupPatience()
        /// Nil while the writer does not wait.
        var call: Call?
    }

    private let state = Mutex(State())
    private let leader = Atomic<UInt>(0)
    private let clock: Clock

    /// A writer without requests.
    init(clock: Clock = Clock()) {
        self.clock = clock
    }

    /// Has a request carried out, by this thread or by another one that writes.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - perform: Carries out and finishes the given requests; `joining` returns those that have
    ///     arrived since.
    func run(
        _ request: WriteRequest,
        perform: (_ group: [WriteRequest], _ joining: (Int) -> [WriteRequest]) -> Void
    ) {
        if lineUp(request), request.waitForNews() { return }
        leader.store(UInt(daybook_thread_identity()), ordering: .relaxed)
        var followers: [WriteRequest] = []
        perform([request]) { count in
            let joined = joining(count)
            followers += joined
            return joined
        }
        leader.store(0, ordering: .relaxed)
        // The next writer first, because it needs the disk.
        handOver(1 + followers.count)?.wake()
        for follower in followers { follower.wake() }
    }

    /// Whether the calling thread is in the middle of a write.
    var isCurrentThread: Bool {
        leader.load(ordering: .relaxed) == UInt(daybook_thread_identity())
    }

    /// The number of queued requests.
    var waitingCount: Int {
        state.withLock { $0.waiting.count }
    }

    /// The waiting rule of the next group.
    var patience: GroupPatience {
        state.withLock(\.patience)
    }

    /// Whether the writer waits for more requests.
    var isAwaitingOthers: Bool {
        state.withLock { $0.call != nil }
    }

    /// Queues a request behind the writer.
    ///
    /// - Returns: Whether there is a writer.
    private func lineUp(_ request: WriteRequest) -> Bool {
        let (isWaiting, bell) = state.withLock { state -> (Bool, DispatchSemaphore?) in
            guard state.isBusy else {
                state.isBusy = true
                state.patience.beginAlone(at: clock.now())
                return (false, nil)
            }
            request.prepareToWait()
            state.waiting.append(request)
            guard let call = state.call, state.waiting.count >= call.count else {
                return (true, nil)
            }
            state.call = nil
            return (true, call.bell)
        }
        bell?.signal()
        return isWaiting
    }

    /// The queued requests, to join a group of `count`; if there are none, those for which it
    /// waited.
    private func joining(_ count: Int) -> [WriteRequest] {
        let (group, wait) = state.withLock { state -> ([WriteRequest], (Call, UInt64)?) in
            let group = Self.take(&state, count)
            guard group.isEmpty,
                let wait = state.patience.wait(having: count, at: clock.now())
            else { return (group, nil) }
            let call = Call(count: wait.count)
            state.call = call
            return ([], (call, wait.nanoseconds))
        }
        guard let (call, nanoseconds) = wait else { return group }
        clock.wait(call.bell, nanoseconds)
        return state.withLock { state in
            state.call = nil
            let late = Self.take(&state, count)
            if late.isEmpty { state.patience.recordVainWait(at: clock.now()) }
            return late
        }
    }

    private static func take(_ state: inout State, _ count: Int) -> [WriteRequest] {
        let room = max(0, groupCountMaximum - count)
        let group = Array(state.waiting.prefix(room))
        state.waiting.removeFirst(group.count)
        return group
    }

    /// Ends a group of `count` requests, whose threads are not awake yet.
    ///
    /// - Returns: The next writer.
    private func handOver(_ count: Int) -> WriteRequest? {
        state.withLock { state in
            let countNext = min(count + state.waiting.count, Self.groupCountMaximum)
            state.patience.end(having: count, expecting: countNext, at: clock.now())
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Bounds how much one abort can make the others repeat, and how long the first one waits for
    /// those who join.
    private static let groupCountMaximum = 256
}
