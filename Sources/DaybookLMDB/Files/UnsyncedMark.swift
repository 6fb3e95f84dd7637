internal import CDaybookLMDB
internal import DaybookNewFiles
internal import Foundation
internal import Synchronization

/// The mark beside a file whose writes are not brought to the disk, because all of it can be made anew.
///
/// After a crash of the system the file is what happened to be on the disk, which nobody may trust. The mark tells:
/// it was on the disk before the first such write, and names the run of the system that this belonged to.
///
/// | line | content |
/// |---|---|
/// | 1 | `daybook unsynced 1` |
/// | 2 | the identifier of the run of the system (`/proc/sys/kernel/random/boot_id`) |
/// | 3 | where the file can be made anew from |
/// | 4 | the inode of the file: the mark says nothing of another one that was put in its place |
struct UnsyncedMark: Equatable {
    let run: String
    let origin: String
    let inode: UInt64

    /// The mark of a file; nil when there is none. A mark that is damaged is of no run. One of a file that is not there
    /// counts, and one of another file that had the name does not.
    static func beside(_ file: FilePath) throws(LMDBError) -> UnsyncedMark? {
        guard let mark = try written(beside: file) else { return nil }
        return mark.isOfOther(than: file) ? nil : mark
    }

    /// Whether it is about another file that had the name before.
    private func isOfOther(than file: FilePath) -> Bool {
        var found = stat()
        return inode != 0 && stat(file.path, &found) == 0 && UInt64(found.st_ino) != inode
    }

    private static func written(beside file: FilePath) throws(LMDBError) -> UnsyncedMark? {
        // Whoever may write to the folder may put anything there, such as a pipe that nobody writes to.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = open(path(beside: file), flags)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            if errno == ELOOP { return damaged }
            throw .status(errno, "reading '\(path(beside: file))'")
        }
        defer { close(descriptor) }
        var kind = stat()
        guard fstat(descriptor, &kind) == 0, kind.st_mode & S_IFMT == S_IFREG else {
            return damaged
        }
        var bytes = [UInt8](repeating: 0, count: bytesMaximum)
        let count = bytes.withUnsafeMutableBytes {
            pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count >= 0 else { throw .status(errno, "reading '\(path(beside: file))'") }
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 5, lines[0] == title, let inode = UInt64(lines[3]) else {
            return damaged
        }
        return UnsyncedMark(run: lines[1], origin: lines[2], inode: inode)
    }

    /// What says nothing that can be read.
    private static let damaged = UnsyncedMark(run: "", origin: "", inode: 0)

    /// Takes away the mark of another file that had the name before. No other process writes to the file meanwhile.
    static func removeStrange(beside file: FilePath) {
        do {
            if let mark = try written(beside: file), mark.isOfOther(than: file) {
                remove(beside: file)
            }
        } catch {
            // What cannot be read stays, and counts as a mark.
            return
        }
    }

    /// Whether there is a mark beside a file.
    ///
    /// - Complexity: One call to the operating system.
    static func isBeside(_ file: FilePath) -> Bool { access(path(beside: file), F_OK) == 0 }

    /// Puts a mark of this run of the system beside a file that has none. It is on the disk when this returns.
    ///
    /// Others look for it at any time, so it is there as a whole or not at all.
    ///
    /// - Returns: Whether that was possible. It is not where the origin has several lines, or is longer than a mark can be.
    static func put(beside file: FilePath, _ inode: UInt64, origin: String) -> Bool {
        guard let run = runNow else { return false }
        let text = "\(title)\n\(run)\n\(origin)\n\(inode)\n"
        // What is read otherwise than it was written would count as a mark of another run.
        guard text.utf8.count <= bytesMaximum, !origin.utf8.contains(UInt8(ascii: "\n")) else {
            return false
        }
        do {
            let mark = try NewFile(path(beside: file), for: .everybody)
            try mark.write(text.utf8)
            try mark.finish()
            return true
        } catch {
            return false
        }
    }

    /// Takes the mark away. Where that fails it stays, and the file may be made anew without need.
    static func remove(beside file: FilePath) {
        _ = unlink(path(beside: file))
    }

    /// Whether the system has not ended since: what was written is there, whoever wrote it.
    var isOfThisRun: Bool { run == Self.runNow }

    private static func path(beside file: FilePath) -> String { file.path + "-unsynced" }

    /// Nil where the system does not say.
    static let runNow: String? = {
        let text = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
            .map { String(decoding: $0, as: UTF8.self) }?.split(separator: "\n").first
        return text.map(String.init)
    }()

    private static let title = "daybook unsynced 1"
    private static let bytesMaximum = 4_096
}

extension Environment {
    /// Which run of the system this is; nil where the system does not say. A machine that begins with a copy of this
    /// one's disk has another one.
    package static var runOfSystem: String? { UnsyncedMark.runNow }

    /// Where a file can be made anew from that was not brought to the disk before the system ended; nil for every
    /// other file.
    ///
    /// - Throws: ``LMDBError`` when its mark cannot be read.
    package static func lostOrigin(at path: String) throws(LMDBError) -> String? {
        guard let mark = try UnsyncedMark.beside(FilePath(path)), !mark.isOfThisRun else {
            return nil
        }
        return mark.origin
    }

    /// Brings all that was written to the disk, also by processes that do not do so with each write.
    ///
    /// - Throws: ``LMDBError`` when that fails, or another process writes for too long.
    package func bringToDisk() throws(LMDBError) {
        try core.checkUsable()
        try core.pair.writing.take(LockWait(patience))
        defer { core.pair.writing.giveBack() }
        try core.bringToDisk()
    }
}

extension EnvironmentCore {
    /// Makes sure that a crash of the system is noticed, before a write that is not brought to the disk. No other
    /// process writes meanwhile.
    func markUnsynced() {
        guard case .rebuildable(let origin) = durability else { return }
        if !hasLookedForMarks.exchange(true, ordering: .relaxed) {
            UnsyncedMark.removeStrange(beside: pair.file)
        }
        guard !UnsyncedMark.isBeside(pair.file),
            !UnsyncedMark.put(beside: pair.file, pair.data.inode, origin: origin)
        else { return }
        // Without a mark each write is brought to the disk.
        mdb_env_set_flags(handle.pointer, UInt32(MDB_NOSYNC), 0)
    }

    /// Whether each write is brought to the disk.
    var syncsEachWrite: Bool {
        var flags: UInt32 = 0
        mdb_env_get_flags(handle.pointer, &flags)
        return flags & UInt32(MDB_NOSYNC | MDB_NOMETASYNC) == 0
    }

    /// Brings all that was written to the disk. No other process writes meanwhile.
    func bringToDisk() throws(LMDBError) {
        let status = mdb_env_sync(handle.pointer, 1)
        guard status == MDB_SUCCESS else { throw .status(status, "syncing '\(pair.file.name)'") }
        if UnsyncedMark.isBeside(pair.file) { UnsyncedMark.remove(beside: pair.file) }
    }
}
