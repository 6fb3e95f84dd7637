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
    let environment: UInt32
    /// Counts what is read for who asks; nil for nobody.
    let meter: ReadMeter?

    init(_ snapshot: Snapshot, environment: UInt32, meter: ReadMeter? = nil) {
        self.snapshot = snapshot
        self.environment = environment
        self.meter = meter
    }

    /// The same transaction, of which a meter counts what is read, and which ends as ``shared()`` says.
    package func counted(by meter: ReadMeter) -> ReadTransaction {
        ReadTransaction(snapshot.counted(by: meter), environment: environment, meter: meter)
    }

    /// The same transaction under another name, for a value that wraps it during one call.
    ///
    /// Nothing but lending it again to a closure may be done with it: it ends with the body that
    /// the original was lent to.
    package func shared() -> ReadTransaction {
        ReadTransaction(snapshot, environment: environment, meter: meter)
    }

    /// What has been found in this state of the file, for whoever would look for it again: it is kept with
    /// the state, for later transactions that see the same one.
    ///
    /// Transactions of which a meter counts what is read find everything themselves.
    ///
    /// - Parameter make: Makes what findings are kept in; one kind for an environment.
    /// - Returns: What the state keeps.
    package func findings<Findings: AnyObject>(orMake make: () -> Findings) -> Findings {
        if meter == nil, let known = snapshot.findings as? Findings { return known }
        let made = make()
        if meter == nil { snapshot.findings = made }
        return made
    }

    package func get<R>(
        _ table: Table, _ key: RawSpan, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R? {
        guard let value = try value(table, key) else { return nil }
        if let meter { try meter.readRecord(of: table) }
        return try body(value.bytes)
    }

    package func contains(_ table: Table, _ key: RawSpan) throws -> Bool {
        try value(table, key) != nil
    }

    package func count(_ table: Table) throws -> Int {
        Int(try tree(table).record.entries)
    }

    /// The number of records with `lower <= key < upper`, of which none is read.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - lower: The first key.
    ///   - upper: The key behind the last.
    ///   - limit: The number at which counting ends.
    /// - Returns: Their number, at most the limit.
    /// - Throws: ``LMDBError`` when a page cannot be read.
    /// - Complexity: O(log *n* + *c*) page reads, *c* the number of leaves with such records.
    package func count(
        _ table: Table, from lower: RawSpan, to upper: RawSpan, atMost limit: Int = .max
    ) throws -> Int {
        try located(table) { tree throws(PageFault) in
            try tree.withCursor { cursor throws(PageFault) in
                try lower.withSought { lower throws(PageFault) in
                    try upper.withSought { upper throws(PageFault) in
                        guard try cursor.move(atOrAfter: lower) else { return 0 }
                        return try cursor.pass(limit, before: upper).passed
                    }
                }
            }
        }
    }

    /// About how many records there are with `lower <= key < upper`. None of them is read.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - lower: The first key; empty for the begin of the table.
    ///   - upper: The key behind the last; empty for the end of the table.
    /// - Returns: The number, which is exact where it is small enough for one page.
    /// - Throws: ``LMDBError`` when a page cannot be read.
    /// - Complexity: O(log *n*) page reads.
    package func estimatedCount(
        _ table: Table, from lower: RawSpan, to upper: RawSpan
    ) throws(LMDBError) -> Int {
        try located(table) { tree throws(PageFault) in
            try lower.withSought { lower throws(PageFault) in
                try upper.withSought { upper throws(PageFault) in
                    try tree.estimatedCount(from: lower, before: upper)
                }
            }
        }
    }

    /// Walks records as ``scan(_:from:to:order:_:)`` does upwards, from the one behind as many as are
    /// skipped. Those are not read.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - lower: The first key.
    ///   - upper: The key behind the last.
    ///   - skipped: How many records to skip; how many there were is subtracted from it.
    ///   - body: Takes key and value, and says whether to continue.
    /// - Throws: ``LMDBError`` when a page cannot be read; what `body` throws.
    /// - Complexity: O(log *n* + *c* + *k*) page reads, *c* the number of leaves that are skipped, *k*
    ///   that of the records walked.
    package func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan, skipping skipped: inout Int,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        guard let meter else {
            return try walk(table, from: lower, to: upper, skipping: &skipped, body)
        }
        let records = try WalkMeter(meter, of: table)
        defer { records.end() }
        try walk(table, from: lower, to: upper, skipping: &skipped) { key, value in
            try records.readRecord()
            return try body(key, value)
        }
    }

    private func walk(
        _ table: Table, from lower: RawSpan, to upper: RawSpan, skipping skipped: inout Int,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        let tree = try tree(table)
        try tree.withCursor { cursor throws in
            try lower.withSought { lower throws in
                try upper.withSought { upperKey throws in
                    do {
                        guard try cursor.move(atOrAfter: lower) else { return }
                        let (passed, isPlaced) = try cursor.pass(skipped, before: upperKey)
                        skipped -= passed
                        guard isPlaced, skipped == 0 else { return }
                        try cursor.ascend(before: upperKey, body)
                    } catch let fault as PageFault {
                        throw LMDBError.damaged(fault, in: table.name)
                    }
                }
            }
        }
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
        if let meter { try meter.readRecord(of: table) }
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
        if let meter { try meter.readRecord(of: table) }
        return try body(record.key.bytes, record.value.bytes)
    }

    package func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        guard let meter else {
            return try walk(table, from: lower, to: upper, order: order, body)
        }
        let records = try WalkMeter(meter, of: table)
        defer { records.end() }
        try walk(table, from: lower, to: upper, order: order) { key, value in
            try records.readRecord()
            return try body(key, value)
        }
    }

    @inline(__always)
    private func walk(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        let tree = try tree(table)
        try tree.withCursor { cursor throws in
            try lower.withSought { lower throws in
                do {
                    switch order {
                    case .ascending:
                        guard try cursor.move(atOrAfter: lower) else { return }
                        guard let upper else { return try cursor.ascend(before: nil, body) }
                        try upper.withUnsafeBytes { upper throws in
                            try cursor.ascend(before: SoughtKey(upper), body)
                        }
                    case .descending:
                        guard try cursor.move(before: upper) else { return }
                        try cursor.descend(to: lower, body)
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
    func located<R>(
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
    func tree(_ table: Table) throws(LMDBError) -> Tree {
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
}
