// The room of environments: a file that is open in this process, the one core that all its openings share,
// and the errors of this module. It owns LMDB's environment, and brings together the other rooms.

internal import CDaybookLMDB
import DaybookStopping
internal import Synchronization

/// One LMDB file, open in this process.
///
/// Any number of threads may read at once, and one writes. Opening the same file again shares the
/// first environment. The file is closed when the last environment on it is gone.
package final class Environment: Sendable {
    let core: EnvironmentCore

    /// Whether this opening may only read.
    package let isReadOnly: Bool

    /// The limit of waiting for other processes that write.
    let patience: LockPatience

    private init(core: EnvironmentCore, _ options: EnvironmentOptions) {
        self.core = core
        isReadOnly = options.readOnly
        patience = options.patience
    }

    deinit {
        EnvironmentRegistry.release(core)
    }

    /// Opens the file at `path`, and makes it first if it does not exist and `options` say so.
    ///
    /// - Throws: ``LMDBError`` with its own code for each reason; the file is untouched then.
    package static func open(
        at path: String, options: EnvironmentOptions = EnvironmentOptions()
    ) throws(LMDBError) -> Environment {
        let core = try EnvironmentRegistry.open(path, options)
        return Environment(core: core, options)
    }

    /// The path of the file, without symbolic links.
    package var path: String { core.path }

    /// The file itself, whatever its name is.
    package var fileIdentity: FileIdentity { core.pair.data }

    /// A table named in the options.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/noSuchTable``.
    package func table(_ name: String) throws(LMDBError) -> Table {
        guard let table = core.tables.withLock({ $0[name] }) else { throw .noSuchTable(name) }
        return table
    }

    /// The table of tables, which may also hold a few records.
    ///
    /// Each write that changes a table writes their page anyway.
    package var mainTable: Table {
        Table(name: "table of tables", handle: 1, environment: core.identifier)
    }

    /// Runs `body` on one state of the file.
    ///
    /// Keep it short: while it runs, LMDB does not reuse pages freed since. A body must not wait
    /// for another thread that reads or writes the same environment.
    ///
    /// - Throws: ``LMDBError``, or what `body` throws. With ``LMDBError/Code/locked`` when another process
    ///   was stopped at the very moment in which it began to read.
    /// - Complexity: O(1) without page reads, apart from those of `body`.
    package func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        try core.checkUsable()
        let loan = try core.pool.borrow(patience)
        defer { core.pool.giveBack(loan) }
        return try body(ReadTransaction(loan.snapshot, environment: core.identifier))
    }

    /// Refuses when the path no longer leads to the file: it was deleted, moved or replaced.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/replaced``.
    /// - Complexity: One call to the operating system.
    package func checkIsInPlace() throws {
        try core.pair.checkIsInPlace()
    }

    /// Runs `body` and returns when its writes are durable.
    ///
    /// Bodies that arrive while another write is being synced share the next transaction and its
    /// sync, on the thread of the first of them. `body` may run more than once: when the map
    /// grows, or when another body of the same group throws after it wrote, or the gate wants it. So it must have no
    /// effects outside the transaction.
    ///
    /// - Throws: ``LMDBError``, or what `body` throws; nothing of this write is kept then. With
    ///   ``LMDBError/Code/locked`` when another process has been writing for too long; with
    ///   ``LMDBError/Code/replaced`` when the path does not lead to the file any more. After
    ///   ``LMDBError/Code/closedToWrites`` the file must be opened again.
    /// - Precondition: Not called inside `read` or `write` of the same environment.
    package func write<R: Sendable>(
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> R
    ) throws -> R {
        let result = Mutex<R?>(nil)
        let box = ResultBox(result)
        try perform { transaction in
            let returned = try body(transaction)
            box.value.withLock { $0 = returned }
        }
        guard let returned = box.value.withLock({ $0 }) else {
            stop("A write that did not fail has a result.")
        }
        return returned
    }

    /// Whether the calling thread is inside a read.
    package var isReadingOnThisThread: Bool { core.pool.isReadingOnThisThread() }

    /// Runs `body` as ``write(_:)`` does, for a caller that keeps the result itself: generic code
    /// costs a small save more than its records do.
    ///
    /// - Parameters:
    ///   - patience: The limit of waiting for other processes; nil for that of the options.
    ///   - body: Writes.
    /// - Throws: As ``write(_:)``.
    package func perform(
        waiting patience: LockPatience? = nil,
        _ body: @escaping WriteBody
    ) throws {
        if isReadOnly { throw LMDBError.readOnly() }
        try core.checkUsable()
        require(
            !core.writer.isCurrentThread,
            "A write cannot begin inside a write: use the transaction at hand.")
        require(
            !core.pool.isReadingOnThisThread(),
            "A write cannot begin inside a read of the same file: let the read end first.")
        let request = WriteRequest(body, LockWait(patience ?? self.patience))
        core.writer.run(request) {
            core.perform($0, $1)
            core.endGate()
        }
        try request.check()
    }
}

/// Carries a body's result from the thread that writes to the caller.
private final class ResultBox<R: Sendable>: Sendable {
    let value: Mutex<R?>

    init(_ value: consuming Mutex<R?>) {
        self.value = value
    }
}
