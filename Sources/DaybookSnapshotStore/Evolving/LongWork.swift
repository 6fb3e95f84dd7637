internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

/// Work on every object of some entities, or on every entry, which reports its progress and can be stopped.
///
/// Progress is counted in object numbers, an entity as its greatest number, and in entries.
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

    /// Begins a walk over so many entries, when the last one is done.
    func begin(_ count: Int64) throws {
        guard handler != nil else { return }
        state.withLock { state in
            state.done += state.current
            state.current = count
            state.total += count
        }
        try report(state.withLock(\.done))
    }

    /// Counts the entries of the walk up to one.
    ///
    /// - Throws: What the handler throws to end the work.
    func reach(_ entry: SequenceNumber) throws { try reach(entry.rawValue.asWork) }

    /// Counts the objects of the walk up to one.
    ///
    /// - Throws: What the handler throws to end the work.
    func reach(_ object: ObjectID) throws { try reach(object.number.asWork) }

    private func reach(_ number: Int64) throws {
        guard handler != nil else { return }
        let done: Int64? = state.withLock { state in
            state.calls += 1
            return state.calls % Self.interval == 0 ? state.done + number : nil
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
