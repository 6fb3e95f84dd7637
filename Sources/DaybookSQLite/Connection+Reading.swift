internal import CDaybookSQLite

extension Connection {
    /// What else may happen to a database while it is read.
    package enum Neighbours: Sendable {
        /// Others may write; a log beside the file is read, too. SQLite makes the index of the log
        /// beside it if it is missing.
        case others
        /// No program writes, and there is no log. Nothing is made beside the file.
        case nobody
    }

    /// Opens an existing database for reading.
    ///
    /// Nothing can be written, and unsafe functions in the database's own schema are not run.
    ///
    /// - Throws: ``SQLiteError`` when the file does not exist, cannot be read or is not a
    ///   database.
    package convenience init(reading path: String, beside neighbours: Neighbours)
        throws(SQLiteError)
    {
        let options = neighbours == .nobody ? "?mode=ro&immutable=1" : "?mode=ro"
        try self.init(
            name: "file:" + path.inURI + options,
            flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX)
        try run("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON")
    }
}

extension Statement {
    /// Hands the rows to `body`, one at a time.
    package func forEachRow(
        _ values: SQLiteValue..., body: ([SQLiteValue]) throws -> Void
    ) throws {
        try bind(values)
        defer { reset() }
        while let row = try nextRow() { try body(row) }
    }
}

extension String {
    /// A path as it stands in a URI: all but the plainest characters by their bytes.
    fileprivate var inURI: String {
        utf8.map { byte in
            let isPlain =
                (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x2D...0x39).contains(byte) || byte == 0x5F
            guard !isPlain else { return String(UnicodeScalar(byte)) }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
