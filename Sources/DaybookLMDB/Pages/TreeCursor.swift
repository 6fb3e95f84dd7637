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
    private var ahead = LeavesAhead()

    init(_ tree: Tree, path: UnsafeMutablePointer<UInt64>) {
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
    func confirmedKey() throws(PageFault) -> UnsafeRawBufferPointer {
        guard let leaf else { throw PageFault(page: nil, what: "it has no such record") }
        let node = try leaf.node(index)
        try tree.confirm(node, on: leaf)
        return node.key
    }

    // MARK: - Walking

    /// Walks up from the record at hand to the last one before a key, leaf by leaf.
    ///
    /// - Parameters:
    ///   - upper: The key before which to stop; nil for the end of the tree.
    ///   - body: Takes key and value, and says whether to continue.
    /// - Throws: ``PageFault`` as ``move(_:)``; what `body` throws.
    @inline(__always)
    mutating func ascend(
        before upper: SoughtKey?, _ body: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {
        while let leaf {
            var end = leaf.nodeCount
            if let upper, try upper.order(to: leaf.node(end - 1).key) <= 0 {
                end = try leaf.place(of: upper).index
                // Beside it a key that has changed would be found.
                try tree.confirm(leaf.node(end), on: leaf)
            }
            guard index < end else { return }
            let begin = index
            try advance(to: end - 1, on: leaf)
            let isSound = tree.isSound(leaf)
            for place in begin..<min(begin + PageView.nodesAhead, end) {
                leaf.prefetch(place)
            }
            for place in begin..<end {
                leaf.prefetch(place + PageView.nodesAhead)
                let node = try leaf.node(place)
                let value = try tree.value(of: node, on: leaf, isSound: isSound)
                if try body(node.key.bytes, value.bytes) == .stop { return }
            }
            if !isSound, begin == 0, end == leaf.nodeCount { tree.rememberSound(leaf) }
            guard end == leaf.nodeCount, try move(.ascending) else { return }
        }
    }

    /// Walks down from the record at hand to the last one not before a key.
    ///
    /// - Parameters:
    ///   - lower: The key at which to stop; nil for the begin of the tree.
    ///   - body: Takes key and value, and says whether to continue.
    /// - Throws: ``PageFault`` as ``move(_:)``; what `body` throws.
    @inline(__always)
    mutating func descend(
        to lower: SoughtKey?, _ body: (RawSpan, RawSpan) throws -> ScanStep
    ) throws {
        repeat {
            leaf?.prefetch(index - PageView.nodesAhead)
            let (key, value) = try record()
            if let lower, lower.order(to: key) > 0 { return }
            if try body(key.bytes, value.bytes) == .stop { return }
        } while try move(.descending)
    }

    /// Moves up within a leaf.
    @inline(__always)
    private mutating func advance(to place: Int, on leaf: PageView) throws(PageFault) {
        moves += UInt64(place - index)
        index = place
        if moves >= tree.record.entries { _ = try leave(leaf, .ascending) }
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
    mutating func move(
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

    /// Moves up over records before a key, by whole leaves where it can, so that records are not looked
    /// at.
    ///
    /// - Parameters:
    ///   - count: The greatest number of records to pass.
    ///   - upper: The key at which to stop; nil for the end of the tree.
    /// - Returns: The number of records passed, and whether the cursor is on a record then.
    /// - Throws: ``PageFault`` as ``move(_:)``.
    /// - Complexity: O(*c*) pages, *c* the number of leaves.
    mutating func pass(
        _ count: Int, before upper: SoughtKey?
    ) throws(PageFault) -> (passed: Int, isPlaced: Bool) {
        var passed = 0
        // Between records whose keys are right there are as many as are counted.
        if let leaf { try tree.confirm(leaf.node(index), on: leaf) }
        while let leaf {
            var end = leaf.nodeCount
            if let upper, try upper.order(to: leaf.node(end - 1).key) <= 0 {
                end = try leaf.place(of: upper).index
            }
            let step = min(max(0, end - index), count - passed)
            passed += step
            let isBehind = index + step == leaf.nodeCount
            index += isBehind ? step - 1 : step
            moves += UInt64(isBehind ? step - 1 : step)
            try tree.confirm(leaf.node(index), on: leaf)
            if !isBehind {
                if index > 0 { try tree.confirm(leaf.node(index - 1), on: leaf) }
                return (passed, true)
            }
            guard try move(.ascending) else { break }
        }
        return (passed, false)
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
                if level == tree.record.depth - 1 {
                    try ahead.come(to: next, on: page, order, in: tree.pages)
                }
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
