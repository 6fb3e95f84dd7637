/// Walks the trees of a file's newest state and collects their faults.
///
/// Invariants:
/// - No byte is read before its offset was checked to be in its page, no page before its number was
///   checked to be in the file.
/// - Each page is entered once, so the walk always ends.
struct TreeCheck {
    let source: PageSource
    let pageSize: Int
    let pageCount: Int
    private(set) var findings: [PageFinding] = []

    private(set) var uses = PageUses()
    private let handler: EnvironmentOptions.CheckHandler?
    private var claimed = 0
    private var told = 0

    /// How many pages are checked between two reports.
    private static let reportInterval = 1_024

    /// The counts of a walk, for comparison with those in the file.
    struct Counts {
        var branchPages: UInt64 = 0
        var leafPages: UInt64 = 0
        var overflowPages: UInt64 = 0
        var entries: UInt64 = 0
    }

    init(
        source: PageSource, pageSize: Int, pageCount: Int,
        _ handler: EnvironmentOptions.CheckHandler? = nil
    ) {
        self.source = source
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.handler = handler
        for meta in 0..<min(2, pageCount) { uses.set(meta, .inTree) }
    }

    // MARK: - The whole file

    mutating func checkAll(newest: MetaPage, older: MetaPage?) {
        var tables: [(name: String, record: TreeRecord)] = []
        if newest.main.flags != 0 || newest.main.padding != 0 {
            damage(nil, TreeKind.main.name, "its flags are \(newest.main.flags)")
        }
        walk(newest.main, .main) { check, key, value in
            // A record beside the tables.
            guard let record = TreeRecord(value.bytes) else { return }
            let name = String(decoding: key, as: UTF8.self)
            if record.flags != 0 || record.padding != 0 {
                check.damage(nil, name, "its flags are \(record.flags)")
            }
            tables.append((name, record))
        }
        for table in tables {
            walk(table.record, .table(table.name)) { _, _, _ in }
        }
        var freed: [FreeRecord] = []
        walk(newest.free, .freeList) { check, key, value in
            guard let start = key.baseAddress else { return }
            freed.append(check.freeRecord(of: start.number(at: 0, as: UInt64.self), value))
        }
        checkFreePages(freed)
        checkTransaction(of: newest, largest: freed.last?.transaction)
        if let older, older.transaction < newest.transaction {
            checkTransaction(
                of: older, largest: largestFreeKey(older.free),
                remark: "; either it was altered, or a write failed at its last step, which the "
                    + "next save puts right")
        }
        let lost = pageCount - uses.count
        if lost > 0 {
            findings.append(.note(nil, nil, "\(lost) pages are neither used nor free"))
        }
        // Free pages are not looked at.
        handler?(pageCount, pageCount)
    }

    /// Every transaction that changes anything frees the page it changed and records it in the free
    /// list under its own number. So an altered number in a meta page is detected.
    ///
    /// LMDB itself leaves such a page when it cannot write the meta page at the end of a commit: it
    /// puts the old number back over the new roots. That page looks exactly as if the number had
    /// been altered, so it is a finding, too.
    private mutating func checkTransaction(
        of meta: MetaPage, largest: UInt64?, remark: String = ""
    ) {
        guard meta.transaction >= 2, !meta.main.isEmpty else {
            if let largest, largest > meta.transaction {
                damage(meta.transaction & 1, nil, "its free list is newer than it is itself")
            }
            return
        }
        if largest != meta.transaction {
            let found = largest.map { "transaction \($0)" } ?? "none"
            damage(
                meta.transaction & 1, nil,
                "it is of transaction \(meta.transaction), its free list of \(found)\(remark)")
        }
    }

    private mutating func checkFreePages(_ freed: [FreeRecord]) {
        for record in freed {
            var before = UInt64.max
            let limit = findings.count + Self.freeFindingsMaximum
            let isInFile = record.forEachPage(in: source, level: Self.valueLevel) { page in
                checkFree(page, of: record.transaction, before: &before)
                return findings.count < limit
            }
            if !isInFile { freeDamage(record.transaction, "pages behind the end of the file") }
            if findings.count >= limit {
                freeDamage(record.transaction, "more such pages, perhaps, which were not looked at")
            }
        }
    }

    /// How many findings one record of the free list can have: it may name any number of pages.
    private static let freeFindingsMaximum = 100

    private mutating func checkFree(
        _ page: UInt64, of transaction: UInt64, before: inout UInt64
    ) {
        guard page >= 2, page < UInt64(pageCount) else {
            return freeDamage(transaction, "page \(page), which is not in the file")
        }
        if page >= before { freeDamage(transaction, "page \(page) out of order") }
        before = page
        switch uses[Int(page)] {
        case .none: uses.set(Int(page), .free)
        case .inTree: freeDamage(transaction, "page \(page), which is in use")
        case .free: freeDamage(transaction, "page \(page) a second time")
        }
    }

    private mutating func freeDamage(_ transaction: UInt64, _ what: String) {
        damage(nil, TreeKind.freeList.name, "transaction \(transaction) names \(what)")
    }

    /// The record of the free list that has a value; with a wrong count, the page numbers that are there.
    private mutating func freeRecord(of transaction: UInt64, _ value: Value) -> FreeRecord {
        let size = FreeRecord.numberSize
        let room = value.count / size - 1
        let head = source.bytes(at: value.offset, count: size, level: Self.valueLevel)
        guard room >= 0, value.count % size == 0, head.count == size, let start = head.baseAddress
        else {
            damage(nil, TreeKind.freeList.name, "a record has \(value.count) bytes")
            return FreeRecord(transaction: transaction, offset: value.offset, count: 0)
        }
        let count = start.number(at: 0, as: UInt64.self)
        if count > UInt64(room) {
            damage(nil, TreeKind.freeList.name, "a record for \(room) pages names \(count)")
        }
        return FreeRecord(
            transaction: transaction, offset: value.offset + size,
            count: Int(min(count, UInt64(room))))
    }

    // MARK: - One tree

    private typealias Visit = (
        inout TreeCheck, _ key: UnsafeRawBufferPointer, _ value: Value
    ) -> Void

    /// The value of a record.
    private struct Value {
        /// Its bytes; none of a value on pages of its own, which may be any number.
        let bytes: UnsafeRawBufferPointer
        /// Where the first byte is in the file.
        let offset: Int
        /// How many bytes it has.
        let count: Int
    }

    private mutating func walk(_ record: TreeRecord, _ kind: TreeKind, _ visit: Visit) {
        var counts = Counts()
        if let fault = record.shapeFault { damage(nil, kind.name, fault) }
        if !record.isEmpty {
            guard record.shapeFault == nil else { return }
            let visitor = TreeVisitor(kind: kind, depth: record.depth)
            walkPage(record.root, level: 1, KeyBounds(), visitor, &counts, visit)
        }
        let claims: [(String, UInt64, UInt64)] = [
            ("branch pages", record.branchPages, counts.branchPages),
            ("leaf pages", record.leafPages, counts.leafPages),
            ("overflow pages", record.overflowPages, counts.overflowPages),
            ("records", record.entries, counts.entries),
        ]
        for (what, said, found) in claims where said != found {
            damage(nil, kind.name, "it says it has \(said) \(what), and \(found) were found")
        }
    }

    private mutating func walkPage(
        _ number: UInt64, level: Int, _ bounds: KeyBounds, _ visitor: TreeVisitor,
        _ counts: inout Counts, _ visit: Visit
    ) {
        guard claim(number, 1, for: visitor.kind) else { return }
        do throws(PageFault) {
            // Without valid offsets nothing on the page can be followed.
            let page = try page(number, level: level, isLeaf: level == visitor.depth)
            try checkKeys(page, bounds, visitor)
            switch page.kind {
            case .leaf: try walkLeaf(page, visitor, &counts, visit)
            case .branch:
                counts.branchPages += 1
                for index in 0..<page.nodeCount {
                    var within = bounds
                    if index > 0 { within.lower = try page.node(index).key }
                    if index + 1 < page.nodeCount { within.upper = try page.node(index + 1).key }
                    let child = try page.node(index).child
                    walkPage(child, level: level + 1, within, visitor, &counts, visit)
                }
            }
        } catch {
            damage(error.page, visitor.kind.name, error.what)
        }
    }

    private mutating func walkLeaf(
        _ page: PageView, _ visitor: TreeVisitor, _ counts: inout Counts, _ visit: Visit
    ) throws(PageFault) {
        counts.leafPages += 1
        for index in 0..<page.nodeCount {
            counts.entries += 1
            let node = try page.node(index)
            guard let value = try value(node, index, page, visitor, &counts),
                visitor.kind.accepts(node.key)
            else { continue }
            visit(&self, node.key, value)
        }
    }

    /// A page with its nodes checked, valid until the next one of the same level.
    private func page(
        _ number: UInt64, level: Int, isLeaf: Bool
    ) throws(PageFault) -> PageView {
        let bytes = source.bytes(at: Int(number) * pageSize, count: pageSize, level: level)
        guard bytes.count == pageSize else {
            throw PageFault(page: number, what: "the file ends within it")
        }
        let page = try PageView(bytes, number: number, isLeaf ? .leaf : .branch)
        try page.checkPacking()
        return page
    }

    private mutating func checkKeys(
        _ page: PageView, _ bounds: KeyBounds, _ visitor: TreeVisitor
    ) throws(PageFault) {
        let number = page.number
        var before: UnsafeRawBufferPointer?
        // The first key of a branch page means "everything before the second".
        for index in (page.kind == .leaf ? 0 : 1)..<page.nodeCount {
            let key = try page.node(index).key
            guard visitor.kind.accepts(key) else {
                damage(number, visitor.kind.name, "key \(index) has \(key.count) bytes")
                continue
            }
            if let before, !visitor.kind.isOrdered(before, key) {
                damage(number, visitor.kind.name, "key \(index) is out of order")
            }
            if let lower = bounds.lower, visitor.kind.isOrdered(key, lower) {
                damage(number, visitor.kind.name, "key \(index) belongs on a page before")
            }
            if let upper = bounds.upper, !visitor.kind.isOrdered(key, upper) {
                damage(number, visitor.kind.name, "key \(index) belongs on a page after")
            }
            before = key
        }
    }

    /// The value of a leaf's node, valid until the next page.
    private mutating func value(
        _ node: PageView.Node, _ index: Int, _ page: PageView, _ visitor: TreeVisitor,
        _ counts: inout Counts
    ) throws(PageFault) -> Value? {
        let size = node.valueSize
        guard visitor.kind.accepts(flags: node.flags, valueSize: size) else {
            damage(
                page.number, visitor.kind.name,
                "record \(index) has flags \(node.flags) and \(size) bytes")
            return nil
        }
        guard node.flags & FileFormat.nodeOverflow != 0 else {
            if FileFormat.nodeHeaderSize + node.key.count + size > page.nodeMaximum {
                damage(
                    page.number, visitor.kind.name, "record \(index) is too long for its page")
            }
            let bytes = try page.valueInPage(node, count: size)
            return Value(
                bytes: bytes, offset: Int(page.number) * pageSize + page.offset(of: bytes),
                count: size)
        }
        let first = try page.overflowPage(node)
        guard first >= 2, first < UInt64(pageCount) else {
            damage(
                page.number, visitor.kind.name,
                "record \(index) lies on page \(first), not in file")
            return nil
        }
        let offset = Int(first) * pageSize
        let run: Int
        do throws(PageFault) {
            let header = source.bytes(
                at: offset, count: FileFormat.pageHeaderSize, level: Self.valueLevel)
            run = try Pages.overflowPages(
                header, first, holding: size, pageSize: pageSize, pageCount: pageCount)
        } catch {
            damage(error.page, visitor.kind.name, error.what)
            return nil
        }
        guard claim(first, run, for: visitor.kind) else { return nil }
        counts.overflowPages += UInt64(run)
        return Value(
            bytes: UnsafeRawBufferPointer(start: nil, count: 0),
            offset: offset + FileFormat.pageHeaderSize, count: size)
    }

    /// The buffer for values, behind those for pages.
    private static let valueLevel = FileFormat.depthMaximum + 1

    /// Marks pages as used by a tree; false when one is not in the file or already used.
    private mutating func claim(_ first: UInt64, _ run: Int, for kind: TreeKind) -> Bool {
        guard first >= 2, first < UInt64(pageCount), run <= pageCount - Int(first) else {
            damage(first, kind.name, "it is not in the file")
            return false
        }
        for page in Int(first)..<Int(first) + run {
            if uses[page] != .none {
                damage(UInt64(page), kind.name, "it is used twice")
                return false
            }
            uses.set(page, .inTree)
        }
        claimed += run
        if let handler, claimed - told >= Self.reportInterval {
            handler(claimed, pageCount)
            told = claimed
        }
        return true
    }

    /// The largest key of a free list, found along the right edge of its tree.
    private func largestFreeKey(_ record: TreeRecord) -> UInt64? {
        guard !record.isEmpty, (1...FileFormat.depthMaximum).contains(record.depth) else {
            return nil
        }
        var number = record.root
        do throws(PageFault) {
            for level in 1...record.depth {
                guard number >= 2, number < UInt64(pageCount) else { return nil }
                let page = try page(number, level: level, isLeaf: level == record.depth)
                let last = try page.node(page.nodeCount - 1)
                if page.kind == .leaf {
                    guard last.key.count == 8, let start = last.key.baseAddress else { return nil }
                    return start.number(at: 0, as: UInt64.self)
                }
                number = last.child
            }
        } catch {
            // The walk of the older state's pages is not a check of them: they may be in use again.
            return nil
        }
        return nil
    }

    private mutating func damage(_ page: UInt64?, _ table: String?, _ what: String) {
        findings.append(.damage(page, table, what))
    }
}

/// The bounds of a page's keys.
private struct KeyBounds {
    var lower: UnsafeRawBufferPointer?
    var upper: UnsafeRawBufferPointer?
}

private struct TreeVisitor {
    let kind: TreeKind
    let depth: Int
}
