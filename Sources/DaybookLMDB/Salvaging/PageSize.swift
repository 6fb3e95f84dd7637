/// The size of a file's pages, whichever of them are damaged: each system makes files with pages of its own size.
enum PageSize {
    /// That of the machines that most files are made on.
    static let usual = 4_096

    /// The size that one of the two first pages says, which is where it must be with pages of that size.
    ///
    /// - Parameter head: The beginning of the file.
    /// - Returns: Nil when neither of them is sound.
    static func said(in head: [UInt8]) -> Int? {
        sizes.first { size in
            [0, 1].contains { number in
                guard let meta = MetaPage(head, at: number * size), Int(meta.pageSize) == size
                else { return false }
                return MetaCheck.findings(meta, number: UInt64(number)).isEmpty
            }
        }
    }

    /// The size that the most pages of a file speak for, by their number and their place.
    ///
    /// - Returns: Nil when no page says which one it is.
    /// - Complexity: O(*n*), *n* the bytes of the file before the first thousand pages of one size.
    static func counted(in source: PageSource) -> Int? {
        var counts: [Int: Int] = [:]
        var offset = 0
        while true {
            let bytes = source.bytes(at: offset, count: bytesTogether, level: 0)
            guard let start = bytes.baseAddress, !bytes.isEmpty else { break }
            for place in stride(
                from: 0, through: bytes.count - FileFormat.pageHeaderSize,
                by: FileFormat.pageSizeRange.lowerBound)
            {
                guard let size = size(of: start + place, at: offset + place) else { continue }
                counts[size, default: 0] += 1
            }
            if counts.values.contains(where: { $0 >= pagesEnough }) { break }
            guard let next = source.written(from: offset + bytes.count) else { break }
            offset = max(offset + bytes.count, next / bytesTogether * bytesTogether)
        }
        // Of two that are equally frequent the greater one: what one page has can look like smaller ones.
        return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// The size of pages that a page has if this is the beginning of one.
    private static func size(of page: UnsafeRawPointer, at offset: Int) -> Int? {
        let number = page.number(at: 0, as: UInt64.self)
        let flags = page.number(at: FileFormat.pageFlagsOffset, as: UInt16.self)
        guard number >= 2, number <= UInt64(offset), offset % Int(number) == 0,
            [FileFormat.branchPage, FileFormat.leafPage, FileFormat.overflowPage].contains(flags),
            case let size = offset / Int(number), FileFormat.isPageSize(size)
        else { return nil }
        return size
    }

    private static var sizes: [Int] {
        var sizes = [FileFormat.pageSizeRange.lowerBound]
        while let last = sizes.last, last < FileFormat.pageSizeRange.upperBound {
            sizes.append(last * 2)
        }
        return sizes
    }

    private static let bytesTogether = 1 << 20
    private static let pagesEnough = 1_000
}
