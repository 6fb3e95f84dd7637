internal import CDaybookLMDB
internal import DaybookNewFiles
internal import Foundation

extension FilePair {
    /// Opens and marks the two files, before LMDB opens them.
    ///
    /// No other process can open the file until ``endOpening()``. Runs under the registry's lock,
    /// and only for files that are not open in this process: closing a descriptor of the lock file
    /// would release LMDB's locks on it.
    ///
    /// - Parameters:
    ///   - file: The path of the data file, which may not exist yet.
    ///   - options: The options of opening.
    /// - Returns: The pair, with the lock on opening held.
    /// - Throws: ``LMDBError``; with ``LMDBError/Code/locked`` when it is worth retrying.
    static func take(
        _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> FilePair {
        for _ in 0..<attemptsMaximum {
            if let pair = try attempt(file, options) { return pair }
        }
        throw .held(by: LockObstacle(.opening))
    }

    /// Nil when the files were exchanged meanwhile.
    private static func attempt(
        _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> FilePair? {
        guard let lockFile = try openLockFile(of: file, options) else {
            return try takeWithoutLocks(file)
        }
        var isKept = false
        defer { if !isKept { close(lockFile) } }
        guard try beginOpening(lockFile, file) else { return nil }
        guard try allocate(lockFile, file, options) else { return try takeWithoutLocks(file) }
        let pair = try mark(lockFile, file, options)
        isKept = pair != nil
        return pair
    }

    // MARK: - The lock file

    /// Opens the lock file, and makes it if there is none.
    ///
    /// - Returns: Its descriptor; nil when a reader must do without a lock file.
    private static func openLockFile(
        of file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> Int32? {
        let lockPath = file.lockPath
        // Whoever may write to the folder could have put a link there, and what it leads to be written to.
        var descriptor = daybook_open(lockPath, O_RDWR | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT {
            // The folder is not writable, so no process can write to the file.
            if options.readOnly, access(FileNaming.folder(of: file.path), W_OK) != 0 { return nil }
            descriptor = daybook_open(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW)
        }
        guard descriptor < 0 else {
            guard isFileOfItsOwn(descriptor) else {
                close(descriptor)
                throw .strangeLockFile(lockPath)
            }
            shareLockFile(descriptor, as: file)
            return descriptor
        }
        let number = errno
        if options.readOnly, number == EROFS || isNoRoom(number) { return nil }
        switch number {
        case ELOOP: throw .strangeLockFile(lockPath)
        case EACCES, EPERM, EROFS:
            throw LMDBError(
                .noPermission,
                "No permission to open '\(file.name)' and its lock file '\(lockPath)' "
                    + (options.readOnly ? "(readers, too, write to the lock file)." : "to write."),
                osError: number)
        default: throw .status(number, "opening '\(lockPath)'")
        }
    }

    /// Whether it is a regular file without another name.
    private static func isFileOfItsOwn(_ descriptor: Int32) -> Bool {
        var found = stat()
        return fstat(descriptor, &found) == 0 && found.st_mode & S_IFMT == S_IFREG
            && found.st_nlink <= 1
    }

    /// Has everybody who may use the file use its lock file, as far as this user may see to it. Others are told when they
    /// open it.
    private static func shareLockFile(_ descriptor: Int32, as file: FilePath) {
        var (data, lock) = (stat(), stat())
        guard stat(file.path, &data) == 0, fstat(descriptor, &lock) == 0 else { return }
        let isOurs = lock.st_uid == geteuid()
        if isOurs, lock.st_mode & 0o666 != data.st_mode & 0o666 {
            _ = fchmod(descriptor, data.st_mode & 0o666)
        }
        // A look by the superuser does not keep the file's owner out.
        if isOurs, geteuid() == 0, lock.st_uid != data.st_uid || lock.st_gid != data.st_gid {
            _ = fchown(descriptor, data.st_uid, data.st_gid)
        }
    }

    /// Makes other processes wait before they open or remove the file.
    ///
    /// - Returns: False when the path leads to another lock file by now.
    private static func beginOpening(_ lockFile: Int32, _ file: FilePath) throws(LMDBError) -> Bool
    {
        try lockOpening(lockFile, file)
        return try leads(file.lockPath, to: lockFile)
    }

    static func lockOpening(_ lockFile: Int32, _ file: FilePath) throws(LMDBError) {
        let number = daybook_lock(lockFile, daybook_exclusive, LockOffset.opening, 1)
        guard number != 0 else { return }
        guard number == EAGAIN || number == EACCES else {
            throw .status(number, "locking '\(file.lockPath)'")
        }
        let holder = LockHolder.holder(of: LockOffset.opening, in: lockFile)
        throw .held(by: LockObstacle(.opening) { holder })
    }

    /// Whether a path leads to an open file.
    static func leads(_ path: String, to descriptor: Int32) throws(LMDBError) -> Bool {
        var found = daybook_file()
        guard daybook_look_up(path, &found) == 0 else { return false }
        return FileIdentity(found) == (try FileIdentity.of(descriptor, path))
    }

    /// Allocates the disk space of the lock file, to which LMDB will write through a map: without
    /// the space, the write would end the process.
    ///
    /// - Returns: False when there is no room for a new one, so that a reader does without.
    private static func allocate(
        _ lockFile: Int32, _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> Bool {
        var found = daybook_file()
        let status = daybook_look_at(lockFile, &found)
        guard status == 0 else { throw .status(status, "measuring '\(file.lockPath)'") }
        var open = daybook_foreign_lock()
        let looked = daybook_find_lock(lockFile, LockOffset.everybody, 1, &open)
        guard looked == 0 else { throw .status(looked, "locking '\(file.lockPath)'") }
        // A lock file in use is already allocated, and its length determines the maximal number of
        // readers.
        guard open.is_locked == 0 else { return true }
        let length = max(found.size, Int64(Self.headSize + options.maxReaders * Self.readerSize))
        guard found.size < length || found.allocated < length else { return true }
        let number = daybook_allocate(lockFile, length)
        // On a file system that cannot allocate ahead, the disk may still become full later; that
        // cannot be prevented.
        guard number != 0, ![EOPNOTSUPP, ENOTSUP, EINVAL, ENOSYS].contains(number) else {
            return true
        }
        guard isNoRoom(number) else { throw .status(number, "making '\(file.lockPath)'") }
        if found.size == 0 { unlink(file.lockPath) }
        guard found.size == 0, options.readOnly else { throw .diskFull(osError: number) }
        return false
    }

    /// `MDB_txninfo` without its first reader, and `MDB_reader`, in cache lines of 64 bytes (`mdb.c`).
    private static let headSize = 128
    private static let readerSize = 64

    static func isNoRoom(_ number: Int32) -> Bool {
        number == ENOSPC || number == EDQUOT || number == EFBIG
    }

    // MARK: - Marks

    /// Marks both files with each other.
    ///
    /// - Returns: Nil when the lock file belonged to another data file and has been removed.
    private static func mark(
        _ lockFile: Int32, _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> FilePair? {
        let dataFile = try openDataFile(file, options)
        do throws(LMDBError) {
            let data = try FileIdentity.of(dataFile, file.name)
            let lock = try FileIdentity.of(lockFile, file.lockPath)
            guard try putMark(data.mark, from: LockOffset.marks, in: lockFile, file.lockPath) == nil
            else {
                // Processes that have it open write to a file that had this name before. They keep
                // it.
                guard unlink(file.lockPath) == 0 || errno == ENOENT else {
                    throw .status(errno, "removing the lock file of the file before '\(file.name)'")
                }
                close(dataFile)
                return nil
            }
            if let other = try claim(lock.mark, in: dataFile, file.name) {
                throw other == LockOffset.withoutLockFile
                    ? .held(by: readerWithoutLockFile(of: data))
                    : .otherName(file.name, LockHolder.opener(of: data))
            }
            return FilePair(
                file: file, data: data, lock: lock, dataDescriptor: dataFile,
                lockDescriptor: lockFile)
        } catch {
            close(dataFile)
            throw error
        }
    }

    private static func openDataFile(
        _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> Int32 {
        let flags = options.readOnly ? O_RDONLY : options.create ? O_RDWR | O_CREAT : O_RDWR
        let descriptor = daybook_open(file.path, flags)
        guard descriptor < 0 else { return descriptor }
        switch errno {
        case ENOENT: throw .noSuchFile(file.name)
        case EACCES, EPERM, EROFS:
            throw .noPermission(file.name, to: options.readOnly ? "read" : "write", osError: errno)
        default: throw .status(errno, "opening '\(file.name)'")
        }
    }

    private static func readerWithoutLockFile(of data: FileIdentity) -> LockObstacle {
        LockObstacle(.readingWithoutLockFile) { LockHolder.opener(of: data)?.holder }
    }

    /// Puts a mark into a data file.
    ///
    /// A process does so only if no other is about to: two that came by two names at once would each see
    /// the other's mark, and neither would get in.
    ///
    /// - Returns: The offset of another process's different mark, if there is one.
    /// - Throws: ``LMDBError``; with ``LMDBError/Code/locked`` when somebody else is about to, too.
    private static func claim(
        _ mark: Int64, in dataFile: Int32, _ path: String
    ) throws(LMDBError) -> Int64? {
        let wish = mark - LockOffset.marks + LockOffset.wishes
        defer {
            let number = daybook_lock_open_file(dataFile, daybook_unlocked, wish, 1)
            assert(number == 0)
        }
        guard try putMark(wish, from: LockOffset.wishes, in: dataFile, path) == nil else {
            throw .held(by: LockObstacle(.opening))
        }
        // Searched for first, because the mark of a refused process would be in the way of others.
        if let other = try findOther(than: mark, from: LockOffset.marks, in: dataFile, path) {
            return other
        }
        try put(mark, into: dataFile, path)
        return nil
    }

    /// Puts a mark into a file.
    ///
    /// - Returns: The offset from `first` on where another process has put another mark, if there is
    ///   one.
    private static func putMark(
        _ mark: Int64, from first: Int64, in file: Int32, _ path: String
    ) throws(LMDBError) -> Int64? {
        try put(mark, into: file, path)
        return try findOther(than: mark, from: first, in: file, path)
    }

    private static func put(
        _ mark: Int64, into file: Int32, _ path: String
    ) throws(LMDBError) {
        let number = daybook_lock_open_file(file, daybook_shared, mark, 1)
        guard number == 0 else { throw .status(number, "marking '\(path)'") }
    }

    private static func findOther(
        than mark: Int64, from first: Int64, in file: Int32, _ path: String
    ) throws(LMDBError) -> Int64? {
        let end = first + LockOffset.marksCount
        for (start, next) in [(first, mark), (mark + 1, end)] where start < next {
            var found = daybook_foreign_lock()
            let looked = daybook_find_lock_open_file(file, start, next - start, &found)
            guard looked == 0 else { throw .status(looked, "marking '\(path)'") }
            if found.is_locked != 0 { return found.start }
        }
        return nil
    }

    /// Whether anybody has marked a file, or is about to.
    static func isMarked(_ file: Int32, _ path: String) throws(LMDBError) -> Bool {
        var found = daybook_foreign_lock()
        let looked = daybook_find_lock_open_file(
            file, LockOffset.marks, LockOffset.marksAndWishesCount, &found)
        guard looked == 0 else { throw .status(looked, "looking for marks in '\(path)'") }
        return found.is_locked != 0
    }

    // MARK: - Reading without a lock file

    /// Keeps processes with a lock file from opening the file, because a reader without one cannot
    /// see their writes.
    private static func takeWithoutLocks(_ file: FilePath) throws(LMDBError) -> FilePair {
        let dataFile = daybook_open(file.path, O_RDONLY)
        guard dataFile >= 0 else { throw .status(errno, "opening '\(file.name)'") }
        do throws(LMDBError) {
            let data = try FileIdentity.of(dataFile, file.name)
            if try claim(LockOffset.withoutLockFile, in: dataFile, file.name) != nil {
                throw .withoutLockFile(file.name, LockHolder.opener(of: data))
            }
            return FilePair(
                file: file, data: data, lock: nil, dataDescriptor: dataFile, lockDescriptor: -1)
        } catch {
            close(dataFile)
            throw error
        }
    }

    /// The number of exchanges during opening after which it gives up.
    private static let attemptsMaximum = 16
}

extension LMDBError {
    /// Refuses what stands in the place of a lock file: it would be written to.
    fileprivate static func strangeLockFile(_ path: String) -> LMDBError {
        LMDBError(
            .notRegularFile,
            "'\(path)' is a link, or a file that has another name, too. The lock file of a store is a file of "
                + "its own; find out who has put it there, and remove it.")
    }
}
