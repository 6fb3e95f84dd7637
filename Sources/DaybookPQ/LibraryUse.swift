internal import Dispatch
internal import Synchronization

/// Who uses libpq and the libraries below it. They take their state down when the process ends, also under a thread
/// that is in the middle of a call.
///
/// So who is in a call then is waited for, and no call begins any more.
package enum LibraryUse {
    private static let isOver = Mutex(false)
    private static let running = DispatchGroup()

    /// Begins to use them, until ``finish()``.
    ///
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unreachable`` when the process ends.
    static func begin() throws(PostgresError) {
        let isAllowed = isOver.withLock { isOver in
            if !isOver { running.enter() }
            return !isOver
        }
        guard isAllowed else { throw PostgresError(.unreachable, "The process ends.") }
    }

    /// Ends what ``begin()`` has begun.
    static func finish() { running.leave() }

    /// Waits until nobody uses them any more; nobody does from then on. For the end of the process.
    ///
    /// - Parameter limit: How long to wait for servers that do not answer.
    package static func end(within limit: Duration) {
        isOver.withLock { $0 = true }
        _ = running.wait(timeout: .now() + .seconds(Int(limit.components.seconds)))
    }
}
