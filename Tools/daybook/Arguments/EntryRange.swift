/// One entry as a command line names it, or the first and last of several: `42`, `head`, `v1..v2`.
struct EntryRange: Equatable, Sendable {
    let first: JournalPosition
    /// Nil for a single entry.
    let last: JournalPosition?

    init?(_ text: String) {
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map {
            JournalPosition(String($0))
        }
        guard ends.count < 3, let first = ends[0] else { return nil }
        guard ends.count == 2 else {
            self.first = first
            last = nil
            return
        }
        guard let last = ends[1] else { return nil }
        self.first = first
        self.last = last
    }
}

extension ValueParser where Value == EntryRange {
    /// One entry, or the first and last of several.
    static var entries: ValueParser {
        ValueParser(
            "a sequence number such as 42, 'head', a time, a tag, or a range such as 42..45"
        ) { EntryRange($0) }
    }
}
