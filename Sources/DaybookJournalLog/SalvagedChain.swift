internal import DaybookLMDB

/// An entry that was found in a damaged file, without its bytes.
struct SalvagedEntry {
    let sequence: UInt64
    let digest: Digest
    let previous: Digest
    /// Where its chunks are.
    let places: [SalvagedFile.Place]
    /// Whether the trees lead to it, or to its digest.
    fileprivate(set) var isSaid = false
    /// How many entries there are that follow each other and end with it.
    fileprivate(set) var reach = 1

    init(_ entry: JournalEntry, at places: [SalvagedFile.Place]) {
        sequence = entry.sequence.rawValue
        digest = entry.digest
        previous = entry.previous
        self.places = places
    }
}

/// The entries of a journal, chosen from all that were found in a damaged file.
///
/// From the head backwards each entry names the one before it by its digest, so another one of that number is none of
/// the journal's. Below an entry that is lost it is the one that the trees lead to or, where they cannot be followed, the
/// one that the most entries lead up to.
struct SalvagedChain {
    /// In order, each number once.
    private(set) var entries: [SalvagedEntry] = []

    /// - Parameters:
    ///   - found: All entries that were found, by number.
    ///   - end: The recorded head; nil when it cannot be read.
    ///   - isEndKept: Whether the same digest stands beside an entry: the record of the head is not damaged then.
    ///   - hasFollowers: Whether there may be entries behind the head.
    /// - Complexity: O(*n*), *n* the number of entries found.
    init(
        _ found: [SalvagedEntry], endingWith end: RecordedHead?, isEndKept: Bool, hasFollowers: Bool
    ) {
        let found = Self.reaching(found)
        var index = found.count
        var isProved = false
        while index > 0 {
            let number = found[index - 1].sequence
            let alike = Self.group(endingAt: index, of: found)
            index = alike.startIndex
            if let end, number > end.sequence.rawValue { continue }
            var wanted: Digest?
            if let end, number == end.sequence.rawValue {
                (wanted, isProved) = (end.digest, isEndKept)
            } else if let last = entries.last, last.sequence == number + 1 {
                wanted = last.previous
            } else {
                isProved = false
            }
            if let wanted, let entry = alike.first(where: { $0.digest == wanted }) {
                if number == end?.sequence.rawValue || entry.isSaid { isProved = true }
                entries.append(entry)
                continue
            }
            // The one that stood here is lost.
            if isProved, wanted != nil { continue }
            isProved = false
            if let entry = alike.max(by: { $0.reach < $1.reach }) {
                isProved = entry.isSaid
                entries.append(entry)
            }
        }
        entries.reverse()
        guard hasFollowers, let end else { return }
        for entry in found where entry.sequence > end.sequence.rawValue {
            guard let last = entries.last, entry.sequence == last.sequence + 1,
                entry.previous == last.digest
            else { continue }
            entries.append(entry)
        }
    }

    /// The entries, with the number of those that lead up to each.
    private static func reaching(_ found: [SalvagedEntry]) -> [SalvagedEntry] {
        var found = found
        var before: [Digest: Int] = [:]
        var start = 0
        while start < found.count {
            let number = found[start].sequence
            if start > 0, found[start - 1].sequence + 1 != number { before = [:] }
            var present: [Digest: Int] = [:]
            while start < found.count, found[start].sequence == number {
                found[start].reach = 1 + (before[found[start].previous] ?? 0)
                present[found[start].digest] = found[start].reach
                start += 1
            }
            before = present
        }
        return found
    }

    private static func group(
        endingAt end: Int, of found: [SalvagedEntry]
    ) -> ArraySlice<SalvagedEntry> {
        var start = end - 1
        while start > 0, found[start - 1].sequence == found[end - 1].sequence { start -= 1 }
        return found[start..<end]
    }
}

extension [SalvagedEntry] {
    /// Whether two of them have one number, one does not follow the one before it, or is another one than the last.
    ///
    /// - Parameter end: The last entry by what is recorded of it.
    /// - Returns: False where all of them can be in one journal.
    func contradict(_ end: RecordedHead?) -> Bool {
        zip(self, dropFirst()).contains { before, entry in
            before.sequence == entry.sequence
                || before.sequence + 1 == entry.sequence && before.digest != entry.previous
        }
            || contains { $0.sequence == end?.sequence.rawValue && $0.digest != end?.digest }
    }

    /// The entries, without those that are others than some that the journal is known to have, or that come after such
    /// ones.
    ///
    /// - Parameter said: The digests that entries have by what the trees lead to, by their numbers.
    /// - Returns: The others, in order; ``SalvagedEntry/isSaid`` is set.
    /// - Complexity: O(*n*), *n* the number of entries.
    func consistent(with said: [UInt64: Set<Digest>]) -> [SalvagedEntry] {
        var kept: [SalvagedEntry] = []
        var (number, strange): (UInt64, Set<Digest>) = (0, [])
        // The strange ones with the number before.
        var before: Set<Digest> = []
        for entry in self {
            if entry.sequence != number {
                before = entry.sequence == number + 1 ? strange : []
                (number, strange) = (entry.sequence, [])
            }
            let isSaid = said[number]?.contains(entry.digest) == true
            let isOther = said[number].map { !$0.contains(entry.digest) } ?? false
            let followsOther =
                said[number - 1].map { !$0.contains(entry.previous) } ?? false
                || before.contains(entry.previous)
            if !isSaid, isOther || followsOther {
                strange.insert(entry.digest)
                continue
            }
            var entry = entry
            entry.isSaid = isSaid
            kept.append(entry)
        }
        return kept
    }
}
