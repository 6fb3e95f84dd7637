internal import CDaybookLMDB

/// The leaves that a walk will come to, asked for before it reads them.
///
/// The system cannot guess which page of a tree is read next, and is told so (``PageMap``): it reads the one
/// page that is touched. A walk knows the next leaves from the page above them. While the file is in memory,
/// asking would only cost time; so a walk asks from when its thread had to wait for a leaf.
struct LeavesAhead {
    /// The number of leaves that the walk went on to.
    private var moves = 0
    /// How often the thread had waited for the disk when the walk last looked.
    private var waits = 0
    private var isCold = false
    /// The branch page whose leaves were asked for last, and those of its nodes that are not asked for yet.
    private var branch = FileFormat.noPage
    private var begin = 0
    private var end = 0

    /// Takes notice that the walk goes on to a leaf.
    ///
    /// - Parameters:
    ///   - index: The node of the leaf on the branch page.
    ///   - page: The branch page, of the lowest level.
    ///   - order: The direction of the walk.
    ///   - pages: The pages of the state.
    /// - Throws: ``PageFault`` when the branch page has no such nodes.
    mutating func come(
        to index: Int, on page: PageView, _ order: ScanOrder, in pages: Pages
    ) throws(PageFault) {
        moves &+= 1
        if !isCold {
            guard moves <= 2 || moves & 7 == 0 else { return }
            let before = waits
            waits = daybook_waits_of_thread()
            isCold = moves > 1 && waits > before
            guard isCold else { return }
        }
        try ask(from: index, on: page, order, in: pages)
    }

    /// Asks for the next leaves when half of those asked for are used up.
    private mutating func ask(
        from index: Int, on page: PageView, _ order: ScanOrder, in pages: Pages
    ) throws(PageFault) {
        if branch != page.number {
            branch = page.number
            begin = order == .ascending ? index : 0
            end = order == .ascending ? page.nodeCount : index + 1
        }
        var leaves: [UInt64] = []
        switch order {
        case .ascending where begin - index <= Self.leavesAtOnce / 2:
            let next = min(begin + Self.leavesAtOnce, end)
            leaves = try (begin..<max(begin, next)).map { node throws(PageFault) in
                try page.node(node).child
            }
            begin = max(begin, next)
        case .descending where index + 1 - end <= Self.leavesAtOnce / 2:
            let next = max(begin, end - Self.leavesAtOnce)
            leaves = try (min(next, end)..<end).map { node throws(PageFault) in
                try page.node(node).child
            }
            end = min(next, end)
        default: return
        }
        pages.willRead(leaves)
    }

    /// 256 KiB of pages of 4 KiB.
    private static let leavesAtOnce = 64
}
