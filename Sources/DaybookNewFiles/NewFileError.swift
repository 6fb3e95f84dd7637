internal import Foundation

/// The reason why a file could not be made.
package struct NewFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reasons that callers distinguish.
    package enum Reason: Sendable, Hashable {
        /// The name exists already.
        case exists
        /// Its folder does not exist.
        case noFolder
        /// The disk, or the user's quota, is full.
        case full
        /// The system does not allow it.
        case permission
        /// Something else.
        case system
    }

    /// The reason.
    package let reason: Reason
    /// Full sentences that name the file.
    package let description: String

    private init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    /// The path exists.
    static func exists(_ path: String) -> NewFileError {
        NewFileError(
            .exists, "'\(path)' exists already and is left as it is. Choose another path.")
    }

    /// Its folder does not exist.
    static func noFolder(_ path: String, _ folder: String) -> NewFileError {
        NewFileError(.noFolder, "'\(path)' cannot be made: there is no folder '\(folder)'.")
    }

    /// A system call failed.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - deed: The attempt, as it reads after "cannot be": "made".
    ///   - number: The number of the error.
    /// - Returns: The error.
    static func system(_ path: String, _ deed: String, _ number: Int32) -> NewFileError {
        NewFileError(reason(number), "'\(path)' cannot be \(deed): \(words(number)).")
    }

    /// The file has its name, but a power failure may undo that.
    static func notDurable(_ path: String, _ number: Int32) -> NewFileError {
        NewFileError(
            .system,
            "'\(path)' is there, but its folder cannot be synced: \(words(number)). It may be gone "
                + "after a power cut. Check the disk, and copy the file.")
    }

    private static func words(_ number: Int32) -> String {
        String(cString: strerror(number))
    }

    private static func reason(_ number: Int32) -> Reason {
        switch number {
        case EEXIST: .exists
        case ENOENT, ENOTDIR: .noFolder
        case ENOSPC, EDQUOT, EFBIG: .full
        case EACCES, EPERM, EROFS: .permission
        default: .system
        }
    }
}
