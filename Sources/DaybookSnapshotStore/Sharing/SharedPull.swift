internal import Synchronization

/// Asks the thread that writes to bring the file up to the shared journal.
final class SharedPull: Sendable {
    /// Whether it must first be known what became of a save in doubt.
    let settlesDoubt: Bool
    private let done = Mutex(false)

    init(settlesDoubt: Bool = false) {
        self.settlesDoubt = settlesDoubt
    }

    var isDone: Bool { done.withLock(\.self) }

    func finish() { done.withLock { $0 = true } }
}
