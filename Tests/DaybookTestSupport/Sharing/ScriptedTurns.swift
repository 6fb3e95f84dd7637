internal import Dispatch
internal import Synchronization

/// Who may append alone, and who waits for it, in the order in which they came.
///
/// Invariant: nobody waits while nobody has the turn.
struct ScriptedTurns {
    /// A turn; no two are equal.
    struct Turn: Sendable, Hashable {
        fileprivate let number: Int
    }

    /// The wait for a turn.
    final class Wait: Sendable {
        /// Rings once, when the wait is over.
        let bell = DispatchSemaphore(value: 0)
        private let given = Mutex<Turn?>(nil)

        /// What the wait was for; nil when the connection ended.
        var turn: Turn? { given.withLock(\.self) }

        /// A wait that is over already.
        static func over(_ turn: Turn) -> Wait {
            let wait = Wait()
            wait.end(with: turn)
            return wait
        }

        fileprivate func end(with turn: Turn?) {
            given.withLock { $0 = turn }
            bell.signal()
        }
    }

    /// The turn that goes on.
    private(set) var present: Turn?
    private var turnsSoFar = 0
    private var queue: [Wait] = []
    /// Who wants to know when so many wait.
    private var watchers: [(count: Int, bell: DispatchSemaphore)] = []

    /// Queues up.
    mutating func enter() -> Wait {
        let wait = Wait()
        queue.append(wait)
        if present == nil { giveNext() }
        for watcher in watchers where watcher.count == queue.count { watcher.bell.signal() }
        watchers.removeAll { $0.count == queue.count }
        return wait
    }

    /// Ends a turn, unless it has ended before.
    mutating func end(_ turn: Turn) {
        guard present == turn else { return }
        present = nil
        giveNext()
    }

    /// Ends the turn and all waits.
    mutating func endAll() {
        present = nil
        for wait in queue { wait.end(with: nil) }
        queue = []
    }

    /// Rings when so many wait; nil when they do.
    mutating func bell(at count: Int) -> DispatchSemaphore? {
        guard queue.count < count else { return nil }
        let bell = DispatchSemaphore(value: 0)
        watchers.append((count, bell))
        return bell
    }

    private mutating func giveNext() {
        guard !queue.isEmpty else { return }
        turnsSoFar += 1
        let turn = Turn(number: turnsSoFar)
        present = turn
        queue.removeFirst().end(with: turn)
    }
}
