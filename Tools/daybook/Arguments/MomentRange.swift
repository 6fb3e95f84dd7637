/// A part of the journal as a command line names it: `A..B`, both included, or `A..` or `..B`.
struct MomentRange: Equatable, Sendable {
    let first: PlaceInJournal?
    let last: PlaceInJournal?

    init?(_ text: String) {
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        guard ends.count == 2, ends != ["", ""] else { return nil }
        first = PlaceInJournal(ends[0])
        last = PlaceInJournal(ends[1])
        guard ends[0].isEmpty == (first == nil), ends[1].isEmpty == (last == nil) else {
            return nil
        }
    }
}

extension ValueParser where Value == MomentRange {
    /// A part of the journal from one place to another.
    static var range: ValueParser {
        ValueParser("a range such as 3..7, 3.. or 2011-01-01..2011-12-31") { MomentRange($0) }
    }
}
