internal import CDaybookLMDB

extension WriteTransaction {
    /// Writes many records of one table with one cursor, which finds the position of a record
    /// faster if the one before is on the same page.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - mode: The treatment of existing records; see ``put(_:_:_:_:)``.
    ///   - body: Puts the records, preferably in the order of their keys.
    /// - Throws: What ``PutRun/put(_:_:)`` throws; ``LMDBError`` when there is no memory for a cursor.
    /// - Precondition: No bytes handed out by this transaction are in use.
    package func putRun(
        _ table: Table, _ mode: PutMode, _ body: (inout PutRun) throws -> Void
    ) throws {
        try putRun(table, flags: mode.flags, appendsAtFirst: false, body)
    }

    /// Writes many records of one table in the order of their keys, with one cursor: at the end of
    /// the table if the first belongs there, and otherwise each at its position, replacing an
    /// existing one.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - body: Puts the records.
    /// - Throws: As ``putRun(_:_:_:)``.
    /// - Precondition: Each key is greater than the one before. No bytes handed out by this
    ///   transaction are in use.
    package func putAscendingRun(
        _ table: Table, _ body: (inout PutRun) throws -> Void
    ) throws {
        try putRun(table, flags: UInt32(MDB_APPEND), appendsAtFirst: true, body)
    }

    /// Removes many records with one cursor for each table, which finds a record faster if the one
    /// before it in that table was on the same page.
    ///
    /// - Parameter body: Removes the records.
    /// - Throws: What ``RemoveRun/remove(_:_:)`` throws.
    /// - Precondition: No bytes handed out by this transaction are in use.
    package func removeRun(_ body: (inout RemoveRun) throws -> Void) throws {
        var run = RemoveRun(self)
        try body(&run)
    }

    /// Removes the last records of a table, in the order of their keys.
    ///
    /// - Precondition: No bytes handed out by this transaction are in use.
    /// - Throws: ``LMDBError`` also when the table has fewer records, as a damaged one may where another
    ///   has been seen.
    /// - Complexity: O(*k*) page reads and writes, *k* the number of records.
    package func removeLast(_ count: Int, of table: Table) throws {
        // The pages of a whole table are freed without being read.
        guard try access.count(table) != count else { return try clear(table) }
        state.requireNoLoans()
        let cursor = try openCursor(on: table)
        defer { mdb_cursor_close(cursor) }
        for _ in 0..<count {
            var key = MDB_val.empty
            var value = MDB_val.empty
            var status = mdb_cursor_get(cursor, &key, &value, MDB_LAST)
            if status == MDB_SUCCESS { status = mdb_cursor_del(cursor, 0) }
            guard status == MDB_SUCCESS else {
                throw state.fail(status, "deleting from '\(table.name)'")
            }
            state.countWrite()
        }
    }

    fileprivate func openCursor(on table: Table) throws -> OpaquePointer {
        access.check(table)
        var opened: OpaquePointer?
        let status = mdb_cursor_open(access.pointer, table.handle, &opened)
        guard status == MDB_SUCCESS, let opened else {
            throw state.fail(status, "opening a cursor on '\(table.name)'")
        }
        return opened
    }

    private func putRun(
        _ table: Table, flags: UInt32, appendsAtFirst: Bool,
        _ body: (inout PutRun) throws -> Void
    ) throws {
        let opened = try openCursor(on: table)
        defer { mdb_cursor_close(opened) }
        var run = PutRun(
            cursor: opened, table: table, flags: flags, state: state,
            appendsAtFirst: appendsAtFirst)
        try body(&run)
    }
}

/// Puts that share a cursor.
package struct PutRun: ~Copyable {
    fileprivate let cursor: OpaquePointer
    fileprivate let table: Table
    fileprivate var flags: UInt32
    fileprivate let state: WriteState
    /// Whether the first record determines the position of the run.
    fileprivate var appendsAtFirst: Bool

    /// Writes one record.
    ///
    /// - Throws: As ``WriteTransaction/put(_:_:_:_:)``.
    /// - Precondition: As there.
    package mutating func put(_ key: RawSpan, _ value: RawSpan) throws {
        state.requireNoLoans()
        var status = attempt(key, value)
        if appendsAtFirst {
            appendsAtFirst = false
            if status == MDB_KEYEXIST {
                flags = 0
                status = attempt(key, value)
            }
        }
        switch status {
        case MDB_SUCCESS: state.countWrite()
        case MDB_KEYEXIST: throw LMDBError.status(status, "writing '\(table.name)'")
        default: throw state.fail(status, "writing '\(table.name)'")
        }
    }

    private func attempt(_ key: RawSpan, _ value: RawSpan) -> Int32 {
        table.write(key, value, flags) { mdb_cursor_put(cursor, &$0, &$1, $2) }
    }
}

/// Removals that share a cursor for each table.
package struct RemoveRun: ~Copyable {
    private let transaction: WriteTransaction
    private var cursors: [(table: UInt32, cursor: OpaquePointer)] = []

    fileprivate init(_ transaction: borrowing WriteTransaction) {
        self.transaction = WriteTransaction(transaction.access, transaction.state)
    }

    deinit {
        for (_, cursor) in cursors { mdb_cursor_close(cursor) }
    }

    /// Removes one record.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``LMDBError``, which undoes the whole body of the transaction.
    /// - Complexity: O(log *n*) page reads and writes; O(1) page reads where the record before it in
    ///   the table was on the same page.
    package mutating func remove(_ table: Table, _ key: RawSpan) throws -> Bool {
        transaction.access.check(table)
        transaction.state.requireNoLoans()
        let cursor = try cursor(on: table)
        let status = key.withValue { key in
            var value = MDB_val.empty
            let status = mdb_cursor_get(cursor, &key, &value, MDB_SET)
            return status == MDB_SUCCESS ? mdb_cursor_del(cursor, 0) : status
        }
        switch status {
        case MDB_SUCCESS:
            transaction.state.countWrite()
            return true
        case MDB_NOTFOUND: return false
        default: throw transaction.state.fail(status, "deleting from '\(table.name)'")
        }
    }

    private mutating func cursor(on table: Table) throws -> OpaquePointer {
        if let known = cursors.first(where: { $0.table == table.handle }) { return known.cursor }
        let opened = try transaction.openCursor(on: table)
        cursors.append((table.handle, opened))
        return opened
    }
}

extension PutMode {
    var flags: UInt32 {
        switch self {
        case .upsert: 0
        case .insertOnly: UInt32(MDB_NOOVERWRITE)
        case .append: UInt32(MDB_APPEND)
        }
    }
}
