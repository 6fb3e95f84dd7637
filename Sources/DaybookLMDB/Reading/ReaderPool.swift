internal import CDaybookLMDB
internal import Dispatch
internal import Synchronization

/// The read transactions of one environment, kept and renewed because beginning a new one costs a
/// lock across processes.
///
/// Invariants:
/// - A slot is either resting (reset, on the free list) or in use by one thread.
/// - While the map is being changed no slot is in use and none exists.
final class ReaderPool: Sendable {
    /// One borrowed read transaction, and the state of the file that it sees.
    struct Loan {
        let index: Int
        let pointer: OpaquePointer
        let snapshot: Snapshot
    }

    private struct Slot {
        /// The `MDB_txn`, absent while the slot is empty.
        var pointer: OpaquePointer?
        /// The thread that reads, 0 while resting.
        var owner: UInt
        /// What is known of the state it last saw.
        let memory = SnapshotMemory()
    }

    private struct State {
        var slots: [Slot] = []
        var map: PageMap
        var resting: [Int] = []
        var empty: [Int] = []
        var active = 0
        var isExclusive = false
        var drained: DispatchSemaphore?
        var waiting: [DispatchSemaphore] = []
    }

    // @unchecked Sendable because the pointer is only handed to LMDB, whose environment may be
    // used from any thread.
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let environment: Handle
    private let pair: FilePair
    private let state: Mutex<State>

    /// Held while the write transaction of this process is active, and by a reader that must
    /// change the map.
    private let writing = Mutex<Void>(())

    init(environment: OpaquePointer, _ pair: FilePair) throws(LMDBError) {
        self.environment = Handle(pointer: environment)
        self.pair = pair
        state = Mutex(State(map: try PageMap(of: environment, pair)))
    }

    // MARK: - Reading

    /// Begins or renews a read transaction.
    ///
    /// - Parameter patience: For how long to wait for a process that was stopped while it began one.
    /// - Returns: The transaction, to be given back.
    /// - Throws: ``LMDBError``; with ``LMDBError/Code/locked`` when there is such a process.
    func borrow(_ patience: LockPatience) throws(LMDBError) -> Loan {
        let thread = UInt(daybook_thread_identity())
        for _ in 0..<Self.attemptsMaximum {
            let taken = reserve(for: thread)
            guard taken.map.isThere else {
                discard(taken.index, pointer: taken.pointer)
                try mapAgain()
                continue
            }
            var status: Int32
            var pointer = taken.pointer
            if let pointer {
                status = mdb_txn_renew(pointer)
            } else {
                do throws(LMDBError) {
                    (status, pointer) = try begin(patience)
                } catch {
                    discard(taken.index, pointer: nil)
                    throw error
                }
            }
            if status == MDB_SUCCESS, let pointer {
                do throws(LMDBError) {
                    let snapshot = try taken.memory.snapshot(
                        of: pointer, in: taken.map, pair, &status)
                    if let snapshot {
                        if taken.pointer == nil { adopt(pointer, at: taken.index) }
                        return Loan(index: taken.index, pointer: pointer, snapshot: snapshot)
                    }
                } catch {
                    discard(taken.index, pointer: pointer)
                    throw error
                }
            }
            discard(taken.index, pointer: pointer)
            try recover(from: status, patience)
        }
        throw .status(MDB_MAP_RESIZED, "beginning to read")
    }

    private func begin(
        _ patience: LockPatience
    ) throws(LMDBError) -> (status: Int32, pointer: OpaquePointer?) {
        try pair.registering(patience) {
            var pointer: OpaquePointer?
            let status = mdb_txn_begin(environment.pointer, nil, UInt32(MDB_RDONLY), &pointer)
            return (status, pointer)
        }
    }

    /// Ends what ``borrow(_:)`` began.
    func giveBack(_ loan: Loan) {
        mdb_txn_reset(loan.pointer)
        let drained = state.withLock { state -> DispatchSemaphore? in
            state.slots[loan.index].owner = 0
            state.resting.append(loan.index)
            return Self.leave(&state)
        }
        drained?.signal()
    }

    /// Keeps the map from changing while `body` reads it through a transaction of its own.
    func withReader<R>(_ patience: LockPatience, _ body: () throws -> R) throws -> R {
        let loan = try borrow(patience)
        // LMDB takes its own reader; this one must not pin pages meanwhile.
        mdb_txn_reset(loan.pointer)
        defer { giveBack(loan) }
        return try body()
    }

    /// Whether somebody waits until no read is under way, or changes the map.
    var isExclusive: Bool {
        state.withLock(\.isExclusive)
    }

    /// Whether the calling thread is inside a read.
    func isReadingOnThisThread() -> Bool {
        let thread = UInt(daybook_thread_identity())
        return state.withLock { state in
            state.active > 0 && state.slots.contains { $0.owner == thread }
        }
    }

    // MARK: - Excluding readers

    /// Changes the length of the map, LMDB's and the one for reading.
    ///
    /// - Parameter size: The length in bytes; 0 for the one that the file names.
    /// - Returns: LMDB's status; or the number of the error when there is no second map.
    func changeMap(to size: Int) -> Int32 {
        withoutReaders {
            let status = mdb_env_set_mapsize(environment.pointer, size)
            let mapped = state.withLock { $0.map.follow(environment.pointer, pair) }
            return status == MDB_SUCCESS ? mapped : status
        }
    }

    /// Runs one write transaction, during which no reader changes the map.
    func whileWriting<R: Sendable>(_ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
        try writing.withLock { _ throws(LMDBError) -> R in try body() }
    }

    /// The same, unless a reader is changing the map at this moment; nil then.
    func writingAtOnce<R: Sendable>(_ body: () throws(LMDBError) -> R) throws(LMDBError) -> R? {
        try writing.withLockIfAvailable { _ throws(LMDBError) -> R in try body() }
    }

    /// Waits until no reader is changing the map.
    func awaitMapChange() {
        writing.withLock { _ in }
    }

    /// Waits until no read is under way, drops the pooled transactions, and runs `body` while
    /// none can begin. `mdb_env_set_mapsize` demands this and does not check it.
    private func withoutReaders<R>(_ body: () -> R) -> R {
        enterExclusive()
        let result = body()
        leaveExclusive()
        return result
    }

    /// Ends all pooled transactions and the map; for closing.
    func close() {
        purge()
        state.withLock { $0.map.remove() }
    }

    private func purge() {
        let pointers = state.withLock { Self.removeResting(&$0) }
        for pointer in pointers { mdb_txn_abort(pointer.pointer) }
    }

    private func enterExclusive() {
        while true {
            let wait = state.withLock { state -> DispatchSemaphore? in
                guard state.isExclusive else {
                    state.isExclusive = true
                    return nil
                }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiting.append(semaphore)
                return semaphore
            }
            guard let wait else { break }
            wait.wait()
        }
        let drained = state.withLock { state -> DispatchSemaphore? in
            guard state.active > 0 else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.drained = semaphore
            return semaphore
        }
        drained?.wait()
        purge()
    }

    private func leaveExclusive() {
        let waiting = state.withLock { state -> [DispatchSemaphore] in
            state.isExclusive = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    // MARK: - Slots

    private struct Reservation: @unchecked Sendable {
        // @unchecked Sendable because the transaction belongs to no thread (`MDB_NOTLS`) and
        // the slot to one caller at a time.
        let index: Int
        let pointer: OpaquePointer?
        let memory: SnapshotMemory
        let map: PageMap
    }

    private func reserve(for thread: UInt) -> Reservation {
        while true {
            let (taken, wait) = state.withLock {
                state -> (Reservation?, DispatchSemaphore?) in
                // A thread that is already reading must get through, or it and the change of the
                // map would wait for each other.
                if state.isExclusive, !state.slots.contains(where: { $0.owner == thread }) {
                    let semaphore = DispatchSemaphore(value: 0)
                    state.waiting.append(semaphore)
                    return (nil, semaphore)
                }
                state.active += 1
                return (Self.takeSlot(&state, thread), nil)
            }
            if let taken { return taken }
            wait?.wait()
        }
    }

    private static func takeSlot(_ state: inout State, _ thread: UInt) -> Reservation {
        let index: Int
        if let free = state.resting.popLast() ?? state.empty.popLast() {
            index = free
            state.slots[index].owner = thread
        } else {
            index = state.slots.count
            state.slots.append(Slot(pointer: nil, owner: thread))
        }
        let slot = state.slots[index]
        return Reservation(
            index: index, pointer: slot.pointer, memory: slot.memory, map: state.map)
    }

    private func adopt(_ pointer: OpaquePointer, at index: Int) {
        let handle = Handle(pointer: pointer)
        state.withLock { $0.slots[index].pointer = handle.pointer }
    }

    private func discard(_ index: Int, pointer: OpaquePointer?) {
        if let pointer { mdb_txn_abort(pointer) }
        let drained = state.withLock { state -> DispatchSemaphore? in
            state.slots[index] = Slot(pointer: nil, owner: 0)
            state.empty.append(index)
            return Self.leave(&state)
        }
        drained?.signal()
    }

    /// Removes a reader. Returns the semaphore of the waiting thread, if any, after the last one.
    private static func leave(_ state: inout State) -> DispatchSemaphore? {
        state.active -= 1
        guard state.active == 0, let drained = state.drained else { return nil }
        state.drained = nil
        return drained
    }

    private static func removeResting(_ state: inout State) -> [Handle] {
        var pointers: [Handle] = []
        for index in state.resting {
            if let pointer = state.slots[index].pointer {
                pointers.append(Handle(pointer: pointer))
            }
            state.slots[index].pointer = nil
            state.empty.append(index)
        }
        state.resting = []
        return pointers
    }

    // MARK: - Recovery

    private func recover(from status: Int32, _ patience: LockPatience) throws(LMDBError) {
        switch status {
        case MDB_MAP_RESIZED: try mapAgain()
        case MDB_READERS_FULL:
            var dead: Int32 = 0
            let checked = try pair.registering(patience) {
                mdb_reader_check(environment.pointer, &dead)
            }
            if checked != MDB_SUCCESS || dead == 0 { throw .status(status, "beginning to read") }
        case MDB_BAD_RSLOT:
            // The slot was cleared while the process was suspended; a new one replaces it.
            return
        default:
            throw .status(status, "beginning to read")
        }
    }

    /// Makes the map as long as the file says, and again if the last attempt has left none.
    private func mapAgain() throws(LMDBError) {
        if isReadingOnThisThread() {
            throw .status(MDB_MAP_RESIZED, "beginning a read within a read")
        }
        let status = writing.withLock { _ in changeMap(to: 0) }
        if status != MDB_SUCCESS { throw .status(status, "mapping the file") }
    }

    private static let attemptsMaximum = 16
}
