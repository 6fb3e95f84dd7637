internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

/// The size of a file and the use of its pages.
package struct EnvironmentStatistics: Sendable, Hashable {
    /// The size of one page in bytes.
    package var pageSize: Int
    /// The size up to which the file may grow before the map must, in bytes.
    package var mapSize: Int
    /// The length of the file in bytes.
    package var fileSize: Int
    /// Pages of records and of the trees above them, including the two meta pages.
    package var pagesUsed: Int
    /// Pages that can be reused.
    package var pagesFree: Int
    /// The number of registered readers of all processes, including resting ones.
    package var readers: Int
    /// The maximal number of readers.
    package var readersMaximum: Int
    /// The number of the last LMDB transaction.
    package var lastTransaction: Int
    /// The opened tables by name.
    package var tables: [TableStatistics]
}

/// The size of one table.
package struct TableStatistics: Sendable, Hashable {
    /// The table's name.
    package var name: String
    /// The number of its records.
    package var entries: Int
    /// The number of levels of its tree; 0 when it is empty.
    package var depth: Int
    /// Pages that only lead to others.
    package var branchPages: Int
    /// Pages with records.
    package var leafPages: Int
    /// Pages with values too long for a leaf.
    package var overflowPages: Int

    /// All pages of the table.
    package var pages: Int { branchPages + leafPages + overflowPages }
}

extension Environment {
    /// The size of the file and the use of its pages.
    ///
    /// - Throws: ``LMDBError`` when the file cannot be read.
    /// - Complexity: O(*f*) page reads, *f* the number of free-list records.
    package var statistics: EnvironmentStatistics {
        get throws {
            let tables = core.tables.withLock { Array($0.values) }.sorted { $0.name < $1.name }
            var info = MDB_envinfo()
            let status = mdb_env_info(core.handle.pointer, &info)
            guard status == MDB_SUCCESS else { throw LMDBError.status(status, "looking around") }
            return try read { transaction in
                let access = transaction.access
                let pageSize = Int(try access.statistics(of: 1, "main").ms_psize)
                let free = try access.freePages()
                let pagesAll = Int(info.me_last_pgno) + 1
                return EnvironmentStatistics(
                    pageSize: pageSize, mapSize: info.me_mapsize, fileSize: try core.fileSize(),
                    pagesUsed: pagesAll - free, pagesFree: free,
                    readers: Int(info.me_numreaders), readersMaximum: Int(info.me_maxreaders),
                    lastTransaction: Int(info.me_last_txnid),
                    tables: try tables.map { try access.statistics(of: $0) })
            }
        }
    }
}

extension EnvironmentCore {
    fileprivate func fileSize() throws(LMDBError) -> Int {
        var found = daybook_file()
        let status = daybook_look_up(path, &found)
        guard status == 0 else { throw .status(status, "measuring '\(path)'") }
        return Int(found.size)
    }
}

extension TransactionAccess {
    fileprivate func statistics(of handle: UInt32, _ name: String) throws(LMDBError) -> MDB_stat {
        var found = MDB_stat()
        let status = mdb_stat(pointer, handle, &found)
        guard status == MDB_SUCCESS else { throw .status(status, "measuring '\(name)'") }
        return found
    }

    fileprivate func statistics(of table: Table) throws(LMDBError) -> TableStatistics {
        let found = try statistics(of: table.handle, table.name)
        return TableStatistics(
            name: table.name, entries: found.ms_entries, depth: Int(found.ms_depth),
            branchPages: found.ms_branch_pages, leafPages: found.ms_leaf_pages,
            overflowPages: found.ms_overflow_pages)
    }

    /// The free list is LMDB's table 0; each record begins with the number of pages in it.
    fileprivate func freePages() throws -> Int {
        let freeList = Table(name: "free list", handle: 0, environment: environment)
        var count = 0
        let none: [UInt8] = []
        try scan(freeList, from: none.span.bytes, to: nil, order: .ascending) { _, value in
            count += value.withUnsafeBytes { Int($0.loadUnaligned(as: UInt.self)) }
            return .proceed
        }
        return count
    }
}
