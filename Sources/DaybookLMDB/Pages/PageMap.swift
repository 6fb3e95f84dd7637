internal import CDaybookLMDB
internal import Foundation

/// A map of the file for reading.
///
/// It is a map beside LMDB's, of the same length and over the same memory, because LMDB does not tell
/// where its own is. What LMDB writes to the file is seen in both at once.
///
/// A file that another program cuts short while it is open ends the process with a bus error when a
/// page behind the new end is read. No check before the read can exclude that. The length is checked
/// when a file is opened, and again for each new state that is read.
///
/// The system is told that pages are read in no order: where the file is not in memory, it reads the page
/// that is touched and not its neighbours too, which would take a store that is read here and there many
/// times as long. Walks say themselves what they come to (``LeavesAhead``).
struct PageMap: @unchecked Sendable {
    // @unchecked Sendable because the bytes are only read.
    private(set) var bytes: UnsafeRawBufferPointer
    let pageSize: Int

    /// A map as long as LMDB's.
    init(of environment: OpaquePointer, _ pair: FilePair) throws(LMDBError) {
        var pages = MDB_stat()
        let status = mdb_env_stat(environment, &pages)
        guard status == MDB_SUCCESS else { throw .status(status, "mapping '\(pair.file.name)'") }
        let size = Int(pages.ms_psize)
        guard FileFormat.isPageSize(size) else {
            throw .damaged(
                PageFault(page: nil, what: "its page size of \(size) is impossible"), in: nil)
        }
        pageSize = size
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        let number = follow(environment, pair)
        guard number == 0 else { throw .status(number, "mapping '\(pair.file.name)'") }
    }

    /// Takes over the length of LMDB's map, which has changed.
    ///
    /// - Returns: 0 or the number of the error; there is no map then.
    mutating func follow(_ environment: OpaquePointer, _ pair: FilePair) -> Int32 {
        remove()
        var info = MDB_envinfo()
        let status = mdb_env_info(environment, &info)
        guard status == MDB_SUCCESS else { return status }
        let (start, number) = pair.map(info.me_mapsize)
        guard let start else { return number }
        bytes = UnsafeRawBufferPointer(start: start, count: info.me_mapsize)
        bytes.advise(MADV_RANDOM)
        return 0
    }

    /// Whether there is a map: no memory may have been left for it when it was to change.
    @inline(__always)
    var isThere: Bool { bytes.baseAddress != nil }

    /// The length of the map that the newest meta page names; 0 without a map.
    var sizeInFile: Int {
        let newest = [metaPage(0), metaPage(1)].compactMap(\.self)
            .max { $0.transaction < $1.transaction }
        return newest.flatMap { Int(exactly: $0.mapSize) } ?? 0
    }

    /// Removes the map. Nothing may read it any more.
    mutating func remove() {
        if let start = bytes.baseAddress {
            munmap(UnsafeMutableRawPointer(mutating: start), bytes.count)
        }
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// One of the two meta pages, as it is now.
    @inline(__always)
    func metaPage(_ number: UInt64) -> MetaPage? {
        let offset = number == 0 ? 0 : pageSize
        guard bytes.count >= offset + FileFormat.metaEnd else { return nil }
        return MetaPage(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
    }
}

extension UnsafeRawBufferPointer {
    /// Tells the system how these bytes of a map will be read. Nothing depends on it but the time that it takes.
    func advise(_ advice: Int32) {
        guard let start = baseAddress else { return }
        _ = madvise(UnsafeMutableRawPointer(mutating: start), count, advice)
    }
}
