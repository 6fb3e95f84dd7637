package import LMDB

extension Journal {
    /// When an entry was recorded, read without the rest of it and without checking its digest.
    ///
    /// - Returns: Microseconds since 1970 (UTC), or `nil` when there is no such entry.
    /// - Complexity: O(log *n*) page reads.
    package func recordingTime(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Int64? {
        let key = Self.key(sequence, chunk: 0)
        return try asJournalError {
            try transaction.get(chunks, key.span.bytes) { bytes in
                var reader = KeyReader(at: 9)
                return Int64(bitPattern: try reader.uint64(bytes))
            }
        }
    }
}
