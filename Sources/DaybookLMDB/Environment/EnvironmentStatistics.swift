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
                let snapshot = transaction.snapshot
                let free = try snapshot.freePages()
                let pagesAll = Int(info.me_last_pgno) + 1
                return EnvironmentStatistics(
                    pageSize: snapshot.pages.pageSize, mapSize: info.me_mapsize,
                    fileSize: try core.pair.length(),
                    pagesUsed: pagesAll - free, pagesFree: free,
                    readers: Int(info.me_numreaders), readersMaximum: Int(info.me_maxreaders),
                    lastTransaction: Int(info.me_last_txnid),
                    tables: try tables.map { try snapshot.statistics(of: $0) })
            }
        }
    }
}

extension Snapshot {
    fileprivate func statistics(of table: Table) throws(LMDBError) -> TableStatistics {
        let record = try tree(of: table).record
        return TableStatistics(
            name: table.name, entries: Int(record.entries), depth: record.depth,
            branchPages: Int(clamping: record.branchPages),
            leafPages: Int(clamping: record.leafPages),
            overflowPages: Int(clamping: record.overflowPages))
    }

    /// Each record of the free list begins with the number of pages in it.
    fileprivate func freePages() throws(LMDBError) -> Int {
        let list = try freeList()
        do throws(PageFault) {
            return try list.withCursor { cursor throws(PageFault) in
                var count = 0
                var isPlaced = try cursor.move(atOrAfter: nil)
                while isPlaced {
                    count += try pageList(cursor.record().value)
                    isPlaced = try cursor.move(.ascending)
                }
                return count
            }
        } catch {
            throw .damaged(error, in: TreeKind.freeList.name)
        }
    }

    private func pageList(_ value: UnsafeRawBufferPointer) throws(PageFault) -> Int {
        let room = UInt64(value.count / MemoryLayout<UInt64>.size)
        guard let start = value.baseAddress, room > 0,
            start.number(at: 0, as: UInt64.self) < room
        else { throw PageFault(page: nil, what: "it has a record of \(value.count) bytes") }
        return Int(start.number(at: 0, as: UInt64.self))
    }
}
