package import DaybookJournalLog
import DaybookStopping

/// Finds the entry at which the answer to a question turns, by asking about few of the states
/// between two.
///
/// The answer may turn more than once on the way; one of the turns is found then.
///
/// Invariants, while it is looked for:
/// - The answer at `first` is the one at the beginning of the way.
/// - The answer at `last` is the other one.
package struct Bisection {
    /// What can be said of a state.
    package enum Answer: Sendable, Hashable {
        /// It is so.
        case yes
        /// It is not so.
        case no
        /// It cannot be told; another state is asked about instead.
        case unknown
    }

    /// What came out.
    package enum Outcome: Sendable, Hashable {
        /// The answer is the same at both ends.
        case noTurn(Answer)
        /// The entry after which the answer is another one than before it.
        case turn(SequenceNumber, to: Answer)
        /// One of these entries, of which more cannot be told.
        case turnWithin(ClosedRange<SequenceNumber>, to: Answer)
        /// At this end of the way it cannot be told.
        case unknownEnd(SequenceNumber)
    }

    /// How many states were asked about.
    package private(set) var count = 0
    private let ask: (SequenceNumber) throws -> Answer

    /// Prepares a search.
    ///
    /// - Parameter ask: Answers for the state after an entry; always the same for the same one.
    package init(_ ask: @escaping (SequenceNumber) throws -> Answer) {
        self.ask = ask
    }

    /// Looks for a turn on the way from one state to a later one.
    ///
    /// - Returns: What came out.
    /// - Throws: What asking throws.
    /// - Complexity: O(log *n*) questions, *n* the number of entries between, if all are answered.
    /// - Precondition: `older` is not after `newer`.
    package mutating func run(
        from older: SequenceNumber, to newer: SequenceNumber
    ) throws -> Outcome {
        require(older <= newer, "A way leads from an older state to a newer one.")
        let beginning = try answer(at: older)
        guard beginning != .unknown else { return .unknownEnd(older) }
        let end = older == newer ? beginning : try answer(at: newer)
        guard end != .unknown else { return .unknownEnd(newer) }
        guard beginning != end else { return .noTurn(end) }
        var (first, last) = (older.rawValue, newer.rawValue)
        var unknown: Set<UInt64> = []
        while let middle = Self.middle(of: first, last, except: unknown) {
            switch try answer(at: SequenceNumber(middle)) {
            case .unknown: unknown.insert(middle)
            case beginning: first = middle
            default: last = middle
            }
        }
        guard last - first > 1 else { return .turn(SequenceNumber(last), to: end) }
        return .turnWithin(SequenceNumber(first + 1)...SequenceNumber(last), to: end)
    }

    private mutating func answer(at sequence: SequenceNumber) throws -> Answer {
        count += 1
        return try ask(sequence)
    }

    /// The place nearest to the middle between two that can be asked about; nil when none is left.
    private static func middle(
        of first: UInt64, _ last: UInt64, except unknown: Set<UInt64>
    ) -> UInt64? {
        let middle = first + (last - first) / 2
        for distance in 0...(last - first) / 2 + 1 {
            if middle + distance < last, !unknown.contains(middle + distance) {
                return middle + distance == first ? nil : middle + distance
            }
            if middle >= first + 1 + distance, !unknown.contains(middle - distance) {
                return middle - distance
            }
        }
        return nil
    }
}
