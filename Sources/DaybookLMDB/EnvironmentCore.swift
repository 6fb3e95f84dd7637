internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

/// What all openings of one file in this process share: LMDB's environment, its readers and its
/// writers.
final class EnvironmentCore: Sendable {
    // @unchecked Sendable because an `MDB_env` may be used from any thread.
    struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    let handle: Handle
    /// The file, and the lock file that goes with it.
    let pair: FilePair
    let isReadOnly: Bool
    let identifier: UInt32
    let pool: ReaderPool
    let writer = Writer()
    let tables: Mutex<[String: Table]>

    /// How many write transactions this process has begun.
    let writesBegun = Atomic<UInt32>(0)

    /// How many bytes belonged to pages when many were first found free; the greatest number while not.
    let usedBesideFreePages = Atomic<Int>(.max)

    /// Why nothing more may be written, once that is so.
    let brokenReason = Mutex<String?>(nil)

    /// What the last write of this process has left to be remembered.
    let memory = Mutex(Memory())

    /// What a layer above knows of the file as one LMDB transaction left it.
    struct Memory: Sendable {
        var transaction = 0
        var knowledge: (any AnyObject & Sendable)?
    }

    private let forks: Int

    init(handle: OpaquePointer, pair: FilePair, isReadOnly: Bool, tables: [String: UInt32]) {
        self.handle = Handle(pointer: handle)
        self.pair = pair
        self.isReadOnly = isReadOnly
        let identifier = Self.identifierNext.wrappingAdd(1, ordering: .relaxed).newValue
        self.identifier = identifier
        pool = ReaderPool(environment: handle, pair)
        self.tables = Mutex([:])
        forks = ProcessForks.count
        add(tables)
    }

    /// Where the file is, without symbolic links.
    var path: String { pair.file.path }

    /// Makes opened handles known as tables.
    func add(_ handles: [String: UInt32]) {
        tables.withLock { tables in
            for (name, handle) in handles {
                tables[name] = Table(name: name, handle: handle, environment: identifier)
            }
        }
    }

    /// Refuses in a child of the process that opened the file: LMDB's locks are not inherited.
    @inline(__always)
    func checkUsable() throws(LMDBError) {
        if forks != ProcessForks.count { throw .forked() }
    }

    /// Closes the file. Nobody reads or writes any more when this is called.
    func shutDown() {
        guard forks == ProcessForks.count else { return }
        pool.purge()
        if writesBegun.load(ordering: .relaxed) > 0 { mdb_env_sync(handle.pointer, 1) }
        mdb_env_close(handle.pointer)
        pair.close()
    }

    private static let identifierNext = Atomic<UInt32>(0)
}

/// Counts how often this process came into being by a fork since it first asked.
enum ProcessForks {
    private static let counter = Atomic<Int>(0)
    private static let isWatching: Bool = {
        pthread_atfork(nil, nil) { ProcessForks.noteFork() } == 0
    }()

    /// Changes in every child. Asking the kernel for the process number at each read would cost
    /// more than the read.
    @inline(__always)
    static var count: Int { counter.load(ordering: .relaxed) }

    static func startWatching() throws(LMDBError) {
        guard isWatching else {
            throw LMDBError(.noMemory, "No memory is left to watch for forks of the process.")
        }
    }

    private static func noteFork() {
        counter.wrappingAdd(1, ordering: .relaxed)
    }
}
