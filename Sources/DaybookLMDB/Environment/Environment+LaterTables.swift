internal import CDaybookLMDB
internal import Synchronization

// A table that few files need is made when it is needed first, so that it costs the others nothing.
extension Environment {
    /// A table that the file may lack; nil when it does.
    ///
    /// - Throws: ``LMDBError`` when the file cannot be read.
    /// - Precondition: Not called inside a write of the same environment.
    /// - Complexity: O(1) once the table has been found.
    package func table(ifThere name: String) throws -> Table? {
        if let table = core.tables.withLock({ $0[name] }) { return table }
        try core.checkUsable()
        // The reader comes first: to wait for one is to wait for all reads, when the map changes.
        return try core.pool.withReader(patience) {
            core.opening.take()
            defer { core.opening.giveBack() }
            return try openLater(name)
        }
    }

    /// A table that is made if the file lacks it.
    ///
    /// - Throws: As ``write(_:)``.
    /// - Precondition: Not called inside a read or write of the same environment.
    /// - Complexity: One write the first time.
    package func table(making name: String) throws -> Table {
        if let table = try table(ifThere: name) { return table }
        let opening = core.opening
        try perform { try $0.makeTable(name, opening) }
        guard let table = try table(ifThere: name) else { throw LMDBError.noSuchTable(name) }
        return table
    }

    /// Opens a table in a read transaction of its own, whose end makes the handle known to all later
    /// transactions.
    private func openLater(_ name: String) throws -> Table? {
        if let table = core.tables.withLock({ $0[name] }) { return table }
        guard let opened = try handle(of: name) else { return nil }
        core.add([name: opened])
        return core.tables.withLock { $0[name] }
    }

    private func handle(of name: String) throws -> MDB_dbi? {
        let pointer = try core.pair.registering(patience) { () throws(LMDBError) -> OpaquePointer in
            var pointer: OpaquePointer?
            let status = mdb_txn_begin(core.handle.pointer, nil, UInt32(MDB_RDONLY), &pointer)
            guard status == MDB_SUCCESS, let pointer else {
                throw .status(status, "opening the table '\(name)'")
            }
            return pointer
        }
        do throws(LMDBError) {
            try checkWay(to: name, in: pointer)
        } catch {
            mdb_txn_abort(pointer)
            throw error
        }
        var handle: MDB_dbi = 0
        let found = mdb_dbi_open(pointer, name, 0, &handle)
        guard found == MDB_SUCCESS else {
            mdb_txn_abort(pointer)
            if found == MDB_NOTFOUND { return nil }
            throw LMDBError.status(found, "opening the table '\(name)'")
        }
        // An abort would close the handle again.
        let status = mdb_txn_commit(pointer)
        guard status == MDB_SUCCESS else {
            throw LMDBError.status(status, "opening the table '\(name)'")
        }
        return handle
    }

    /// Checks what LMDB is about to read of the table of tables, because it trusts that.
    private func checkWay(to name: String, in transaction: OpaquePointer) throws(LMDBError) {
        var map = try PageMap(of: core.handle.pointer, core.pair)
        defer { map.remove() }
        var status = MDB_SUCCESS
        let snapshot = try SnapshotMemory().snapshot(
            of: transaction, in: map, core.pair, &status)
        guard let snapshot else { throw .status(status, "opening the table '\(name)'") }
        try snapshot.checkWay(toTable: name)
    }
}

extension WriteTransaction {
    /// Makes a table, without a handle that outlives the transaction's failure.
    fileprivate func makeTable(_ name: String, _ opening: TableOpening) throws {
        state.requireNoLoans()
        state.beginOpening(opening)
        var handle: MDB_dbi = 0
        let status = mdb_dbi_open(access.pointer, name, UInt32(MDB_CREATE), &handle)
        guard status == MDB_SUCCESS else {
            throw state.fail(status, "making the table '\(name)'")
        }
        state.countWrite()
    }
}
