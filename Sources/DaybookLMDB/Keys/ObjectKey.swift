/// A key of four and eight bytes, built on the stack where it is used.
///
/// Most reads are of one record under such a key; an array for it would be half their cost.
package struct ObjectKey: Sendable {
    private let high: UInt32
    private let low: UInt64

    /// Puts the parts of a key together, the more significant one first.
    package init(_ high: UInt32, _ low: UInt64) {
        self.high = high
        self.low = low
    }

    @inline(__always)
    func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        // Sixteen bytes on the stack, of which the first four are left out.
        let words = (UInt32(0), high.bigEndian, low.bigEndian)
        return try withUnsafeBytes(of: words) { buffer in
            try body(UnsafeRawBufferPointer(rebasing: buffer[4...]).bytes)
        }
    }
}

extension Environment {
    /// A copy of the record under a key, in its own read transaction; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The key.
    ///   - check: Looks first whether the state may be read; what it throws ends the reading.
    /// - Returns: The bytes.
    /// - Throws: ``LMDBError`` when the file cannot be read; what `check` throws.
    /// - Complexity: O(log *n*) page reads.
    package func copy(
        _ table: Table, under key: ObjectKey,
        after check: (borrowing ReadTransaction) throws -> Void = { _ in }
    ) throws -> [UInt8]? {
        try core.copy(table, under: key, patience, after: check)
    }
}

extension EnvironmentCore {
    fileprivate func copy(
        _ table: Table, under key: ObjectKey, _ patience: LockPatience,
        after check: (borrowing ReadTransaction) throws -> Void
    ) throws -> [UInt8]? {
        try checkUsable()
        let loan = try pool.borrow(patience)
        defer { pool.giveBack(loan) }
        let transaction = ReadTransaction(loan.snapshot, environment: identifier)
        try check(transaction)
        return try key.withBytes { key in
            try transaction.value(table, key).map { Array($0) }
        }
    }
}

extension Reading where Self: ~Copyable {
    /// Calls `body` with the value under `key`.
    ///
    /// - Returns: What `body` returns, or `nil` when there is no such record.
    /// - Complexity: O(log *n*) page reads.
    package func get<R>(
        _ table: Table, _ key: ObjectKey, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R? {
        try key.withBytes { try get(table, $0, body) }
    }
}
