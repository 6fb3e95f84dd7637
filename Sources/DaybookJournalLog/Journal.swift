package import DaybookLMDB

/// An append-only log of entries with opaque payloads.
///
/// Invariants:
/// - Numbers run from 1 without a gap.
/// - Each entry carries the digest of the one before it.
/// - An entry, once written, is never changed or removed.
///
/// All records of an entry are side by side in one table, so that an append writes one leaf page.
/// The length of a key distinguishes the kinds of records. Numbers in keys are big-endian, and the
/// keys sort in this order:
///
/// | key | value |
/// |---|---|
/// | sequence u64 | the digest of the entry |
/// | sequence u64, chunk u32 | bytes of the entry |
/// | sequence u64, level u8, from 1 | the root of a tile of the tree that the entry fills, with a check |
///
/// The end of the journal is also recorded beside LMDB's tables, where it costs no page: a damaged
/// page number there can make a journal look shorter, or like another one.
///
/// | key | value |
/// |---|---|
/// | `head` | sequence u64 and digest of the last entry |
package struct Journal: Sendable {
    /// The tables the journal keeps in its environment.
    package static let tableNames = ["journal"]

    /// All records of the journal.
    let records: Table
    /// The same table for the roots of tiles, the only records with a check: nothing else would tell that
    /// one of them was damaged.
    let roots: Table
    /// The table with the recorded head.
    private let heads: Table

    /// The journal in an environment opened with ``tableNames`` among its tables.
    ///
    /// - Throws: ``JournalError`` when a table is missing.
    package init(in environment: Environment) throws {
        records = try asJournalError { try environment.table(Self.tableNames[0]) }
        roots = records.checked
        heads = environment.mainTable
    }

    // MARK: - The head

    /// The number of the last entry, or ``SequenceNumber/zero`` when there is none.
    ///
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when that is not the
    ///   number of the recorded head.
    /// - Complexity: O(log *n*) page reads.
    package func head(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        let last = try last(in: transaction)
        try saidHead(in: transaction).check(last)
        return last
    }

    /// The recorded head.
    func saidHead(in transaction: borrowing some Reading & ~Copyable) throws -> SaidHead {
        try asJournalError {
            try transaction.get(heads, Self.headKey.span.bytes) { SaidHead($0) } ?? .nothing
        }
    }

    /// Records the last entry of the journal.
    private func setHead(
        _ sequence: SequenceNumber, _ digest: Digest, in transaction: borrowing WriteTransaction
    ) throws {
        var value = KeyWriter(capacity: Self.headSize)
        value.append(sequence.rawValue)
        digest.withBytes { value.append(bytes: $0) }
        try asJournalError {
            try transaction.put(heads, Self.headKey.span.bytes, value.bytes.span.bytes, .upsert)
        }
    }

    static let headKey = Array("head".utf8)
    static let headSize = 8 + Digest.byteCount

    /// The number of the last entry found, whatever the recorded head says.
    ///
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when no entry can have
    ///   that number.
    /// - Complexity: O(log *n*) page reads.
    package func last(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        var head = SequenceNumber.zero
        let start: [UInt8] = []
        try asJournalError {
            // After the last chunk there are at most the roots of the tiles that its entry fills.
            try transaction.scan(
                records, from: start.span.bytes, to: nil, order: .descending
            ) { key, _ in
                guard key.byteCount == KeySize.chunk else { return .proceed }
                var reader = KeyReader()
                head = SequenceNumber(try reader.uint64(key))
                return .stop
            }
        }
        guard head <= .maximum else {
            throw JournalError.entryBroken(at: head, because: "no journal has that many")
        }
        return head
    }

    /// The digest of the last entry, or 32 zero bytes when there is none.
    ///
    /// - Throws: ``JournalError`` when the last entry has no digest, or one other than the recorded
    ///   head's.
    /// - Complexity: O(log *n*) page reads.
    package func headDigest(in transaction: borrowing some Reading & ~Copyable) throws -> Digest {
        let last = try last(in: transaction)
        let said = try saidHead(in: transaction)
        try said.check(last)
        let digest = try digest(at: last, in: transaction)
        try said.check(last, digest)
        return digest
    }

    /// The digest recorded for an entry, without reading the entry.
    ///
    /// - Throws: ``JournalError`` when there is none.
    /// - Complexity: O(log *n*) page reads.
    package func digest(
        at sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest {
        if sequence == .zero { return .zero }
        guard let digest = try storedDigest(sequence, in: transaction) else {
            throw JournalError.entryBroken(at: sequence, because: "its digest is missing")
        }
        return digest
    }

    func storedDigest(
        _ sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Digest? {
        let key = Self.key(sequence)
        return try asJournalError {
            try transaction.get(records, key.span.bytes) { Digest($0) } ?? nil
        }
    }

    // MARK: - Appending

    /// Appends an entry at the next number, chained to the last one.
    ///
    /// - Parameters:
    ///   - payload: The content of the entry.
    ///   - recordedAt: Microseconds since 1970 (UTC).
    ///   - head: The last entry, if the caller knows it; nil to look it up.
    ///   - transaction: The write transaction.
    /// - Returns: The appended entry.
    /// - Throws: ``JournalError``; the transaction must not be committed then.
    /// - Complexity: O(log *n*) page reads and writes.
    package func append(
        payload: [UInt8], recordedAt: Int64, after head: JournalHead? = nil,
        in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        let last = try head ?? JournalHead(of: self, in: transaction)
        let header = RecordHeader(
            sequence: last.sequence.next, recordedAt: recordedAt, previous: last.digest,
            payloadCount: payload.count)
        let start = header.encoded()
        var hasher = DigestHasher()
        hasher.updateEntry(start, payload)
        let digest = hasher.finish()
        try asJournalError {
            try transaction.putRun(records, .append) { run in
                let key = Self.key(header.sequence)
                try digest.withBytes { try run.put(key.span.bytes, $0) }
                try Self.putChunks(start, payload, of: header.sequence, &run)
            }
        }
        try setHead(header.sequence, digest, in: transaction)
        try appendRoots(through: header.sequence, in: transaction)
        return JournalEntry(
            sequence: header.sequence, recordedAt: recordedAt, previous: header.previous,
            payload: payload, digest: digest)
    }

    private static func putChunks(
        _ header: KeyWriter, _ payload: [UInt8], of sequence: SequenceNumber,
        _ run: inout PutRun
    ) throws {
        let payload = payload.span.bytes
        let count = RecordHeader.byteCount + payload.byteCount
        let size = isLong(count) ? chunkBytes : count
        // The first chunk is assembled; the others are parts of the payload.
        var first = header
        var offset = min(size, count) - RecordHeader.byteCount
        first.append(bytes: payload.extracting(..<offset))
        try run.put(key(sequence, chunk: 0).span.bytes, first.bytes.span.bytes)
        var chunk: UInt32 = 1
        while offset < payload.byteCount {
            let end = min(offset + size, payload.byteCount)
            let key = key(sequence, chunk: chunk)
            try run.put(key.span.bytes, payload.extracting(offset..<end))
            offset = end
            chunk += 1
        }
    }

    // MARK: - Cutting back

    /// Takes off all entries after one. Only a copy of a journal that is kept elsewhere may be cut back.
    ///
    /// - Parameters:
    ///   - last: The entry that becomes the last one.
    ///   - transaction: The write transaction.
    /// - Throws: ``JournalError``; the transaction must not be committed then.
    /// - Complexity: O(*p* + log *n*) page reads and writes, *p* the pages of what is taken off.
    package func cutBack(
        to last: SequenceNumber, in transaction: borrowing WriteTransaction
    ) throws {
        let digest = try digest(at: last, in: transaction)
        let start = Self.key(last.next)
        try asJournalError {
            while true {
                var keys: [[UInt8]] = []
                try transaction.scan(
                    records, from: start.span.bytes, to: nil, order: .ascending
                ) { key, _ in
                    keys.append(key.withUnsafeBytes { Array($0) })
                    return keys.count < Self.keysCutTogether ? .proceed : .stop
                }
                for key in keys { _ = try transaction.delete(records, key.span.bytes) }
                if keys.count < Self.keysCutTogether { break }
            }
        }
        try setHead(last, digest, in: transaction)
    }

    private static let keysCutTogether = 4096

    // MARK: - Layout

    /// The length of the keys of each kind of record.
    enum KeySize {
        static let digest = 8
        static let root = 9
        static let chunk = 12
    }

    /// The longest entry kept in one record inside a leaf page.
    ///
    /// LMDB moves a record above 2,038 bytes with its key to its own pages. This number determines
    /// which entries write their own times, and so the bytes of the table `times`: another number
    /// is another format of the store.
    private static let wholeBytesMaximum = 2_000

    /// Whether this many bytes belong to a long entry, or to its first chunk: more than fit into
    /// one record inside a leaf page.
    static func isLong(_ byteCount: Int) -> Bool { byteCount > wholeBytesMaximum }

    /// The length of a chunk of a longer entry: 16 pages, filled to the last byte.
    static let chunkBytes = 16 * 4_096 - 16

    static func key(_ sequence: SequenceNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: KeySize.digest)
        writer.append(sequence.rawValue)
        return writer.bytes
    }

    static func key(_ sequence: SequenceNumber, chunk: UInt32) -> [UInt8] {
        var writer = KeyWriter(capacity: KeySize.chunk)
        writer.append(sequence.rawValue)
        writer.append(chunk)
        return writer.bytes
    }
}
