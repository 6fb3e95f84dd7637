internal import CLMDB
internal import Foundation

extension LMDBError {
    /// The error for a status code of LMDB or the operating system met while doing `action`.
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
                "All places for readers are taken. End other programs that read the file, "
                    + "or open it with more places.")
        case MDB_BAD_VALSIZE:
            return LMDBError(.keyLength, "A key must have 1 to 511 bytes.")
        case MDB_INVALID:
            return LMDBError(.notLMDB, "The file is not an LMDB file.")
        case MDB_VERSION_MISMATCH:
            return LMDBError(
                .versionMismatch, "The file or its lock file has another version of LMDB's format.")
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_INCOMPATIBLE, MDB_BAD_DBI:
            return LMDBError(
                .corrupt, "The file is damaged: \(text), while \(action). Verify the file.")
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

    static func diskFull(osError: Int32) -> LMDBError {
        LMDBError(
            .diskFull,
            "The disk is full, so nothing of this write was kept. Make room and write again.",
            osError: osError)
    }

    static func closedToWrites(reason: String) -> LMDBError {
        LMDBError(
            .closedToWrites,
            "An earlier write could not be brought to the disk (\(reason)). "
                + "Close the file, open it again, and verify it before writing more.")
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
