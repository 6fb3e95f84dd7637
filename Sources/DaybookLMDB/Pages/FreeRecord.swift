/// A record of the free list: the pages that a transaction has freed.
///
/// It may be as long as the file has pages, so it is read piece by piece.
struct FreeRecord {
    /// The transaction.
    let transaction: UInt64
    /// Where the first page number is in the file.
    let offset: Int
    /// How many page numbers there are.
    let count: Int

    /// Passes on the numbers of the pages.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - level: The buffer of the source to use.
    ///   - body: Takes a number, and returns whether to go on.
    /// - Returns: Whether the file has them all.
    func forEachPage(
        in source: PageSource, level: Int, _ body: (UInt64) -> Bool
    ) -> Bool {
        var done = 0
        while done < count {
            let wanted = min(count - done, Self.pagesTogether)
            let bytes = source.bytes(
                at: offset + done * Self.numberSize, count: wanted * Self.numberSize, level: level)
            guard let start = bytes.baseAddress, bytes.count == wanted * Self.numberSize else {
                return false
            }
            for index in 0..<wanted
            where !body(start.number(at: index * Self.numberSize, as: UInt64.self)) {
                return true
            }
            done += wanted
        }
        return true
    }

    /// The bytes of a page's number.
    static let numberSize = 8
    private static let pagesTogether = 8_192
}
