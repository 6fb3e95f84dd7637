package import DaybookJournalLog

/// The reason why a shared journal did not do what it was asked for.
package struct SharedJournalError: Error, Sendable {
    /// The kinds of reason; programs decide by them.
    package enum Code: Sendable, Hashable, CaseIterable {
        /// No server can be reached that others would confirm.
        case unreachable
        /// The connection was lost before the answer: what was asked for may be done, or not, or may yet be.
        case inDoubt
        /// The two journals do not have the same entries.
        case diverged
        /// An entry does not fit, and was not folded.
        case quarantined
        /// The servers do not hold entries in several places before they accept them.
        case unprotected
        /// An entry is longer than any may be.
        case tooLarge
        /// The server does not allow it: rights, a clock that is ahead, numbers that have run out.
        case refused
    }

    /// The kind of reason.
    package let code: Code
    /// One full sentence, and the remedy where there is one.
    package let message: String
    /// The error of the layer below, if there is one.
    package let cause: (any Error)?

    /// Describes why something was not done.
    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension SharedJournalError {
    /// The error for an entry that is longer than a journal takes.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - maximum: How many bytes of payload one entry has there at most.
    /// - Returns: The error; nil for an entry that is not too long.
    package static func tooLarge(_ entry: JournalEntry, maximum: Int) -> Self? {
        guard entry.payload.count > maximum else { return nil }
        return SharedJournalError(
            .tooLarge,
            "Entry \(entry.sequence) has \(entry.payload.count) bytes, and a shared store takes at most "
                + "\(maximum). Save less at a time.")
    }
}

extension SharedJournalError: CustomStringConvertible {
    package var description: String { message }
}
