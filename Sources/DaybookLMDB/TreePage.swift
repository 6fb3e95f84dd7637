/// A branch or leaf page: a header, offsets growing up, nodes growing down.
///
/// ``problems(number:size:isLeaf:)`` must have found nothing before any other use.
struct TreePage {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    // MARK: - Soundness

    /// The faults of the page's header, its offsets and the positions of its nodes.
    ///
    /// LMDB keeps nodes packed: they fill the page from `upper` to its end without a gap, each
    /// beginning at an even offset. So a changed size or offset is detected.
    func problems(number: UInt64, size: Int, isLeaf: Bool) -> [String] {
        guard bytes.count == size else { return ["the file ends within it"] }
        let said: UInt64 = bytes.number(0)
        if said != number { return ["it says it is page \(said)"] }
        let flags: UInt16 = bytes.number(FileFormat.pageFlagsOffset)
        let flagsRight = isLeaf ? FileFormat.leafPage : FileFormat.branchPage
        if flags != flagsRight {
            return ["its flags are \(flags) instead of \(flagsRight)"]
        }
        let (lower, upper) = (lower, upper)
        guard lower >= FileFormat.pageHeaderSize, lower & 1 == 0, lower <= upper, upper <= size
        else { return ["its free space from \(lower) to \(upper) is impossible"] }
        guard nodeCount >= (isLeaf ? 1 : 2) else { return ["it has \(nodeCount) nodes"] }
        return nodeProblems(isLeaf: isLeaf)
    }

    private func nodeProblems(isLeaf: Bool) -> [String] {
        var ranges: [(begin: Int, end: Int)] = []
        ranges.reserveCapacity(nodeCount)
        for index in 0..<nodeCount {
            let begin = nodeOffset(index)
            guard begin >= upper, begin & 1 == 0,
                begin + FileFormat.nodeHeaderSize <= bytes.count
            else { return ["node \(index) begins at \(begin), outside of the nodes"] }
            let size = nodeSize(index, isLeaf: isLeaf)
            let end = begin + size + size % 2
            guard end <= bytes.count else { return ["node \(index) ends after the page"] }
            ranges.append((begin, end))
        }
        ranges.sort { $0.begin < $1.begin }
        var expected = upper
        for node in ranges {
            if node.begin != expected { return ["its nodes overlap or leave a gap at \(expected)"] }
            expected = node.end
        }
        return expected == bytes.count ? [] : ["its nodes end at \(expected)"]
    }

    private func nodeSize(_ index: Int, isLeaf: Bool) -> Int {
        let head = FileFormat.nodeHeaderSize + keySize(index)
        guard isLeaf else { return head }
        return head + (flags(index) & FileFormat.nodeOverflow != 0 ? 8 : valueSize(index))
    }

    // MARK: - Nodes

    var nodeCount: Int { (lower - FileFormat.pageHeaderSize) / 2 }

    /// The longest node LMDB keeps in a page of this size, so that at least two fit.
    var nodeMaximum: Int { ((bytes.count - FileFormat.pageHeaderSize) / 2 & ~1) - 2 }

    func flags(_ index: Int) -> UInt16 { bytes.number(nodeOffset(index) + 4) }

    func valueSize(_ index: Int) -> Int {
        let size: UInt32 = bytes.number(nodeOffset(index))
        return Int(size)
    }

    func key(_ index: Int) -> [UInt8] {
        let begin = nodeOffset(index) + FileFormat.nodeHeaderSize
        return Array(bytes[begin..<begin + keySize(index)])
    }

    func valueInPage(_ index: Int) -> [UInt8] {
        let begin = valueOffset(index)
        return Array(bytes[begin..<begin + valueSize(index)])
    }

    func overflowPage(_ index: Int) -> UInt64 { bytes.number(valueOffset(index)) }

    /// A branch node has its page number in the fields of a leaf node's size and flags.
    func child(_ index: Int) -> UInt64 {
        let low: UInt32 = bytes.number(nodeOffset(index))
        return UInt64(low) | UInt64(flags(index)) << 32
    }

    private var lower: Int {
        let value: UInt16 = bytes.number(FileFormat.pageLowerOffset)
        return Int(value)
    }

    private var upper: Int {
        let value: UInt16 = bytes.number(FileFormat.pageUpperOffset)
        return Int(value)
    }

    private func nodeOffset(_ index: Int) -> Int {
        let value: UInt16 = bytes.number(FileFormat.pageHeaderSize + 2 * index)
        return Int(value)
    }

    private func keySize(_ index: Int) -> Int {
        let value: UInt16 = bytes.number(nodeOffset(index) + 6)
        return Int(value)
    }

    private func valueOffset(_ index: Int) -> Int {
        nodeOffset(index) + FileFormat.nodeHeaderSize + keySize(index)
    }
}
