internal import CLMDB
internal import Foundation

extension Environment {
    /// Removes the file at `path` and its lock file. Does nothing when there is no file.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/alreadyOpen`` while this process or another has
    ///   the file open. Nothing is removed then.
    package static func remove(at path: String) throws(LMDBError) {
        try whileUnused(path) { () throws(LMDBError) in
            try unlinking(path)
            try unlinking(path + "-lock")
        }
    }

    /// Puts another file, which nobody has open, in the place of the one at `path`, if there is one.
    ///
    /// A crash leaves the one or the other.
    ///
    /// - Throws: As ``remove(at:)``. Both files are as they were then.
    package static func replace(
        at path: String, withFileAt other: String
    ) throws(LMDBError) {
        try whileUnused(path) { () throws(LMDBError) in
            // What the lock file says of transactions is about the file that goes.
            try unlinking(path + "-lock")
            guard rename(other, path) == 0 else {
                throw .status(errno, "giving a file the name '\(path)'")
            }
        }
    }

    /// Runs `body` while nobody has the file open, and nobody in this process can open it.
    private static func whileUnused(
        _ path: String, _ body: () throws(LMDBError) -> Void
    ) throws(LMDBError) {
        let refusal = "is open in this process; close it first."
        try EnvironmentRegistry.withFileClosed(path, refusal: refusal) { () throws(LMDBError) in
            let lockFile = try LockFile(path)
            defer { lockFile?.close() }
            try body()
        }
    }

    private static func unlinking(_ path: String) throws(LMDBError) {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw .status(errno, "removing '\(path)'")
    }
}

/// The lock file of a file that nobody has open, held so that nobody can.
private struct LockFile {
    private let descriptor: Int32

    /// - Returns: Nil when there is no lock file, and so nobody who has the file open.
    init?(_ path: String) throws(LMDBError) {
        descriptor = open(path + "-lock", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .status(errno, "opening '\(path)-lock'") }
            return nil
        }
        let number = daybook_lock_alone(descriptor)
        guard number != 0 else { return }
        close()
        guard number == EAGAIN || number == EACCES else {
            throw .status(number, "locking '\(path)-lock'")
        }
        throw LMDBError(.alreadyOpen, "'\(path)' is open in another process; end that first.")
    }

    /// Gives the lock back.
    func close() {
        _ = Foundation.close(descriptor)
    }
}
