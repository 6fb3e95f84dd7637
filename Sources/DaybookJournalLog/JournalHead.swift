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

    private init(sequence: SequenceNumber, digest: Digest, recordedAt: Int64) {
        self.sequence = sequence
        self.digest = digest
        self.recordedAt = recordedAt
    }

    /// Reads the end of a journal.
    ///
    /// - Parameters:
    ///   - sequence: The number of the last entry.
    ///   - journal: The journal.
    ///   - transaction: The state to read.
    /// - Throws: ``JournalError`` when the last entry has no digest, or one other than the recorded
    ///   head's.
    /// - Complexity: O(log *n*) page reads.
    package init(
        _ sequence: SequenceNumber, of journal: Journal,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let digest = try journal.digest(at: sequence, in: transaction)
        try journal.checkHead(sequence, digest, in: transaction)
        self.init(
            sequence: sequence, digest: digest,
            recordedAt: try journal.recordingTime(of: sequence, in: transaction) ?? .min)
    }
}
