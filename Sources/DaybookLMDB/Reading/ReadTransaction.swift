// The room of reading: read transactions over one state of the file, and the readers that LMDB has
// registered for them. It walks the pages and never writes.

import DaybookStopping

/// The state of the file when the transaction began.
///
/// It lives for one call of ``Environment/read(_:)`` and never longer: a long-lived reader prevents
/// LMDB from reusing free pages, and the file grows.
///
/// Everything is read without LMDB, and nothing that the file says is trusted: where a page does not
/// hold what it should, reading it throws ``LMDBError`` with ``LMDBError/Code/corrupt``, with the page
/// and the table.
package struct ReadTransaction: ~Copyable, Reading {
    let snapshot: Snapshot
    private let environment: UInt32

    init(_ snapshot: Snapshot, environment: UInt32) {
        self.snapshot = snapshot
        self.environment = environment
    }

    /// The same transaction under another name, for a value that wraps it during one call.
    ///
    /// Nothing but lending it again to a closure may be done with it: it ends with the body that
    /// the original was lent to.
    package func shared() -> ReadTransaction {
        ReadTransaction(snapshot, environment: environment)
    }

    package func get<R>(
        _ table: Table, _ key: RawSpan, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R? {
        guard let value = try value(table, key) else { return nil }
        return try body(value.bytes)
    }

    package func contains(_ table: Table, _ key: RawSpan) throws -> Bool {
        try value(table, key) != nil
    }

    package func count(_ table: Table) throws -> Int {
        Int(try tree(table).record.entries)
    }

    package func seek<R>(
        _ table: Table, atOrAfter key: RawSpan,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        let record = try located(table) { tree throws(PageFault) in
            try tree.withCursor { cursor throws(PageFault) in
                try key.withSought { key throws(PageFault) in
                    try cursor.move(atOrAfter: key) ? try cursor.record() : nil
                }
            }
        }
        guard let record else { return nil }
        return try body(record.key.bytes, record.value.bytes)
    }

    package func seek<R>(
        _ table: Table, before key: RawSpan?,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        let record = try located(table) { tree throws(PageFault) in
            try tree.withCursor { cursor throws(PageFault) in
                try cursor.move(before: key) ? try cursor.record() : nil
            }
        }
        guard let record else { return nil }
        return try body(record.key.bytes, record.value.bytes)
    }

    package func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        let tree = try tree(table)
        try tree.withCursor { cursor throws in
            try lower.withSought { lower throws in
                do {
                    switch order {
                    case .ascending: try cursor.ascend(from: lower, to: upper, body)
                    case .descending: try cursor.descend(from: upper, to: lower, body)
                    }
                } catch let fault as PageFault {
                    throw LMDBError.damaged(fault, in: table.name)
                }
            }
        }
    }

    // MARK: - Trees

    /// The value under a key. Its bytes lie in the map.
    @inline(__always)
    func value(_ table: Table, _ key: RawSpan) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard !key.isEmpty else { throw .emptyKey() }
        return try located(table) { tree throws(PageFault) in
            try key.withUnsafeBytes { key throws(PageFault) in
                try tree.value(under: SoughtKey(key))
            }
        }
    }

    @inline(__always)
    private func located<R>(
        _ table: Table, _ body: (Tree) throws(PageFault) -> R
    ) throws(LMDBError) -> R {
        let tree = try tree(table)
        do throws(PageFault) {
            return try body(tree)
        } catch {
            throw .damaged(error, in: table.name)
        }
    }

    @inline(__always)
    private func tree(_ table: Table) throws(LMDBError) -> Tree {
        require(
            table.environment == environment,
            "A table belongs to the environment that opened it; use that one's transactions.")
        return try snapshot.tree(of: table)
    }
}

extension RawSpan {
    /// Calls `body` with these bytes as a key that is looked for, valid until `body` returns; with nil
    /// for no bytes.
    @inline(__always)
    fileprivate func withSought<R, E: Error>(
        _ body: (SoughtKey?) throws(E) -> R
    ) throws(E) -> R {
        try withUnsafeBytes { bytes throws(E) in
            try body(bytes.isEmpty ? nil : SoughtKey(bytes))
        }
    }
}

extension TreeCursor {
    /// Moves to the last record strictly before a key, or to the last one for nil.
    fileprivate mutating func move(before key: RawSpan?) throws(PageFault) -> Bool {
        guard let key else { return try move(before: SoughtKey?.none) }
        return try key.withUnsafeBytes { bytes throws(PageFault) in
            try move(before: SoughtKey(bytes))
        }
    }

    /// Walks up from a key, or from the first record, to the last one before another key.
    fileprivate mutating func ascend(
        from lower: SoughtKey?, to upper: RawSpan?,
        _ body: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {
        guard try move(atOrAfter: lower) else { return }
        guard let upper else {
            return try walk(.ascending, while: { _ in true }, body)
        }
        try upper.withUnsafeBytes { bytes in
            let upper = SoughtKey(bytes)
            try walk(.ascending, while: { upper.order(to: $0) > 0 }, body)
        }
    }

    /// Walks down from the last record before a key, or from the last of all, to another key.
    fileprivate mutating func descend(
        from upper: RawSpan?, to lower: SoughtKey?,
        _ body: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {
        guard try move(before: upper) else { return }
        guard let lower else {
            return try walk(.descending, while: { _ in true }, body)
        }
        try walk(.descending, while: { lower.order(to: $0) <= 0 }, body)
    }

    @inline(__always)
    private mutating func walk(
        _ order: ScanOrder, while isWithin: (UnsafeRawBufferPointer) -> Bool,
        _ body: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {
        repeat {
            let (key, value) = try record()
            guard isWithin(key) else { return }
            if try body(key.bytes, value.bytes) == .stop { return }
        } while try move(order)
    }
}
