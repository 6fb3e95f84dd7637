package import DaybookLMDB

extension Journal {
    /// The recording time of an entry, read without the rest of it and without checking its digest.
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

    /// Whether an entry is a long one, with its own pages; its digest is not checked.
    ///
    /// - Returns: False when there is no such entry, too.
    /// - Complexity: O(log *n*) page reads, however long it is.
    package func isLong(
        _ sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        let key = Self.key(sequence, chunk: 0)
        return try asJournalError {
            try transaction.get(records, key.span.bytes) { bytes in
                guard Self.isLong(bytes.byteCount) else { return false }
                // The header of an entry that damage has lengthened still has its original length.
                guard case .success(let header) = RecordHeader.decode(bytes) else { return true }
                return Self.isLong(RecordHeader.byteCount + header.payloadCount)
            } ?? false
        }
    }

    /// Hands over the entries of a range that are single records, each checked against its digest.
    ///
    /// Longer ones are skipped without reading their other chunks, and so are entries that cannot
    /// be trusted: ``entry(at:in:)`` reads the former and reports the fault of the latter.
    ///
    /// - Parameters:
    ///   - first: The first entry.
    ///   - last: The last one.
    ///   - transaction: The state to read.
    ///   - body: Takes the number of an entry, in ascending order; its recording time, in
    ///     microseconds since 1970 (UTC); and its payload.
    /// - Throws: ``JournalError`` when the table cannot be walked; errors of `body`.
    /// - Complexity: O((1 + *l*) log *n* + *k*) page reads, *k* the number of entries in the range and
    ///   *l* that of the longer ones among them.
    package func shortEntries(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (SequenceNumber, _ recordedAt: Int64, _ payload: RawSpan) throws -> Void
    ) throws {
        let upper = Self.key(last, chunk: 1)
        var hasher = DigestHasher()
        var next: SequenceNumber? = first
        while let sequence = next {
            next = nil
            let lower = Self.key(sequence)
            var noted: (sequence: SequenceNumber, digest: Digest?)?
            try asJournalError {
                try transaction.scan(
                    records, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
                ) { key, bytes in
                    guard key.byteCount == KeySize.digest || key.byteCount == KeySize.chunk else {
                        return .proceed
                    }
                    var reader = KeyReader()
                    let sequence = SequenceNumber(try reader.uint64(key))
                    if key.byteCount == KeySize.digest {
                        noted = (sequence, Digest(bytes))
                        return .proceed
                    }
                    let chunk = try reader.uint32(key)
                    guard chunk == 0, !Self.isLong(bytes.byteCount) else {
                        // It may have many more chunks: continue with the next entry.
                        if sequence < last { next = sequence.next }
                        return .stop
                    }
                    guard let noted, noted.sequence == sequence, let digest = noted.digest,
                        case .success(let header) = RecordHeader.decode(bytes),
                        header.sequence == sequence,
                        header.payloadCount == bytes.byteCount - RecordHeader.byteCount
                    else { return .proceed }
                    hasher.update(0)
                    hasher.update(bytes)
                    guard hasher.finish() == digest else { return .proceed }
                    let payload = bytes.extracting(droppingFirst: RecordHeader.byteCount)
                    try body(sequence, header.recordedAt, payload)
                    return .proceed
                }
            }
        }
    }

    private static func recordingTime(_ bytes: RawSpan) throws -> Int64 {
        var reader = KeyReader(at: 9)
        return Int64(bitPattern: try reader.uint64(bytes))
    }
}
