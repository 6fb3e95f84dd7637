internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

extension EnvironmentCore {
    /// Makes the file a little longer than necessary before it has to grow.
    ///
    /// Syncing a file that has grown also syncs the file system's metadata, which takes longer than
    /// the pages. So the file grows ahead and seldom, with zeros: space that was merely allocated
    /// (`posix_fallocate`) changes the metadata again when it is first written. LMDB never reads
    /// behind its last page.
    ///
    /// Runs in a write transaction before its first write. Then the lock across processes is held,
    /// so no other process makes the file longer or uses the bytes behind its end.
    ///
    /// - Parameter transaction: The `MDB_txn`.
    /// - Returns: The extent of the file, if it was looked at.
    func reserveRoom(in transaction: OpaquePointer) -> FileExtent? {
        // A program that saves once or twice leaves the file as short as possible.
        guard writesBegun.load(ordering: .relaxed) > Self.writesWithoutReserve,
            let extent = fileExtent()
        else { return nil }
        let range = Self.reserveRange
        let reserve = min(max(extent.used / 4, range.lowerBound), range.upperBound)
        guard extent.length - extent.used < reserve / 4,
            !usesFreePages(in: transaction, extent.used),
            pair.room > Int64(reserve * Self.roomFactor)
        else { return extent }
        append(zeros: reserve, to: extent.descriptor)
        return fileExtent()
    }

    /// Whether writes reuse free pages instead of making the file longer.
    ///
    /// That is the case after a write has freed so many that LMDB's list of them takes pages of its
    /// own, as after a save of many updates; unless the file has still grown by more than the few
    /// pages needed before the first are reused, as it does while a reader still uses them.
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

    /// The number of pages by which a file may grow although many are free.
    private static let growthBesideFreePages = 64

    /// LMDB's table of free pages (`FREE_DBI` in `mdb.c`).
    private static let freePages: MDB_dbi = 0

    /// Cuts the file back to its last page before it is closed.
    ///
    /// Nobody writes meanwhile, and readers of other processes look at no page behind the last one.
    /// Where it cannot be done, as while somebody else writes, the file stays longer, which harms
    /// nobody.
    func giveRoomBack() {
        // A file in an unknown state is not cut.
        guard writesBegun.load(ordering: .relaxed) > 0, brokenReason.withLock({ $0 }) == nil else {
            return
        }
        do throws(LMDBError) {
            try checkUsable()
            guard try pair.writing.tryToTake() else { return }
            defer { pair.writing.giveBack() }
            try pool.whileWriting { () throws(LMDBError) in cutOff() }
            if UnsyncedMark.isBeside(pair.file) { try bringToDisk() }
            if trust.withLock({ $0 }) == .sound { try pair.markClosedInOrder() }
        } catch {
            // The file stays longer, and the next process that opens it reports what is wrong.
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

    /// Makes the file as long as the pages that its newest meta page will count.
    ///
    /// LMDB does not write a page that a transaction has taken behind the end and given up again, as a
    /// large delete does; but it counts the page, and a file that is shorter than that counts as
    /// truncated. Before the commit, so that its sync makes the length durable, too; the commit itself
    /// may take pages for the list of free ones, so the length is looked at once more after it.
    ///
    /// - Parameters:
    ///   - transaction: The `MDB_txn` that is about to be committed.
    ///   - extent: The extent of the file, if this transaction has looked at it: nobody else changes it
    ///     meanwhile.
    /// - Returns: The length of the file in bytes; nil when it is not known.
    func lengthen(forPagesOf transaction: OpaquePointer, _ extent: FileExtent?) -> Int? {
        guard let extent = extent ?? fileExtent() else { return nil }
        let pages = daybook_next_page(transaction)
        let (bytes, isTooMany) = pages.multipliedReportingOverflow(by: extent.pageSize)
        guard !isTooMany, bytes <= mapSizeNow else { return nil }
        return lengthen(extent, to: max(extent.used, bytes))
    }

    /// Makes the file as long as the pages that its newest meta page counts, after a commit.
    ///
    /// - Parameter length: The length of the file before it, if that is known. A commit only adds to it.
    func lengthen(forPagesBehind length: Int?) {
        if let length, let pages = pages(), pages.used <= length { return }
        guard let extent = fileExtent() else { return }
        _ = lengthen(extent, to: extent.used)
    }

    /// - Returns: The length of the file in bytes.
    private func lengthen(_ extent: FileExtent, to needed: Int) -> Int {
        guard needed > extent.length else { return extent.length }
        // Where it fails, as for want of room, the commit finds out by itself.
        let status = ftruncate(extent.descriptor, off_t(needed))
        assert(status == 0 || errno != EINVAL)
        return status == 0 ? needed : extent.length
    }

    private var mapSizeNow: Int {
        var info = MDB_envinfo()
        return mdb_env_info(handle.pointer, &info) == MDB_SUCCESS ? Int(info.me_mapsize) : 0
    }

    /// The extent of the file, which stays valid while its write transaction lasts.
    struct FileExtent {
        let descriptor: Int32
        /// The length of the file in bytes.
        let length: Int
        /// The bytes that belong to pages.
        let used: Int
        let pageSize: Int
    }

    /// The extent of the file. Read in a write transaction, so that it stays valid.
    private func fileExtent() -> FileExtent? {
        var descriptor: Int32 = -1
        var file = daybook_file()
        guard let pages = pages(),
            mdb_env_get_fd(handle.pointer, &descriptor) == MDB_SUCCESS,
            daybook_look_at(descriptor, &file) == 0
        else { return nil }
        return FileExtent(
            descriptor: descriptor, length: Int(file.size), used: pages.used,
            pageSize: pages.size)
    }

    /// The bytes that belong to the pages of the newest state, and the size of a page.
    private func pages() -> (used: Int, size: Int)? {
        var info = MDB_envinfo()
        var pages = MDB_stat()
        guard mdb_env_info(handle.pointer, &info) == MDB_SUCCESS,
            mdb_env_stat(handle.pointer, &pages) == MDB_SUCCESS
        else { return nil }
        return ((Int(info.me_last_pgno) + 1) * Int(pages.ms_psize), Int(pages.ms_psize))
    }

    /// Writes zeros behind the end. If the disk refuses, the transaction finds out itself whether
    /// it has enough room.
    private func append(zeros count: Int, to descriptor: Int32) {
        guard lseek(descriptor, 0, SEEK_END) >= 0 else { return }
        let zeros = [UInt8](repeating: 0, count: count)
        // LMDB sets the descriptor's position before each use of it.
        let written = zeros.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, count) }
        assert(written <= count)
    }

    /// The number of writes after opening that reserve nothing.
    private static let writesWithoutReserve: UInt32 = 8
    /// The bytes reserved at a time: a quarter of the file, within these bounds.
    private static let reserveRange = (256 << 10)...(2 << 20)
    /// Nothing is reserved if the disk has less than this many times the space.
    private static let roomFactor = 16
}
