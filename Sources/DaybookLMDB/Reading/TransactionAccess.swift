internal import CDaybookLMDB
import DaybookStopping

/// The reading verbs over one LMDB transaction, shared by both kinds of transaction.
struct TransactionAccess {
    /// The `MDB_txn`.
    let pointer: OpaquePointer

    /// The environment whose tables may be used.
    let environment: UInt32

    @inline(__always)
    func check(_ table: Table) {
        require(
            table.environment == environment,
            "A table belongs to the environment that opened it; use that one's transactions.")
    }

    @inline(__always)
    func get<R>(_ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
        check(table)
        return try key.withValue { keyValue in
            var found = MDB_val.empty
            let status = mdb_get(pointer, table.handle, &keyValue, &found)
            if status == MDB_NOTFOUND { return nil }
            if status != MDB_SUCCESS { throw LMDBError.status(status, "reading '\(table.name)'") }
            return try body(table.value(of: keyValue.buffer, stored: found.buffer).bytes)
        }
    }

    func count(_ table: Table) throws -> Int {
        check(table)
        var found = MDB_stat()
        let status = mdb_stat(pointer, table.handle, &found)
        if status != MDB_SUCCESS { throw LMDBError.status(status, "counting '\(table.name)'") }
        return found.ms_entries
    }

    func seek<R>(
        _ table: Table, atOrAfter key: RawSpan, _ body: (RawSpan, RawSpan) throws -> R
    ) throws -> R? {
        try withCursor(table) { cursor in
            guard try cursor.move(atOrAfter: key) else { return nil }
            return try body(cursor.key.buffer.bytes, cursor.checkedValue().bytes)
        }
    }

    func seek<R>(
        _ table: Table, before key: RawSpan?, _ body: (RawSpan, RawSpan) throws -> R
    ) throws -> R? {
        try withCursor(table) { cursor in
            guard try cursor.move(before: key) else { return nil }
            return try body(cursor.key.buffer.bytes, cursor.checkedValue().bytes)
        }
    }

    func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {
        try withCursor(table) { cursor in
            switch order {
            case .ascending:
                var isPlaced = try cursor.move(atOrAfter: lower)
                while isPlaced {
                    if let upper, cursor.compareKey(to: upper) >= 0 { return }
                    let step = try body(cursor.key.buffer.bytes, cursor.checkedValue().bytes)
                    if step == .stop { return }
                    isPlaced = try cursor.move(MDB_NEXT)
                }
            case .descending:
                var isPlaced = try cursor.move(before: upper)
                while isPlaced {
                    if cursor.compareKey(to: lower) < 0 { return }
                    let step = try body(cursor.key.buffer.bytes, cursor.checkedValue().bytes)
                    if step == .stop { return }
                    isPlaced = try cursor.move(MDB_PREV)
                }
            }
        }
    }

    @inline(__always)
    private func withCursor<R>(_ table: Table, _ body: (inout Cursor) throws -> R) throws -> R {
        check(table)
        var opened: OpaquePointer?
        let status = mdb_cursor_open(pointer, table.handle, &opened)
        guard status == MDB_SUCCESS, let opened else {
            throw LMDBError.status(status, "opening a cursor on '\(table.name)'")
        }
        defer { mdb_cursor_close(opened) }
        var cursor = Cursor(pointer: opened, table: table)
        return try body(&cursor)
    }
}

/// A position in a table. Its key and value point into the map.
struct Cursor {
    let pointer: OpaquePointer
    let table: Table
    private(set) var key = MDB_val.empty
    private var value = MDB_val.empty

    init(pointer: OpaquePointer, table: Table) {
        self.pointer = pointer
        self.table = table
    }

    /// The value at the position.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/corrupt`` when its check does not fit.
    @inline(__always)
    func checkedValue() throws(LMDBError) -> UnsafeRawBufferPointer {
        try table.value(of: key.buffer, stored: value.buffer)
    }

    /// Moves to the first record at or after `target`; false when there is none.
    mutating func move(atOrAfter target: RawSpan) throws -> Bool {
        if target.isEmpty { return try move(MDB_FIRST) }
        return try target.withValue { sought in
            key = sought
            return try move(MDB_SET_RANGE)
        }
    }

    /// Moves to the last record strictly before `target`; false when there is none.
    mutating func move(before target: RawSpan?) throws -> Bool {
        guard let target else { return try move(MDB_LAST) }
        if try move(atOrAfter: target) { return try move(MDB_PREV) }
        return try move(MDB_LAST)
    }

    @inline(__always)
    mutating func move(_ operation: MDB_cursor_op) throws -> Bool {
        let status = mdb_cursor_get(pointer, &key, &value, operation)
        if status == MDB_SUCCESS { return true }
        if status == MDB_NOTFOUND { return false }
        throw LMDBError.status(status, "walking '\(table.name)'")
    }

    @inline(__always)
    func compareKey(to other: RawSpan) -> Int {
        other.withUnsafeBytes { compareBytes(key.buffer, $0) }
    }
}
