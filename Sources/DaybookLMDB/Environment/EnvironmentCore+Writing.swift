internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

extension EnvironmentCore {
    /// What stands in the way of a group, and is removed between its rounds: the memory map, or the gate.
    private enum Obstacle {
        /// The map is too small for what the group writes.
        case growth
        /// Another process has made the file larger than the map.
        case following
        /// A reader of this process is changing the map, which waits for the other readers.
        case byReader
        /// The gate must catch up before these run again.
        case behind([WriteRequest])
        /// LMDB did not commit what the gate has accepted of these.
        case uncommitted(Int32, accepted: [WriteRequest])
    }

    /// Runs a group of requests in one LMDB transaction and records the result in each.
    ///
    /// The first round accepts requests that arrive meanwhile, and so does one after the gate has caught up: that takes
    /// its time, and who would come in the next group may have what they write accepted with this one. Every other round
    /// makes the group smaller or the map larger, and both are bounded. The gate asks for another round only so often for
    /// one request, and a group has not more than so many.
    ///
    /// - Parameters:
    ///   - group: The requests.
    ///   - joining: Returns the requests that have arrived since, to join a group of `count`.
    func perform(_ group: [WriteRequest], _ joining: (_ count: Int) -> [WriteRequest]) {
        var pending = group
        var mayJoin = true
        var followings = 0
        while let first = pending.first {
            do {
                try checkUsable()
                let obstacle = try performRound(
                    &pending, first.wait.restarted, mayJoin ? joining : { _ in [] })
                mayJoin = false
                switch obstacle {
                case nil: continue
                case .behind(let waiting):
                    do {
                        try catchUp(first.wait)
                        mayJoin = true
                    } catch {
                        finish(waiting, of: &pending, error)
                    }
                case .uncommitted(let status, let accepted):
                    settle(accepted, of: &pending, after: status)
                case .byReader: pool.awaitMapChange()
                case .growth: try pool.whileWriting { () throws(LMDBError) in try grow() }
                case .following:
                    followings += 1
                    guard followings <= Self.followingsMaximum else {
                        throw LMDBError.status(MDB_MAP_RESIZED, "beginning to write")
                    }
                    try pool.whileWriting { () throws(LMDBError) in try follow() }
                }
            } catch {
                for request in pending { request.finish(error) }
                return
            }
        }
    }

    /// One transaction, while no other process writes. Leaves in the group the requests that must be
    /// run again.
    ///
    /// - Returns: What must be removed before that. Changing the map means waiting for the readers of
    ///   this process, and other processes may write meanwhile.
    private func performRound(
        _ group: inout [WriteRequest], _ wait: LockWait,
        _ joining: (_ count: Int) -> [WriteRequest]
    ) throws(LMDBError) -> Obstacle? {
        try pair.writing.take(wait)
        defer { pair.writing.giveBack() }
        try makeSure()
        strengthen()
        markUnsynced()
        let round = try pool.writingAtOnce { () throws(LMDBError) -> Obstacle? in
            try performTransaction(&group, joining)
        }
        // To wait here would keep other processes from writing for as long as this one reads.
        guard let round else { return .byReader }
        return round
    }

    /// Brings each write to the disk from now on, if somebody has asked for it since the file was opened otherwise. What
    /// was written before comes along with the first of these.
    private func strengthen() {
        guard isToBeDurable.exchange(false, ordering: .relaxed) else { return }
        mdb_env_set_flags(handle.pointer, UInt32(MDB_NOMETASYNC), 0)
    }

    private func performTransaction(
        _ group: inout [WriteRequest], _ joining: (_ count: Int) -> [WriteRequest]
    ) throws(LMDBError) -> Obstacle? {
        let tablesKnown = tables.withLock(\.count)
        guard let pointer = try beginWriting() else { return .following }
        let extent = reserveRoom(in: pointer)
        let number = mdb_txn_id(pointer)
        let state = WriteState(knowing: knowledge(before: number))
        let isGated = gate.withLock { $0 != nil }
        // After the transaction, which ends before this function does.
        defer { state.endOpening() }
        var failures: [(position: Int, error: any Error)] = []
        var position = 0
        while true {
            if position == group.count { group += joining(group.count) }
            guard position < group.count else { break }
            let request = group[position]
            let writesBefore = state.writes
            state.runs(position, before: gate(before: request, isGated))
            var failure: (any Error)?
            do {
                let access = TransactionAccess(pointer: pointer, environment: identifier)
                try request.run(WriteTransaction(access, state))
                try checkSubmissions(of: state)
            } catch {
                failure = error
            }
            if state.failure == MDB_MAP_FULL {
                mdb_txn_abort(pointer)
                return .growth
            }
            if failure != nil, tables.withLock(\.count) != tablesKnown {
                // A request may have a table that was opened after the transaction began, which does not
                // know it; the next one does. Tables are few, so this ends.
                mdb_txn_abort(pointer)
                return nil
            }
            if let spoiled = state.failureError { failure = failure ?? spoiled }
            if let failure, state.failure != nil || state.writes != writesBefore {
                mdb_txn_abort(pointer)
                let told = state.failure.map { explain($0, failure) } ?? failure
                group.remove(at: position)
                // Its answer does not depend on the others.
                request.finish(told)
                request.wake()
                return nil
            }
            if let failure {
                failures.append((position, failure))
                state.withdraw()
            }
            position += 1
        }
        var length: Int?
        if state.writes > 0 {
            do {
                try pair.checkIsInPlace()
            } catch {
                mdb_txn_abort(pointer)
                throw error
            }
            length = lengthen(forPagesOf: pointer, extent)
        }
        var accepted: [WriteRequest] = []
        let submitters = state.submitters.map { group[$0] }
        switch askGate(state) {
        case .none: break
        case .accepted: accepted = submitters
        case .behind:
            mdb_txn_abort(pointer)
            return .behind(submitters)
        case .refused(let error):
            mdb_txn_abort(pointer)
            finish(submitters, of: &group, error)
            return nil
        }
        let status = mdb_txn_commit(pointer)
        if status != MDB_SUCCESS, accepted.isEmpty {
            if status == MDB_MAP_FULL { return .growth }
            throw commitFailure(status)
        }
        for (position, error) in failures.reversed() {
            group.remove(at: position).finish(error)
        }
        if status != MDB_SUCCESS { return .uncommitted(status, accepted: accepted) }
        if state.writes > 0 { lengthen(forPagesBehind: length) }
        remember(state, as: number)
        for request in group { request.finish(nil) }
        group = []
        return nil
    }

    /// The knowledge remembered in the previous LMDB transaction, if that was one of this process.
    private func knowledge(before number: Int) -> (any AnyObject & Sendable)? {
        memory.withLock { $0.transaction == number - 1 ? $0.knowledge : nil }
    }

    /// Keeps the knowledge that a transaction has left.
    ///
    /// A transaction that wrote nothing has no number of its own: LMDB gives the number to the next
    /// one, in any process.
    private func remember(_ state: WriteState, as number: Int) {
        guard state.writes > 0 else { return }
        memory.withLock { $0 = Memory(transaction: number, knowledge: state.remembered) }
    }

    /// Nil when another process has made the file larger than the map.
    private func beginWriting() throws(LMDBError) -> OpaquePointer? {
        try checkUsable()
        if let reason = brokenReason.withLock({ $0 }) { throw .closedToWrites(reason: reason) }
        try clearDeadReadersNowAndThen()
        var pointer: OpaquePointer?
        let status = mdb_txn_begin(handle.pointer, nil, 0, &pointer)
        if status == MDB_SUCCESS { return pointer }
        if status == MDB_MAP_RESIZED { return nil }
        if status == MDB_PANIC { close(toWrites: "LMDB reports a fatal error") }
        throw .status(status, "beginning to write")
    }

    /// Takes over the size that the file says its map has. No transaction of this process is active
    /// meanwhile.
    private func follow() throws(LMDBError) {
        let status = pool.changeMap(to: 0)
        if status != MDB_SUCCESS { throw .status(status, "following a larger map") }
    }

    /// Removes the readers of killed processes: because of them no page would ever be reused, and
    /// the file of a long-running program would grow with every write.
    ///
    /// While another process registers a reader, that is left to a later write.
    private func clearDeadReadersNowAndThen() throws(LMDBError) {
        let count = writesBegun.wrappingAdd(1, ordering: .relaxed).newValue
        guard count % Self.readerCheckInterval == 0 else { return }
        do throws(LMDBError) {
            try pair.registeringNow {
                var dead: Int32 = 0
                mdb_reader_check(handle.pointer, &dead)
            }
        } catch  where error.code == .locked {
            return
        }
    }

    /// Doubles the map. No transaction of this process is active meanwhile.
    func grow() throws(LMDBError) {
        var info = MDB_envinfo()
        mdb_env_info(handle.pointer, &info)
        let sizeOld = info.me_mapsize
        let sizeNew = sizeOld * 2
        // For LMDB's map and for the one for reading.
        guard sizeNew <= Self.mapSizeMaximum, Self.canReserve(sizeNew * 2) else {
            throw LMDBError(
                .mapFull,
                "The memory map of \(sizeOld) bytes is full and cannot grow: "
                    + "the address space of this process has no room for \(sizeNew) bytes.")
        }
        let status = pool.changeMap(to: sizeNew)
        if status != MDB_SUCCESS {
            close(toWrites: "the memory map could not be made larger")
            throw .status(status, "making the map larger")
        }
    }

    /// Whether this much address space is free; LMDB gives up the old map before it asks.
    static func canReserve(_ size: Int) -> Bool {
        if size == 0 { return true }
        guard
            let address = mmap(nil, size, PROT_NONE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0),
            address != MAP_FAILED
        else { return false }
        munmap(address, size)
        return true
    }

    // MARK: - When the disk refuses

    /// The reason for a failed commit. It also decides whether more may be written.
    ///
    /// A full disk leaves the last state as it was, unless there was no room for the meta page:
    /// then LMDB gives up. After any other failure it is unknown which pages reached the disk (a
    /// failed `fsync` drops them from the cache), so the environment closes itself to writes.
    func commitFailure(_ status: Int32) -> LMDBError {
        let isFull = FilePair.isNoRoom(status) || (status == EIO && isDiskFull())
        if isFull, !hasGivenUp() { return .diskFull(osError: status) }
        let message = LMDBError.status(status, "committing").message
        let reason = isFull ? "the disk is full" : String(message.dropLast())
        close(toWrites: reason)
        return LMDBError(
            .closedToWrites, LMDBError.closedToWrites(reason: reason).message, osError: status)
    }

    /// Whether LMDB refuses everything because the meta page could not be written.
    private func hasGivenUp() -> Bool {
        var pointer: OpaquePointer?
        let status = mdb_txn_begin(handle.pointer, nil, 0, &pointer)
        if let pointer { mdb_txn_abort(pointer) }
        return status == MDB_PANIC
    }

    /// Turns an input/output error of LMDB into "disk full" where that is the cause.
    private func explain(_ status: Int32, _ error: any Error) -> any Error {
        if FilePair.isNoRoom(status) || (status == EIO && isDiskFull()) {
            return LMDBError.diskFull(osError: status)
        }
        if status == MDB_PANIC { close(toWrites: "LMDB reports a fatal error") }
        return error
    }

    private func isDiskFull() -> Bool {
        let room = pair.room
        return room >= 0 && room < Self.diskFullBelow
    }

    func close(toWrites reason: String) {
        brokenReason.withLock { $0 = $0 ?? reason }
    }

    /// How often the file is found larger than the map before that is no coincidence.
    private static let followingsMaximum = 16
    /// The check costs a system call for each other process that reads.
    private static let readerCheckInterval: UInt32 = 32
    /// Half of a user address space of 47 bits.
    private static let mapSizeMaximum = 1 << 46
    private static let diskFullBelow: Int64 = 1 << 20
}
