/// Offsets of some elements of a list, rising. The others are its rest.
extension [Int] {
    /// How many of the offsets lie before one.
    func count(before offset: Int) -> Int {
        partitioningIndex { self[$0] >= offset }
    }

    /// The offset within the rest of an element that is not among these.
    func restOffset(of offset: Int) -> Int { offset - count(before: offset) }

    /// The offset in the whole list of an element of the rest.
    func offset(ofRest rest: Int) -> Int {
        rest + partitioningIndex { self[$0] - $0 > rest }
    }

    /// The first index at which a condition holds that holds from there on.
    private func partitioningIndex(_ holds: (Int) -> Bool) -> Int {
        var (lower, upper) = (0, count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if holds(middle) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }

    /// The indices of a longest rising part of a list of distinct numbers.
    ///
    /// - Complexity: O(*n* log *n*).
    var longestRise: [Int] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: count)
        for index in indices {
            var (lower, upper) = (0, tails.count)
            while lower < upper {
                let middle = (lower + upper) / 2
                if self[tails[middle]] < self[index] { lower = middle + 1 } else { upper = middle }
            }
            if lower > 0 { previous[index] = tails[lower - 1] }
            if lower == tails.count { tails.append(index) } else { tails[lower] = index }
        }
        var rise: [Int] = []
        var next = tails.last ?? -1
        while next >= 0 {
            rise.append(next)
            next = previous[next]
        }
        return rise.reversed()
    }
}

/// What leads from one list to another: elements are taken out, then others are put in.
struct OffsetChanges<Element: Hashable & Sendable>: Sendable, Hashable {
    /// An element and where it is.
    struct Place: Sendable, Hashable {
        let offset: Int
        let element: Element
    }

    /// What is taken out, by rising offsets in the first list.
    var removals: [Place] = []
    /// What is put in, by rising offsets in the second list.
    var insertions: [Place] = []

    /// Whether both lists are the same.
    var isEmpty: Bool { removals.isEmpty && insertions.isEmpty }

    /// What leads from the first list to the one after the next changes.
    ///
    /// - Complexity: O(*k* log *k*), *k* the number of both.
    func followed(by next: OffsetChanges) -> OffsetChanges {
        let shortLived = Set(insertions.map(\.offset)).intersection(next.removals.map(\.offset))
        let forth = Mapping(from: next.removals, to: next.insertions)
        let back = Mapping(from: insertions, to: removals)
        let lateRemovals = next.removals.filter { !shortLived.contains($0.offset) }.map {
            Place(offset: back.offset(of: $0.offset), element: $0.element)
        }
        let lastingInsertions = insertions.filter { !shortLived.contains($0.offset) }.map {
            Place(offset: forth.offset(of: $0.offset), element: $0.element)
        }
        return OffsetChanges(
            removals: (removals + lateRemovals).sorted { $0.offset < $1.offset },
            insertions: (next.insertions + lastingInsertions).sorted { $0.offset < $1.offset })
    }

    /// Where an element that stays is after these changes.
    var forward: Mapping { Mapping(from: removals, to: insertions) }

    /// Where an element that has stayed was before these changes.
    var backward: Mapping { Mapping(from: insertions, to: removals) }

    /// Leads from the offset in one list to that in the other, of an element that is in both.
    struct Mapping {
        private let source: [Int]
        private let target: [Int]

        fileprivate init(from source: [Place], to target: [Place]) {
            self.source = source.map(\.offset)
            self.target = target.map(\.offset)
        }

        func offset(of offset: Int) -> Int {
            target.offset(ofRest: source.restOffset(of: offset))
        }
    }
}
