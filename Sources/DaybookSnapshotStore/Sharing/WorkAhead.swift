internal import Dispatch
internal import Synchronization

/// What an open store does for its shared store on a thread of its own: it brings entries in, and sends marks.
final class WorkAhead: Sendable {
    private let queue = DispatchQueue(label: "daybook.sharing")
    private let mine = DispatchSpecificKey<Void>()
    private let running = DispatchGroup()
    private let waits = Mutex(false)
    private let next = Mutex(ContinuousClock.now)

    init() {
        queue.setSpecific(key: mine, value: ())
    }

    /// Does something after what was asked for before.
    func run(_ body: @escaping @Sendable () -> Void) {
        queue.async(group: running, execute: body)
    }

    /// Waits until nothing is done any more, but not for servers that do not answer: a file that was closed is to be
    /// closed.
    func end() {
        // The last to have the store may be what is done here.
        guard DispatchQueue.getSpecific(key: mine) == nil else { return }
        _ = running.wait(timeout: .now() + Self.patience)
    }

    private static let patience = DispatchTimeInterval.seconds(1)

    // MARK: - Marks

    /// Whether an exchange of marks was asked for and has not begun.
    var isAsked: Bool { waits.withLock(\.self) }

    /// Asks for an exchange of marks, once for many changes.
    func askForExchange(_ exchange: @escaping @Sendable () -> Void) {
        let isFirst = waits.withLock { waits in
            defer { waits = true }
            return !waits
        }
        guard isFirst else { return }
        run { [self] in
            waits.withLock { $0 = false }
            exchange()
        }
    }

    /// Whether so much time has passed since this was true before that somebody may have set marks. Nothing tells of
    /// them.
    func isExchangeDue() -> Bool {
        next.withLock { next in
            guard .now >= next else { return false }
            next = .now + Self.pause
            return true
        }
    }

    private static let pause = Duration.seconds(5)
}
