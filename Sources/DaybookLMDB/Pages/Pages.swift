internal import Foundation

// The room of pages: the bytes of the file as LMDB lays them out, read and checked without LMDB.
// Nothing in a file is trusted: every offset, count and page number is checked before it is
// followed.

/// The pages of one state of a file, in memory.
///
/// No page number is followed that was not checked to be one of them.
struct Pages {
    private let bytes: UnsafeRawBufferPointer
    let pageSize: Int
    let count: Int
    /// What is known of them; nil when nothing is remembered.
    private let marks: PageMarks?
    /// Counts them for who asks; nil for nobody. It outlives the value, so that no copy counts references.
    private let meter: Unmanaged<ReadMeter>?

    /// Pages whose bytes must outlive the value.
    ///
    /// - Parameters:
    ///   - bytes: The file, or its first part.
    ///   - pageSize: The size of a page, one of ``FileFormat/pageSizeRange``.
    ///   - count: The number of pages that belong to the state; fewer, if there are not so many.
    ///   - marks: Remembers what was found of them; it must outlive the value.
    init(
        _ bytes: UnsafeRawBufferPointer, pageSize: Int, count: UInt64,
        marks: PageMarks? = nil
    ) {
        self.bytes = bytes
        self.marks = marks
        self.pageSize = pageSize
        meter = nil
        self.count = Int(min(count, UInt64(bytes.count / pageSize)))
    }

    /// The same pages, counted as they are read by a meter that must outlive the value.
    func counted(by meter: ReadMeter) -> Pages { Pages(self, meter) }

    private init(_ other: Pages, _ meter: ReadMeter) {
        (bytes, pageSize, count, marks) = (other.bytes, other.pageSize, other.count, other.marks)
        self.meter = .passUnretained(meter)
    }

    /// Calls `body` with the bytes of all pages. What it reads of them brings its neighbours along.
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        bytes.advise(MADV_NORMAL)
        defer { bytes.advise(MADV_RANDOM) }
        return body(UnsafeRawBufferPointer(rebasing: bytes.prefix(count * pageSize)))
    }

    /// Has the system begin to read pages that are not in memory. Numbers that are not in the file do not count.
    func willRead(_ numbers: [UInt64]) {
        var next = 0
        let sorted = numbers.filter { $0 < UInt64(count) }.sorted()
        while next < sorted.count {
            let first = next
            repeat { next += 1 } while next < sorted.count && sorted[next] == sorted[next - 1] + 1
            willRead(Int(sorted[first]), count: next - first)
        }
    }

    /// The same for pages that lie side by side, all of them in the file.
    private func willRead(_ first: Int, count: Int) {
        let run = first * pageSize..<(first + count) * pageSize
        UnsafeRawBufferPointer(rebasing: bytes[run]).advise(MADV_WILLNEED)
    }

    /// More records than fit into the pages: a node has eight bytes and two for its offset.
    var recordsMaximum: UInt64 { UInt64(count) * UInt64(pageSize / 10) }

    /// The branch or leaf page of that number.
    @inline(__always)
    func page(_ number: UInt64, _ kind: PageView.Kind) throws(PageFault) -> PageView {
        guard number >= 2, number < UInt64(count), let start = bytes.baseAddress else {
            throw notInFile(number)
        }
        if let meter { meter._withUnsafeGuaranteedRef { $0.readPages(1) } }
        return try PageView(
            UnsafeRawBufferPointer(start: start + Int(number) &* pageSize, count: pageSize),
            number: number, kind)
    }

    /// Checks that no node of a page is missing, unless that is known.
    @inline(__always)
    func confirmComplete(_ page: PageView, isOrdered: Bool) throws(PageFault) {
        // What is remembered are pages whose keys are in order.
        if isOrdered, marks?.isComplete(page.number) == true { return }
        try page.checkCompleteness(isOrdered: isOrdered)
        if isOrdered { marks?.setComplete(page.number) }
    }

    /// Whether all records of a leaf are known to have the checks of a table, by its handle.
    @inline(__always)
    func isSound(_ leaf: PageView, in table: UInt32) -> Bool {
        marks?.isSound(leaf.number, in: table) == true
    }

    /// Remembers that all records of a leaf have the checks of a table.
    @inline(__always)
    func rememberSound(_ leaf: PageView, in table: UInt32) {
        marks?.setSound(leaf.number, in: table)
    }

    /// The value of a leaf's node, behind its key or on pages of its own.
    @inline(__always)
    func value(_ node: PageView.Node, on page: PageView) throws(PageFault) -> UnsafeRawBufferPointer
    {
        switch node.flags {
        case 0: return try page.valueInPage(node, count: node.valueSize)
        case FileFormat.nodeOverflow: return try overflowValue(node, on: page)
        default: throw wrongFlags(node, page)
        }
    }

    @inline(never)
    private func overflowValue(
        _ node: PageView.Node, on page: PageView
    ) throws(PageFault) -> UnsafeRawBufferPointer {
        let first = try page.overflowPage(node)
        guard first >= 2, first < UInt64(count) else { throw notInFile(first) }
        let run = UnsafeRawBufferPointer(rebasing: bytes[(Int(first) * pageSize)...])
        let pages = try Self.overflowPages(
            run, first, holding: node.valueSize, pageSize: pageSize, pageCount: count)
        if let meter { meter._withUnsafeGuaranteedRef { $0.readPages(pages) } }
        if pages >= Self.longRun { willRead(Int(first), count: pages) }
        return UnsafeRawBufferPointer(
            rebasing: run[FileFormat.pageHeaderSize...].prefix(node.valueSize))
    }

    /// A value on so many pages is worth one more call of the system.
    private static let longRun = 8

    /// Counts the pages of a long value.
    ///
    /// - Parameters:
    ///   - header: The bytes from the first page on, at least those of its header.
    ///   - first: The number of the first page.
    ///   - size: The number of the value's bytes.
    ///   - pageSize: The size of a page.
    ///   - pageCount: The number of pages in the file.
    /// - Returns: Their number.
    /// - Throws: ``PageFault`` when they are not such pages, too few for the value, or not all in the
    ///   file.
    static func overflowPages(
        _ header: UnsafeRawBufferPointer, _ first: UInt64, holding size: Int, pageSize: Int,
        pageCount: Int
    ) throws(PageFault) -> Int {
        guard let start = header.baseAddress, header.count >= FileFormat.pageHeaderSize else {
            throw PageFault(page: first, what: "the file ends within it")
        }
        let pages = Int(start.number(at: FileFormat.pageOverflowOffset, as: UInt32.self))
        let needed = (FileFormat.pageHeaderSize - 1 + size) / pageSize + 1
        guard start.number(at: 0, as: UInt64.self) == first,
            start.number(at: FileFormat.pageFlagsOffset, as: UInt16.self)
                == FileFormat.overflowPage,
            pages >= needed, UInt64(pages) <= UInt64(pageCount) - first
        else { throw PageFault(page: first, what: "it is not the beginning of an overflow value") }
        return pages
    }

    @inline(never)
    private func notInFile(_ number: UInt64) -> PageFault {
        PageFault(page: number, what: "it is not in the file")
    }

    @inline(never)
    private func wrongFlags(_ node: PageView.Node, _ page: PageView) -> PageFault {
        PageFault(
            page: page.number,
            what: "a record has flags \(node.flags) and \(node.valueSize) bytes")
    }
}
