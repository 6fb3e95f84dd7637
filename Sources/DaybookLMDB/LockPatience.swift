internal import Dispatch
internal import Foundation

/// For how long somebody waits for a lock that another process holds.
package struct LockPatience: Sendable {
    /// How long at most; nil for as long as it takes.
    package var limit: Duration?

    /// Whether to stop waiting all the same, asked many times a second.
    package var isOver: @Sendable () -> Bool

    /// Waits so long, unless something else ends it.
    package init(
        limit: Duration? = .seconds(60),
        isOver: @escaping @Sendable () -> Bool = { false }
    ) {
        self.limit = limit
        self.isOver = isOver
    }
}

/// One waiting, which begins when it is made.
///
/// The lock is tried again and again, because the kernel knows no waiting for it that ends after a
/// while. Each pause is twice as long as the one before, within bounds that are short beside a sync.
struct LockWait: Sendable {
    /// How the waiting ended.
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

    /// Pauses for a moment, after which the lock is to be tried again.
    ///
    /// - Returns: Nil, or how the waiting has ended instead.
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
