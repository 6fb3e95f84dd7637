package import DaybookLMDB

/// The reason why the journal could not be read or appended to.
package struct JournalError: Error, Sendable {
    /// The kind of refusal; programs decide by it.
    package let code: Code

    /// One full sentence, and the remedy where there is one.
    package let message: String

    /// The entry, if the error concerns one.
    package let sequence: SequenceNumber?

    /// The error of the layer below, if there is one.
    package let cause: LMDBError?

    /// The kinds of refusal.
    package enum Code: Sendable, Hashable {
        /// An entry exists but cannot be trusted.
        case entryBroken
        /// An entry is missing.
        case entryMissing
        /// The layer below refused; see ``JournalError/cause``.
        case storage
    }

    private init(
        _ code: Code, _ message: String, at sequence: SequenceNumber? = nil,
        cause: LMDBError? = nil
    ) {
        self.code = code
        self.message = message
        self.sequence = sequence
        self.cause = cause
    }

    static func entryBroken(
        at sequence: SequenceNumber, because reason: String, cause: LMDBError? = nil
    ) -> JournalError {
        JournalError(
            .entryBroken,
            "Entry \(sequence) cannot be read: \(reason). "
                + "Run 'daybook verify' to see how far the damage goes.",
            at: sequence, cause: cause)
    }

    static func notAnEntry(because reason: String) -> JournalError {
        JournalError(.entryBroken, "These are not the bytes of an entry: \(reason).")
    }

    static func entryMissing(_ sequence: SequenceNumber) -> JournalError {
        JournalError(
            .entryMissing,
            "Entry \(sequence) is missing from the journal. "
                + "Run 'daybook verify' to see how far the damage goes.",
            at: sequence)
    }

    static func rootBroken(
        _ level: UInt8, endingAt sequence: SequenceNumber, because reason: String
    ) -> JournalError {
        JournalError(
            .entryBroken,
            "The root of level \(level) kept at entry \(sequence) cannot be read: it \(reason). "
                + "Run 'daybook verify' to see how far the damage goes.",
            at: sequence)
    }

    static func headBroken(_ flaw: String) -> JournalError {
        JournalError(
            .entryBroken,
            "The journal cannot be read to its end: \(flaw). "
                + "Run 'daybook verify' to see how far the damage goes.")
    }

    static func storage(_ cause: LMDBError) -> JournalError {
        JournalError(.storage, cause.message, cause: cause)
    }
}

extension JournalError: CustomStringConvertible {
    package var description: String { message }
}

/// Runs `body` and turns an ``LMDBError`` into a ``JournalError``.
func asJournalError<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as LMDBError {
        throw JournalError.storage(error)
    }
}
