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
    /// Whether the keys are in the order of their bytes.
    fileprivate let isOrdered: Bool

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
        isOrdered = true
    }

    /// The tree of a table, whose record was checked before.
    @inline(__always)
    init(checked record: TreeRecord, in pages: Pages, of table: Table) {
        self.pages = pages
        self.record = record
        check = table.check
        isOrdered = true
    }

    /// The list of free pages, whose keys are numbers.
    init(freeList record: TreeRecord, in pages: Pages) {
        self.pages = pages
        self.record = record
        check = nil
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

    /// The value of a leaf's node, without its check.
    ///
    /// - Throws: ``PageFault`` when the check does not fit.
    @inline(__always)
    func value(
        of node: PageView.Node, on leaf: PageView
    ) throws(PageFault) -> UnsafeRawBufferPointer {
        let stored = try pages.value(node, on: leaf)
        guard let check else { return stored }
        guard let value = check.value(of: node.key, stored: stored) else {
            throw PageFault(page: leaf.number, what: RecordCheck.fault)
        }
        return value
    }

    /// Checks a record that is beside what is looked for.
    @inline(__always)
    fileprivate func confirm(_ node: PageView.Node, on leaf: PageView) throws(PageFault) {
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
        // On the stack: no lookup allocates.
        let result = withUnsafeTemporaryAllocation(
            of: UInt64.self, capacity: FileFormat.depthMaximum
        ) { path -> Result<R, E> in
            guard let start = path.baseAddress else { stop("A path has room.") }
            var cursor = TreeCursor(self, path: start)
            do throws(E) {
                return .success(try body(&cursor))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension Tree {
    /// Checks that the record on the leaf before that of a key, whose place is at the begin of its leaf,
    /// is one before it.
    @inline(never)
    fileprivate func confirmLast(before key: SoughtKey) throws(PageFault) {
        try withCursor { cursor throws(PageFault) in
            guard try cursor.move(beside: key, .descending) else { return }
            guard key.order(to: try cursor.confirmedKey()) > 0 else { throw hidden() }
        }
    }

    /// Checks that the record on the leaf behind that of a key, whose place is at the end of its leaf, is
    /// not one before it.
    @inline(never)
    fileprivate func confirmFirst(after key: SoughtKey) throws(PageFault) {
        try withCursor { cursor throws(PageFault) in
            guard try cursor.move(beside: key, .ascending) else { return }
            guard key.order(to: try cursor.confirmedKey()) <= 0 else { throw hidden() }
        }
    }

    private func hidden() -> PageFault {
        PageFault(page: nil, what: "a key lies on the wrong side of a page's end")
    }
}

/// A position in a tree: a leaf, one of its records, and the path that led there.
struct TreeCursor {
    private let tree: Tree
    /// For each level above the leaf the page and, in the lowest sixteen bits, the node that was taken.
    private let path: UnsafeMutablePointer<UInt64>
    private var leaf: PageView?
    private var index = 0
    /// The number of moves from record to record.
    private var moves: UInt64 = 0
    /// Whether the first move led to the first or the last record of all.
    private var isWhole = false

    fileprivate init(_ tree: Tree, path: UnsafeMutablePointer<UInt64>) {
        self.tree = tree
        self.path = path
    }

    private enum Target {
        case first
        case last
        case key(SoughtKey)
    }

    // MARK: - The record

    /// Key and value of the record that the last move, which returned true, has led to.
    @inline(__always)
    func record() throws(PageFault) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)
    {
        guard let leaf else { throw PageFault(page: nil, what: "it has no such record") }
        let node = try leaf.node(index)
        return (node.key, try tree.value(of: node, on: leaf))
    }

    /// The key of the record, whose check fits.
    fileprivate func confirmedKey() throws(PageFault) -> UnsafeRawBufferPointer {
        guard let leaf else { throw PageFault(page: nil, what: "it has no such record") }
        let node = try leaf.node(index)
        try tree.confirm(node, on: leaf)
        return node.key
    }

    // MARK: - Moving

    /// Moves to the first record, or to the first one at or after a key; false when there is none.
    mutating func move(atOrAfter key: SoughtKey?) throws(PageFault) -> Bool {
        if tree.record.isEmpty { return false }
        guard let key else {
            isWhole = true
            try descend(tree.record.root, level: 1, to: .first)
            index = 0
            return true
        }
        let leaf = try descend(tree.record.root, level: 1, to: .key(key))
        let place = try leaf.place(of: key)
        index = place.index
        if !place.isFound {
            if index > 0 {
                try tree.confirm(leaf.node(index - 1), on: leaf)
            } else {
                try tree.confirmLast(before: key)
            }
        }
        return index < leaf.nodeCount ? true : try moveToLeaf(.ascending)
    }

    /// Moves to the last record, or to the last one strictly before a key; false when there is none.
    mutating func move(before key: SoughtKey?) throws(PageFault) -> Bool {
        if tree.record.isEmpty { return false }
        guard let key else {
            isWhole = true
            index = try descend(tree.record.root, level: 1, to: .last).nodeCount - 1
            return true
        }
        let leaf = try descend(tree.record.root, level: 1, to: .key(key))
        index = try leaf.place(of: key).index
        if index < leaf.nodeCount {
            try tree.confirm(leaf.node(index), on: leaf)
        } else {
            try tree.confirmFirst(after: key)
        }
        index -= 1
        return index >= 0 ? true : try moveToLeaf(.descending)
    }

    /// Moves to the record beside the leaf that a key belongs to; false when there is none.
    fileprivate mutating func move(
        beside key: SoughtKey, _ order: ScanOrder
    ) throws(PageFault) -> Bool {
        try descend(tree.record.root, level: 1, to: .key(key))
        return try moveToLeaf(order)
    }

    /// Moves to the next record in an order; false when there is none.
    ///
    /// - Throws: ``PageFault`` also when the tree has said that there are not so many; and at the end of
    ///   a walk over all of them, when it has said that there are more.
    @inline(__always)
    mutating func move(_ order: ScanOrder) throws(PageFault) -> Bool {
        guard let leaf else { return false }
        moves &+= 1
        index = order == .ascending ? index &+ 1 : index &- 1
        if index >= 0, index < leaf.nodeCount, moves < tree.record.entries { return true }
        return try leave(leaf, order)
    }

    /// Moves on at the end of a leaf, or of the records that the tree has.
    @inline(never)
    private mutating func leave(_ last: PageView, _ order: ScanOrder) throws(PageFault) -> Bool {
        let isInLeaf = index >= 0 && index < last.nodeCount
        let isFound = isInLeaf ? true : try moveToLeaf(order)
        let entries = tree.record.entries
        if isFound, moves >= entries {
            throw PageFault(
                page: last.number, what: "records follow behind the \(entries) that it should have")
        }
        if !isFound, isWhole, moves != entries {
            throw PageFault(
                page: nil, what: "it says it has \(entries) records, and \(moves) were found")
        }
        return isFound
    }

    /// Moves to the nearest record of the leaf beside this one.
    private mutating func moveToLeaf(_ order: ScanOrder) throws(PageFault) -> Bool {
        var level = tree.record.depth - 1
        while level >= 1 {
            let number = path[level - 1] >> 16
            let taken = Int(path[level - 1] & 0xFFFF)
            let page = try tree.pages.page(number, .branch)
            let next = order == .ascending ? taken + 1 : taken - 1
            if next >= 0, next < page.nodeCount {
                path[level - 1] = number << 16 | UInt64(next)
                let found = try descend(
                    page.node(next).child, level: level + 1,
                    to: order == .ascending ? .first : .last)
                index = order == .ascending ? 0 : found.nodeCount - 1
                return true
            }
            level -= 1
        }
        leaf = nil
        return false
    }

    /// Goes down from a page to a leaf.
    @discardableResult
    private mutating func descend(
        _ number: UInt64, level: Int, to target: Target
    ) throws(PageFault) -> PageView {
        var number = number
        var level = level
        while level < tree.record.depth {
            let page = try tree.pages.page(number, .branch)
            let taken =
                switch target {
                case .first: 0
                case .last: page.nodeCount - 1
                case .key(let key): try page.childIndex(for: key)
                }
            try tree.pages.confirmComplete(page, isOrdered: tree.isOrdered)
            path[level - 1] = number << 16 | UInt64(taken)
            number = try page.node(taken).child
            level += 1
        }
        let found = try tree.pages.page(number, .leaf)
        try tree.pages.confirmComplete(found, isOrdered: tree.isOrdered)
        if tree.isOrdered { try checkBounds(of: found) }
        leaf = found
        return found
    }

    /// Checks that the keys of a leaf lie between those by which the way led to it.
    private func checkBounds(of leaf: PageView) throws(PageFault) {
        let first = SoughtKey(try leaf.node(0).key)
        let last = SoughtKey(try leaf.node(leaf.nodeCount - 1).key)
        for level in 1..<tree.record.depth {
            let page = try tree.pages.page(path[level - 1] >> 16, .branch)
            let taken = Int(path[level - 1] & 0xFFFF)
            if taken > 0, first.order(to: try page.node(taken).key) < 0 {
                throw misled(page, leaf)
            }
            if taken + 1 < page.nodeCount, last.order(to: try page.node(taken + 1).key) >= 0 {
                throw misled(page, leaf)
            }
        }
    }

    @inline(never)
    private func misled(_ page: PageView, _ leaf: PageView) -> PageFault {
        PageFault(
            page: page.number, what: "it leads to page \(leaf.number), whose keys belong elsewhere")
    }
}
