// The room of files and locks: one data file with one lock file, whatever process opens them by whatever
// name, and the waiting for others. It looks at a file before LMDB does, and reads no tables.

internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

/// A data file and its lock file, opened by one process.
///
/// LMDB finds the lock file by the path. Two names of one data file, by a hard link or by mounting the
/// file elsewhere, would have a lock file each, and so two writers at a time. A data file that
/// replaces another would be written under the other's lock file, which holds the number of the
/// next transaction. So a process that opens a pair marks each of the two files with the other one
/// and checks that no process has marked it differently. A mark is a shared lock on one byte far
/// behind the end, at an offset derived from the other file; the kernel releases it when the
/// process ends, for whatever reason.
///
/// | bytes of the lock file | locked by |
/// |---|---|
/// | 0 | LMDB: every process that has the file open, shared |
/// | from 1, below 2³¹ | LMDB: each reader, the byte of its number |
/// | 2⁴⁰ | the process that is opening or removing the file, one at a time |
/// | 2⁴⁰ + 1 | the process that writes, as long as it holds LMDB's own write lock |
/// | 2⁴⁰ + 2 | the process that is registering a reader or forgetting dead ones, under LMDB's lock on
/// readers |
/// | 2⁴⁰ + 3 | every process that has made sure of the pages before it writes, shared |
/// | from 2⁴¹ | every process, shared: the mark of the data file |
///
/// The data file has only marks, from 2⁴¹: that of the lock file, or the first byte for a reader without
/// one. A process that is about to put one there first locks the same offset from 2⁶², and retries later
/// if another does the same: of two processes that come by two names at once, one gets in.
///
/// The locks at 2⁴⁰ are taken before LMDB's own, for which no wait has a limit.
final class FilePair: Sendable {
    /// The path of the data file.
    let file: FilePath
    let data: FileIdentity
    /// Nil for a reader without a lock file.
    let lock: FileIdentity?
    private let dataDescriptor: Int32
    /// -1 for a reader without a lock file.
    private let lockDescriptor: Int32
    /// Held by the process that writes.
    let writing: ByteLock
    private let registering: ByteLock
    /// Whether the path no longer leads to the file, on purpose.
    private let isNameless = Atomic<Bool>(false)

    init(
        file: FilePath, data: FileIdentity, lock: FileIdentity?, dataDescriptor: Int32,
        lockDescriptor: Int32
    ) {
        self.file = file
        self.data = data
        self.lock = lock
        self.dataDescriptor = dataDescriptor
        self.lockDescriptor = lockDescriptor
        writing = ByteLock(LockOffset.writing, of: lockDescriptor, file, .writing)
        registering = ByteLock(LockOffset.registering, of: lockDescriptor, file, .registering)
    }

    /// Closes both files. LMDB must have closed them before: its locks would be released, too.
    func close() {
        Self.close(dataDescriptor)
        if lockDescriptor >= 0 { Self.close(lockDescriptor) }
    }

    /// Releases the marks and closes a file. A child that was just forked also has it open, and
    /// would keep the marks until it runs its own program.
    static func close(_ descriptor: Int32) {
        for (start, count) in [
            (LockOffset.vouching, 1), (LockOffset.marks, LockOffset.marksAndWishesCount),
        ] {
            let status = daybook_lock_open_file(descriptor, daybook_unlocked, start, count)
            assert(status == 0)
        }
        _ = Foundation.close(descriptor)
    }

    /// Allows other processes to open the file, after LMDB has opened it.
    func endOpening() {
        guard lockDescriptor >= 0 else { return }
        let status = daybook_lock(lockDescriptor, daybook_unlocked, LockOffset.opening, 1)
        assert(status == 0)
    }

    /// A number that no other reader has, neither as its own nor as its process number.
    func readerNumber() throws(LMDBError) -> Int32 {
        while true {
            let number = Int32.random(in: LockOffset.readers)
            guard lockDescriptor >= 0 else { return number }
            var found = daybook_foreign_lock()
            let status = daybook_find_lock(lockDescriptor, Int64(number), 1, &found)
            guard status == 0 else {
                throw .status(status, "numbering the readers of '\(file.name)'")
            }
            if found.is_locked == 0 { return number }
        }
    }

    /// Refuses when a reader of another container has the process number of this process, because
    /// LMDB distinguishes readers by it.
    func refuseSameNumber() throws(LMDBError) {
        guard LockHolder.holder(of: Int64(getpid()), in: lockDescriptor) != nil else { return }
        throw LMDBError(
            .alreadyOpen,
            "'\(file.name)' is open in a process of another container that has the same number, "
                + "\(getpid()), as this one, and LMDB would take the two for one. Start one of them "
                + "so that it gets another number, or let the containers share their numbers.")
    }

    // MARK: - LMDB's locks

    /// Runs a call of LMDB's that takes its lock on readers.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/locked`` when another process has been in such a
    ///   call for too long: it was stopped there. Or what `body` throws.
    func registering<R>(
        _ patience: LockPatience, _ body: () throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        // Without a lock file there is no table of readers, and no lock on it.
        guard lockDescriptor >= 0 else { return try body() }
        // The lock is held for microseconds: only a process that was stopped is worth a refusal.
        var patience = patience
        patience.limit = patience.limit.map { max($0, .milliseconds(100)) }
        try registering.take(LockWait(patience))
        defer { registering.giveBack() }
        return try body()
    }

    /// The same for a caller that is retried as a whole while another process is in such a call.
    func registeringNow<R>(_ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
        guard lockDescriptor >= 0 else { return try body() }
        try registering.takeNow()
        defer { registering.giveBack() }
        return try body()
    }

    /// Waits until no other process writes; one may begin immediately afterwards.
    func awaitWriter(_ patience: LockPatience) throws(LMDBError) {
        if lockDescriptor >= 0 { try writing.awaitFree(patience) }
    }

    /// Waits until no other process registers a reader; one may begin right afterwards.
    func awaitRegistering(_ patience: LockPatience) throws(LMDBError) {
        if lockDescriptor >= 0 { try registering.awaitFree(patience) }
    }

    // MARK: - Its path

    /// Removes the names of both files, which stay open.
    ///
    /// - Throws: ``LMDBError`` when a name cannot be removed.
    func giveUpName() throws(LMDBError) {
        for path in [file.lockPath, file.path] {
            guard unlink(path) == 0 else { throw .status(errno, "removing '\(path)'") }
        }
        isNameless.store(true, ordering: .relaxed)
    }

    /// Maps the data file for reading.
    ///
    /// - Returns: The beginning of the map; nil and the number of the error when there is no room
    ///   for it.
    func map(_ length: Int) -> (start: UnsafeRawPointer?, error: Int32) {
        let start = mmap(nil, length, PROT_READ, MAP_SHARED, dataDescriptor, 0)
        guard start != MAP_FAILED, let start else { return (nil, errno) }
        return (UnsafeRawPointer(start), 0)
    }

    /// The length of the data file in bytes.
    func length() throws(LMDBError) -> Int {
        var found = daybook_file()
        let status = daybook_look_at(dataDescriptor, &found)
        guard status == 0 else { throw .status(status, "measuring '\(file.name)'") }
        return Int(found.size)
    }

    /// The bytes of the data file.
    var source: PageSource { PageSource(descriptor: dataDescriptor) }

    /// Writes a few bytes into the data file, behind what LMDB uses of a page.
    func write(_ bytes: [UInt8], at offset: Int) {
        let written = bytes.withUnsafeBytes {
            pwrite(dataDescriptor, $0.baseAddress, $0.count, off_t(offset))
        }
        assert(written <= bytes.count)
    }

    /// Whether another process has locked a byte of the lock file.
    func isLocked(_ offset: Int64, _ action: String) throws(LMDBError) -> Bool {
        guard lockDescriptor >= 0 else { return false }
        var found = daybook_foreign_lock()
        let status = daybook_find_lock_open_file(lockDescriptor, offset, 1, &found)
        guard status == 0 else { throw .status(status, action) }
        return found.is_locked != 0
    }

    /// Locks a byte of the lock file, together with others, for as long as the file is open.
    func lockShared(_ offset: Int64, _ action: String) throws(LMDBError) {
        guard lockDescriptor >= 0 else { return }
        let status = daybook_lock_open_file(lockDescriptor, daybook_shared, offset, 1)
        guard status == 0 else { throw .status(status, action) }
    }

    /// Whether the file has given up its name, so that no other process can open it.
    var isUnnamed: Bool { isNameless.load(ordering: .relaxed) }

    /// The bytes that may still be written to the file system; -1 when unknown.
    var room: Int64 { daybook_room(dataDescriptor) }

    /// Refuses when the path no longer leads to the data file.
    ///
    /// - Complexity: One call to the operating system.
    func checkIsInPlace() throws(LMDBError) {
        if isUnnamed { return }
        var found = daybook_file()
        switch daybook_look_up(file.path, &found) {
        case 0: if FileIdentity(found) != data { throw .replaced(file.name) }
        case ENOENT, ENOTDIR: throw .gone(file.name)
        // A folder that this process may no longer search says nothing about the file.
        default: return
        }
    }
}

/// The bytes of the two files that are locked.
enum LockOffset {
    /// LMDB's, locked by every process that has the file open.
    static let everybody: Int64 = 0
    /// LMDB's, by the number of the reader: above all process numbers of Linux.
    static let readers: ClosedRange<Int32> = (1 << 23)...(.max)
    static let opening: Int64 = 1 << 40
    static let writing: Int64 = opening + 1
    static let registering: Int64 = opening + 2
    static let vouching: Int64 = opening + 3
    static let marks: Int64 = 1 << 41
    static let marksCount: Int64 = 1 << 61
    /// In the data file, by the process that is about to put a mark there, as far behind this as the
    /// mark is behind the first one.
    static let wishes: Int64 = 1 << 62
    static let marksAndWishesCount: Int64 = wishes + marksCount - marks
    /// Instead of the mark of a lock file.
    static let withoutLockFile: Int64 = marks
}

extension FileIdentity {
    /// The offset at which another file is marked with this one: the same in every process.
    var mark: Int64 {
        // The mixing steps of SplitMix64.
        var mixed = inode &+ device &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return LockOffset.marks + 1 + Int64(mixed % UInt64(LockOffset.marksCount - 1))
    }

    /// An open file.
    static func of(_ descriptor: Int32, _ path: String) throws(LMDBError) -> FileIdentity {
        var found = daybook_file()
        let status = daybook_look_at(descriptor, &found)
        guard status == 0 else { throw .status(status, "looking at '\(path)'") }
        return FileIdentity(found)
    }
}
