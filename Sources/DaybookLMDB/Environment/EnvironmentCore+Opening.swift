internal import CDaybookLMDB
import DaybookStopping
internal import Foundation
internal import Synchronization

extension EnvironmentCore {
    /// Opens a file that is not open in this process. Runs under the registry's lock.
    ///
    /// - Throws: ``LMDBError``; with ``LMDBError/Code/locked`` when it is worth retrying.
    static func open(
        _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> EnvironmentCore {
        try FileInspection.run(file, options)
        let pair = try FilePair.take(file, options)
        do throws(LMDBError) {
            return try open(pair, options)
        } catch {
            pair.close()
            throw error
        }
    }

    private static func open(
        _ pair: FilePair, _ options: EnvironmentOptions
    ) throws(LMDBError) -> EnvironmentCore {
        var created: OpaquePointer?
        let status = mdb_env_create(&created)
        guard status == MDB_SUCCESS, let environment = created else {
            throw .status(status, "preparing to open '\(pair.file.name)'")
        }
        do throws(LMDBError) {
            let number = try pair.readerNumber()
            let hasNumber =
                options.numbersReaders && daybook_number_readers(environment, number) != 0
            try configure(environment, options)
            try open(environment, pair, options)
            if pair.lock != nil, !hasNumber { try pair.refuseSameNumber() }
            let handles = try pair.registeringNow { () throws(LMDBError) -> [String: UInt32] in
                var dead: Int32 = 0
                if pair.lock != nil { mdb_reader_check(environment, &dead) }
                return try openTables(environment, pair, options)
            }
            pair.endOpening()
            return try EnvironmentCore(
                handle: environment, pair: pair, options, tables: handles)
        } catch {
            mdb_env_close(environment)
            throw error
        }
    }

    /// Shares a file that is already open.
    func join(_ options: EnvironmentOptions) throws(LMDBError) {
        if isReadOnly, !options.readOnly {
            throw LMDBError(
                .alreadyOpen,
                "'\(path)' is open for reading only in this process; close it before writing.")
        }
        if options.durability == .durable, durability == .relaxed, !options.readOnly {
            isToBeDurable.store(true, ordering: .relaxed)
        }
        if options.isUntrusted { trust.withLock { $0 = .untrusted } }
        if let handler = options.checking { checking.withLock { $0 = handler } }
        let known = tables.withLock { Set($0.keys) }
        var missing = options
        missing.tables.removeAll { known.contains($0) }
        guard let first = missing.tables.first else { return }
        throw .noSuchTable(first)
    }

    private static func configure(
        _ environment: OpaquePointer, _ options: EnvironmentOptions
    ) throws(LMDBError) {
        let page = Int(getpagesize())
        let mapSize = (max(options.mapSize, 16 * page) + page - 1) / page * page
        let steps: [(Int32, String)] = [
            (mdb_env_set_maxdbs(environment, UInt32(options.tables.count + 8)), "tables"),
            (mdb_env_set_maxreaders(environment, UInt32(options.maxReaders)), "readers"),
            (mdb_env_set_mapsize(environment, mapSize), "map size"),
            (mdb_env_set_assert(environment, reportBrokenAssertion), "assertions"),
        ]
        for (status, what) in steps where status != MDB_SUCCESS {
            throw .status(status, "setting the \(what)")
        }
    }

    private static func open(
        _ environment: OpaquePointer, _ pair: FilePair, _ options: EnvironmentOptions
    ) throws(LMDBError) {
        let path = pair.file.name
        var flags = UInt32(MDB_NOSUBDIR) | UInt32(MDB_NOTLS)
        if options.readOnly { flags |= UInt32(MDB_RDONLY) }
        switch options.durability {
        case .durable: break
        case .relaxed: flags |= UInt32(MDB_NOMETASYNC)
        case .rebuildable: flags |= UInt32(MDB_NOSYNC)
        }
        if pair.lock == nil { flags |= UInt32(MDB_NOLOCK) }
        let status = mdb_env_open(environment, pair.file.path, flags, 0o600)
        switch status {
        case MDB_SUCCESS: try checkFile(of: environment, pair)
        // Opening may fail while a program without our locks opens or closes the file (lmdb.h, caveats).
        // LMDB has closed its lock file then, and with that gone are all locks of this process on it: so
        // all of it is tried again.
        case EAGAIN, EBUSY, EINTR: throw .held(by: LockObstacle(.opening))
        case ENOMEM:
            throw LMDBError(
                .noMemory, "The address space has no room for the memory map of '\(path)'.",
                osError: status)
        case MDB_INVALID:
            throw LMDBError(.notLMDB, "'\(path)' or its lock file is not a file of LMDB.")
        case MDB_VERSION_MISMATCH:
            throw LMDBError(
                .versionMismatch,
                "'\(path)' or its lock file was written by another version of LMDB.")
        case EACCES, EPERM, EROFS:
            throw LMDBError(
                .noPermission,
                "No permission to open '\(path)' and its lock file '\(path)-lock' "
                    + (options.readOnly ? "(readers, too, write to the lock file)." : "to write."),
                osError: status)
        default: throw .status(status, "opening '\(path)'")
        }
    }

    /// Refuses when LMDB has opened a file other than the marked one.
    private static func checkFile(
        of environment: OpaquePointer, _ pair: FilePair
    ) throws(LMDBError) {
        var descriptor: Int32 = -1
        let status = mdb_env_get_fd(environment, &descriptor)
        guard status == MDB_SUCCESS else { throw .status(status, "opening '\(pair.file.name)'") }
        guard try FileIdentity.of(descriptor, pair.file.name) == pair.data else {
            throw .held(by: LockObstacle(.opening))
        }
    }

    // MARK: - Tables

    /// Opens the tables, and makes them if the file has none yet.
    private static func openTables(
        _ environment: OpaquePointer, _ pair: FilePair, _ options: EnvironmentOptions
    ) throws(LMDBError) -> [String: UInt32] {
        if options.tables.isEmpty { return [:] }
        do throws(LMDBError) {
            return try openTables(
                environment, pair, options, flags: UInt32(MDB_RDONLY), create: false)
        } catch  where error.code == .noSuchTable {
            // Another program's file must not get our tables: only an empty file does.
            guard !options.readOnly, options.create, try isEmpty(environment) else { throw error }
            try pair.writing.takeNow()
            defer { pair.writing.giveBack() }
            return try openTables(environment, pair, options, flags: 0, create: true)
        }
    }

    private static func openTables(
        _ environment: OpaquePointer, _ pair: FilePair, _ options: EnvironmentOptions,
        flags: UInt32, create: Bool
    ) throws(LMDBError) -> [String: UInt32] {
        let transaction = try begin(environment, flags)
        do throws(LMDBError) {
            if !create { try checkTables(of: transaction, environment, pair, options) }
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        var handles: [String: UInt32] = [:]
        for name in options.tables {
            var handle: MDB_dbi = 0
            let status = mdb_dbi_open(transaction, name, create ? UInt32(MDB_CREATE) : 0, &handle)
            guard status == MDB_SUCCESS else {
                mdb_txn_abort(transaction)
                if status == MDB_NOTFOUND || status == MDB_INCOMPATIBLE {
                    throw .noSuchTable(name)
                }
                throw .status(status, "opening the table '\(name)'")
            }
            handles[name] = handle
        }
        for name in create ? [] : options.tablesIfThere {
            var handle: MDB_dbi = 0
            let status = mdb_dbi_open(transaction, name, 0, &handle)
            if status == MDB_NOTFOUND { continue }
            guard status == MDB_SUCCESS else {
                mdb_txn_abort(transaction)
                throw .status(status, "opening the table '\(name)'")
            }
            handles[name] = handle
        }
        // Committed even when only reading, because an abort would close the handles again.
        let status = mdb_txn_commit(transaction)
        guard status == MDB_SUCCESS else { throw .status(status, "opening the tables") }
        return handles
    }

    /// Checks what LMDB is about to read of the table of tables, because it trusts that.
    private static func checkTables(
        of transaction: OpaquePointer, _ environment: OpaquePointer, _ pair: FilePair,
        _ options: EnvironmentOptions
    ) throws(LMDBError) {
        var map = try PageMap(of: environment, pair)
        defer { map.remove() }
        var status = MDB_SUCCESS
        let snapshot = try SnapshotMemory().snapshot(of: transaction, in: map, pair, &status)
        guard let snapshot else { throw .status(status, "opening the tables") }
        for name in options.tables + options.tablesIfThere { try snapshot.checkWay(toTable: name) }
    }

    private static func isEmpty(_ environment: OpaquePointer) throws(LMDBError) -> Bool {
        let transaction = try begin(environment, UInt32(MDB_RDONLY))
        defer { mdb_txn_abort(transaction) }
        var found = MDB_stat()
        mdb_stat(transaction, 1, &found)
        return found.ms_entries == 0
    }

    private static func begin(
        _ environment: OpaquePointer, _ flags: UInt32
    ) throws(LMDBError) -> OpaquePointer {
        var transaction: OpaquePointer?
        for _ in 0..<beginAttemptsMaximum {
            let status = mdb_txn_begin(environment, nil, flags, &transaction)
            if status == MDB_SUCCESS, let transaction { return transaction }
            switch status {
            case MDB_MAP_RESIZED: mdb_env_set_mapsize(environment, 0)
            case MDB_READERS_FULL:
                var dead: Int32 = 0
                mdb_reader_check(environment, &dead)
                if dead == 0 { throw .status(status, "opening the tables") }
            default: throw .status(status, "opening the tables")
            }
        }
        throw .status(MDB_MAP_RESIZED, "opening the tables")
    }

    private static let beginAttemptsMaximum = 12
}

/// LMDB calls this before it aborts on one of its assertions.
private func reportBrokenAssertion(_ environment: OpaquePointer?, _ text: UnsafePointer<CChar>?) {
    let what = text.map { String(cString: $0) } ?? "no text"
    stop("LMDB found the file or its own state damaged (\(what)). Run 'daybook verify'.")
}
