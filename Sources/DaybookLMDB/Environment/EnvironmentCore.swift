internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

/// The shared state of all openings of one file in this process: LMDB's environment, its readers
/// and its writers.
final class EnvironmentCore: Sendable {
    // @unchecked Sendable because an `MDB_env` may be used from any thread.
    struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    let handle: Handle
    /// The file and its lock file.
    let pair: FilePair
    let isReadOnly: Bool
    let durability: EnvironmentOptions.Durability
    let identifier: UInt32
    let pool: ReaderPool
    let writer = Writer()
    let tables: Mutex<[String: Table]>
    let opening = TableOpening()

    /// The number of write transactions that this process has begun.
    let writesBegun = Atomic<UInt32>(0)

    /// The bytes of pages when many were first found free; the greatest number before that.
    let usedBesideFreePages = Atomic<Int>(.max)

    /// The reason why nothing more may be written, if so.
    let brokenReason = Mutex<String?>(nil)

    /// Whether LMDB may follow the pages.
    let trust: Mutex<Trust>

    /// Told of the check of the pages: what the latest opening that named something gave.
    let checking: Mutex<EnvironmentOptions.CheckHandler?>

    /// The knowledge left by the last write of this process.
    let memory = Mutex(Memory())

    /// What stands before LMDB's commit; nil where nothing does.
    let gate = Mutex<(any CommitGate)?>(nil)
    /// Whether somebody has opened the file again in this process, for whom a write counts only when it is on the disk.
    let isToBeDurable = Atomic(false)
    /// Whether a mark of another file that had the name before has been looked for.
    let hasLookedForMarks = Atomic(false)

    /// A higher layer's knowledge of the file after one LMDB transaction.
    struct Memory: Sendable {
        var transaction = 0
        var knowledge: (any AnyObject & Sendable)?
    }

    private let checkedTables: Set<String>
    private let forks: Int

    init(
        handle: OpaquePointer, pair: FilePair, _ options: EnvironmentOptions,
        tables: [String: UInt32]
    ) throws(LMDBError) {
        self.handle = Handle(pointer: handle)
        self.pair = pair
        isReadOnly = options.readOnly
        durability = options.durability
        trust = Mutex(options.isUntrusted ? .untrusted : .unknown)
        checking = Mutex(options.checking)
        let identifier = Self.identifierNext.wrappingAdd(1, ordering: .relaxed).newValue
        self.identifier = identifier
        pool = try ReaderPool(environment: handle, pair)
        self.tables = Mutex([:])
        checkedTables = options.checkedTables
        forks = ProcessForks.count
        add(tables)
    }

    /// The path of the file, without symbolic links.
    var path: String { pair.file.path }

    /// Registers opened handles as tables.
    func add(_ handles: [String: UInt32]) {
        tables.withLock { tables in
            for (name, handle) in handles {
                tables[name] = Table(
                    name: name, handle: handle, environment: identifier,
                    check: checkedTables.contains(name) ? RecordCheck(table: name) : nil)
            }
        }
    }

    /// Refuses in a forked child of the process that opened the file: LMDB's locks are not
    /// inherited.
    @inline(__always)
    func checkUsable() throws(LMDBError) {
        if !isUsable { throw .forked() }
    }

    /// Whether this process has opened the file itself, and not a process that it was forked from.
    var isUsable: Bool { forks == ProcessForks.count }

    /// Closes the file. There must be no reads or writes any more.
    func shutDown() {
        guard isUsable else { return }
        pool.close()
        if writesBegun.load(ordering: .relaxed) > 0 { mdb_env_sync(handle.pointer, 1) }
        mdb_env_close(handle.pointer)
        pair.close()
    }

    private static let identifierNext = Atomic<UInt32>(0)
}

/// Counts the forks that led to this process since the count was first read.
enum ProcessForks {
    private static let counter = Atomic<Int>(0)
    private static let isWatching: Bool = {
        pthread_atfork(nil, nil) { ProcessForks.countFork() } == 0
    }()

    /// Changes in every child. A system call for the process number at each read would cost more
    /// than the read.
    @inline(__always)
    static var count: Int { counter.load(ordering: .relaxed) }

    static func startWatching() throws(LMDBError) {
        guard isWatching else {
            throw LMDBError(.noMemory, "No memory is left to watch for forks of the process.")
        }
    }

    private static func countFork() {
        counter.wrappingAdd(1, ordering: .relaxed)
    }
}
