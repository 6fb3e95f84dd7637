// The room of writing: the one write transaction of a file, and the queue of requests for it.
// Several may go into one write.

internal import CDaybookLMDB
import DaybookStopping

/// The environment's only write transaction, which also reads its own writes.
///
/// It lives for one call of the body given to ``Environment/write(_:)``, on the thread that writes.
/// Nothing may be written while bytes handed out by `get`, `seek` or `scan` are in use, because a
/// write may move them: collect the data first, then write.
package struct WriteTransaction: ~Copyable, Reading {
    let access: TransactionAccess
    let state: WriteState

    init(_ access: TransactionAccess, _ state: WriteState) {
        self.access = access
        self.state = state
    }

    // MARK: - Remembering

    /// The last knowledge given to ``remember(_:)`` in this process, as long as no process has
    /// written since.
    package var remembered: (any AnyObject & Sendable)? { state.remembered }

    /// Keeps the caller's knowledge of the present file for later bodies, in this transaction and
    /// in later ones.
    ///
    /// It is forgotten if the transaction fails.
    ///
    /// - Precondition: The body has written.
    package func remember(_ knowledge: any AnyObject & Sendable) {
        state.remember(knowledge)
    }

    // MARK: - Writing

    /// Writes one record.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/keyExists`` as `mode` says; nothing is
    ///   changed then. Any other error undoes the whole body.
    /// - Precondition: No bytes handed out by this transaction are in use.
    /// - Complexity: O(log *n*) page reads and writes.
    package func put(_ table: Table, _ key: RawSpan, _ value: RawSpan, _ mode: PutMode) throws {
        access.check(table)
        state.requireNoLoans()
        let status = table.write(key, value, mode.flags) {
            mdb_put(access.pointer, table.handle, &$0, &$1, $2)
        }
        switch status {
        case MDB_SUCCESS: state.countWrite()
        case MDB_KEYEXIST: throw LMDBError.status(status, "writing '\(table.name)'")
        default: throw state.fail(status, "writing '\(table.name)'")
        }
    }

    /// Removes one record.
    ///
    /// - Returns: Whether there was one.
    /// - Precondition: No bytes handed out by this transaction are in use.
    /// - Complexity: O(log *n*) page reads and writes.
    package func delete(_ table: Table, _ key: RawSpan) throws -> Bool {
        access.check(table)
        state.requireNoLoans()
        let status = key.withValue { mdb_del(access.pointer, table.handle, &$0, nil) }
        switch status {
        case MDB_SUCCESS:
            state.countWrite()
            return true
        case MDB_NOTFOUND: return false
        default: throw state.fail(status, "deleting from '\(table.name)'")
        }
    }

    /// Removes all records of a table.
    ///
    /// - Precondition: No bytes handed out by this transaction are in use.
    /// - Complexity: O(*p*), *p* the number of the table's pages.
    package func clear(_ table: Table) throws {
        access.check(table)
        state.requireNoLoans()
        let status = mdb_drop(access.pointer, table.handle, 0)
        guard status == MDB_SUCCESS else { throw state.fail(status, "clearing '\(table.name)'") }
        state.countWrite()
    }

    // MARK: - Reading

    package func get<R>(
        _ table: Table, _ key: RawSpan, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R? {
        state.lend()
        defer { state.takeBack() }
        return try access.get(table, key, body)
    }

    package func contains(_ table: Table, _ key: RawSpan) throws -> Bool {
        try access.get(table, key) { _ in true } ?? false
    }

    package func count(_ table: Table) throws -> Int {
        try access.count(table)
    }

    package func seek<R>(
        _ table: Table, atOrAfter key: RawSpan,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        state.lend()
        defer { state.takeBack() }
        return try access.seek(table, atOrAfter: key, body)
    }

    package func seek<R>(
        _ table: Table, before key: RawSpan?,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        state.lend()
        defer { state.takeBack() }
        return try access.seek(table, before: key, body)
    }

    package func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        state.lend()
        defer { state.takeBack() }
        try access.scan(table, from: lower, to: upper, order: order, body)
    }
}

/// The state of the current write transaction. Used only by the thread that writes.
final class WriteState {
    /// The number of successful writes since the transaction began.
    private(set) var writes = 0

    /// The first status that spoiled the transaction, kept even if a body swallows the error.
    private(set) var failure: Int32?

    private var loans = 0
    private var failedAction = ""
    /// The right to open tables, while the transaction has it.
    private var opening: TableOpening?

    /// What bodies have handed to the gate, each with the position of its request in the group.
    private(set) var submissions: [(position: Int, item: any Sendable)] = []
    /// The position of the request that runs.
    private var position = 0
    /// What stands before the commit of what it writes.
    private(set) var gate = GateOfWrite.none

    private var knowledge: (any AnyObject & Sendable)?
    /// The number of successful writes when the knowledge was given.
    private var writesKnown = 0

    init(knowing knowledge: (any AnyObject & Sendable)? = nil) {
        self.knowledge = knowledge
    }

    /// A higher layer's knowledge of the present file.
    var remembered: (any AnyObject & Sendable)? {
        writesKnown == writes ? knowledge : nil
    }

    func remember(_ knowledge: any AnyObject & Sendable) {
        assert(writes > 0, "Only a write learns something new.")
        self.knowledge = knowledge
        writesKnown = writes
    }

    /// Begins with the body of the next request.
    func runs(_ position: Int, before gate: GateOfWrite) {
        self.position = position
        self.gate = gate
    }

    func submit(_ item: any Sendable) {
        submissions.append((position, item))
    }

    /// Takes back what the body of the present request has handed in.
    func withdraw() {
        while submissions.last?.position == position { submissions.removeLast() }
    }

    /// What the body of the present request has handed in.
    var newSubmissions: [any Sendable] {
        submissions.reversed().prefix { $0.position == position }.reversed().map(\.item)
    }

    /// The positions of the requests that have handed something in, each once.
    var submitters: [Int] {
        var positions: [Int] = []
        for (position, _) in submissions where positions.last != position {
            positions.append(position)
        }
        return positions
    }

    /// Takes the right to open tables, until the transaction has ended.
    func beginOpening(_ right: TableOpening) {
        guard opening == nil else { return }
        right.take()
        opening = right
    }

    /// Gives back the right to open tables. The transaction has ended.
    func endOpening() {
        opening?.giveBack()
        opening = nil
    }

    @inline(__always)
    func countWrite() { writes += 1 }

    func fail(_ status: Int32, _ action: String) -> LMDBError {
        if failure == nil, status != MDB_BAD_VALSIZE {
            failure = status
            failedAction = action
        }
        return LMDBError.status(status, action)
    }

    var failureError: LMDBError? {
        failure.map { LMDBError.status($0, failedAction) }
    }

    @inline(__always)
    func lend() { loans += 1 }

    @inline(__always)
    func takeBack() { loans -= 1 }

    @inline(__always)
    func requireNoLoans() {
        require(
            loans == 0,
            "A write may move bytes lent by get, seek or scan: return from their body first.")
    }
}
