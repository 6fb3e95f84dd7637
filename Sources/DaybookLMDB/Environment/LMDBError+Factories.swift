internal import CDaybookLMDB
internal import Foundation

extension LMDBError {
    /// The error for a status code of LMDB or the operating system during `action`.
    static func status(_ status: Int32, _ action: String) -> LMDBError {
        let text = String(cString: mdb_strerror(status))
        switch status {
        case MDB_KEYEXIST:
            return LMDBError(.keyExists, "The key exists already.")
        case MDB_MAP_FULL:
            return LMDBError(.mapFull, "The memory map is full while \(action).")
        case MDB_MAP_RESIZED:
            return LMDBError(
                .mapResized,
                "Another process made the file larger than this one has mapped, "
                    + "and this one could not follow. Try again.")
        case MDB_READERS_FULL:
            return LMDBError(
                .readersFull,
                "All reader slots are taken. End other programs that read the file, "
                    + "or open it with more reader slots.")
        case MDB_BAD_VALSIZE:
            return LMDBError(.keyLength, "A key must have 1 to 511 bytes.")
        case MDB_INVALID:
            return LMDBError(.notLMDB, "The file is not an LMDB file.")
        case MDB_VERSION_MISMATCH:
            return LMDBError(
                .versionMismatch, "The file or its lock file has another version of LMDB's format.")
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_INCOMPATIBLE, MDB_BAD_DBI:
            return LMDBError(
                .corrupt, "The file is damaged: \(text), while \(action).\(verifyRemedy)")
        case MDB_PANIC:
            return .closedToWrites(reason: text)
        case EACCES, EPERM, EROFS:
            return LMDBError(
                .noPermission, "The operating system refused while \(action): \(text).",
                osError: status)
        case ENOENT:
            return LMDBError(
                .noSuchFile, "There is no such file or folder, found while \(action).",
                osError: status)
        case ENOSPC, EDQUOT, EFBIG:
            return .diskFull(osError: status)
        case ENOMEM:
            return LMDBError(
                .noMemory, "Memory or address space ran out while \(action).", osError: status)
        case EIO:
            return LMDBError(
                .inputOutput, "Reading or writing the file failed while \(action): \(text).",
                osError: status)
        default:
            let isSystemError = status > 0
            return LMDBError(
                .other, "LMDB failed while \(action): \(text).",
                osError: isSystemError ? status : nil)
        }
    }

    static func lost(_ path: String, _ origin: String) -> LMDBError {
        LMDBError(
            .lost,
            "'\(path)' was not brought to the disk before the system ended, so it cannot be trusted. "
                + "It is made anew from \(origin.isEmpty ? "its origin" : "'\(origin)'").")
    }

    /// The error for a page that cannot be read.
    @inline(never)
    static func damaged(_ fault: PageFault, in table: String?) -> LMDBError {
        let place =
            switch (fault.page, table) {
            case (let page?, let table?): " at page \(page) of '\(table)'"
            case (let page?, nil): " at page \(page)"
            case (nil, let table?): " in '\(table)'"
            case (nil, nil): ""
            }
        return LMDBError(.corrupt, "The file is damaged\(place): \(fault.what).\(verifyRemedy)")
    }

    static func emptyKey() -> LMDBError {
        LMDBError.status(MDB_BAD_VALSIZE, "reading")
    }

    static func diskFull(osError: Int32) -> LMDBError {
        LMDBError(
            .diskFull,
            "The disk is full, so nothing of this write was kept. Make room and write again.",
            osError: osError)
    }

    static func closedToWrites(reason: String) -> LMDBError {
        LMDBError(
            .closedToWrites,
            "An earlier write could not be written to the disk (\(reason)). "
                + "Close the file, open it again, and verify it before writing more.")
    }

    static let verifyRemedy = " Run 'daybook verify' to see how far the damage goes."

    // MARK: - Other processes

    /// The lock is taken; the caller may retry.
    static func held(by obstacle: LockObstacle) -> LMDBError {
        LMDBError(.locked, "Another process holds a lock.", osError: nil, obstacle: obstacle)
    }

    /// The wait for the lock was in vain.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - obstacle: What is in the way.
    ///   - end: The reason why the wait ended.
    /// - Returns: The error, with the holder of the lock and the remedy.
    static func locked(
        _ path: String, by obstacle: LockObstacle, _ end: LockWait.End
    ) -> LMDBError {
        let holder = obstacle.holder()
        let who = holder.map { "\($0)" } ?? "Another process"
        let subject = who.prefix(1).uppercased() + who.dropFirst()
        switch end {
        case .stopped:
            return LMDBError(
                .locked, "The wait for '\(path)' was ended. \(subject) \(obstacle.verb) it.",
                osError: nil, obstacle: obstacle)
        case .limit(let limit):
            let seconds =
                Double(limit.components.seconds)
                + Double(limit.components.attoseconds) / 1e18
            let time = limit == .zero ? "" : " for longer than \(seconds.formatted()) s"
            return LMDBError(
                .locked,
                "\(subject) \(obstacle.verb) '\(path)'\(time), \(obstacle.consequence). "
                    + (holder?.remedy ?? "Try again."),
                osError: nil, obstacle: obstacle)
        }
    }

    static func otherName(
        _ path: String, _ opener: (holder: LockHolder, path: String)?
    ) -> LMDBError {
        let user = opener.map { " by \($0.holder) as '\($0.path)'" } ?? ""
        return LMDBError(
            .alreadyOpen,
            "'\(path)' is in use\(user) with another lock file: under another name (a hard link, or "
                + "a file mounted elsewhere), or its lock file was deleted. Use the one name that the "
                + "others use, or end them.")
    }

    static func withoutLockFile(
        _ path: String, _ opener: (holder: LockHolder, path: String)?
    ) -> LMDBError {
        let user = opener.map { "\($0.holder)" } ?? "others"
        return LMDBError(
            .alreadyOpen,
            "'\(path)' is in use by \(user), and cannot be read at the same time, because its lock file "
                + "'\(path)-lock' cannot be written here. Make its folder writable, or read a copy."
        )
    }

    static func gone(_ path: String) -> LMDBError {
        LMDBError(
            .replaced,
            "'\(path)' was deleted or moved while it was open, so nothing more is written to it. Put "
                + "it back, or close it and open the file that is meant.")
    }

    static func replaced(_ path: String) -> LMDBError {
        LMDBError(
            .replaced,
            "Another file has taken the place of '\(path)' while it was open, so nothing more is "
                + "written to the one that is open. Close it and open it again.")
    }

    static func readOnly() -> LMDBError {
        LMDBError(.readOnly, "The file was opened for reading and cannot be written.")
    }

    static func forked() -> LMDBError {
        LMDBError(
            .forked,
            "The process was forked after the file was opened. Open it in the child itself.")
    }

    static func noSuchTable(_ name: String) -> LMDBError {
        LMDBError(.noSuchTable, "The file has no table '\(name)'.")
    }

    static func noSuchFile(_ path: String) -> LMDBError {
        LMDBError(.noSuchFile, "There is no file '\(path)'.", osError: ENOENT)
    }

    static func noPermission(_ path: String, to verb: String, osError: Int32) -> LMDBError {
        LMDBError(.noPermission, "No permission to \(verb) '\(path)'.", osError: osError)
    }

    static func malformedKey(needed: Int, left: Int) -> LMDBError {
        LMDBError(
            .malformedKey, "A key ends too early: \(needed) bytes are needed, \(left) are left.")
    }
}
