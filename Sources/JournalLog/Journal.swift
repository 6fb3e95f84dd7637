package import LMDB

/// An append-only log of entries whose payloads it does not look into.
///
/// Invariants:
/// - Numbers run from 1 without a gap.
/// - Each entry carries the digest of the one before it.
/// - An entry, once written, is never changed or removed.
package struct Journal: Sendable {
    /// The tables the journal keeps in its environment.
    package static let tableNames = ["journal", "digests"]

    /// Entry bytes by (sequence number, chunk number).
    let chunks: Table
    /// Entry digests by sequence number, and behind them roots of the tree over them.
    let digests: Table

    /// The journal in an environment opened with ``tableNames`` among its tables.
    ///
    /// - Throws: ``JournalError`` when a table is missing.
    package init(in environment: Environment) throws {
        (chunks, digests) = try asJournalError {
            (try environment.table(Self.tableNames[0]), try environment.table(Self.tableNames[1]))
        }
    }

    // MARK: - The head

    /// The number of the last entry, or ``SequenceNumber/zero`` when there is none.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func head(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        try asJournalError {
            try transaction.seek(chunks, before: nil) { key, _ in
                var reader = KeyReader()
                return SequenceNumber(try reader.uint64(key))
            } ?? .zero
        }
    }

    /// The digest of the last entry, or 32 zero bytes when there is none.
    ///
    /// - Throws: ``JournalError`` when the last entry has no digest.
    /// - Complexity: O(log *n*) page reads.
    package func headDigest(in transaction: borrowing some Reading & ~Copyable) throws -> Digest {
        try digest(at: try head(in: transaction), in: transaction)
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
            try transaction.get(digests, key.span.bytes) { Digest($0) } ?? nil
        }
    }

    // MARK: - Appending

    /// Appends an entry at the next number, chained to the last one.
    ///
    /// - Parameters:
    ///   - payload: What the entry holds.
    ///   - recordedAt: Microseconds since 1970 (UTC).
    ///   - head: The last entry, for who knows it; nil to look.
    ///   - transaction: The write it becomes part of.
    /// - Returns: The entry as it stands in the journal.
    /// - Throws: ``JournalError``; the transaction must not be committed then.
    /// - Complexity: O(log *n*) page reads and writes.
    package func append(
        payload: [UInt8], recordedAt: Int64, after head: JournalHead? = nil,
        in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        let last = try head?.sequence ?? self.head(in: transaction)
        let header = EntryHeader(
            sequence: last.next, recordedAt: recordedAt,
            previous: try head?.digest ?? digest(at: last, in: transaction),
            payloadCount: payload.count)
        let start = header.encoded()
        var hasher = DigestHasher()
        // The first byte belongs to the digest only.
        hasher.update(0)
        hasher.update(start.bytes.span.bytes)
        hasher.update(payload.span.bytes)
        let digest = hasher.finish()
        try asJournalError {
            try writeChunks(start, payload, of: header.sequence, in: transaction)
            let key = Self.key(header.sequence)
            try digest.withBytes { try transaction.put(digests, key.span.bytes, $0, .append) }
        }
        try appendRoots(through: header.sequence, in: transaction)
        return JournalEntry(
            sequence: header.sequence, recordedAt: recordedAt, previous: header.previous,
            payload: payload, digest: digest)
    }

    private func writeChunks(
        _ header: KeyWriter, _ payload: [UInt8], of sequence: SequenceNumber,
        in transaction: borrowing WriteTransaction
    ) throws {
        let payload = payload.span.bytes
        let count = EntryHeader.byteCount + payload.byteCount
        let size = count <= Self.wholeBytesMaximum ? count : Self.chunkBytes
        // The first chunk is put together; the others are in the payload as they are.
        var first = header
        var offset = min(size, count) - EntryHeader.byteCount
        first.append(bytes: payload.extracting(..<offset))
        try transaction.putRun(chunks, .append) { run in
            try run.put(Self.key(sequence, chunk: 0).span.bytes, first.bytes.span.bytes)
            var chunk: UInt32 = 1
            while offset < payload.byteCount {
                let end = min(offset + size, payload.byteCount)
                let key = Self.key(sequence, chunk: chunk)
                try run.put(key.span.bytes, payload.extracting(offset..<end))
                offset = end
                chunk += 1
            }
        }
    }

    // MARK: - Layout

    /// The longest entry kept in one record inside a leaf page.
    ///
    /// LMDB moves a record above 2,038 bytes with its key to pages of its own.
    static let wholeBytesMaximum = 2_000

    /// The length of a chunk of a longer entry: 16 pages of its own, filled to the last byte.
    static let chunkBytes = 16 * 4_096 - 16

    static func key(_ sequence: SequenceNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: 8)
        writer.append(sequence.rawValue)
        return writer.bytes
    }

    static func key(_ sequence: SequenceNumber, chunk: UInt32) -> [UInt8] {
        var writer = KeyWriter(capacity: 12)
        writer.append(sequence.rawValue)
        writer.append(chunk)
        return writer.bytes
    }
}
