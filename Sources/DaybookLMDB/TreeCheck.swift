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

    private var uses: [PageUse]

    private enum PageUse: UInt8 {
        case none
        case inTree
        case free
    }

    /// The counts of a walk, for comparison with those in the file.
    struct Counts {
        var branchPages: UInt64 = 0
        var leafPages: UInt64 = 0
        var overflowPages: UInt64 = 0
        var entries: UInt64 = 0
    }

    init(source: PageSource, pageSize: Int, pageCount: Int) {
        self.source = source
        self.pageSize = pageSize
        self.pageCount = pageCount
        uses = Array(repeating: .none, count: pageCount)
        for meta in 0..<min(2, pageCount) { uses[meta] = .inTree }
    }

    // MARK: - The whole file

    mutating func checkAll(newest: MetaPage, older: MetaPage) {
        var tables: [(name: String, record: TreeRecord)] = []
        if newest.main.flags != 0 || newest.main.padding != 0 {
            damage(nil, TreeKind.main.name, "its flags are \(newest.main.flags)")
        }
        walk(newest.main, .main) { check, key, value in
            // A record beside the tables.
            guard value.count == FileFormat.treeRecordSize else { return }
            let name = String(decoding: key, as: UTF8.self)
            let record = TreeRecord(value, at: 0)
            if record.flags != 0 || record.padding != 0 {
                check.damage(nil, name, "its flags are \(record.flags)")
            }
            tables.append((name, record))
        }
        for table in tables {
            walk(table.record, .table(table.name)) { _, _, _ in }
        }
        var freed: [(transaction: UInt64, pages: [UInt64])] = []
        walk(newest.free, .freeList) { check, key, value in
            freed.append((key.number(0), check.pageList(value)))
        }
        checkFreePages(freed)
        checkTransaction(of: newest, largest: freed.last?.transaction)
        if older.transaction < newest.transaction {
            checkTransaction(
                of: older, largest: largestFreeKey(older.free),
                remark: "; either it was altered, or a write failed at its last step, which the "
                    + "next save puts right")
        }
        let lost = uses.count { $0 == .none }
        if lost > 0 {
            findings.append(.note(nil, nil, "\(lost) pages are neither used nor free"))
        }
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

    private mutating func checkFreePages(_ freed: [(transaction: UInt64, pages: [UInt64])]) {
        for (transaction, pages) in freed {
            var before = UInt64.max
            for page in pages {
                guard page >= 2, page < UInt64(pageCount) else {
                    freeDamage(transaction, "page \(page), which is not in the file")
                    continue
                }
                if page >= before { freeDamage(transaction, "page \(page) out of order") }
                before = page
                switch uses[Int(page)] {
                case .none: uses[Int(page)] = .free
                case .inTree: freeDamage(transaction, "page \(page), which is in use")
                case .free: freeDamage(transaction, "page \(page) a second time")
                }
            }
        }
    }

    private mutating func freeDamage(_ transaction: UInt64, _ what: String) {
        damage(nil, TreeKind.freeList.name, "transaction \(transaction) names \(what)")
    }

    /// The page numbers of a free-list value; with a wrong count, those that are there.
    private mutating func pageList(_ value: [UInt8]) -> [UInt64] {
        let room = value.count / 8 - 1
        guard room >= 0, value.count % 8 == 0 else {
            damage(nil, TreeKind.freeList.name, "a record has \(value.count) bytes")
            return []
        }
        let count: UInt64 = value.number(0)
        if count > UInt64(room) {
            damage(nil, TreeKind.freeList.name, "a record for \(room) pages names \(count)")
        }
        return (0..<Int(min(count, UInt64(room)))).map { value.number(8 + 8 * $0) }
    }

    // MARK: - One tree

    private mutating func walk(
        _ record: TreeRecord, _ kind: TreeKind,
        _ visit: (inout TreeCheck, _ key: [UInt8], _ value: [UInt8]) -> Void
    ) {
        var counts = Counts()
        if record.isEmpty {
            if record.depth != 0 { damage(nil, kind.name, "it is empty and has a depth") }
        } else if record.depth < 1 || record.depth > FileFormat.depthMaximum {
            damage(nil, kind.name, "its depth of \(record.depth) is impossible")
            return
        } else {
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
        _ counts: inout Counts, _ visit: (inout TreeCheck, [UInt8], [UInt8]) -> Void
    ) {
        guard claim(number, 1, for: visitor.kind) else { return }
        let page = TreePage(source.bytes(at: Int(number) * pageSize, count: pageSize))
        let isLeaf = level == visitor.depth
        let problems = page.problems(number: number, size: pageSize, isLeaf: isLeaf)
        for problem in problems { damage(number, visitor.kind.name, problem) }
        // Without valid offsets nothing on the page can be followed.
        guard problems.isEmpty else { return }
        checkKeys(page, number, isLeaf: isLeaf, bounds, visitor)
        if isLeaf {
            counts.leafPages += 1
            for index in 0..<page.nodeCount {
                counts.entries += 1
                let key = page.key(index)
                guard let value = value(page, index, number, visitor, &counts),
                    visitor.kind.accepts(key)
                else { continue }
                visit(&self, key, value)
            }
        } else {
            counts.branchPages += 1
            for index in 0..<page.nodeCount {
                var within = bounds
                if index > 0 { within.lower = page.key(index) }
                if index + 1 < page.nodeCount { within.upper = page.key(index + 1) }
                walkPage(page.child(index), level: level + 1, within, visitor, &counts, visit)
            }
        }
    }

    private mutating func checkKeys(
        _ page: TreePage, _ number: UInt64, isLeaf: Bool, _ bounds: KeyBounds,
        _ visitor: TreeVisitor
    ) {
        var before: [UInt8]?
        // The first key of a branch page means "everything before the second".
        for index in (isLeaf ? 0 : 1)..<page.nodeCount {
            let key = page.key(index)
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

    /// The value of a leaf's node, from its overflow pages if it has any.
    private mutating func value(
        _ page: TreePage, _ index: Int, _ number: UInt64, _ visitor: TreeVisitor,
        _ counts: inout Counts
    ) -> [UInt8]? {
        let flags = page.flags(index)
        let size = page.valueSize(index)
        guard visitor.kind.accepts(flags: flags, valueSize: size) else {
            damage(
                number, visitor.kind.name, "record \(index) has flags \(flags) and \(size) bytes")
            return nil
        }
        guard flags & FileFormat.nodeOverflow != 0 else {
            if FileFormat.nodeHeaderSize + page.key(index).count + size > page.nodeMaximum {
                damage(number, visitor.kind.name, "record \(index) is too long for its page")
            }
            return page.valueInPage(index)
        }
        let first = page.overflowPage(index)
        guard first >= 2, first < UInt64(pageCount) else {
            damage(number, visitor.kind.name, "record \(index) lies on page \(first), not in file")
            return nil
        }
        let offset = Int(first) * pageSize
        let header = source.bytes(at: offset, count: FileFormat.pageHeaderSize)
        guard header.count == FileFormat.pageHeaderSize else { return nil }
        let run: UInt32 = header.number(FileFormat.pageOverflowOffset)
        let flagsFound: UInt16 = header.number(FileFormat.pageFlagsOffset)
        let needed = (FileFormat.pageHeaderSize - 1 + size) / pageSize + 1
        guard header.number(0) == first, flagsFound == FileFormat.overflowPage,
            Int(run) >= needed, first + UInt64(run) <= UInt64(pageCount)
        else {
            damage(first, visitor.kind.name, "it is not the begin of an overflow value")
            return nil
        }
        guard claim(first, Int(run), for: visitor.kind) else { return nil }
        counts.overflowPages += UInt64(run)
        if !visitor.kind.readsValues { return [] }
        return source.bytes(at: offset + FileFormat.pageHeaderSize, count: size)
    }

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
            uses[page] = .inTree
        }
        return true
    }

    /// The largest key of a free list, found along the right edge of its tree.
    private func largestFreeKey(_ record: TreeRecord) -> UInt64? {
        guard !record.isEmpty, (1...FileFormat.depthMaximum).contains(record.depth) else {
            return nil
        }
        var number = record.root
        for level in 1...record.depth {
            guard number >= 2, number < UInt64(pageCount) else { return nil }
            let page = TreePage(source.bytes(at: Int(number) * pageSize, count: pageSize))
            let isLeaf = level == record.depth
            guard page.problems(number: number, size: pageSize, isLeaf: isLeaf).isEmpty else {
                return nil
            }
            if isLeaf {
                let key = page.key(page.nodeCount - 1)
                return key.count == 8 ? key.number(0) : nil
            }
            number = page.child(page.nodeCount - 1)
        }
        return nil
    }

    private mutating func damage(_ page: UInt64?, _ table: String?, _ what: String) {
        findings.append(.damage(page, table, what))
    }
}

/// The bounds of a page's keys.
private struct KeyBounds {
    var lower: [UInt8]?
    var upper: [UInt8]?
}

private struct TreeVisitor {
    let kind: TreeKind
    let depth: Int
}

/// The three kinds of trees in a file, which differ in their keys and values.
private enum TreeKind {
    case main
    case freeList
    case table(String)

    var name: String {
        switch self {
        case .main: "table of tables"
        case .freeList: "free list"
        case .table(let name): name
        }
    }

    var readsValues: Bool {
        if case .table = self { false } else { true }
    }

    func accepts(_ key: [UInt8]) -> Bool {
        if case .freeList = self { return key.count == 8 }
        return (1...FileFormat.keyLengthMaximum).contains(key.count)
    }

    func accepts(flags: UInt16, valueSize: Int) -> Bool {
        switch self {
        case .main:
            valueSize == FileFormat.treeRecordSize ? flags == FileFormat.nodeTree : flags == 0
        case .freeList, .table: flags == 0 || flags == FileFormat.nodeOverflow
        }
    }

    /// Whether `left` comes before `right`. Both must have been accepted, or are compared as bytes.
    func isOrdered(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        if case .freeList = self, left.count == 8, right.count == 8 {
            let (leftNumber, rightNumber): (UInt64, UInt64) = (left.number(0), right.number(0))
            return leftNumber < rightNumber
        }
        return left.withUnsafeBytes { leftBytes in
            right.withUnsafeBytes { compareBytes(leftBytes, $0) < 0 }
        }
    }
}
