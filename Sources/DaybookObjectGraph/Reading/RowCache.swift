import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
import Synchronization

/// The rows that objects hold, shared by the contexts of a coordinator: a fault whose row is here fires
/// without reading its store.
///
/// Invariants:
/// - A row is kept only while an object holds it: one that was made from it, a fault for which it was
///   read ahead, or one whose row was read together with it.
/// - Of the rows of an object that are held, only the latest is served: that of the latest entry, in
///   whichever order they were handed in.
/// - A row that was saved through this coordinator is never served as it was before: while a save is
///   running nothing is served or taken in, and what it changed is read again afterwards.
/// - A row is never older than what a context is known to have followed: as soon as an entry from
///   elsewhere becomes known here, nothing kept before is served any more.
/// - Between two calls of ``forgetAll(of:)``, a row of a later entry is a later row of its object; that
///   is called after every change of the file behind a store's number.
///
/// So only saves of other processes that are not known here go unseen; the staleness interval of a
/// context limits for how long.
final class RowCache: Sendable {
    private struct State {
        /// Rows that were read one by one.
        var rows = RowTable()
        /// Rows that were read together. A key has several batches when several fetches have found the
        /// same objects and the objects of each are alive; the last one read comes last.
        var batches: [RowPage.Key: [CachedPage]] = [:]
        /// How many saves are running.
        var writers = 0
        /// The last entry of each store that everything kept is known to include.
        var known: [UInt32: SequenceNumber] = [:]
        /// Later entries saved here, while those between are missing, because saves that share a sync
        /// end in any order.
        var ahead: [UInt32: Set<SequenceNumber>] = [:]
        /// How often the journal of each store had been cut off when it was last heard of.
        var rewinds: [UInt32: UInt64] = [:]
        var clock: @Sendable () -> Int64 = RowCache.uptime

        /// How many rows and keys of batches there are.
        var count: Int { rows.count + batches.count }

        /// A row that was read together with others, and the batch that holds it, which must not be
        /// released under the lock.
        func batched(_ id: GraphID, within interval: Double) -> (RowPage, EncodedRow, Int64)? {
            guard !batches.isEmpty, let batches = batches[RowPage.Key(for: id)] else { return nil }
            let bit = EncodedRows.bit(of: id.object.number)
            for shared in batches.reversed()
            where shared.freshRows & bit != 0 && isYoung(shared.readAt, interval) {
                guard let batch = shared.reference.object else { continue }
                guard let row = batch.rows.row(of: id.object) else {
                    stop("A batch has every row that its bits name.")
                }
                return (batch, row, shared.readAt)
            }
            return nil
        }

        /// Stops batches from serving an object's row that is older than one that was read.
        ///
        /// - Returns: Whether no batch serves a later one, and the batches examined, which must not be
        ///   released under the lock.
        mutating func outdate(_ id: GraphID, by row: EncodedRow) -> (isLatest: Bool, [RowPage]) {
            guard !batches.isEmpty, let index = batches.index(forKey: RowPage.Key(for: id)) else {
                return (true, [])
            }
            let bit = EncodedRows.bit(of: id.object.number)
            var isLatest = true
            var seen: [RowPage] = []
            for number in batches.values[index].indices {
                let shared = batches.values[index][number]
                guard shared.freshRows & bit != 0, let batch = shared.reference.object else {
                    continue
                }
                seen.append(batch)
                guard let kept = batch.rows.row(of: id.object) else { continue }
                if kept.since < row.since { batches.values[index][number].freshRows &= ~bit }
                if kept.since > row.since { isLatest = false }
            }
            return (isLatest, seen)
        }

        /// Stops the batches of a key from serving rows that are older than some that were read.
        ///
        /// - Returns: The objects of which a batch serves a later row, a bit for each; and the batches
        ///   examined, which must not be released under the lock.
        mutating func outdate(
            _ key: RowPage.Key, by rows: EncodedRows
        ) -> (later: UInt64, [RowPage]) {
            guard let index = batches.index(forKey: key) else { return (0, []) }
            var later: UInt64 = 0
            var seen: [RowPage] = []
            for number in batches.values[index].indices {
                let shared = batches.values[index][number]
                guard let batch = shared.reference.object else { continue }
                seen.append(batch)
                later |= rows.bits(olderThan: batch.rows) & shared.freshRows
                batches.values[index][number].freshRows &= ~batch.rows.bits(olderThan: rows)
            }
            return (later, seen)
        }

        /// Whether a row that was read at a time may be served.
        func isYoung(_ readAt: Int64, _ interval: Double) -> Bool {
            interval < 0 || (readAt > 0 && Double(clock() - readAt) < interval * 1_000_000)
        }

        /// Makes the next fault of an object read its row again.
        mutating func forget(_ id: GraphID) {
            rows.forget(id)
            guard !batches.isEmpty, let index = batches.index(forKey: RowPage.Key(for: id)) else {
                return
            }
            let bit = EncodedRows.bit(of: id.object.number)
            for number in batches.values[index].indices {
                batches.values[index][number].freshRows &= ~bit
            }
        }

        /// Makes all rows of a store be read again.
        mutating func forgetAll(of store: UInt32) {
            rows.forgetAll(of: store)
            var index = batches.startIndex
            while index != batches.endIndex {
                if batches.keys[index].store == UInt64(store) {
                    for number in batches.values[index].indices {
                        batches.values[index][number].freshRows = 0
                    }
                }
                batches.formIndex(after: &index)
            }
        }

        /// Records an entry that was saved here.
        mutating func recordSave(_ sequence: SequenceNumber, in store: UInt32) {
            let last = known[store] ?? .zero
            guard sequence > last else { return }
            guard sequence != last.next || !ahead.isEmpty else {
                known[store] = sequence
                return
            }
            ahead[store, default: []].insert(sequence)
            followAhead(in: store)
        }

        /// Advances over entries without a gap.
        mutating func followAhead(in store: UInt32) {
            var last = known[store] ?? .zero
            while ahead[store]?.remove(last.next) != nil { last = last.next }
            known[store] = last
            if ahead[store]?.isEmpty == true { ahead[store] = nil }
        }

        /// When no save is running: what was not saved here came from elsewhere.
        mutating func closeGaps() {
            guard writers == 0, !ahead.isEmpty else { return }
            for (store, sequences) in ahead {
                forgetAll(of: store)
                known[store] = max(known[store] ?? .zero, sequences.max() ?? .zero)
            }
            ahead = [:]
        }
    }

    private let state = Mutex(State())
    /// How many rows there are, readable without the lock.
    private let count = Atomic<Int>(0)
    /// Advances with every save, so that a row that was read before it is not taken in after it.
    private let generation = Atomic<UInt64>(0)
    /// Whether some context has asked for the age of rows; until then the clock is not read.
    private let isTimed = Atomic<Bool>(false)

    /// The right to hand in a row that is read after the ticket was given.
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
    ///   - isHeld: Whether the caller becomes a holder, which must call ``release(_:)``.
    /// - Returns: The row; nil when it is not here, too old or must not be served now.
    func row(_ id: GraphID, within interval: Double, isHeld: Bool) -> EncodedRow? {
        guard interval != 0, count.load(ordering: .acquiring) > 0 else { return nil }
        let (row, batch) = state.withLock { state -> (EncodedRow?, RowPage?) in
            guard state.writers == 0 else { return (nil, nil) }
            let slot = state.rows.slot(of: id)
            if let slot, let row = state.rows.row(at: slot),
                state.isYoung(state.rows.time(at: slot), interval)
            {
                if isHeld { state.rows.addHolder(at: slot) }
                return (row, nil)
            }
            guard let (batch, row, readAt) = state.batched(id, within: interval) else {
                return (nil, nil)
            }
            if isHeld {
                if let slot {
                    state.rows.addHolder(at: slot)
                    state.rows.set(row, readAt: readAt, at: slot)
                } else {
                    state.rows.insert(row, readAt: readAt, for: id)
                    count.store(state.count, ordering: .releasing)
                }
            }
            return (row, batch)
        }
        // The last release of a batch takes the lock.
        withExtendedLifetime(batch) {}
        return row
    }

    /// A ticket, to be taken before reading a row that is to be handed in.
    func ticket() -> Ticket {
        let readAt = isTimed.load(ordering: .relaxed) ? state.withLock { $0.clock() } : 0
        return Ticket(generation: generation.load(ordering: .acquiring), readAt: readAt)
    }

    /// Takes in a row that was read.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - id: The object.
    ///   - ticket: The ticket taken before the row was read.
    ///   - isNewHolder: Whether the reader did not hold the object's row yet.
    func hold(_ row: EncodedRow, of id: GraphID, _ ticket: Ticket, isNewHolder: Bool) {
        let batches = state.withLock { state in
            let isCurrent =
                state.writers == 0 && ticket.generation == generation.load(ordering: .relaxed)
            let (isLatest, batches) = state.outdate(id, by: row)
            let isTakenIn = isCurrent && isLatest
            if let slot = state.rows.slot(of: id) {
                if isNewHolder { state.rows.addHolder(at: slot) }
                if state.rows.outdate(by: row, at: slot), isTakenIn {
                    state.rows.set(row, readAt: ticket.readAt, at: slot)
                }
            } else if isNewHolder {
                state.rows.insert(isTakenIn ? row : nil, readAt: ticket.readAt, for: id)
                count.store(state.count, ordering: .releasing)
            }
            return batches
        }
        // The last release of a batch takes the lock.
        withExtendedLifetime(batches) {}
    }

    /// Takes in rows that were read together, for as long as the batch lives.
    ///
    /// - Parameters:
    ///   - batch: The rows.
    ///   - ticket: The ticket taken before they were read.
    func hold(_ batch: RowPage, _ ticket: Ticket) {
        let batches = state.withLock { state in
            let isCurrent =
                state.writers == 0 && ticket.generation == generation.load(ordering: .relaxed)
            var (later, others) = state.outdate(batch.key, by: batch.rows)
            if state.rows.count > 0 {
                batch.rows.forEach { object, row in
                    let id = GraphID(store: UInt32(batch.key.store), object: object)
                    guard let slot = state.rows.slot(of: id) else { return }
                    let bit = EncodedRows.bit(of: object.number)
                    if !state.rows.outdate(by: row, at: slot) { later |= bit }
                    if isCurrent, later & bit == 0 {
                        state.rows.set(row, readAt: ticket.readAt, at: slot)
                    }
                }
            }
            if isCurrent {
                let shared = CachedPage(
                    reference: ObjectReference(to: batch), readAt: ticket.readAt,
                    freshRows: batch.rows.bits & ~later)
                state.batches[batch.key, default: []].append(shared)
                count.store(state.count, ordering: .releasing)
            }
            return others
        }
        // The last release of a batch takes the lock.
        withExtendedLifetime(batches) {}
    }

    /// Forgets rows that nobody holds any more.
    func remove(_ batch: RowPage) {
        state.withLock { state in
            guard let index = state.batches.index(forKey: batch.key),
                let number = state.batches.values[index].firstIndex(where: {
                    $0.reference.refers(to: batch)
                })
            else { return }
            state.batches.values[index].remove(at: number).reference.release()
            if state.batches.values[index].isEmpty { state.batches.remove(at: index) }
            count.store(state.count, ordering: .releasing)
        }
    }

    /// Releases a row; the last release removes it.
    func release(_ id: GraphID) {
        state.withLock { state in
            state.rows.removeHolder(of: id)
            count.store(state.count, ordering: .releasing)
        }
    }

    /// Makes the next fault of an object that fires read the store.
    func forget(_ id: GraphID) {
        guard count.load(ordering: .acquiring) > 0 else { return }
        state.withLock { $0.forget(id) }
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
            state.recordSave(sequence, in: store)
            guard state.count > 0 else { return }
            for change in changes {
                state.forget(GraphID(store: store, object: change.object))
            }
        }
    }

    /// Records where a journal ends, whoever saved its last entry.
    func learn(of end: JournalEnd, in store: UInt32) {
        let isCutBack = state.withLock { state in
            defer { state.rewinds[store] = end.rewinds }
            return state.rewinds[store].map { $0 != end.rewinds } ?? false
        }
        // The rows may be of entries that are gone, and others have their numbers.
        if isCutBack { forgetAll(of: store) }
        learn(of: end.head, in: store)
    }

    /// Records that an entry exists, whoever saved it.
    func learn(of sequence: SequenceNumber, in store: UInt32) {
        state.withLock { state in
            guard sequence > state.known[store] ?? .zero else { return }
            state.known[store] = sequence
            state.ahead[store] = state.ahead[store]?.filter { $0 > sequence }
            state.followAhead(in: store)
            generation.add(1, ordering: .releasing)
            state.forgetAll(of: store)
        }
    }

    // MARK: - Age

    /// Forgets a store that was added or removed, or whose number now stands for another file: the last
    /// entry as well, because in a backup that replaced it other entries may follow an earlier one.
    func forgetAll(of store: UInt32) {
        state.withLock { state in
            generation.add(1, ordering: .releasing)
            state.forgetAll(of: store)
            state.known[store] = nil
            state.ahead[store] = nil
        }
    }

    /// Starts recording when rows are read.
    func startTiming() {
        isTimed.store(true, ordering: .relaxed)
    }

    /// Takes the time, in microseconds, from another clock.
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
