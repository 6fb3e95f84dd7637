internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

/// The identity of a file, independent of its paths.
package struct FileIdentity: Hashable, Sendable {
    /// The file system that has the file, by the number that the kernel knows it by now.
    package let device: UInt64
    /// The number of the file there, which a copy does not share.
    package let inode: UInt64

    /// Describes a file.
    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(_ file: daybook_file) {
        device = file.device
        inode = file.inode
    }
}

/// The files open in this process.
///
/// LMDB must not open a file twice in a process: closing any descriptor of it releases the locks of
/// all. So each file is opened once and shared, and everything that opens or closes a file runs
/// under this registry's lock.
enum EnvironmentRegistry {
    private struct Entry {
        let core: EnvironmentCore
        var holders: Int
    }

    private static let entries = Mutex<[FileIdentity: Entry]>([:])
    /// The files that stay closed because their pages are being read. Looked at only under the lock above.
    private static let closed = Mutex<[FileIdentity: Int]>([:])

    /// The environment of the file at `path`, opened if it is not yet.
    static func open(
        _ path: String, _ options: EnvironmentOptions
    ) throws(LMDBError) -> EnvironmentCore {
        try ProcessForks.startWatching()
        try occupyStandardDescriptors()
        let file = FilePath(path)
        var wait = LockWait(options.patience)
        while true {
            do throws(LMDBError) {
                return try openNow(file, options)
            } catch {
                guard let obstacle = error.obstacle else { throw error }
                // Other files may be opened and closed meanwhile.
                if let end = wait.pauseOrEnd() { throw .locked(file.name, by: obstacle, end) }
            }
        }
    }

    private static func openNow(
        _ file: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) -> EnvironmentCore {
        try entries.withLock { entries throws(LMDBError) -> EnvironmentCore in
            if let identity = try fileIdentity(file.name), let entry = entries[identity] {
                let core = entry.core
                if core.isUsable {
                    try core.join(options)
                    entries[identity]?.holders += 1
                    return core
                }
                // A fork copied the entry; the child needs its own environment.
                entries[identity] = nil
            }
            try refuseLockFileInUse(file, entries)
            if let identity = try fileIdentity(file.name),
                closed.withLock({ $0[identity] != nil })
            {
                throw LMDBError(
                    .alreadyOpen,
                    "'\(file.name)' is being recovered in this process; wait for that.")
            }
            let core = try EnvironmentCore.open(file, options)
            entries[core.pair.data] = Entry(core: core, holders: 1)
            return core
        }
    }

    /// Refuses when the lock file is that of another file which this process has open: closing either
    /// would release the locks of both.
    private static func refuseLockFileInUse(
        _ file: FilePath, _ entries: [FileIdentity: Entry]
    ) throws(LMDBError) {
        guard let lock = try fileIdentity(file.lockPath),
            let other = entries.values.first(where: { $0.core.pair.lock == lock }),
            other.core.isUsable
        else { return }
        throw LMDBError(
            .alreadyOpen,
            "'\(file.name)' has taken the place of a file that is still open in this process; close "
                + "that first.")
    }

    /// Removes a holder; the last one closes the file.
    static func release(_ core: EnvironmentCore) {
        // Another process may be in the middle of a long write. Only this caller waits for it, not
        // those who open or close other files.
        if isHeldOnce(core) { core.giveRoomBack() }
        entries.withLock { entries in
            guard let identity = entries.first(where: { $0.value.core === core })?.key else {
                return
            }
            entries[identity]?.holders -= 1
            guard entries[identity]?.holders == 0 else { return }
            entries[identity] = nil
            core.shutDown()
        }
    }

    static func occupyStandardDescriptors() throws(LMDBError) {
        let status = daybook_occupy_standard_descriptors()
        guard status == 0 else { throw .status(status, "opening '/dev/null'") }
    }

    private static func isHeldOnce(_ core: EnvironmentCore) -> Bool {
        entries.withLock { entries in
            entries.values.contains { $0.core === core && $0.holders == 1 }
        }
    }

    /// Runs `body` while nothing can be opened, unless the file is open already.
    static func withFileClosed<R>(
        _ path: String, _ body: () throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        try entries.withLock { entries throws(LMDBError) -> R in
            let refusal = "is open in this process; its pages can only be checked before that."
            try refuseFileInUse(path, entries, refusal)
            return try body()
        }
    }

    /// Runs `body` while the file cannot be opened, unless it is open already. Other files can.
    static func keepingClosed<R>(_ path: String, _ body: () throws -> R) throws -> R {
        let identity = try entries.withLock { entries throws(LMDBError) -> FileIdentity in
            try refuseFileInUse(path, entries, "is open in this process; close it first.")
            guard let identity = try fileIdentity(path) else { throw .noSuchFile(path) }
            closed.withLock { $0[identity, default: 0] += 1 }
            return identity
        }
        defer {
            entries.withLock { _ in
                closed.withLock { closed in
                    closed[identity, default: 1] -= 1
                    if closed[identity] == 0 { closed[identity] = nil }
                }
            }
        }
        return try body()
    }

    /// Runs `body`, which may also open and close the lock file, while nothing can be opened, unless
    /// the file or its lock file is open already.
    static func withPairClosed(
        _ file: FilePath, _ body: () throws(LMDBError) -> Void
    ) throws(LMDBError) {
        try entries.withLock { entries throws(LMDBError) in
            try refuseFileInUse(file.name, entries, "is open in this process; close it first.")
            try refuseLockFileInUse(file, entries)
            try body()
        }
    }

    private static func refuseFileInUse(
        _ path: String, _ entries: [FileIdentity: Entry], _ refusal: String
    ) throws(LMDBError) {
        guard let identity = try fileIdentity(path), let entry = entries[identity],
            entry.core.isUsable
        else { return }
        throw LMDBError(.alreadyOpen, "'\(path)' \(refusal)")
    }

    private static func fileIdentity(_ path: String) throws(LMDBError) -> FileIdentity? {
        var file = daybook_file()
        let number = daybook_look_up(path, &file)
        switch number {
        case 0: return FileIdentity(file)
        case ENOENT: return nil
        case EACCES: throw .noPermission(path, to: "look up", osError: number)
        default: throw .status(number, "looking up '\(path)'")
        }
    }
}
