internal import CDaybookChecks

/// The fault of a page that does not hold what it should.
struct PageFault: Error, Hashable {
    /// The page; nil for a fault of what the tree says about itself.
    let page: UInt64?
    /// A clause about the page, as "its flags are 3".
    let what: String
}

/// A branch or leaf page in memory: a header, offsets growing up, nodes growing down.
///
/// What a page looks like is known here and nowhere else: reads go through it, and so does the check
/// of a whole file. Its bytes are not trusted, and may even change meanwhile.
///
/// Invariants:
/// - The header was checked when the view was made: the page is the one it says it is, of the kind that
///   its place in the tree demands, and its offsets lie before its nodes.
/// - No byte is read outside of the page. A number of the page is loaded once, checked, and then used.
struct PageView {
    /// The two kinds, by the flag each has in the file.
    enum Kind: UInt16 {
        case branch = 0x01
        case leaf = 0x02
    }

    /// How many nodes before it is read a node is fetched: one takes the processor longer to fetch than several to
    /// look at.
    static let nodesAhead = 4

    let number: UInt64
    let kind: Kind
    let nodeCount: Int
    private let start: UnsafeRawPointer
    private let size: Int
    /// The offset of the first node's byte.
    private let upper: Int

    /// A page whose bytes must outlive the view.
    ///
    /// - Throws: ``PageFault`` when the header is not that of such a page.
    @inline(__always)
    init(
        _ bytes: UnsafeRawBufferPointer, number: UInt64, _ kind: Kind
    ) throws(PageFault) {
        guard let start = bytes.baseAddress, bytes.count >= FileFormat.pageSizeRange.lowerBound
        else { throw PageFault(page: number, what: "the file ends within it") }
        let said = start.number(at: 0, as: UInt64.self)
        // Padding, flags, lower and upper.
        let header = start.number(at: 8, as: UInt64.self)
        let flags = UInt16(truncatingIfNeeded: header >> 16)
        let lower = Int(UInt16(truncatingIfNeeded: header >> 32))
        let upper = Int(header >> 48)
        let nodeCount = (lower - FileFormat.pageHeaderSize) >> 1
        guard said == number, flags == kind.rawValue, lower & 1 == 0, lower <= upper,
            upper <= bytes.count, nodeCount >= kind.nodesMinimum
        else {
            throw Self.fault(
                number, kind, said: said, flags: flags, lower: lower, upper: upper,
                size: bytes.count)
        }
        self.start = start
        self.size = bytes.count
        self.number = number
        self.kind = kind
        self.nodeCount = nodeCount
        self.upper = upper
    }

    @inline(never)
    private static func fault(
        _ number: UInt64, _ kind: Kind, said: UInt64, flags: UInt16, lower: Int, upper: Int,
        size: Int
    ) -> PageFault {
        let what =
            if said != number {
                "it says it is page \(said)"
            } else if flags != kind.rawValue {
                "its flags are \(flags) instead of \(kind.rawValue)"
            } else if lower >= FileFormat.pageHeaderSize, lower & 1 == 0, lower <= upper,
                upper <= size
            {
                "it has \((lower - FileFormat.pageHeaderSize) / 2) nodes"
            } else {
                "its free space from \(lower) to \(upper) is impossible"
            }
        return PageFault(page: number, what: what)
    }

    // MARK: - Nodes

    /// A node whose header and key lie within the page.
    struct Node {
        fileprivate let start: UnsafeRawPointer
        /// Size, flags and key size of a leaf's node; page number and key size of a branch's.
        fileprivate let header: UInt64

        @inline(__always)
        var key: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                start: start + FileFormat.nodeHeaderSize, count: Int(header >> 48))
        }

        @inline(__always)
        var flags: UInt16 { UInt16(truncatingIfNeeded: header >> 32) }

        @inline(__always)
        var valueSize: Int { Int(UInt32(truncatingIfNeeded: header)) }

        /// A branch's node has the page number in the fields of a leaf's size and flags.
        @inline(__always)
        var child: UInt64 { header & 0xFFFF_FFFF_FFFF }
    }

    /// A node, by its position in the order of keys.
    @inline(__always)
    func node(_ index: Int) throws(PageFault) -> Node {
        guard index >= 0, index < nodeCount else { throw noNode(index) }
        let offset = Int(
            start.number(at: FileFormat.pageHeaderSize + 2 * index, as: UInt16.self))
        guard offset >= upper, offset <= size - FileFormat.nodeHeaderSize else {
            throw misplaced(index, offset)
        }
        let header = start.number(at: offset, as: UInt64.self)
        guard Int(header >> 48) <= size - FileFormat.nodeHeaderSize - offset else {
            throw tooLong(index)
        }
        return Node(start: start + offset, header: header)
    }

    /// Has the processor fetch the beginning of a node, if there is one, which will be read soon.
    ///
    /// Most of a walk over pages that are in memory, and in no cache of the processor, is waiting for the next node:
    /// nodes lie one before the other, which the processor does not foresee.
    @inline(__always)
    func prefetch(_ index: Int) {
        guard index >= 0, index < nodeCount else { return }
        let offset = Int(
            start.number(at: FileFormat.pageHeaderSize + 2 * index, as: UInt16.self))
        daybook_prefetch(start + offset)
        daybook_prefetch(start + offset + 64)
    }

    /// The value of a leaf's node that lies behind its key.
    @inline(__always)
    func valueInPage(_ node: Node, count: Int) throws(PageFault) -> UnsafeRawBufferPointer {
        let key = node.key
        let begin = node.start + (FileFormat.nodeHeaderSize + key.count)
        guard count <= size - (begin - start) else {
            throw PageFault(page: number, what: "a value of \(count) bytes ends after it")
        }
        return UnsafeRawBufferPointer(start: begin, count: count)
    }

    /// Where bytes of the page are in it.
    func offset(of bytes: UnsafeRawBufferPointer) -> Int {
        bytes.baseAddress.map { $0 - start } ?? 0
    }

    /// The first page of a value that lies on pages of its own.
    func overflowPage(_ node: Node) throws(PageFault) -> UInt64 {
        let bytes = try valueInPage(node, count: MemoryLayout<UInt64>.size)
        guard let start = bytes.baseAddress else { return FileFormat.noPage }
        return start.number(at: 0, as: UInt64.self)
    }

    /// The longest node LMDB keeps in a page of this size, so that at least two fit.
    var nodeMaximum: Int { ((size - FileFormat.pageHeaderSize) / 2 & ~1) - 2 }

    // MARK: - Searching

    /// The first position whose key is not before the sought one, and whether it is that key.
    ///
    /// The first key of a branch page means "everything before the second", and is passed over.
    @inline(__always)
    func place(of key: SoughtKey) throws(PageFault) -> (index: Int, isFound: Bool) {
        let first = kind == .leaf ? 0 : 1
        return try place(of: key, from: first, startingAt: (first &+ nodeCount) >> 1)
    }

    /// The same for a leaf whose keys are mostly numbers that follow each other: the key is looked for
    /// first where it would be if they were evenly spread.
    @inline(__always)
    func estimatedPlace(of key: SoughtKey) throws(PageFault) -> (index: Int, isFound: Bool) {
        let last = nodeCount - 1
        let lowest = try node(0).key
        guard let distance = key.distance(behind: lowest), distance < 1 << 32,
            let range = try SoughtKey(node(last).key).distance(behind: lowest), range < 1 << 32,
            distance <= range
        else { return try place(of: key) }
        let estimate = range == 0 ? 0 : Int(distance &* UInt64(last) / range)
        return try place(of: key, from: 0, startingAt: estimate)
    }

    @inline(__always)
    private func place(
        of key: SoughtKey, from first: Int, startingAt start: Int
    ) throws(PageFault) -> (index: Int, isFound: Bool) {
        var low = first
        var high = nodeCount
        var middle = start
        while low < high {
            let order = key.order(to: try node(middle).key)
            if order == 0 { return (middle, true) }
            if order > 0 { low = middle &+ 1 } else { high = middle }
            middle = (low &+ high) >> 1
        }
        return (low, false)
    }

    /// The position of the branch's node that leads to a key.
    @inline(__always)
    func childIndex(for key: SoughtKey) throws(PageFault) -> Int {
        let (index, isFound) = try place(of: key)
        return isFound ? index : index - 1
    }

    // MARK: - Faults

    @inline(never)
    private func noNode(_ index: Int) -> PageFault {
        PageFault(page: number, what: "it has \(nodeCount) nodes, and none at \(index)")
    }

    @inline(never)
    private func misplaced(_ index: Int, _ offset: Int) -> PageFault {
        PageFault(page: number, what: "node \(index) begins at \(offset), outside of the nodes")
    }

    @inline(never)
    private func tooLong(_ index: Int) -> PageFault {
        PageFault(page: number, what: "node \(index) ends after the page")
    }
}

extension PageView.Kind {
    /// LMDB has no leaf without a record, and no branch that does not branch.
    @inline(__always)
    fileprivate var nodesMinimum: Int { self == .leaf ? 1 : 2 }
}

extension PageView {
    /// The number of a node's bytes, without that which makes it even.
    @inline(__always)
    private func length(of node: Node) -> Int {
        let head = FileFormat.nodeHeaderSize + node.key.count
        if kind == .branch { return head }
        return head
            + (node.flags & FileFormat.nodeOverflow != 0
                ? MemoryLayout<UInt64>.size : node.valueSize)
    }

    /// Checks that no node can be missing: together they are as long as the page says, and, where they
    /// are ordered by their bytes, each key follows the one before.
    ///
    /// Only then does a key that is not found not exist.
    func checkCompleteness(isOrdered: Bool) throws(PageFault) {
        var total = 0
        // The first key of a branch page is none.
        let first = kind == .branch ? 1 : 0
        var last: SoughtKey?
        for index in 0..<nodeCount {
            prefetch(index + Self.nodesAhead)
            let node = try node(index)
            total &+= (length(of: node) &+ 1) & ~1
            guard isOrdered, index >= first else { continue }
            let key = SoughtKey(node.key)
            if let last, last.order(to: key) >= 0 {
                throw PageFault(
                    page: number,
                    what: "the keys of nodes \(index - 1) and \(index) are out of order")
            }
            last = key
        }
        guard total == size - upper else {
            throw PageFault(
                page: number,
                what: "its \(nodeCount) nodes have \(total) bytes instead of \(size - upper)")
        }
    }

    /// Checks that the nodes fill the page from their beginning to its end without a gap, as LMDB
    /// keeps them: so a changed size or offset is found.
    ///
    /// A read does without, because it needs only that what it reads lies in the page.
    func checkPacking() throws(PageFault) {
        var ranges: [(begin: Int, end: Int)] = []
        ranges.reserveCapacity(nodeCount)
        for index in 0..<nodeCount {
            let node = try node(index)
            let begin = node.start - start
            guard begin & 1 == 0 else { throw misplaced(index, begin) }
            let length = length(of: node)
            let end = begin + length + length % 2
            guard end <= size else { throw tooLong(index) }
            ranges.append((begin, end))
        }
        ranges.sort { $0.begin < $1.begin }
        var expected = upper
        for node in ranges {
            guard node.begin == expected else {
                throw PageFault(
                    page: number, what: "its nodes overlap or leave a gap at \(expected)")
            }
            expected = node.end
        }
        guard expected == size else {
            throw PageFault(page: number, what: "its nodes end at \(expected)")
        }
    }
}

/// A key that is looked for, with its bytes at hand as numbers.
///
/// Keys compare byte by byte, a prefix before longer keys. Eight bytes at a time compare as one number
/// whose highest byte is the first.
struct SoughtKey {
    let bytes: UnsafeRawBufferPointer
    private let first: UInt64
    private let last: UInt64

    /// A key whose bytes must outlive the value.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        guard let start = bytes.baseAddress, bytes.count >= 8 else {
            first = 0
            last = 0
            return
        }
        first = start.bigNumber(at: 0)
        last = start.bigNumber(at: bytes.count - 8)
    }

    /// Negative when this key comes before the other, zero when they are the same.
    @inline(__always)
    func order(to other: SoughtKey) -> Int {
        guard bytes.count == other.bytes.count, bytes.count >= 8, bytes.count <= 16 else {
            return order(to: other.bytes)
        }
        if first != other.first { return first < other.first ? -1 : 1 }
        return last == other.last ? 0 : last < other.last ? -1 : 1
    }

    /// How far a key is behind another one that has the same length and differs only in the last eight
    /// bytes, as numbers; nil for other keys, and when it is before that.
    @inline(__always)
    func distance(behind other: UnsafeRawBufferPointer) -> UInt64? {
        guard bytes.count == other.count, bytes.count >= 8, bytes.count <= 16,
            let start = other.baseAddress, first == start.bigNumber(at: 0)
        else { return nil }
        let otherLast = start.bigNumber(at: bytes.count - 8)
        return otherLast <= last ? last &- otherLast : nil
    }

    /// Negative when the sought key comes before the other, zero when they are the same.
    @inline(__always)
    func order(to other: UnsafeRawBufferPointer) -> Int {
        guard bytes.count >= 8, other.count >= 8, let start = other.baseAddress else {
            return compareBytes(bytes, other)
        }
        let otherFirst = start.bigNumber(at: 0)
        if first != otherFirst { return first < otherFirst ? -1 : 1 }
        if bytes.count == other.count, bytes.count <= 16 {
            // Of fewer than sixteen bytes some are in both numbers, and those are the same.
            let otherLast = start.bigNumber(at: bytes.count - 8)
            return last == otherLast ? 0 : last < otherLast ? -1 : 1
        }
        return compareBytes(
            UnsafeRawBufferPointer(rebasing: bytes[8...]),
            UnsafeRawBufferPointer(rebasing: other[8...]))
    }
}

extension UnsafeRawPointer {
    /// The number at an offset, as LMDB writes it on a little-endian machine.
    @inline(__always)
    func number<Value: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Value.Type
    ) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }

    @inline(__always)
    fileprivate func bigNumber(at offset: Int) -> UInt64 {
        UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
