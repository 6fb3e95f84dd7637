/// Positions of entries, kept as the few runs that they form.
package struct SequenceRanges: Sendable {
    /// In order; between two of them at least one position is missing.
    private var runs: [ClosedRange<SequenceNumber>] = []

    /// How many positions there are.
    package private(set) var count = 0

    package init() {}

    package init(_ sequences: Set<SequenceNumber>) {
        for sequence in sequences.sorted() { insert(sequence) }
    }

    /// Whether a position is among them.
    ///
    /// - Complexity: O(log *r*), *r* the number of runs.
    package func contains(_ sequence: SequenceNumber) -> Bool {
        let index = index(of: sequence)
        return index < runs.count && runs[index].contains(sequence)
    }

    /// Adds a position.
    ///
    /// - Complexity: O(1) for one after all others, else O(*r*).
    package mutating func insert(_ sequence: SequenceNumber) {
        let index = index(of: sequence)
        var run = sequence...sequence
        var replaced = index..<index
        if index < runs.count {
            guard !runs[index].contains(sequence) else { return }
            if runs[index].lowerBound == sequence.next {
                run = sequence...runs[index].upperBound
                replaced = index..<index + 1
            }
        }
        if index > 0, runs[index - 1].upperBound.next == sequence {
            run = runs[index - 1].lowerBound...run.upperBound
            replaced = index - 1..<replaced.upperBound
        }
        runs.replaceSubrange(replaced, with: [run])
        count += 1
    }

    /// Removes a position.
    ///
    /// - Returns: Whether it was there.
    /// - Complexity: O(*r*).
    package mutating func remove(_ sequence: SequenceNumber) -> Bool {
        let index = index(of: sequence)
        guard index < runs.count, runs[index].contains(sequence) else { return false }
        let run = runs[index]
        var left: [ClosedRange<SequenceNumber>] = []
        if run.lowerBound < sequence { left.append(run.lowerBound...sequence.previous) }
        if sequence < run.upperBound { left.append(sequence.next...run.upperBound) }
        runs.replaceSubrange(index..<index + 1, with: left)
        count -= 1
        return true
    }

    /// The first run that does not end before a position.
    private func index(of sequence: SequenceNumber) -> Int {
        guard let last = runs.last, sequence <= last.upperBound else { return runs.count }
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SequenceRanges {
    /// How many runs hold the positions, for tests.
    var runCount: Int { runs.count }
}
