internal import CDaybookLMDB
internal import Foundation

extension Environment {
    /// Removes the file at `path` and its lock file. Does nothing when there is no file.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/alreadyOpen`` while this process or another has
    ///   the file open. Nothing is removed then.
    package static func remove(at path: String) throws(LMDBError) {
        try whileUnused(path) { file throws(LMDBError) in
            try unlinking(file.path)
            try unlinking(file.lockPath)
            UnsyncedMark.remove(beside: file)
            // The link itself, if `path` is one.
            try unlinking(path)
        }
    }

    /// Replaces the file at `path`, if any, with another one that is not open anywhere.
    ///
    /// After a crash there is one or the other.
    ///
    /// - Throws: As ``remove(at:)``. Both files are unchanged then.
    package static func replace(
        at path: String, withFileAt other: String
    ) throws(LMDBError) {
        try whileUnused(path) { file throws(LMDBError) in
            // The transaction data in the lock file belongs to the old file.
            try unlinking(file.lockPath)
            guard rename(other, file.path) == 0 else {
                throw .status(errno, "giving a file the name '\(path)'")
            }
        }
    }

    /// Replaces a file that was not brought to the disk before the system ended, unless another process has done so.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - other: Another one that is not open anywhere, and is on the disk.
    /// - Returns: Whether it was replaced. After a crash there is one or the other.
    /// - Throws: As ``remove(at:)``. Both files are unchanged then.
    package static func renew(
        at path: String, withFileAt other: String
    ) throws(LMDBError) -> Bool {
        var isReplaced = false
        try whileUnused(path) { file throws(LMDBError) in
            guard let mark = try UnsyncedMark.beside(file), !mark.isOfThisRun else { return }
            try unlinking(file.lockPath)
            guard rename(other, file.path) == 0 else {
                throw .status(errno, "giving a file the name '\(path)'")
            }
            UnsyncedMark.remove(beside: file)
            isReplaced = true
        }
        return isReplaced
    }

    /// Runs `body`, with the path of the file, while no process has the file open and this process
    /// cannot open it. If this process still has open the file that it replaced, that counts, too.
    private static func whileUnused(
        _ path: String, _ body: (FilePath) throws(LMDBError) -> Void
    ) throws(LMDBError) {
        try EnvironmentRegistry.occupyStandardDescriptors()
        let file = FilePath(path)
        try EnvironmentRegistry.withPairClosed(file) { () throws(LMDBError) in
            let lockFile = try UnusedLockFile(file)
            defer { lockFile?.close() }
            try refuseOtherNames(file)
            try body(file)
        }
    }

    /// Refuses while the file is open under another name, which the lock file of this name does not
    /// show.
    private static func refuseOtherNames(_ file: FilePath) throws(LMDBError) {
        let path = file.name
        let descriptor = daybook_open(file.path, O_RDONLY)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .status(errno, "opening '\(path)'") }
            return
        }
        defer { close(descriptor) }
        guard try FilePair.isMarked(descriptor, path) else { return }
        throw .otherName(path, LockHolder.opener(of: try FileIdentity.of(descriptor, path)))
    }

    private static func unlinking(_ path: String) throws(LMDBError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw .status(errno, "removing '\(path)'")
    }
}

/// The lock file of a file that is not open anywhere, locked so that nothing can open it.
private struct UnusedLockFile {
    private let descriptor: Int32

    /// - Returns: Nil when there is no lock file, so that no process has the file open by this
    ///   path.
    init?(_ file: FilePath) throws(LMDBError) {
        descriptor = daybook_open(file.lockPath, O_RDWR)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .status(errno, "opening '\(file.lockPath)'") }
            return nil
        }
        do throws(LMDBError) {
            try lock(file)
        } catch {
            close()
            throw error
        }
    }

    private func lock(_ file: FilePath) throws(LMDBError) {
        do throws(LMDBError) {
            try FilePair.lockOpening(descriptor, file)
        } catch {
            guard let obstacle = error.obstacle else { throw error }
            throw inUse(file, obstacle.holder())
        }
        let number = daybook_lock(descriptor, daybook_exclusive, LockOffset.everybody, 1)
        guard number != 0 else { return }
        guard number == EAGAIN || number == EACCES else {
            throw .status(number, "locking '\(file.lockPath)'")
        }
        throw inUse(file, LockHolder.holder(of: LockOffset.everybody, in: descriptor))
    }

    private func inUse(_ file: FilePath, _ holder: LockHolder?) -> LMDBError {
        let who = holder.map { "\($0)" } ?? "another process"
        return LMDBError(.alreadyOpen, "'\(file.name)' is open in \(who); end that first.")
    }

    /// Releases the locks.
    func close() {
        _ = Foundation.close(descriptor)
    }
}
