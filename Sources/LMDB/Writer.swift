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
        /// Made for who has to wait.
        var news: DispatchSemaphore?
    }

    private let state: Mutex<State>

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

    /// Settles the answer. The body is dropped before: what it holds, perhaps the environment
    /// itself, must not live on in another thread after the caller went on.
    func finish(_ error: (any Error)?) {
        state.withLock { state in
            state.body = nil
            state.failure = error
            state.isFinished = true
        }
    }

    /// Wakes the caller: for the answer, if there is one, and otherwise to write, for itself and for
    /// those behind it.
    func wake() {
        state.withLock(\.news)?.signal()
    }

    /// Makes ready to wait, before anybody else gets to see the request.
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
/// Who finds nobody writing writes on its own thread, without waiting for another to wake up.
/// Requests that arrive meanwhile line up. The first of them writes next, and runs all the others
/// in its transaction, those that arrive while it runs them as well: they share its sync (group
/// commit).
///
/// Those who have just been answered together are likely to come again together, but not at the same
/// moment. So who writes next waits for as many as took part or stood in line when the last group
/// ended, for a while that is short beside the sync that they are spared.
///
/// Invariants:
/// - While requests wait, a thread writes or has been appointed to.
/// - A request that waits is woken for its answer, or appointed, once.
/// - Who was alone the last time waits for nobody.
final class Writer: Sendable {
    private struct State {
        var waiting: [WriteRequest] = []
        var isBusy = false
        /// How many the group under way is expected to have.
        var countExpected = 1
        /// How many it has.
        var count = 0
        /// How many must stand in line for the writer to be called; 0 when it does not wait.
        var countCalling = 0
        /// For how many nanoseconds a group may wait for those who are missing.
        var patience: UInt64 = 0
        /// When the group has waited long enough; nil while it has not begun to wait.
        var deadline: DispatchTime?
        /// How many it had when it began to wait.
        var countBeforeWaiting = 0
        /// When the group was complete.
        var completed = DispatchTime(uptimeNanoseconds: 0)
        /// How many groups are still not to wait, and how many shall not the next time that waiting
        /// was in vain.
        var groupsToPass = 0
        var groupsToPassNext = 1
    }

    private let state = Mutex(State())
    private let leader = Atomic<UInt>(0)
    /// Calls the writer when those have come for whom it waits.
    private let bell = DispatchSemaphore(value: 0)
    private let patienceGiven: UInt64?

    /// An order of nobody.
    ///
    /// - Parameter patience: For how many nanoseconds a group may wait; nil to go by how long the
    ///   last one took.
    init(patience: UInt64? = nil) {
        patienceGiven = patience
    }

    /// Has a request done, by this thread or by another one that writes.
    ///
    /// - Parameters:
    ///   - request: What is to be done.
    ///   - perform: Does and finishes the requests it gets; `joining` says which have arrived since.
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
        // The next one first: what it waits for is the disk.
        handOver()?.wake()
        for follower in followers { follower.wake() }
    }

    /// Whether the calling thread is in the middle of a write.
    var isCurrentThread: Bool {
        leader.load(ordering: .relaxed) == UInt(daybook_thread_identity())
    }

    /// How many requests stand in line.
    var waitingCount: Int {
        state.withLock { $0.waiting.count }
    }

    /// How many the next group is expected to have.
    var countExpected: Int {
        state.withLock(\.countExpected)
    }

    /// Whether the one who writes waits for others to come.
    var isAwaitingOthers: Bool {
        state.withLock { $0.countCalling > 0 }
    }

    /// Puts a request into the line behind the one who writes.
    ///
    /// - Returns: Whether somebody writes.
    private func lineUp(_ request: WriteRequest) -> Bool {
        let (isWaiting, isCalling) = state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                return (false, false)
            }
            request.prepareToWait()
            state.waiting.append(request)
            guard state.countCalling > 0, state.waiting.count >= state.countCalling else {
                return (true, false)
            }
            state.countCalling = 0
            return (true, true)
        }
        if isCalling { bell.signal() }
        return isWaiting
    }

    /// Those who wait, to join a group of so many, and if there is nobody, those for whom it waited.
    private func joining(_ count: Int) -> [WriteRequest] {
        let (group, deadline) = state.withLock { state -> ([WriteRequest], DispatchTime?) in
            let group = Self.take(&state, count)
            guard group.isEmpty else { return (group, nil) }
            return (group, Self.beginToWait(&state))
        }
        guard let deadline else { return group }
        let isTimeOver = bell.wait(timeout: deadline) == .timedOut
        let (late, hasRung) = state.withLock { state -> ([WriteRequest], Bool) in
            let hasRung = state.countCalling == 0
            state.countCalling = 0
            return (Self.take(&state, count), hasRung)
        }
        // Whoever has rung while the time ran out is not to be heard by the next group.
        if isTimeOver, hasRung { bell.wait() }
        return late
    }

    private static func take(_ state: inout State, _ count: Int) -> [WriteRequest] {
        let room = max(0, groupCountMaximum - count)
        let group = Array(state.waiting.prefix(room))
        state.waiting.removeFirst(group.count)
        state.count = count + group.count
        return group
    }

    /// Decides whether a group waits for those who are missing.
    ///
    /// - Returns: Until when; nil when the group is complete.
    private static func beginToWait(_ state: inout State) -> DispatchTime? {
        let missing = min(state.countExpected, groupCountMaximum) - state.count
        let now = DispatchTime.now()
        let ending = DispatchTime(uptimeNanoseconds: now.uptimeNanoseconds + state.patience)
        let deadline = state.deadline ?? ending
        guard missing > 0, state.patience > 0, state.groupsToPass == 0, now < deadline else {
            state.completed = now
            return nil
        }
        if state.deadline == nil { state.countBeforeWaiting = state.count }
        state.deadline = deadline
        // Half of them at a time, so that some are run while others are still on the way, and the
        // writer is not woken for each.
        state.countCalling = (missing + 1) / 2
        return deadline
    }

    /// Ends the group, whose members are not awake yet.
    ///
    /// - Returns: Who writes next.
    private func handOver() -> WriteRequest? {
        state.withLock { state in
            noteGroup(&state)
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Learns from the group that has ended what to expect of the next.
    private func noteGroup(_ state: inout State) {
        if state.groupsToPass > 0 { state.groupsToPass -= 1 }
        if state.deadline != nil {
            let wasInVain = state.count == state.countBeforeWaiting
            state.groupsToPass = wasInVain ? state.groupsToPassNext : 0
            state.groupsToPassNext =
                wasInVain ? min(2 * state.groupsToPassNext, Self.groupsToPassMaximum) : 1
        }
        let ended = DispatchTime.now().uptimeNanoseconds
        let duration = ended - min(ended, state.completed.uptimeNanoseconds)
        let patience = min(duration / 2, Self.patienceMaximum)
        state.patience = patienceGiven ?? (patience < Self.patienceMinimum ? 0 : patience)
        state.countExpected = state.count + state.waiting.count
        state.count = 1
        state.deadline = nil
    }

    /// Bounds how much one abort can make the others repeat, and how long the first one waits for
    /// those who join.
    private static let groupCountMaximum = 256
    /// In nanoseconds. To wait for less takes longer than it spares.
    private static let patienceMinimum: UInt64 = 50_000
    /// In nanoseconds. In that time a thread that is awake has long prepared a small save.
    private static let patienceMaximum: UInt64 = 1_000_000
    private static let groupsToPassMaximum = 64
}
