internal import Dispatch
internal import Foundation

/// The limit of waiting for a lock that another process holds.
package struct LockPatience: Sendable {
    /// The maximal time; nil for no limit.
    package var limit: Duration?

    /// Whether to stop waiting earlier, asked many times a second.
    package var isOver: @Sendable () -> Bool

    /// A limit in time, with an optional other end.
    package init(
        limit: Duration? = .seconds(60),
        isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        self.limit = limit
        self.isOver = isOver
    }
}

/// One wait, which begins with the initializer.
///
/// The lock is retried, because the kernel has no wait with a limit for it. Each pause is twice as
/// long as the one before, up to a bound that is short compared with a sync.
struct LockWait: Sendable {
    /// The reason why the wait ended.
    enum End: Sendable {
        case limit(Duration)
        case stopped
    }

    private let patience: LockPatience
    private let start = DispatchTime.now().uptimeNanoseconds
    private var pause: UInt32 = 50

    init(_ patience: LockPatience) {
        self.patience = patience
    }

    /// The same wait, starting now.
    var restarted: LockWait { LockWait(patience) }

    /// Pauses briefly before the lock is tried again.
    ///
    /// - Returns: Nil, or the reason why the wait has ended.
    mutating func pauseOrEnd() -> End? {
        if patience.isOver() { return .stopped }
        if let limit = patience.limit {
            let passed = Duration.nanoseconds(
                Int64(clamping: DispatchTime.now().uptimeNanoseconds - start))
            if passed >= limit { return .limit(limit) }
        }
        usleep(pause)
        pause = min(pause * 2, Self.pauseMaximum)
        return nil
    }

    /// In microseconds.
    private static let pauseMaximum: UInt32 = 1_000
}
