/// The reason why a call to LMDB, or to the operating system under it, was refused.
///
/// The environment is still usable unless ``code`` is ``Code/closedToWrites``, which says that
/// the file must be opened again.
package struct LMDBError: Error, Sendable {
    /// The kind of refusal; programs decide by it.
    package let code: Code

    /// One full sentence, and the remedy where there is one.
    package let message: String

    /// The number of the operating system's error, if it was one.
    package let osError: Int32?

    /// What was in the way of a lock that could not be taken.
    let obstacle: LockObstacle?

    /// Makes an error from its parts.
    package init(_ code: Code, _ message: String, osError: Int32? = nil) {
        self.init(code, message, osError: osError, obstacle: nil)
    }

    init(_ code: Code, _ message: String, osError: Int32?, obstacle: LockObstacle?) {
        self.code = code
        self.message = message
        self.osError = osError
        self.obstacle = obstacle
    }

    /// The kinds of refusal.
    package enum Code: Sendable, Hashable {
        /// An insertion found a record under the same key, or an append came out of order.
        case keyExists
        /// A key is empty or longer than 511 bytes.
        case keyLength
        /// The map is full and could not grow.
        case mapFull
        /// Another process made the map larger and this one could not follow.
        case mapResized
        /// All reader slots are taken.
        case readersFull
        /// The disk has no room left; nothing of the write was kept.
        case diskFull
        /// Reading or writing the file failed.
        case inputOutput
        /// There is no such file.
        case noSuchFile
        /// The path names a directory.
        case isDirectory
        /// The path names something that is neither a file nor a directory.
        case notRegularFile
        /// The user may not read or write the file, its lock file, or their folder.
        case noPermission
        /// The file has no bytes.
        case emptyFile
        /// The file does not begin as an LMDB file does.
        case notLMDB
        /// The file was written by another version of LMDB's format.
        case versionMismatch
        /// The file is shorter than its first pages say.
        case truncated
        /// The system ended before the file was brought to the disk; it has to be made anew.
        case lost
        /// A page cannot be read as what it should be.
        case corrupt
        /// The file has no table of that name.
        case noSuchTable
        /// The file lies on a network file system, where LMDB's locks and map do not work.
        case networkFileSystem
        /// Data that must stay in memory would be on a disk.
        case notInMemory
        /// The process was forked after the file was opened.
        case forked
        /// A write was tried on an environment opened for reading.
        case readOnly
        /// The file is open in this process in a way that excludes the request.
        case alreadyOpen
        /// Another process has held a lock beyond the waiting limit.
        case locked
        /// The path no longer leads to the opened file.
        case replaced
        /// A sync failed or LMDB gave up; nothing more is written until the file is reopened.
        case closedToWrites
        /// Memory or address space ran out.
        case noMemory
        /// A key is shorter than its parts.
        case malformedKey
        /// Anything else.
        case other
    }
}

extension LMDBError: CustomStringConvertible {
    package var description: String { message }
}
