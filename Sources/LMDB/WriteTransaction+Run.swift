internal import CLMDB

extension WriteTransaction {
    /// Writes many records of one table with one cursor, which finds the place of a record faster when
    /// the one before stands on the same page.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - mode: What to do about records that are there; see ``put(_:_:_:_:)``.
    ///   - body: Puts the records, best in the order of their keys.
    /// - Throws: What ``PutRun/put(_:_:)`` throws; ``LMDBError`` when there is no memory for a cursor.
    /// - Precondition: No bytes handed out by this transaction are in hand.
    package func putRun(
        _ table: Table, _ mode: PutMode, _ body: (borrowing PutRun) throws -> Void
    ) throws {
        access.check(table)
        var opened: OpaquePointer?
        let status = mdb_cursor_open(access.pointer, table.handle, &opened)
        guard status == MDB_SUCCESS, let opened else {
            throw state.fail(status, "opening a cursor on '\(table.name)'")
        }
        defer { mdb_cursor_close(opened) }
        try body(PutRun(cursor: opened, table: table, flags: mode.flags, state: state))
    }
}

/// Puts that share a cursor.
package struct PutRun: ~Copyable {
    fileprivate let cursor: OpaquePointer
    fileprivate let table: Table
    fileprivate let flags: UInt32
    fileprivate let state: WriteState

    /// Writes one record.
    ///
    /// - Throws: As ``WriteTransaction/put(_:_:_:_:)``.
    /// - Precondition: As there.
    package func put(_ key: RawSpan, _ value: RawSpan) throws {
        state.requireNoLoans()
        let status = key.withValue { keyValue in
            value.withValue { valueValue in
                mdb_cursor_put(cursor, &keyValue, &valueValue, flags)
            }
        }
        switch status {
        case MDB_SUCCESS: state.noteWrite()
        case MDB_KEYEXIST: throw LMDBError.status(status, "writing '\(table.name)'")
        default: throw state.fail(status, "writing '\(table.name)'")
        }
    }
}

extension PutMode {
    fileprivate var flags: UInt32 {
        switch self {
        case .upsert: 0
        case .insertOnly: UInt32(MDB_NOOVERWRITE)
        case .append: UInt32(MDB_APPEND)
        }
    }
}
