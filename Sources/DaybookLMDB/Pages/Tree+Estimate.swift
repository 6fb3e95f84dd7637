extension Tree {
    /// About how many records lie between two keys, told by where the ways to both part.
    ///
    /// What lies between them on the page where they part is counted by its children, each taken to be as large
    /// as the pages on the way say. Where both keys belong to one leaf, or to two beside each other, the number is
    /// exact.
    ///
    /// - Parameters:
    ///   - lower: The first key; nil for the begin of the tree.
    ///   - upper: The key behind the last; nil for the end of the tree.
    /// - Returns: The number, at most that of all records.
    /// - Throws: ``PageFault`` when a page on the way cannot be read.
    /// - Complexity: O(log *n*) page reads.
    func estimatedCount(
        from lower: SoughtKey?, before upper: SoughtKey?
    ) throws(PageFault) -> Int {
        if record.isEmpty { return 0 }
        var number = record.root
        for level in 1..<record.depth {
            let page = try pages.page(number, .branch)
            let first = try page.child(to: .begin(lower))
            let last = try page.child(to: .end(upper))
            guard first == last else {
                return try estimatedCount(
                    from: lower, at: first, before: upper, at: last, of: page, level: level)
            }
            number = try page.node(first).child
        }
        let leaf = try pages.page(number, .leaf)
        return max(0, try leaf.child(to: .end(upper)) - leaf.child(to: .begin(lower)))
    }

    private func estimatedCount(
        from lower: SoughtKey?, at first: Int, before upper: SoughtKey?, at last: Int,
        of page: PageView, level: Int
    ) throws(PageFault) -> Int {
        guard first < last else { return 0 }
        let begin = try part(before: .begin(lower), below: page.node(first).child, level: level + 1)
        let end = try part(before: .end(upper), below: page.node(last).child, level: level + 1)
        // How large all children of the root are is known, and else what those on the way seem to be.
        let size = Double(record.entries) / Double(page.nodeCount)
        let (beginSize, endSize) =
            level == 1 && record.depth > 2 ? (size, size) : (begin.size, end.size)
        let count =
            (1 - begin.share) * beginSize + end.share * endSize
            + Double(last - first - 1) * (level == 1 ? size : (beginSize + endSize) / 2)
        // What a damaged page says of its size may come to more than any number of records.
        return Int(min(count.rounded(), Double(pages.recordsMaximum), Double(record.entries)))
    }

    /// How many records a page and those below it have, and the share of these that lies before a key, by the
    /// number of children on the way to it.
    private func part(
        before end: KeyEnd, below number: UInt64, level: Int
    ) throws(PageFault) -> (share: Double, size: Double) {
        var number = number
        var size = 1.0
        var share = 0.0
        for _ in level..<record.depth {
            let page = try pages.page(number, .branch)
            let index = try page.child(to: end)
            size *= Double(page.nodeCount)
            share += Double(index) / size
            number = try page.node(index).child
        }
        let leaf = try pages.page(number, .leaf)
        size *= Double(leaf.nodeCount)
        return (share + Double(try leaf.child(to: end)) / size, size)
    }
}

/// An end of a range of keys; nil for that of the tree.
private enum KeyEnd {
    case begin(SoughtKey?)
    case end(SoughtKey?)
}

extension PageView {
    /// The node of a branch that leads to an end, or the place of a leaf that it is before.
    fileprivate func child(to end: KeyEnd) throws(PageFault) -> Int {
        switch end {
        case .begin(nil): return 0
        case .end(nil): return kind == .leaf ? nodeCount : nodeCount - 1
        case .begin(let key?), .end(let key?):
            return kind == .leaf ? try place(of: key).index : try childIndex(for: key)
        }
    }
}
