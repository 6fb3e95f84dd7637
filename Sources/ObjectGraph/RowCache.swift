import JournalLog
import ObjectModel
import SnapshotStore
import Synchronization

/// Rows that objects of some context hold, for the other contexts of the coordinator: a fault whose
/// row is here fires without reading its store.
///
/// Invariants:
/// - A row is kept only while an object that was made of it is alive and no fault.
/// - A row that was saved through this coordinator is never served as it was before: while a save is
///   under way nothing is served or taken in, and after it what it changed is read again.
/// - A row is never older than what a context is known to have followed: as soon as anybody here
///   learns of an entry that came from elsewhere, nothing that was kept is served any more.
///
/// So only what other processes have saved, and nobody here has heard of, goes unseen; the
/// staleness interval of a context bounds for how long.
final class RowCache: Sendable {
    private struct State {
        var rows = RowTable()
        /// How many saves are under way.
        var writers = 0
        /// The last entry of each store of which everything kept is known to be abreast.
        var known: [UInt32: SequenceNumber] = [:]
        /// Later entries saved here, while those between are still to come, as saves that share a sync
        /// end in any order.
        var ahead: [UInt32: Set<SequenceNumber>] = [:]
        var clock: @Sendable () -> Int64 = RowCache.uptime

        /// Notes an entry saved here.
        mutating func noteSave(_ sequence: SequenceNumber, in store: UInt32) {
            let last = known[store] ?? .zero
            guard sequence > last else { return }
            guard sequence != last.next || !ahead.isEmpty else {
                known[store] = sequence
                return
            }
            ahead[store, default: []].insert(sequence)
            followAhead(in: store)
        }

        /// Moves on over entries without a gap.
        mutating func followAhead(in store: UInt32) {
            var last = known[store] ?? .zero
            while ahead[store]?.remove(last.next) != nil { last = last.next }
            known[store] = last
            if ahead[store]?.isEmpty == true { ahead[store] = nil }
        }

        /// When no save is under way: what was not saved here came from elsewhere.
        mutating func closeGaps() {
            guard writers == 0, !ahead.isEmpty else { return }
            for (store, sequences) in ahead {
                rows.forgetAll(of: store)
                known[store] = max(known[store] ?? .zero, sequences.max() ?? .zero)
            }
            ahead = [:]
        }
    }

    private let state = Mutex(State())
    /// How many rows there are, to be asked without the lock.
    private let count = Atomic<Int>(0)
    /// Moves on with every save, so that a row that was read before it is not taken in after it.
    private let generation = Atomic<UInt64>(0)
    /// Whether some context has asked for the age of rows; until then nobody looks at the clock.
    private let isTimed = Atomic<Bool>(false)

    /// A right to hand in a row that is read after it was given.
    struct Ticket {
        fileprivate let generation: UInt64
        fileprivate let readAt: Int64
    }

    // MARK: - Rows

    /// The row of an object.
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - interval: How old, in seconds, the row may be at most; any age when negative.
    ///   - isHeld: Whether the asker becomes a holder, who has to call ``release(_:)``.
    /// - Returns: The row; nil when it is not here, too old or not to be served now.
    func row(_ id: GraphID, within interval: Double, isHeld: Bool) -> PackedRow? {
        guard interval != 0, count.load(ordering: .acquiring) > 0 else { return nil }
        return state.withLock { state in
            guard state.writers == 0, let place = state.rows.place(of: id),
                let row = state.rows.row(at: place)
            else { return nil }
            if interval > 0 {
                let readAt = state.rows.time(at: place)
                guard readAt > 0, Double(state.clock() - readAt) < interval * 1_000_000 else {
                    return nil
                }
            }
            if isHeld { state.rows.addHolder(at: place) }
            return row
        }
    }

    /// To be asked for before a row is read that is to be handed in.
    func ticket() -> Ticket {
        let readAt = isTimed.load(ordering: .relaxed) ? state.withLock { $0.clock() } : 0
        return Ticket(generation: generation.load(ordering: .acquiring), readAt: readAt)
    }

    /// Takes in a row that was read.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - id: The object.
    ///   - ticket: What was asked for before the row was read.
    ///   - isNewHolder: Whether the reader did not hold the object's row yet.
    func hold(_ row: PackedRow, of id: GraphID, _ ticket: Ticket, isNewHolder: Bool) {
        state.withLock { state in
            let isCurrent =
                state.writers == 0 && ticket.generation == generation.load(ordering: .relaxed)
            if let place = state.rows.place(of: id) {
                if isNewHolder { state.rows.addHolder(at: place) }
                if isCurrent { state.rows.set(row, readAt: ticket.readAt, at: place) }
            } else if isNewHolder {
                state.rows.insert(isCurrent ? row : nil, readAt: ticket.readAt, for: id)
                count.store(state.rows.count, ordering: .releasing)
            }
        }
    }

    /// Lets go of a row; the last one to do so removes it.
    func release(_ id: GraphID) {
        state.withLock { state in
            state.rows.removeHolder(of: id)
            count.store(state.rows.count, ordering: .releasing)
        }
    }

    /// Lets the next fault of an object that fires read the store.
    func forget(_ id: GraphID) {
        guard count.load(ordering: .acquiring) > 0 else { return }
        state.withLock { $0.rows.forget(id) }
    }

    // MARK: - Saves

    /// Nothing is served or taken in until ``endSaving(_:of:in:)``.
    func beginSaving() {
        state.withLock { state in
            state.writers += 1
            generation.add(1, ordering: .releasing)
        }
    }

    /// Forgets what a save has changed.
    ///
    /// - Parameters:
    ///   - sequence: The entry; nil when none was appended.
    ///   - changes: What it changed.
    ///   - store: The number of its store.
    func endSaving(_ sequence: SequenceNumber?, of changes: [Change], in store: UInt32) {
        state.withLock { state in
            state.writers -= 1
            generation.add(1, ordering: .releasing)
            defer { state.closeGaps() }
            guard let sequence else { return }
            state.noteSave(sequence, in: store)
            guard state.rows.count > 0 else { return }
            for change in changes {
                state.rows.forget(GraphID(store: store, object: change.object))
            }
        }
    }

    /// Notes that an entry exists, whoever saved it.
    func learn(of sequence: SequenceNumber, in store: UInt32) {
        state.withLock { state in
            guard sequence > state.known[store] ?? .zero else { return }
            state.known[store] = sequence
            state.ahead[store] = state.ahead[store]?.filter { $0 > sequence }
            state.followAhead(in: store)
            generation.add(1, ordering: .releasing)
            state.rows.forgetAll(of: store)
        }
    }

    // MARK: - Age

    /// Forgets the rows of a store that is removed or opened anew.
    func forgetAll(of store: UInt32) {
        state.withLock { state in
            generation.add(1, ordering: .releasing)
            state.rows.forgetAll(of: store)
        }
    }

    /// Lets rows that are read from now on have an age.
    func startTiming() {
        isTimed.store(true, ordering: .relaxed)
    }

    /// Takes the time, in microseconds, from somewhere else.
    func setClock(_ clock: @escaping @Sendable () -> Int64) {
        state.withLock { $0.clock = clock }
    }

    private static let start = ContinuousClock.now

    /// Microseconds since the first call, and never 0.
    @Sendable private static func uptime() -> Int64 {
        let parts = (ContinuousClock.now - start).components
        return parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000 + 1
    }
}
