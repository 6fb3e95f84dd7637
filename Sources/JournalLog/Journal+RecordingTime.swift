package import LMDB

extension Journal {
    /// When an entry was recorded, read without the rest of it and without checking its digest.
    ///
    /// - Returns: Microseconds since 1970 (UTC), or `nil` when there is no such entry.
    /// - Complexity: O(log *n*) page reads.
    package func recordingTime(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Int64? {
        try withBeginning(of: sequence, in: transaction) { recordedAt, _ in recordedAt }
    }

    /// Calls `body` with when an entry was recorded and with how its payload begins, without checking
    /// its digest.
    ///
    /// - Parameters:
    ///   - sequence: The entry.
    ///   - transaction: The state to read.
    ///   - body: Gets microseconds since 1970 (UTC), and the payload: all of a short one, the first
    ///     tens of thousands of bytes of a long one, none of one that is damaged.
    /// - Returns: What `body` returns, or `nil` when there is no such entry.
    /// - Throws: ``JournalError``; what `body` throws.
    /// - Complexity: O(log *n*) page reads.
    package func withBeginning<R>(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (_ recordedAt: Int64, _ payload: RawSpan) throws -> R
    ) throws -> R? {
        let key = Self.key(sequence, chunk: 0)
        return try asJournalError {
            try transaction.get(records, key.span.bytes) { bytes in
                var reader = KeyReader(at: 9)
                let recordedAt = Int64(bitPattern: try reader.uint64(bytes))
                let start = min(EntryHeader.byteCount, bytes.byteCount)
                return try body(recordedAt, bytes.extracting(droppingFirst: start))
            }
        }
    }
}
