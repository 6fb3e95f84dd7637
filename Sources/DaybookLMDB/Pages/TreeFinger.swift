/// Finds records under many keys, each from where the last one was.
///
/// Keys that follow each other mostly lie on the same leaf, or under the same branch page; the pages above
/// are not searched again then.
///
/// What it finds is right wherever the pages lead, because the record has the key that is looked for, and
/// its check. A key that is not found is looked for from the root: a key that changed on the leaf may have
/// kept it there.
struct TreeFinger {
    private let tree: Tree
    /// For each level above the leaf the page.
    private let path: UnsafeMutablePointer<UInt64>
    private var leaf: PageView?
    /// The record that was found last.
    private var index = 0
    /// How many records were found on the leaf.
    private var hits = 0

    init(_ tree: Tree, path: UnsafeMutablePointer<UInt64>) {
        self.tree = tree
        self.path = path
    }

    /// The value under a key; nil when there is no such record.
    ///
    /// - Throws: ``PageFault`` as ``Tree/value(under:)``.
    @inline(__always)
    mutating func value(under key: SoughtKey) throws(PageFault) -> UnsafeRawBufferPointer? {
        guard let leaf = try leaf(of: key), let found = try place(of: key, on: leaf) else {
            return try tree.value(under: key)
        }
        leaf.prefetch(found + PageView.nodesAhead)
        index = found
        hits += 1
        if hits &* Self.partOfLeaf >= leaf.nodeCount, !tree.isSound(leaf) {
            tree.examineChecks(of: leaf)
            hits = 0
        }
        return try tree.value(of: leaf.node(found), on: leaf)
    }

    /// When this part of a leaf's records was asked for, the checks of all are looked at, once a state
    /// instead of once a read.
    private static let partOfLeaf = 4

    @inline(__always)
    private func place(of key: SoughtKey, on leaf: PageView) throws(PageFault) -> Int? {
        let next = index &+ 1
        if next < leaf.nodeCount, try key.order(to: leaf.node(next).key) == 0 { return next }
        let (place, isFound) = try leaf.estimatedPlace(of: key)
        return isFound ? place : nil
    }

    /// The leaf that a key belongs to; nil in an empty tree.
    @inline(__always)
    private mutating func leaf(of key: SoughtKey) throws(PageFault) -> PageView? {
        if tree.record.isEmpty { return nil }
        guard let leaf else { return try descend(to: key, from: tree.record.root, level: 1) }
        if try key.order(to: leaf.node(leaf.nodeCount - 1).key) > 0 {
            return try climb(to: key) { page throws(PageFault) in
                try key.order(to: page.node(page.nodeCount - 1).key) < 0
            }
        }
        if try key.order(to: leaf.node(0).key) < 0 {
            // The first key of a branch page means "everything before the second".
            return try climb(to: key) { page throws(PageFault) in
                try key.order(to: page.node(1).key) >= 0
            }
        }
        return leaf
    }

    /// Goes up to the lowest page under which a key must lie, and down from there.
    @inline(__always)
    private mutating func climb(
        to key: SoughtKey, _ covers: (PageView) throws(PageFault) -> Bool
    ) throws(PageFault) -> PageView {
        var level = tree.record.depth - 1
        while level > 1, try !covers(tree.pages.page(path[level - 1], .branch)) { level -= 1 }
        return try descend(
            to: key, from: level >= 1 ? path[level - 1] : tree.record.root, level: max(1, level))
    }

    /// Goes down from a page to a leaf.
    private mutating func descend(
        to key: SoughtKey, from number: UInt64, level: Int
    ) throws(PageFault) -> PageView {
        var number = number
        for level in level..<max(level, tree.record.depth) {
            let page = try tree.pages.page(number, .branch)
            path[level - 1] = number
            number = try page.node(page.childIndex(for: key)).child
        }
        let found = try tree.pages.page(number, .leaf)
        leaf = found
        // Before the first record.
        index = -1
        hits = 0
        return found
    }
}

extension Tree {
    /// Calls `body` with a finger that has not found anything yet.
    @inline(__always)
    func withFinger<R, E: Error>(
        _ body: (inout TreeFinger) throws(E) -> R
    ) throws(E) -> R {
        try withPath { path throws(E) in
            var finger = TreeFinger(self, path: path)
            return try body(&finger)
        }
    }

    /// Looks at the checks of all records of a leaf, and remembers it when they fit. Where one does not,
    /// whoever reads that record finds it.
    @inline(never)
    fileprivate func examineChecks(of leaf: PageView) {
        do throws(PageFault) {
            for index in 0..<leaf.nodeCount {
                leaf.prefetch(index + PageView.nodesAhead)
                let node = try leaf.node(index)
                // A long value is not read for its neighbours.
                guard node.flags == 0 else { return }
                _ = try value(of: node, on: leaf, isSound: false)
            }
            rememberSound(leaf)
        } catch {
            return
        }
    }
}
