internal import CDaybookSQLite

/// A SQLite database, with the operations needed to write and to inspect one.
///
/// All pointers to SQLite are in this module. A connection and its statements belong to one thread.
package final class Connection {
    private let handle: OpaquePointer
    private var isOpen = true

    /// Opens the database in a file; an empty file is an empty database.
    ///
    /// - Throws: ``SQLiteError`` when the file is not there or cannot be opened for writing.
    package convenience init(path: String) throws(SQLiteError) {
        try self.init(name: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX)
    }

    /// A database in memory, which ends with its connection.
    package static func inMemory() throws(SQLiteError) -> Connection {
        try Connection(name: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX)
    }

    init(name: String, flags: Int32) throws(SQLiteError) {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(name, &opened, flags, nil)
        guard let opened else { throw SQLiteError("No memory is left for a database.") }
        guard status == SQLITE_OK else {
            let error = SQLiteError(of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
    }

    deinit {
        if isOpen { sqlite3_close_v2(handle) }
    }

    /// Runs statements without parameters in a row.
    package func run(_ text: String) throws(SQLiteError) {
        guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
            throw SQLiteError(of: handle)
        }
    }

    /// Prepares a statement.
    package func statement(_ text: String) throws(SQLiteError) -> Statement {
        var prepared: OpaquePointer?
        let status = sqlite3_prepare_v3(
            handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard status == SQLITE_OK, let prepared else { throw SQLiteError(of: handle) }
        return Statement(prepared, of: self)
    }

    /// The message of the last failure.
    var failure: SQLiteError { SQLiteError(of: handle) }

    /// Closes the database; one with statements still open closes with the last of them.
    package func close() throws(SQLiteError) {
        guard isOpen else { return }
        guard sqlite3_close_v2(handle) == SQLITE_OK else { throw SQLiteError(of: handle) }
        isOpen = false
    }
}

/// SQLite's reason for a refusal.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a program can do something about.
    package enum Reason: Sendable, Hashable {
        /// Others use the database.
        case busy
        /// The file is no database, or a damaged one.
        case damaged
        /// Anything else.
        case other
    }

    /// SQLite's message.
    package let description: String
    /// What it means.
    package let reason: Reason

    init(_ description: String, _ reason: Reason = .other) {
        self.description = description
        self.reason = reason
    }

    init(of handle: OpaquePointer) {
        let reason: Reason =
            switch sqlite3_errcode(handle) {
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            default: .other
            }
        self.init(String(cString: sqlite3_errmsg(handle)), reason)
    }
}
