internal import DaybookLMDB
internal import Synchronization

extension StoreOptions {
    /// How long a store waits for other processes: while one opens the same file, while one writes
    /// when the store wants to write, and, at a read, for one that was stopped as it began to read.
    package struct Waiting: Sendable {
        /// The longest time; nil for no limit.
        package var limit: Duration?
        /// Whether to stop waiting early; called many times a second.
        package var isOver: @Sendable () -> Bool

        /// Waits up to a limit, unless something else ends the waiting.
        package init(
            limit: Duration? = Waiting.limitUsual,
            isOver: @escaping @Sendable () -> Bool = { false }
        ) {
            self.limit = limit
            self.isOver = isOver
        }

        /// Longer than any save of less than millions of objects, and short enough to notice that
        /// another process hangs.
        package static let limitUsual = Duration.seconds(60)

        /// The default of all options. A program that opens stores at several points, as a command
        /// does, sets it once.
        package static var usual: Waiting {
            get { usualStored.withLock { $0 } }
            set { usualStored.withLock { $0 = newValue } }
        }

        private static let usualStored = Mutex(Waiting())

        var patience: LockPatience { LockPatience(limit: limit, isOver: isOver) }
    }
}
