internal import Foundation

/// The folders with unfinished files of programs that have been killed.
///
/// Who makes such a folder keeps it open and locked. The system takes the lock away when the program ends, however it
/// ends, so that whoever gets the lock of a folder knows that nobody needs it.
///
/// Invariants:
/// - A folder is removed only while its lock is held, so nobody begins to use it meanwhile.
/// - Only folders of this user are looked at, and no link is followed.
enum AbandonedFolders {
    /// Locks a folder that was just made.
    ///
    /// - Returns: The open folder, to be kept; nil when somebody who took it for an abandoned one has removed it.
    /// - Throws: ``NewFileError`` when it cannot be opened. Where the file system has no locks, nobody gets one to
    ///   remove it, and it counts as locked.
    static func lock(_ path: String, for target: String) throws(NewFileError) -> Int32? {
        let descriptor = open(path, openFlags)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(target, "made", errno)
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            return nil
        }
        // Whoever had the lock before may have removed it.
        guard isStill(path, descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Removes the folders of programs that have ended.
    ///
    /// - Parameters:
    ///   - folder: Where they are.
    ///   - prefix: How their names begin, before the dot and the digits.
    /// - Complexity: O(*f*), *f* the number of files in the folder.
    static func removeAll(in folder: String, named prefix: String) {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard isUnfinished(name, of: prefix) else { continue }
            remove("\(folder)/\(name)")
        }
    }

    /// How many digits stand behind the dot.
    static let digits = 12

    private static let openFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    private static func isUnfinished(_ name: String, of prefix: String) -> Bool {
        guard name.hasPrefix(prefix + ".") else { return false }
        let rest = name.dropFirst(prefix.count + 1)
        return rest.count == digits && rest.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Removes a folder if nobody has its lock. A folder in it belongs to the same program.
    private static func remove(_ path: String) {
        var found = stat()
        guard lstat(path, &found) == 0, found.st_uid == geteuid() else { return }
        let descriptor = open(path, openFlags)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isStill(path, descriptor) else { return }
        // Names are taken relative to the open folder: its path may come to mean another one.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let kind = Int32(entry.pointee.d_type)
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let text = String(cString: name)
                    if kind == Int32(DT_DIR) {
                        if text != "." && text != ".." { remove("\(path)/\(text)") }
                    } else {
                        unlinkat(descriptor, name, 0)
                    }
                }
            }
        }
        rmdir(path)
    }

    /// Whether a path still leads to an open folder.
    private static func isStill(_ path: String, _ descriptor: Int32) -> Bool {
        var opened = stat()
        var named = stat()
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0
            && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
    }
}
