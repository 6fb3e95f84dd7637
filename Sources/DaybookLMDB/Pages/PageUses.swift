/// By what each page of a file is used.
///
/// A page takes two bits, in blocks that are made with the first page of them that is used: so memory goes by the
/// pages that something leads to, and not by how long a file is, which may be nothing but a hole.
struct PageUses {
    /// What uses a page.
    enum Use: UInt64 {
        case none = 0
        case inTree = 1
        case free = 2
    }

    /// The words of each block that has a page in use.
    private var blocks: [Int: [UInt64]] = [:]
    /// How many pages are used.
    private(set) var count = 0

    private static let pagesInWord = 32
    private static let wordsInBlock = 2_048
    /// The pages of a block.
    static let pagesInBlock = pagesInWord * wordsInBlock

    /// How many bytes the blocks have.
    var byteCount: Int { blocks.count * Self.wordsInBlock * MemoryLayout<UInt64>.size }

    /// What uses a page.
    subscript(page: Int) -> Use {
        guard let words = blocks[page / Self.pagesInBlock] else { return .none }
        return Use(rawValue: words[Self.word(of: page)] >> Self.shift(of: page) & 3) ?? .none
    }

    /// Notes what uses a page that nothing has used so far.
    mutating func set(_ page: Int, _ use: Use) {
        let bits = use.rawValue << Self.shift(of: page)
        blocks[
            page / Self.pagesInBlock, default: Array(repeating: 0, count: Self.wordsInBlock)
        ][Self.word(of: page)] |= bits
        count += 1
    }

    private static func word(of page: Int) -> Int { page % pagesInBlock / pagesInWord }

    private static func shift(of page: Int) -> UInt64 { UInt64(page % pagesInWord) * 2 }
}
