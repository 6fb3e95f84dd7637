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

/// The last entry that a journal says it has.
package struct RecordedHead: Sendable, Hashable {
    /// Its number.
    package let sequence: SequenceNumber
    /// Its digest.
    package let digest: Digest

    /// An entry.
    package init(_ sequence: SequenceNumber, _ digest: Digest) {
        (self.sequence, self.digest) = (sequence, digest)
    }

    /// The recorded head of a journal whose end may be damaged.
    ///
    /// - Returns: Nil when it is not recorded, or the last entry that is found is another one.
    /// - Throws: ``JournalError`` when the record cannot be read.
    /// - Complexity: O(log *n*) page reads.
    package init?(
        recordedIn journal: Journal, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard case .said(let sequence, let digest) = try journal.saidHead(in: transaction),
            (SequenceNumber(1)...SequenceNumber.maximum).contains(sequence)
        else { return nil }
        do {
            guard try journal.last(in: transaction) == sequence else { return nil }
        } catch let error as JournalError
            where error.code == .entryBroken || error.cause?.code == .corrupt
        {
            // What the last entries were is only recorded.
        }
        self.init(sequence, digest)
    }
}
