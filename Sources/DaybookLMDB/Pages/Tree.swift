import DaybookStopping

/// A tree of one state of a file, as it is read.
///
/// Invariants:
/// - The record's depth is one that a tree can have, so a descent ends.
/// - A walk meets no more records than the record counts, and that is no more than fit into the file;
///   so it ends, wherever the pages lead.
struct Tree {
    let pages: Pages
    let record: TreeRecord
    private let check: RecordCheck?
    /// The handle of the table, where its records have checks; 0 otherwise.
    private let handle: UInt32
    /// Whether the keys are in the order of their bytes.
    let isOrdered: Bool

    /// A tree whose records carry no check.
    ///
    /// - Throws: ``PageFault`` when the record is not one of a tree in these pages.
    init(_ record: TreeRecord, in pages: Pages) throws(PageFault) {
        if let what = record.fault {
            throw PageFault(page: nil, what: what)
        }
        guard record.entries <= pages.recordsMaximum else {
            throw PageFault(
                page: nil,
                what: "it says it has \(record.entries) records, more than fit in the file")
        }
        self.pages = pages
        self.record = record
        check = nil
        handle = 0
        isOrdered = true
    }

    /// The tree of a table, whose record was checked before.
    @inline(__always)
    init(checked record: TreeRecord, in pages: Pages, of table: Table) {
        self.pages = pages
        self.record = record
        check = table.check
        handle = table.check == nil ? 0 : table.handle
        isOrdered = true
    }

    /// The list of free pages, whose keys are numbers.
    init(freeList record: TreeRecord, in pages: Pages) {
        self.pages = pages
        self.record = record
        check = nil
        handle = 0
        isOrdered = false
    }

    /// The value under a key.
    ///
    /// - Throws: ``PageFault`` when its check does not fit, and when it is not certain that there is no
    ///   such key.
    @inline(__always)
    func value(under key: SoughtKey) throws(PageFault) -> UnsafeRawBufferPointer? {
        guard let (leaf, node) = try node(under: key) else {
            try confirmAbsence(of: key)
            return nil
        }
        return try value(of: node, on: leaf)
    }

    /// Whether all records of a leaf are known to have their checks.
    @inline(__always)
    func isSound(_ leaf: PageView) -> Bool { pages.isSound(leaf, in: handle) }

    /// Remembers that all records of a leaf have their checks.
    func rememberSound(_ leaf: PageView) {
        if check != nil { pages.rememberSound(leaf, in: handle) }
    }

    /// The value of a leaf's node, without its check.
    ///
    /// - Throws: ``PageFault`` when the check does not fit.
    @inline(__always)
    func value(
        of node: PageView.Node, on leaf: PageView
    ) throws(PageFault) -> UnsafeRawBufferPointer {
        try value(of: node, on: leaf, isSound: isSound(leaf))
    }

    /// The same where it is known whether all checks of the leaf were found to fit.
    @inline(__always)
    func value(
        of node: PageView.Node, on leaf: PageView, isSound: Bool
    ) throws(PageFault) -> UnsafeRawBufferPointer {
        let stored = try pages.value(node, on: leaf)
        guard let check else { return stored }
        let value = isSound ? check.value(in: stored) : check.value(of: node.key, stored: stored)
        guard let value else { throw PageFault(page: leaf.number, what: RecordCheck.fault) }
        return value
    }

    /// Checks a record that is beside what is looked for.
    @inline(__always)
    func confirm(_ node: PageView.Node, on leaf: PageView) throws(PageFault) {
        if check != nil { _ = try value(of: node, on: leaf) }
    }

    /// Checks that a key which was not found does not exist.
    ///
    /// A damaged page may hide a record: by a count that is too small, a key that changed, or a way that
    /// leads elsewhere. The moves of a cursor check the first and the last. A key that changed is still
    /// beside its place, where its check does not fit, or else the order of the page is broken.
    @inline(never)
    func confirmAbsence(of key: SoughtKey) throws(PageFault) {
        try withCursor { cursor throws(PageFault) in
            if try cursor.move(atOrAfter: key) { _ = try cursor.confirmedKey() }
        }
    }

    /// The node under a key, and its page.
    @inline(__always)
    func node(
        under key: SoughtKey
    ) throws(PageFault) -> (leaf: PageView, node: PageView.Node)? {
        if record.isEmpty { return nil }
        var number = record.root
        for _ in 1..<record.depth {
            let page = try pages.page(number, .branch)
            number = try page.node(page.childIndex(for: key)).child
        }
        let leaf = try pages.page(number, .leaf)
        let (index, isFound) = try leaf.place(of: key)
        return isFound ? (leaf, try leaf.node(index)) : nil
    }

    /// Checks all of each page on the way to a key, not only what the way needs.
    func checkPages(on key: SoughtKey) throws(PageFault) {
        if record.isEmpty { return }
        var number = record.root
        for _ in 1..<record.depth {
            let page = try pages.page(number, .branch)
            try page.checkPacking()
            number = try page.node(page.childIndex(for: key)).child
        }
        try pages.page(number, .leaf).checkPacking()
    }

    /// Calls `body` with a cursor of the tree, which is on no record yet.
    @inline(__always)
    func withCursor<R, E: Error>(
        _ body: (inout TreeCursor) throws(E) -> R
    ) throws(E) -> R {
        try withPath { path throws(E) in
            var cursor = TreeCursor(self, path: path)
            return try body(&cursor)
        }
    }

    /// Calls `body` with room for a way from the root to a leaf, which is on the stack: no lookup
    /// allocates.
    @inline(__always)
    func withPath<R, E: Error>(
        _ body: (UnsafeMutablePointer<UInt64>) throws(E) -> R
    ) throws(E) -> R {
        let result = withUnsafeTemporaryAllocation(
            of: UInt64.self, capacity: FileFormat.depthMaximum
        ) { path -> Result<R, E> in
            guard let start = path.baseAddress else { stop("A path has room.") }
            do throws(E) {
                return .success(try body(start))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension Tree {
    /// Checks that the record on the leaf before that of a key, whose place is at the beginning of
    /// its leaf, is one before it.
    @inline(never)
    func confirmLast(before key: SoughtKey) throws(PageFault) {
        try withCursor { cursor throws(PageFault) in
            guard try cursor.move(beside: key, .descending) else { return }
            guard key.order(to: try cursor.confirmedKey()) > 0 else { throw hidden() }
        }
    }

    /// Checks that the record on the leaf behind that of a key, whose place is at the end of its leaf, is
    /// not one before it.
    @inline(never)
    func confirmFirst(after key: SoughtKey) throws(PageFault) {
        try withCursor { cursor throws(PageFault) in
            guard try cursor.move(beside: key, .ascending) else { return }
            guard key.order(to: try cursor.confirmedKey()) <= 0 else { throw hidden() }
        }
    }

    private func hidden() -> PageFault {
        PageFault(page: nil, what: "a key lies on the wrong side of a page's end")
    }
}
