import CDaybookLMDB
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// The locks of this package beside LMDB's, and the numbers under which readers are known. Exit tests are
/// the other process.
@Suite(.serialized)
struct ByteLockTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("file")
    }

    private static func open(
        _ path: String, _ patience: LockPatience = LockPatience(), numbersReaders: Bool = true
    ) throws -> Environment {
        var options = EnvironmentOptions(tables: ["a"], mapSize: 1 << 16, patience: patience)
        options.numbersReaders = numbersReaders
        return try Environment.open(at: path, options: options)
    }

    private static func put(_ environment: Environment, _ key: String, _ size: Int = 1) throws {
        let table = try environment.table("a")
        let value = [UInt8](repeating: 7, count: size)
        try environment.write { transaction in
            try transaction.put(table, key.bytes.span.bytes, value.span.bytes, .upsert)
        }
    }

    private static func count(_ environment: Environment) throws -> Int {
        let table = try environment.table("a")
        return try environment.read { try $0.count(table) }
    }

    // MARK: - Threads and processes

    @Test func `while a thread writes, no other thread of its process takes the lock`() throws {
        let environment = try Self.open(path)
        let writing = environment.core.pair.writing

        try environment.write { _ in
            try onAnotherThread {
                let isTaken = try writing.tryToTake()
                #expect(!isTaken)
                environment.core.giveRoomBack()
            }
        }

        let isTaken = try writing.tryToTake()
        #expect(isTaken)
        writing.giveBack()
    }

    @Test func `a lock that the system refuses for another reason is not waited for`() throws {
        let lock = ByteLock(LockOffset.writing, of: -1, FilePath(path), .writing)

        let refusal = #expect(throws: LMDBError.self) {
            try lock.take(LockWait(LockPatience(limit: .seconds(600))))
        }

        #expect(refusal?.osError == EBADF)
        #expect(refusal?.message.contains("locking '\(path)-lock'") == true)
    }

    @Test func `another process writes while one waits for its readers to make the map larger`()
        async throws
    {
        let environment = try Self.open(path)
        try Self.put(environment, "first")
        let table = try environment.table("a")
        let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let work: Void = withCheckedThrowingContinuation { done in
            Thread {
                done.resume(
                    with: Result {
                        try onThreads(2) { thread in
                            if thread == 0 {
                                try environment.read { _ in
                                    began.signal()
                                    mayEnd.wait()
                                }
                            } else {
                                began.wait()
                                try Self.put(environment, "large", 1 << 18)
                            }
                        }
                    })
            }.start()
        }
        await onThread { while !environment.core.pool.isExclusive { sched_yield() } }

        await #expect(processExitsWith: .success) { [path = path as String] in
            let environment = try Self.open(path, LockPatience(limit: .seconds(5)))
            try Self.put(environment, "theirs")
        }

        mayEnd.signal()
        try await work
        #expect(try environment.read { try $0.count(table) } == 3)
    }

    // MARK: - Several names

    @Test func `who opens a file while another is about to mark it tries again`() throws {
        try Self.put(try Self.open(path), "one")
        let other = daybook_open(path, O_RDONLY)
        #expect(daybook_lock_open_file(other, daybook_shared, LockOffset.wishes + 7, 1) == 0)
        let questions = Mutex(0)
        let patience = LockPatience(limit: nil) {
            // Who came first has found another lock file in the end, and goes.
            if questions.withLock({
                $0 += 1; return $0
            }) == 2 {
                close(other)
            }
            return false
        }

        let environment = try Self.open(path, patience)

        #expect(questions.withLock(\.self) >= 2)
        #expect(try Self.count(environment) == 1)
    }

    @Test func `a file that took the place of an open one is not removed or replaced`() async throws
    {
        let environment = try Self.open(path)
        try Self.put(environment, "old")
        let new = directory.path("new")
        try Data("another file".utf8).write(to: directory.url.appending(path: "new"))
        try #require(rename(new, path) == 0)
        try Data("a third file".utf8).write(to: directory.url.appending(path: "new"))

        let removal = #expect(throws: LMDBError.self) { try Environment.remove(at: path) }
        let replacing = #expect(throws: LMDBError.self) {
            try Environment.replace(at: path, withFileAt: new)
        }

        #expect(removal?.code == .alreadyOpen)
        #expect(replacing?.code == .alreadyOpen)
        #expect(removal?.message.contains("still open in this process") == true)
        #expect(access(path, F_OK) == 0 && access(new, F_OK) == 0)
        // The locks of the open file are still there.
        await #expect(processExitsWith: .success) { [path = path + "-lock" as String] in
            let descriptor = daybook_open(path, O_RDWR)
            precondition(daybook_lock(descriptor, daybook_exclusive, LockOffset.everybody, 1) != 0)
        }
        withExtendedLifetime(environment) {}
    }

    // MARK: - Numbers of readers

    @Test func `an LMDB of another shape keeps the number of the process`() throws {
        var environment: OpaquePointer?
        try #require(mdb_env_create(&environment) == MDB_SUCCESS)
        defer { mdb_env_close(environment) }
        // One of the words that are looked at is another one then.
        #expect(mdb_env_set_maxreaders(environment, 7) == MDB_SUCCESS)

        #expect(daybook_number_readers(environment, 1 << 23) == 0)

        #expect(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o644) == MDB_SUCCESS)
        var transaction: OpaquePointer?
        #expect(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction) == MDB_SUCCESS)
        defer { mdb_txn_abort(transaction) }
        // The kernel is asked for this one byte: its list of all locks changes while it is read.
        let lockFile = daybook_open(path + "-lock", O_RDWR)
        defer { close(lockFile) }
        var found = daybook_foreign_lock()
        let number = Int64(getpid())
        #expect(daybook_find_lock_open_file(lockFile, number, 1, &found) == 0)
        #expect(found.is_locked != 0 && found.start == number)
    }

    @Test func `with the number of its process for a reader, a file is read and written`() throws {
        let environment = try Self.open(path, numbersReaders: false)

        try Self.put(environment, "one")

        #expect(try Self.count(environment) == 1)
    }

    @Test func `with the number of its process, a reader is refused beside one of the same number`()
        async throws
    {
        try Self.put(try Self.open(path), "one")
        let lockFile = daybook_open(path + "-lock", O_RDWR)
        defer { close(lockFile) }
        // A reader of each number that a process may have.
        #expect(daybook_lock(lockFile, daybook_exclusive, 1, 1 << 22) == 0)

        await #expect(processExitsWith: .success) { [path = path as String] in
            do {
                let environment = try Self.open(path, numbersReaders: false)
                fatalError("\(environment.path) was opened")
            } catch let error as LMDBError {
                precondition(error.code == .alreadyOpen, error.message)
                precondition(error.message.contains("the same number, \(getpid()),"), error.message)
            }
            try Self.put(try Self.open(path), "two")
        }
    }
}
