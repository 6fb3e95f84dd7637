internal import Foundation

/// Paths, and the system calls that give a file its name for good.
package enum FileNaming {
    /// Refuses an existing path, even a link that leads nowhere.
    static func checkFree(_ path: String) throws(NewFileError) {
        guard faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0 else {
            throw .exists(path)
        }
    }

    /// Gives a file a second name, unless that is taken.
    ///
    /// - Throws: ``NewFileError`` with reason `exists`; the file has only its old name then.
    static func link(_ draftPath: String, to path: String) throws(NewFileError) {
        if linkat(AT_FDCWD, draftPath, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 { return }
        let number = errno
        if number == EEXIST { throw .exists(path) }
        guard [EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS, EMLINK].contains(number) else {
            throw .system(path, "made", number)
        }
        // A file system without links. The empty file claims the name: for any other process it is
        // taken.
        let claim = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard claim >= 0 else {
            throw errno == EEXIST ? .exists(path) : .system(path, "made", errno)
        }
        close(claim)
        guard rename(draftPath, path) != 0 else { return }
        let reason = errno
        unlink(path)
        throw .system(path, "made", reason)
    }

    /// Returns when the content of a file would survive a power failure.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - target: Its name in messages.
    /// - Throws: ``NewFileError``.
    static func sync(_ path: String, for target: String) throws(NewFileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(target, "synced", errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(target, "synced", errno) }
    }

    /// Returns when the name of a file, or its removal, would survive a power failure.
    package static func syncFolder(of path: String) throws(NewFileError) {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == EACCES else { throw .notDurable(path, errno) }
            // The folder is writable but cannot be opened.
            return syncAll()
        }
        defer { close(descriptor) }
        // EINVAL: the file system keeps names without a sync.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw .notDurable(path, errno) }
    }

    /// Returns when all writes to all file systems are on the disk.
    static func syncAll() {
        Foundation.sync()
    }

    /// The last part of a path.
    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The folder that a path leads into.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: - Links

    /// The path without symbolic links, from the root; the file need not be there yet.
    ///
    /// - Returns: The path unchanged when not even its folder exists, when its name is not UTF-8,
    ///   or when it cannot be examined: opening it then tells why.
    package static func resolved(_ path: String) -> String {
        var path = path
        for _ in 0..<linksMaximum {
            if let whole = canonical(path) { return whole }
            // A link may lead to a file that does not exist yet.
            guard let target = target(ofLink: path) else { break }
            path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
        }
        guard let folder = canonical(folder(of: path)) else { return path }
        return (folder == "/" ? "" : folder) + "/" + (path.split(separator: "/").last ?? "")
    }

    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        // Repaired, the name of a folder that is not UTF-8 would be that of another.
        return String(validatingCString: found)
    }

    /// The target of a link; nil when the path is not a link.
    private static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count >= 0 else { return nil }
        return String(validating: bytes.prefix(count), as: UTF8.self)
    }

    /// As many as Linux follows.
    private static let linksMaximum = 40
}
