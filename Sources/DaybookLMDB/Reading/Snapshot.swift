internal import CDaybookLMDB
internal import Synchronization

/// One state of the file, as a read transaction sees it.
///
/// LMDB has registered a reader of it, so none of its pages is used for anything else; everything
/// from there on is read without LMDB.
struct Snapshot {
    let pages: Pages
    private let memory: SnapshotMemory

    fileprivate init(_ pages: Pages, _ memory: SnapshotMemory) {
        self.pages = pages
        self.memory = memory
    }

    /// The same state, whose pages a meter counts that must outlive the value.
    func counted(by meter: ReadMeter) -> Snapshot { Snapshot(pages.counted(by: meter), memory) }

    /// The same state for another thread, which ends before this one does.
    func forAnotherThread() -> Snapshot {
        Snapshot(pages, SnapshotMemory(sharing: memory))
    }

    /// What is kept of the state by whoever reads it; nil for nothing yet.
    var findings: AnyObject? {
        get { memory.findings }
        nonmutating set { memory.findings = newValue }
    }

    /// The tree of a table.
    ///
    /// - Throws: ``LMDBError`` when the table of tables is damaged, or has no such table any more.
    @inline(__always)
    func tree(of table: Table) throws(LMDBError) -> Tree {
        if let record = memory.root(of: table.handle) {
            return Tree(checked: record, in: pages, of: table)
        }
        return try findTree(of: table)
    }

    /// The tree of LMDB's list of free pages, whose keys are no bytes in order.
    func freeList() throws(LMDBError) -> Tree {
        let record = memory.meta?.free ?? .none
        guard record.shapeFault == nil, record.entries <= pages.recordsMaximum else {
            throw .damaged(PageFault(page: nil, what: "it cannot be a list"), in: "free list")
        }
        return Tree(freeList: record, in: pages)
    }

    @inline(never)
    private func findTree(of table: Table) throws(LMDBError) -> Tree {
        let tree = try findRoot(of: table)
        memory.keep(tree.record, of: table.handle)
        return Tree(checked: tree.record, in: pages, of: table)
    }

    private func findRoot(of table: Table) throws(LMDBError) -> Tree {
        if table.handle == Self.mainHandle {
            do throws(PageFault) {
                return try Tree(memory.main, in: pages)
            } catch {
                throw .damaged(error, in: table.name)
            }
        }
        guard let tree = try tree(named: table.name) else { throw .noSuchTable(table.name) }
        return tree
    }

    /// The tree of a table that the file may have.
    func tree(named name: String) throws(LMDBError) -> Tree? {
        do throws(PageFault) {
            let main = try Tree(memory.main, in: pages)
            let key = Array(name.utf8)
            let found = try key.span.bytes.withUnsafeBytes {
                bytes throws(PageFault) -> TreeRecord? in
                try main.table(under: SoughtKey(bytes))
            }
            guard let found else { return nil }
            do throws(PageFault) {
                return try Tree(found, in: pages)
            } catch {
                throw PageFault(page: nil, what: "'\(name)': \(error.what)")
            }
        } catch {
            throw .damaged(error, in: TreeKind.main.name)
        }
    }

    /// Checks all that LMDB reads when it opens a table, because it trusts that.
    func checkWay(toTable name: String) throws(LMDBError) {
        _ = try tree(named: name)
        let key = Array(name.utf8)
        do throws(PageFault) {
            let main = try Tree(memory.main, in: pages)
            try key.span.bytes.withUnsafeBytes { bytes throws(PageFault) in
                try main.checkPages(on: SoughtKey(bytes))
            }
        } catch {
            throw .damaged(error, in: TreeKind.main.name)
        }
    }

    /// Checks all pages of the state, before LMDB walks over them.
    func checkPages() throws(LMDBError) {
        guard let meta = memory.meta else { return }
        let findings = pages.withBytes { bytes in
            var check = TreeCheck(
                source: PageSource(bytes), pageSize: pages.pageSize, pageCount: pages.count)
            check.checkAll(newest: meta, older: nil)
            return check.findings
        }
        guard let first = findings.first(where: { $0.severity == .damage }) else { return }
        throw LMDBError(
            .corrupt, "The file is damaged. \(first.message)" + LMDBError.verifyRemedy)
    }

    /// LMDB's handle of the table of tables (`MAIN_DBI` in `mdb.c`).
    private static let mainHandle: UInt32 = 1
}

extension Tree {
    /// The record of a table, from the table of tables.
    fileprivate func table(under name: SoughtKey) throws(PageFault) -> TreeRecord? {
        // A program may also keep records beside its tables.
        guard let (leaf, node) = try node(under: name) else {
            try confirmAbsence(of: name)
            return nil
        }
        if node.flags == 0 { return nil }
        guard node.flags == FileFormat.nodeTree,
            let table = TreeRecord(try leaf.valueInPage(node, count: node.valueSize))
        else { throw PageFault(page: leaf.number, what: "the record of a table is not one") }
        return table
    }
}

/// What is known of the state that a read transaction of the pool last saw. It is kept, because the
/// next one mostly sees the same state.
///
/// @unchecked Sendable because the transaction, and this with it, is lent to one thread at a time.
final class SnapshotMemory: @unchecked Sendable {
    /// The meta page of the state; nil before the first.
    private(set) var meta: MetaPage?
    private var pageCount: UInt64 = 0
    private var roots: [TreeRecord?] = []
    private var marks = PageMarks()
    /// What the layer above has found in the state and would find again.
    fileprivate(set) var findings: AnyObject?

    init() {}

    /// What another one knows of its state, whose pages keep the marks of that.
    fileprivate init(sharing other: SnapshotMemory) {
        meta = other.meta
        pageCount = other.pageCount
        roots = other.roots
    }

    deinit { marks.deallocate() }

    fileprivate var main: TreeRecord { meta?.main ?? .none }

    @inline(__always)
    fileprivate func root(of handle: UInt32) -> TreeRecord? {
        Int(handle) < roots.count ? roots[Int(handle)] : nil
    }

    fileprivate func keep(_ root: TreeRecord, of handle: UInt32) {
        while roots.count <= Int(handle) { roots.append(nil) }
        roots[Int(handle)] = root
    }

    /// The state that a read transaction sees.
    ///
    /// A commit writes its roots into one of the two meta pages, of which the next but one commit will
    /// be the next to use the same. What was copied from the page is whole if, afterwards, the commit
    /// in between was not done yet: then the other page still has an older number, or a second look at
    /// the newest state finds the same.
    ///
    /// - Parameters:
    ///   - transaction: The `MDB_txn`, which may be renewed.
    ///   - map: The map of the file.
    ///   - pair: The file.
    ///   - status: The status of renewing the transaction.
    /// - Returns: The state; nil when the transaction could not be renewed.
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/corrupt`` when neither meta page holds the state.
    @inline(__always)
    func snapshot(
        of transaction: OpaquePointer, in map: PageMap, _ pair: FilePair, _ status: inout Int32
    ) throws(LMDBError) -> Snapshot? {
        if meta?.transaction != UInt64(UInt(bitPattern: mdb_txn_id(transaction))) {
            status = try look(at: transaction, in: map, pair)
            guard status == MDB_SUCCESS else { return nil }
        }
        return Snapshot(
            Pages(map.bytes, pageSize: map.pageSize, count: pageCount, marks: marks), self)
    }

    @inline(never)
    private func look(
        at transaction: OpaquePointer, in map: PageMap, _ pair: FilePair
    ) throws(LMDBError) -> Int32 {
        for _ in 0..<Self.attemptsMaximum {
            let number = UInt64(UInt(bitPattern: mdb_txn_id(transaction)))
            guard let meta = map.metaPage(number & 1) else { break }
            atomicMemoryFence(ordering: .acquiring)
            let other = map.metaPage(~number & 1)?.transaction ?? .max
            if other > number || meta.transaction != number {
                mdb_txn_reset(transaction)
                let status = mdb_txn_renew(transaction)
                guard status == MDB_SUCCESS else { return status }
                guard UInt64(UInt(bitPattern: mdb_txn_id(transaction))) == number,
                    meta.transaction == number
                else { continue }
            }
            try keep(meta, map, pair)
            return MDB_SUCCESS
        }
        throw .damaged(
            PageFault(page: nil, what: "neither meta page holds its newest state"), in: nil)
    }

    private func keep(
        _ meta: MetaPage, _ map: PageMap, _ pair: FilePair
    ) throws(LMDBError) {
        // A page behind the end of the file would end the process with a bus error.
        let present = UInt64(try pair.length() / map.pageSize)
        let named = meta.lastPage.addingReportingOverflow(1)
        self.meta = meta
        pageCount = min(named.overflow ? .max : named.partialValue, present)
        roots.removeAll(keepingCapacity: true)
        findings = nil
        marks.begin(pageCount: Int(pageCount))
    }

    /// Each attempt after the first needs a commit between two steps.
    private static let attemptsMaximum = 64
}
