import CDaybookSQLite
import Foundation

/// An open file of SQLite's, closed with its last user.
final class SQLiteFile {
    private let database: OpaquePointer?

    init(_ file: URL, flags: Int32) throws {
        database = try SQLiteContender.open(file, flags: flags)
    }

    deinit {
        sqlite3_close_v2(database)
    }

    func execute(_ text: String) throws {
        try SQLiteContender.execute(text, database)
    }

    func prepare(_ text: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(
            database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else { throw failure(text) }
        return statement
    }

    /// All rows that a statement with its values finds, as instances.
    func rows<Row>(_ statement: OpaquePointer, _ make: (OpaquePointer) -> Row) throws -> [Row] {
        defer { sqlite3_reset(statement) }
        var rows: [Row] = []
        var status = sqlite3_step(statement)
        while status == SQLITE_ROW {
            rows.append(make(statement))
            status = sqlite3_step(statement)
        }
        guard status == SQLITE_DONE else { throw failure("sqlite3_step") }
        return rows
    }

    /// Inserts rows whose first column is the number of the row from 1.
    func insert(
        _ table: String, columns: Int, rows: Int, _ bind: (OpaquePointer, Int) -> Void
    ) throws {
        let places = [String](repeating: "?", count: columns).joined(separator: ", ")
        let statement = try prepare("INSERT INTO \(table) VALUES (\(places))")
        defer { sqlite3_finalize(statement) }
        for index in 0..<rows {
            sqlite3_bind_int64(statement, 1, Int64(index + 1))
            bind(statement, index)
            guard sqlite3_step(statement) == SQLITE_DONE else { throw failure("sqlite3_step") }
            sqlite3_reset(statement)
        }
    }

    /// Gathers what the planner wants to know, and empties the write-ahead log.
    func settle() throws {
        try execute("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    static func text(_ row: OpaquePointer, _ column: Int32) -> String {
        guard let start = sqlite3_column_text(row, column) else { return "" }
        let length = Int(sqlite3_column_bytes(row, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    static func bind(_ text: String, _ statement: OpaquePointer, _ index: Int32) {
        // SQLite copies the text.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, index, text, -1, copies)
    }

    private func failure(_ call: String) -> PeerFailure {
        PeerFailure(call, String(cString: sqlite3_errmsg(database)))
    }
}
