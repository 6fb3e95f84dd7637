package import DaybookJournalLog
import DaybookStopping

/// Finds the entry at which the answer to a question turns, by testing a few of the states in a
/// range.
///
/// If the answer turns more than once, one of the turns is found.
///
/// Invariants during the search:
/// - The answer at `first` is the answer at the beginning of the range.
/// - The answer at `last` is the other one.
package struct Bisection {
    /// The answer for a state.
    package enum Answer: Sendable, Hashable {
        /// Yes.
        case yes
        /// No.
        case no
        /// Unknown; another state is tested instead.
        case unknown
    }

    /// The result of a search.
    package enum Outcome: Sendable, Hashable {
        /// The answer is the same at both ends.
        case noTurn(Answer)
        /// The entry that changes the answer.
        case turn(SequenceNumber, to: Answer)
        /// One of these entries; it is unknown which.
        case turnWithin(ClosedRange<SequenceNumber>, to: Answer)
        /// The answer at this end of the range is unknown.
        case unknownEnd(SequenceNumber)
    }

    /// The number of states tested.
    package private(set) var count = 0
    private let ask: (SequenceNumber) throws -> Answer

    /// Prepares a search.
    ///
    /// - Parameter ask: Answers for the state after an entry; always the same for the same one.
    package init(_ ask: @escaping (SequenceNumber) throws -> Answer) {
        self.ask = ask
    }

    /// Looks for a turn between a state and a later one.
    ///
    /// - Returns: The result.
    /// - Throws: Errors of the question.
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

    /// The candidate nearest to the middle of the range; nil if none is left.
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
