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
        guard offset >= 0, offset <= bytes.count,
            let page = bytes.withUnsafeBytes({
                MetaPage(UnsafeRawBufferPointer(rebasing: $0[offset...]))
            })
        else { return nil }
        self = page
    }

    /// The meta page that these bytes begin with, or `nil` when they are too few.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count >= FileFormat.metaEnd else { return nil }
        pageNumber = start.number(at: 0, as: UInt64.self)
        pageFlags = start.number(at: FileFormat.pageFlagsOffset, as: UInt16.self)
        magic = start.number(at: FileFormat.magicOffset, as: UInt32.self)
        version = start.number(at: FileFormat.versionOffset, as: UInt32.self)
        address = start.number(at: FileFormat.addressOffset, as: UInt64.self)
        mapSize = start.number(at: FileFormat.mapSizeOffset, as: UInt64.self)
        free = TreeRecord(start + FileFormat.freeRecordOffset)
        main = TreeRecord(start + FileFormat.mainRecordOffset)
        lastPage = start.number(at: FileFormat.lastPageOffset, as: UInt64.self)
        transaction = start.number(at: FileFormat.transactionOffset, as: UInt64.self)
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

    /// The record of these bytes, or `nil` when they are not as many as a record has.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count == FileFormat.treeRecordSize else {
            return nil
        }
        self.init(start)
    }

    fileprivate init(_ start: UnsafeRawPointer) {
        padding = start.number(at: 0, as: UInt32.self)
        flags = start.number(at: 4, as: UInt16.self)
        depth = Int(start.number(at: 6, as: UInt16.self))
        branchPages = start.number(at: 8, as: UInt64.self)
        leafPages = start.number(at: 16, as: UInt64.self)
        overflowPages = start.number(at: 24, as: UInt64.self)
        entries = start.number(at: 32, as: UInt64.self)
        root = start.number(at: 40, as: UInt64.self)
    }

    /// The record of a tree without records.
    static var none: TreeRecord { TreeRecord() }

    private init() {
        (padding, flags, depth) = (0, 0, 0)
        (branchPages, leafPages, overflowPages, entries) = (0, 0, 0, 0)
        root = FileFormat.noPage
    }

    var isEmpty: Bool { root == FileFormat.noPage }

    /// What of the record cannot be true of a tree of records.
    var fault: String? {
        if flags != 0 || padding != 0 { return "its flags are \(flags)" }
        return shapeFault
    }

    /// What of the record cannot be true of any tree, the free list included.
    var shapeFault: String? {
        if isEmpty {
            if depth != 0 { return "it is empty and has a depth" }
            return entries == 0 ? nil : "it is empty and has \(entries) records"
        }
        return (1...FileFormat.depthMaximum).contains(depth)
            ? nil : "its depth of \(depth) is impossible"
    }
}
