internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

extension EnvironmentCore {
    /// Makes the file a little longer than it has to be, where it is about to grow.
    ///
    /// Syncing a file that has grown means to sync what the file system knows of it as well, which
    /// takes longer than the pages do. So the file grows ahead and seldom, and by zeros: space that
    /// was merely allocated (`posix_fallocate`) is noted anew when it is first written. Nobody
    /// looks at what stands behind the last page of LMDB's.
    ///
    /// Runs in a write transaction before its first write. The lock across processes is held then,
    /// so nobody else makes the file longer, and what is behind its end is nobody's.
    ///
    /// - Parameter transaction: The `MDB_txn`.
    func reserveRoom(in transaction: OpaquePointer) {
        // A program that saves once or twice leaves the file as short as can be.
        guard writesBegun.load(ordering: .relaxed) > Self.writesWithoutReserve,
            let extent = fileExtent()
        else { return }
        let range = Self.reserveRange
        let reserve = min(max(extent.used / 4, range.lowerBound), range.upperBound)
        guard extent.length - extent.used < reserve / 4,
            !usesFreePages(in: transaction, extent.used),
            daybook_room(path) > Int64(reserve * Self.roomFactor)
        else { return }
        append(zeros: reserve, to: extent.descriptor)
    }

    /// Whether writes use free pages again rather than make the file longer.
    ///
    /// So it is where a write has given up so many that LMDB's list of them takes pages of its own, as
    /// after a save of many updates; unless the file has grown all the same by more than the few pages it
    /// takes before the first are used, as it does while a reader still looks at them.
    private func usesFreePages(in transaction: OpaquePointer, _ used: Int) -> Bool {
        var pages = MDB_stat()
        guard mdb_stat(transaction, Self.freePages, &pages) == MDB_SUCCESS,
            pages.ms_overflow_pages > 0
        else {
            usedBesideFreePages.store(.max, ordering: .relaxed)
            return false
        }
        let before = usedBesideFreePages.load(ordering: .relaxed)
        if before < used - Self.growthBesideFreePages * Int(pages.ms_psize) {
            usedBesideFreePages.store(used, ordering: .relaxed)
            return false
        }
        if before == .max { usedBesideFreePages.store(used, ordering: .relaxed) }
        return true
    }

    /// By how many pages a file may grow though there are many free ones.
    private static let growthBesideFreePages = 64

    /// The table in which LMDB lists the pages that are free (`FREE_DBI` in `mdb.c`).
    private static let freePages: MDB_dbi = 0

    /// Makes the file end with its last page again, before it is closed.
    ///
    /// Nobody writes meanwhile, and readers of other processes look at no page behind the last one.
    /// Where it cannot be done, as while somebody else writes, the file stays longer, which harms
    /// nobody.
    func giveRoomBack() {
        // Nothing is cut off a file of which nobody knows how it stands.
        guard writesBegun.load(ordering: .relaxed) > 0, brokenReason.withLock({ $0 }) == nil else {
            return
        }
        do throws(LMDBError) {
            try checkUsable()
            guard try pair.writing.tryToTake() else { return }
            defer { pair.writing.giveBack() }
            try pool.whileWriting { () throws(LMDBError) in cutOff() }
        } catch {
            // The longer file is what is left, and the next one who opens it says what is wrong.
            return
        }
    }

    private func cutOff() {
        var pointer: OpaquePointer?
        guard mdb_txn_begin(handle.pointer, nil, 0, &pointer) == MDB_SUCCESS, let pointer else {
            return
        }
        defer { mdb_txn_abort(pointer) }
        guard let extent = fileExtent(), extent.length > extent.used else { return }
        let status = ftruncate(extent.descriptor, off_t(extent.used))
        assert(status == 0 || errno != EINVAL)
    }

    private struct FileExtent {
        let descriptor: Int32
        /// How many bytes the file has.
        let length: Int
        /// How many of them belong to pages.
        let used: Int
    }

    /// How far the file goes. Asked in a write transaction, so that it stays true.
    private func fileExtent() -> FileExtent? {
        var info = MDB_envinfo()
        var pages = MDB_stat()
        var descriptor: Int32 = -1
        var file = daybook_file()
        guard mdb_env_info(handle.pointer, &info) == MDB_SUCCESS,
            mdb_env_stat(handle.pointer, &pages) == MDB_SUCCESS,
            mdb_env_get_fd(handle.pointer, &descriptor) == MDB_SUCCESS,
            daybook_look_at(descriptor, &file) == 0
        else { return nil }
        return FileExtent(
            descriptor: descriptor, length: Int(file.size),
            used: (Int(info.me_last_pgno) + 1) * Int(pages.ms_psize))
    }

    /// Writes zeros behind the end. When the disk refuses, the transaction finds out by itself
    /// whether it has the room that it needs.
    private func append(zeros count: Int, to descriptor: Int32) {
        guard lseek(descriptor, 0, SEEK_END) >= 0 else { return }
        let zeros = [UInt8](repeating: 0, count: count)
        // LMDB sets the descriptor's position before each use of it.
        let written = zeros.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, count) }
        assert(written <= count)
    }

    /// How many writes leave the file as it is after it was opened.
    private static let writesWithoutReserve: UInt32 = 8
    /// How many bytes are reserved at a time: a quarter of the file, within these bounds.
    private static let reserveRange = (256 << 10)...(2 << 20)
    /// Where the disk has not this many times the room, it is left to those who need it.
    private static let roomFactor = 16
}
