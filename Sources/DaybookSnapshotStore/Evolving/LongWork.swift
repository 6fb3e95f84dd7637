internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

/// Work on every object of some entities, which reports its progress and can be stopped.
///
/// Progress is counted in object numbers: an entity counts as its greatest number.
final class LongWork: Sendable {
    private let handler: StoreOptions.WorkHandler?
    private let state = Mutex(State())

    private struct State {
        var total: Int64 = 0
        /// How much of the total belongs to walks that have not begun.
        var expected: Int64 = 0
        /// The work of earlier walks.
        var done: Int64 = 0
        /// The work of the current walk.
        var current: Int64 = 0
        var calls = 0
    }

    init(_ handler: StoreOptions.WorkHandler?) {
        self.handler = handler
    }

    /// Adds a walk that is to come.
    func expect(
        _ entity: EntityNumber, _ rows: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard handler != nil else { return }
        let count = try rows.numberMaximum(of: entity, in: transaction).asWork
        state.withLock { state in
            state.total += count
            state.expected += count
        }
    }

    /// Begins a walk, when the last one is done.
    func begin(
        _ entity: EntityNumber, _ rows: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard handler != nil else { return }
        let count = try rows.numberMaximum(of: entity, in: transaction).asWork
        state.withLock { state in
            state.done += state.current
            state.current = count
            state.total += max(0, count - state.expected)
            state.expected = max(0, state.expected - count)
        }
        try report(state.withLock(\.done))
    }

    /// Counts the objects of the walk up to one.
    ///
    /// - Throws: What the handler throws to end the work.
    func reach(_ object: ObjectID) throws {
        guard handler != nil else { return }
        let done: Int64? = state.withLock { state in
            state.calls += 1
            return state.calls % Self.interval == 0 ? state.done + object.number.asWork : nil
        }
        if let done { try report(done) }
    }

    /// Counts everything as done.
    func finish() throws {
        guard handler != nil, state.withLock(\.total) > 0 else { return }
        try report(state.withLock(\.total))
    }

    private func report(_ done: Int64) throws {
        try handler?(done, state.withLock(\.total))
    }

    /// How many objects are looked at between two reports.
    private static let interval = 1024
}

extension UInt64 {
    /// The work that an object number stands for.
    var asWork: Int64 { Int64(Swift.min(self, 1 << 40)) }
}
