import DaybookJournalLog

/// The runs of entries that undos name, asked of the entries before them, newest first.
///
/// Whoever walks a journal from its end back asks of each entry whether an undo after it names it. There may be as many
/// undos as other entries, so they are not looked through for each: a run counts from its end on, and from there what
/// matters is the lowest beginning of all that have ended.
///
/// Invariant: `lowest` is the beginning of the run that reaches farthest back, of all that end at `position` or after it.
struct UndoneRuns {
    /// By the entry at which runs end, where the one that reaches farthest back begins.
    private var begins: [SequenceNumber: SequenceNumber] = [:]
    private var lowest: SequenceNumber?
    private var position: SequenceNumber?

    /// Takes in the run that an undo names.
    ///
    /// - Parameters:
    ///   - run: The entries.
    ///   - sequence: The undo, of which ``holds(_:)`` was asked last. What a run has from there on does not count.
    mutating func add(_ run: ClosedRange<SequenceNumber>, undoneBy sequence: SequenceNumber) {
        guard run.lowerBound < sequence else { return }
        let end = min(run.upperBound, sequence.previous)
        begins[end] = min(begins[end] ?? run.lowerBound, run.lowerBound)
    }

    /// Whether an entry is in one of the runs.
    ///
    /// - Parameter sequence: The entry; none after the one of which this was asked before.
    /// - Returns: Whether an undo after it, of those that were taken in, names it.
    /// - Complexity: O(*n*), *n* the number of entries since the one before.
    mutating func holds(_ sequence: SequenceNumber) -> Bool {
        var next = position?.previous ?? sequence
        while next >= sequence, next > .zero {
            if let begin = begins.removeValue(forKey: next) {
                lowest = min(lowest ?? begin, begin)
            }
            next = next.previous
        }
        position = sequence
        return lowest.map { $0 <= sequence } ?? false
    }
}
