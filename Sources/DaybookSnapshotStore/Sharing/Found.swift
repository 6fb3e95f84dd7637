internal import Synchronization

/// What a body that ran in a write has found.
final class Found<R: Sendable>: Sendable {
    private let stored = Mutex<R?>(nil)

    var value: R? { stored.withLock(\.self) }

    func set(_ value: R?) { stored.withLock { $0 = value } }
}
