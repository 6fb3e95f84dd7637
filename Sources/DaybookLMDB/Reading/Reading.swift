/// A named table of one environment, opened once when the file is opened.
package struct Table: Sendable, Hashable {
    /// The name under which the file keeps the table.
    package let name: String

    /// LMDB's handle, which identifies a table within its environment.
    package let handle: UInt32

    /// The environment the handle belongs to.
    let environment: UInt32

    /// The check that its records carry; nil when they carry none.
    let check: RecordCheck?

    init(name: String, handle: UInt32, environment: UInt32, check: RecordCheck? = nil) {
        self.name = name
        self.handle = handle
        self.environment = environment
        self.check = check
    }

    /// The same table with its records as they lie in the file: the check, which nobody looks at, is the
    /// end of the value. For somebody who reads damaged records.
    package var unchecked: Table {
        Table(name: name, handle: handle, environment: environment)
    }

    /// The same table for those of its records that carry a check, where not all do: for writing them, and
    /// for ``accepts(_:stored:)``. A read through it would ask a check of the records beside, too.
    package var checked: Table {
        Table(
            name: name, handle: handle, environment: environment, check: RecordCheck(table: name))
    }
}

/// The direction of a scan.
package enum ScanOrder: Sendable, Hashable {
    /// From the lowest key up.
    case ascending
    /// From the highest key down.
    case descending
}

/// Whether a scan continues.
package enum ScanStep: Sendable, Hashable {
    /// Continue with the next record.
    case proceed
    /// Stop.
    case stop
}

/// The treatment of an existing record by a write.
package enum PutMode: Sendable, Hashable {
    /// Replaces it.
    case upsert
    /// Refuses with ``LMDBError/Code/keyExists``.
    case insertOnly
    /// Adds at the end of the table; a key not greater than the last one is refused with
    /// ``LMDBError/Code/keyExists``.
    case append
}

/// Reading inside one transaction, which sees one state of the file from beginning to end.
///
/// A record that is damaged is not handed out: reading it throws ``LMDBError`` with
/// ``LMDBError/Code/corrupt``.
///
/// Bytes handed to a `body` lie in LMDB's map: they are valid only until `body` returns. In a
/// write transaction nothing may be written while such bytes are in hand.
package protocol Reading: ~Copyable {
    /// Calls `body` with the value under `key`.
    ///
    /// - Returns: What `body` returns, or `nil` when there is no such record.
    /// - Complexity: O(log *n*) page reads.
    func get<R>(
        _ table: Table, _ key: RawSpan, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R?

    /// Whether there is a record under `key`.
    ///
    /// - Complexity: O(log *n*) page reads.
    func contains(_ table: Table, _ key: RawSpan) throws -> Bool

    /// The number of records in the table.
    ///
    /// - Complexity: O(1).
    func count(_ table: Table) throws -> Int

    /// Calls `body` with the first record at or after `key`; an empty key means the first of all.
    ///
    /// - Returns: What `body` returns, or `nil` when there is no such record.
    /// - Complexity: O(log *n*) page reads.
    func seek<R>(
        _ table: Table, atOrAfter key: RawSpan,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R?

    /// Calls `body` with the last record strictly before `key`, or the last record for `nil`.
    ///
    /// - Returns: What `body` returns, or `nil` when there is no such record.
    /// - Complexity: O(log *n*) page reads.
    func seek<R>(
        _ table: Table, before key: RawSpan?,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R?

    /// Walks the records with `lower <= key < upper` in order; a `nil` upper bound means to the
    /// end, an empty lower one from the beginning.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of records walked.
    func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws
}
