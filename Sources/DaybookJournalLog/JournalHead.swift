package import DaybookLMDB

/// The data of the last entry that the next one needs.
package struct JournalHead: Sendable {
    /// The number of the last entry; zero when there is none.
    package let sequence: SequenceNumber
    /// Its digest.
    package let digest: Digest
    /// When it was recorded, in microseconds since 1970 (UTC).
    package let recordedAt: Int64

    /// The head after appending an entry.
    package init(_ entry: JournalEntry) {
        sequence = entry.sequence
        digest = entry.digest
        recordedAt = entry.recordedAt
    }

    /// Reads the end of a journal.
    ///
    /// - Throws: ``JournalError`` when the last entry has no digest, or is not the recorded head.
    /// - Complexity: O(log *n*) page reads.
    package init(
        of journal: Journal, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let said = try journal.saidHead(in: transaction)
        sequence = try journal.last(in: transaction)
        try said.check(sequence)
        digest = try journal.digest(at: sequence, in: transaction)
        try said.check(sequence, digest)
        recordedAt = try journal.recordingTime(of: sequence, in: transaction) ?? .min
    }
}
