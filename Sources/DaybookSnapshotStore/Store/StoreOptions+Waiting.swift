internal import DaybookLMDB
internal import Synchronization

extension StoreOptions {
    /// For how long a store waits for other processes: while one opens the same file, at each write while
    /// one writes, and at a read for one that was stopped as it began to read.
    package struct Waiting: Sendable {
        /// How long at most; nil for as long as it takes.
        package var limit: Duration?
        /// Whether to stop waiting all the same, asked many times a second.
        package var isOver: @Sendable () -> Bool

        /// Waits so long, unless something else ends it.
        package init(
            limit: Duration? = Waiting.limitUsual,
            isOver: @escaping @Sendable () -> Bool = { false }
        ) {
            self.limit = limit
            self.isOver = isOver
        }

        /// Longer than any save but one of millions of objects, and short enough to find out why
        /// nothing goes on.
        package static let limitUsual = Duration.seconds(60)

        /// With what options begin: a program that opens stores in many places, as a command does, says
        /// it once.
        package static var usual: Waiting {
            get { usualStored.withLock { $0 } }
            set { usualStored.withLock { $0 = newValue } }
        }

        private static let usualStored = Mutex(Waiting())

        var patience: LockPatience { LockPatience(limit: limit, isOver: isOver) }
    }
}
