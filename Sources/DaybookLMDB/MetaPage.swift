import DaybookStopping

/// The fields of a meta page in the file.
struct MetaPage {
    let pageNumber: UInt64
    let pageFlags: UInt16
    let magic: UInt32
    let version: UInt32
    let address: UInt64
    let mapSize: UInt64
    let free: TreeRecord
    let main: TreeRecord
    let lastPage: UInt64
    let transaction: UInt64

    /// The free list's record does not use its padding, so the page size is there.
    var pageSize: UInt32 { free.padding }

    /// The meta page at `offset`, or `nil` when there are too few bytes.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard offset >= 0, offset + FileFormat.metaEnd <= bytes.count else { return nil }
        pageNumber = bytes.number(offset)
        pageFlags = bytes.number(offset + FileFormat.pageFlagsOffset)
        magic = bytes.number(offset + FileFormat.magicOffset)
        version = bytes.number(offset + FileFormat.versionOffset)
        address = bytes.number(offset + FileFormat.addressOffset)
        mapSize = bytes.number(offset + FileFormat.mapSizeOffset)
        free = TreeRecord(bytes, at: offset + FileFormat.freeRecordOffset)
        main = TreeRecord(bytes, at: offset + FileFormat.mainRecordOffset)
        lastPage = bytes.number(offset + FileFormat.lastPageOffset)
        transaction = bytes.number(offset + FileFormat.transactionOffset)
    }
}

/// What the file says about one tree (`MDB_db`).
struct TreeRecord {
    let padding: UInt32
    let flags: UInt16
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    let entries: UInt64
    let root: UInt64

    /// The record at `offset`, which must have all its bytes.
    init(_ bytes: [UInt8], at offset: Int) {
        padding = bytes.number(offset)
        flags = bytes.number(offset + 4)
        let depth: UInt16 = bytes.number(offset + 6)
        self.depth = Int(depth)
        branchPages = bytes.number(offset + 8)
        leafPages = bytes.number(offset + 16)
        overflowPages = bytes.number(offset + 24)
        entries = bytes.number(offset + 32)
        root = bytes.number(offset + 40)
    }

    var isEmpty: Bool { root == FileFormat.noPage }
}

extension [UInt8] {
    /// The little-endian number at `offset`, bounds-checked.
    @inline(__always)
    func number<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value {
        require(
            offset >= 0 && offset <= count - MemoryLayout<Value>.size,
            "A number of a page lies within the page.")
        return withUnsafeBytes {
            Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
    }
}
