internal import CDaybookSQLite

/// A value of SQLite.
package enum SQLiteValue: Sendable, Hashable {
    /// No value.
    case null
    /// An integer.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// Text.
    case text(String)
    /// Bytes, and what is stored as text and is not UTF-8.
    case blob([UInt8])
}

/// A prepared statement.
package final class Statement {
    private let handle: OpaquePointer
    private let connection: Connection

    init(_ handle: OpaquePointer, of connection: Connection) {
        self.handle = handle
        self.connection = connection
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Runs the statement with these values of its parameters, in order.
    package func run(_ values: SQLiteValue...) throws(SQLiteError) {
        try bind(values)
        defer { sqlite3_reset(handle) }
        guard sqlite3_step(handle) == SQLITE_DONE else { throw connection.failure }
    }

    /// Runs the statement and returns its rows.
    package func rows(_ values: SQLiteValue...) throws(SQLiteError) -> [[SQLiteValue]] {
        try bind(values)
        defer { reset() }
        var rows: [[SQLiteValue]] = []
        while let row = try nextRow() { rows.append(row) }
        return rows
    }

    /// The next row of a statement that is being carried out; nil after the last.
    func nextRow() throws(SQLiteError) -> [SQLiteValue]? {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return (0..<sqlite3_column_count(handle)).map(value(at:))
        case SQLITE_DONE: return nil
        default: throw connection.failure
        }
    }

    func reset() {
        sqlite3_reset(handle)
    }

    func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
        for (index, value) in values.enumerated() {
            let status = bind(value, at: Int32(index + 1))
            guard status == SQLITE_OK else { throw connection.failure }
        }
    }

    private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, a cast in C that Swift does not import: SQLite copies the bytes
        // immediately.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .real(let number): return sqlite3_bind_double(handle, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    // An empty text has no address; a null pointer would mean no value.
                    guard let start = characters.baseAddress else {
                        return sqlite3_bind_text64(
                            handle, index, "", 0, copied, UInt8(SQLITE_UTF8))
                    }
                    return sqlite3_bind_text64(
                        handle, index, start, UInt64(bytes.count), copied, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copied)
        }
    }

    private func value(at column: Int32) -> SQLiteValue {
        // The type comes first: asking for bytes makes a text of a number, and what its type is then is undefined
        // (sqlite3.h, sqlite3_column_type). So does the address, which tells what the bytes are counted of.
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(handle, column)
            let bytes = UnsafeBufferPointer(
                start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .blob(Array(bytes))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            return .blob(Array(UnsafeRawBufferPointer(start: start, count: count)))
        default: return .null
        }
    }
}
