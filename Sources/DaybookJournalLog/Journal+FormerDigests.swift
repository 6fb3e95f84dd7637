package import DaybookLMDB

extension Journal {
    /// The table in which digests, and the roots of tiles, stood before they stood with the entries.
    package static let formerDigestsName = "digests"

    /// Moves digests, and the roots of tiles, to the entries they belong to, and leaves their former
    /// table empty.
    ///
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when something else stands
    ///   among them; the transaction must not be committed then.
    /// - Complexity: O(*n* log *n*) page reads and writes; some thousands of records are in memory at
    ///   a time.
    package func takeDigests(
        from former: Table, in transaction: borrowing WriteTransaction
    ) throws {
        try asJournalError {
            var next: [UInt8] = []
            while true {
                let batch = try Self.batch(of: former, from: next, in: transaction)
                guard let last = batch.last else { break }
                try transaction.putRun(records, .upsert) { run in
                    for (key, value) in batch { try run.put(key.span.bytes, value.span.bytes) }
                }
                next = last.key + [0]
            }
            try transaction.clear(former)
        }
    }

    private static func batch(
        of former: Table, from first: [UInt8], in transaction: borrowing WriteTransaction
    ) throws -> [(key: [UInt8], value: [UInt8])] {
        var batch: [(key: [UInt8], value: [UInt8])] = []
        try transaction.scan(former, from: first.span.bytes, to: nil, order: .ascending) {
            key, value in
            // Any other key could take the place of a part of an entry.
            guard key.byteCount == KeySize.digest || key.byteCount == KeySize.root else {
                throw JournalError.digestsBroken(keyBytes: key.byteCount)
            }
            batch.append((key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }))
            return batch.count < batchCountOfDigests ? .proceed : .stop
        }
        return batch
    }

    private static let batchCountOfDigests = 4_096
}
