internal import Foundation

/// Why a file could not be made.
package struct NewFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a caller may want to do about it.
    package enum Reason: Sendable, Hashable {
        /// There is something of that name already.
        case exists
        /// There is no folder to hold it.
        case noFolder
        /// The disk is full, or the user's share of it.
        case full
        /// The system does not allow it.
        case permission
        /// Something else.
        case system
    }

    /// What kind of trouble it is.
    package let reason: Reason
    /// Full sentences that name the file.
    package let description: String

    private init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    /// Something stands at the path.
    static func exists(_ path: String) -> NewFileError {
        NewFileError(
            .exists, "'\(path)' exists already and is left as it is. Choose another path.")
    }

    /// There is nowhere to put it.
    static func noFolder(_ path: String, _ folder: String) -> NewFileError {
        NewFileError(.noFolder, "'\(path)' cannot be made: there is no folder '\(folder)'.")
    }

    /// A call of the system failed.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - deed: What was tried, as it reads behind "cannot be": "made".
    ///   - number: The number of the error.
    /// - Returns: The error.
    static func system(_ path: String, _ deed: String, _ number: Int32) -> NewFileError {
        NewFileError(reason(number), "'\(path)' cannot be \(deed): \(words(number)).")
    }

    /// The file has its name, and nobody knows for how long.
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
