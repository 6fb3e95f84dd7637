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
    }

    /// A tree whose record was checked before.
    init(checked record: TreeRecord, in pages: Pages) {
        self.pages = pages
        self.record = record
    }

    /// The value under a key.
    func value(under key: SoughtKey) throws(PageFault) -> UnsafeRawBufferPointer? {
        guard let (leaf, node) = try node(under: key) else { return nil }
        return try pages.value(node, on: leaf)
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
        return (node.key, try tree.pages.value(node, on: leaf))
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
        index = try descend(tree.record.root, level: 1, to: .key(key)).place(of: key).index
        if let leaf, index < leaf.nodeCount { return true }
        return try moveToLeaf(.ascending)
    }

    /// Moves to the last record, or to the last one strictly before a key; false when there is none.
    mutating func move(before key: SoughtKey?) throws(PageFault) -> Bool {
        if tree.record.isEmpty { return false }
        guard let key else {
            isWhole = true
            index = try descend(tree.record.root, level: 1, to: .last).nodeCount - 1
            return true
        }
        index = try descend(tree.record.root, level: 1, to: .key(key)).place(of: key).index - 1
        return index >= 0 ? true : try moveToLeaf(.descending)
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
            path[level - 1] = number << 16 | UInt64(taken)
            number = try page.node(taken).child
            level += 1
        }
        let found = try tree.pages.page(number, .leaf)
        leaf = found
        return found
    }
}
