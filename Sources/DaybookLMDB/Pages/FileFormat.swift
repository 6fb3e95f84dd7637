/// The layout of a file of LMDB 0.9 on a 64-bit little-endian machine (`mdb.c`: `MDB_page`,
/// `MDB_meta`, `MDB_db`, `MDB_node`).
enum FileFormat {
    static let magic: UInt32 = 0xBEEF_C0DE
    static let version: UInt32 = 1

    // A page: number (8), padding (2), flags (2), lower (2), upper (2) or, for overflow, pages (4).
    static let pageHeaderSize = 16
    static let pageFlagsOffset = 10
    static let pageLowerOffset = 12
    static let pageUpperOffset = 14
    static let pageOverflowOffset = 12

    static let branchPage: UInt16 = 0x01
    static let leafPage: UInt16 = 0x02
    static let overflowPage: UInt16 = 0x04
    static let metaPage: UInt16 = 0x08

    // The meta page, counted from the beginning of its page.
    static let magicOffset = 16
    static let versionOffset = 20
    static let addressOffset = 24
    static let mapSizeOffset = 32
    static let freeRecordOffset = 40
    static let mainRecordOffset = 88
    static let lastPageOffset = 136
    static let transactionOffset = 144
    static let metaEnd = 152

    // The record of a tree: pad (4), flags (2), depth (2), then five numbers of 8 bytes.
    static let treeRecordSize = 48

    // A node: low size (2), high size (2), flags (2), key size (2), key, value.
    static let nodeHeaderSize = 8
    static let nodeOverflow: UInt16 = 0x01
    static let nodeTree: UInt16 = 0x02

    static let noPage = UInt64.max
    static let keyLengthMaximum = 511
    static let pageSizeRange = 256...65_536
    static let depthMaximum = 32

    static func isPageSize(_ size: Int) -> Bool {
        pageSizeRange.contains(size) && size & (size - 1) == 0
    }

    /// `MDB_INTEGERKEY`, a flag of the free list.
    static let integerKeys: UInt16 = 0x0008
    /// `MDB_NOSUBDIR`, which LMDB happens to store.
    static let fileFlagsAllowed: UInt16 = 0x4000
    /// All a 64-bit process can address.
    static let mapSizeMaximum: UInt64 = 1 << 47
}
