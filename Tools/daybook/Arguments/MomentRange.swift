/// A range of the journal on the command line: `A..B`, both included, or `A..` or `..B`.
struct MomentRange: Equatable, Sendable {
    let first: JournalPosition?
    let last: JournalPosition?

    init?(_ text: String) {
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        guard ends.count == 2, ends != ["", ""] else { return nil }
        first = JournalPosition(ends[0])
        last = JournalPosition(ends[1])
        guard ends[0].isEmpty == (first == nil), ends[1].isEmpty == (last == nil) else {
            return nil
        }
    }
}

extension ValueParser where Value == MomentRange {
    /// A range of the journal.
    static var range: ValueParser {
        ValueParser("a range such as 3..7, 3.. or 2011-01-01..2011-12-31") { MomentRange($0) }
    }
}
