internal import CLMDB
internal import Dispatch
internal import Foundation
internal import Synchronization

/// One call of ``Environment/write(_:)`` on its way through the writer thread.
final class WriteRequest: Sendable {
    typealias Body = @Sendable (borrowing WriteTransaction) throws -> Void

    private let body: Mutex<Body?>
    private let failure = Mutex<(any Error)?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping Body) {
        self.body = Mutex(body)
    }

    /// Runs the caller's body, which keeps what it returns for itself.
    func run(_ transaction: borrowing WriteTransaction) throws {
        guard let body = body.withLock({ $0 }) else {
            preconditionFailure("A request that was answered is not run again.")
        }
        try body(transaction)
    }

    /// Answers the caller. The body is dropped before: what it holds, perhaps the environment
    /// itself, must not live on in the writer thread after the caller went on.
    func finish(_ error: (any Error)?) {
        body.withLock { $0 = nil }
        failure.withLock { $0 = error }
        done.signal()
    }

    func wait() throws {
        done.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// The one thread that writes to an environment, because an LMDB write transaction belongs to
/// its thread, and the queue before it.
///
/// Requests that arrive while a transaction is being synced are run together in the next one:
/// they share its sync (group commit).
final class Writer: Sendable {
    private struct State {
        var queue: [WriteRequest] = []
        var isSleeping = false
        var isStarted = false
        var isStopped = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let threadIdentity = Mutex<UInt>(0)

    /// Adds a request; starts the thread at the first one.
    func submit(
        _ request: WriteRequest, perform: @escaping @Sendable ([WriteRequest]) -> Void
    ) {
        let (mustStart, mustWake) = state.withLock { state -> (Bool, Bool) in
            state.queue.append(request)
            let mustStart = !state.isStarted
            state.isStarted = true
            let mustWake = state.isSleeping
            state.isSleeping = false
            return (mustStart, mustWake)
        }
        if mustStart { start(perform) }
        if mustWake { wake.signal() }
    }

    var isCurrentThread: Bool {
        threadIdentity.withLock { $0 } == UInt(daybook_thread_identity())
    }

    /// Ends the thread once its queue is empty, and waits for that unless called on it.
    func stop() {
        let (isStarted, mustWake) = state.withLock { state -> (Bool, Bool) in
            state.isStopped = true
            let mustWake = state.isSleeping
            state.isSleeping = false
            return (state.isStarted, mustWake)
        }
        if mustWake { wake.signal() }
        if isStarted, !isCurrentThread { ended.wait() }
    }

    private func start(_ perform: @escaping @Sendable ([WriteRequest]) -> Void) {
        let thread = Thread { self.loop(perform) }
        thread.name = "daybook-writer"
        thread.stackSize = 8 << 20
        thread.start()
    }

    private func loop(_ perform: ([WriteRequest]) -> Void) {
        let identity = UInt(daybook_thread_identity())
        threadIdentity.withLock { $0 = identity }
        while let group = nextGroup() {
            perform(group)
        }
        ended.signal()
    }

    /// Everything that waits, or `nil` when the writer was stopped.
    private func nextGroup() -> [WriteRequest]? {
        while true {
            let (group, isStopped) = state.withLock { state -> ([WriteRequest], Bool) in
                let group = Array(state.queue.prefix(Self.groupCountMaximum))
                state.queue.removeFirst(group.count)
                state.isSleeping = group.isEmpty && !state.isStopped
                return (group, state.isStopped)
            }
            if !group.isEmpty { return group }
            if isStopped { return nil }
            wake.wait()
        }
    }

    /// Bounds how much one abort can make the others repeat.
    private static let groupCountMaximum = 256
}
