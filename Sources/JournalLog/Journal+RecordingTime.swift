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
            try transaction.get(records, key.span.bytes) { try Self.recordingTime($0) }
        }
    }

    /// Tells of entries in a row when they were recorded and how their payloads begin, without checking
    /// their digests.
    ///
    /// - Parameters:
    ///   - first: The first entry.
    ///   - last: The last one.
    ///   - transaction: The state to read.
    ///   - body: Gets the number of an entry, in rising order and none that is missing; microseconds
    ///     since 1970 (UTC); and the payload: all of a short one, the first tens of thousands of bytes of
    ///     a long one, none of one that is damaged.
    /// - Throws: ``JournalError``; what `body` throws.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of entries and of the chunks of long ones.
    package func beginnings(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (SequenceNumber, _ recordedAt: Int64, _ payload: RawSpan) throws -> Void
    ) throws {
        let lower = Self.key(first, chunk: 0)
        let upper = Self.key(last, chunk: 1)
        try asJournalError {
            try transaction.scan(
                records, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
            ) { key, bytes in
                guard key.byteCount == KeySize.chunk else { return .proceed }
                var reader = KeyReader()
                let sequence = SequenceNumber(try reader.uint64(key))
                guard try reader.uint32(key) == 0 else { return .proceed }
                let start = min(EntryHeader.byteCount, bytes.byteCount)
                let payload = bytes.extracting(droppingFirst: start)
                try body(sequence, try Self.recordingTime(bytes), payload)
                return .proceed
            }
        }
    }

    private static func recordingTime(_ bytes: RawSpan) throws -> Int64 {
        var reader = KeyReader(at: 9)
        return Int64(bitPattern: try reader.uint64(bytes))
    }
}
