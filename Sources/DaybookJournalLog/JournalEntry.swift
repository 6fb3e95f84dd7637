internal import DaybookLMDB

/// One entry of the journal: an opaque payload and its position in the chain.
///
/// Its bytes, all numbers big-endian, are what the digest covers:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | format version, 1 |
/// | 1 | 8 | sequence number |
/// | 9 | 8 | recording time, microseconds since 1970 in UTC, two's complement |
/// | 17 | 32 | digest of the entry before; zeros for the first |
/// | 49 | 8 | length of the payload |
/// | 57 | … | payload |
///
/// The digest is SHA-256 over a zero byte and these bytes: the leaf form of RFC 6962, so that a
/// Merkle tree over entries can use the same digests.
package struct JournalEntry: Sendable, Hashable {
    /// The entry's number.
    package let sequence: SequenceNumber
    /// When it was recorded, in microseconds since 1970 (UTC).
    package let recordedAt: Int64
    /// The digest of the entry before it.
    package let previous: Digest
    /// The content from the layer above.
    package let payload: [UInt8]
    /// The digest of this entry.
    package let digest: Digest

    /// An entry with its digest.
    package init(sequence: SequenceNumber, recordedAt: Int64, previous: Digest, payload: [UInt8]) {
        let header = RecordHeader(
            sequence: sequence, recordedAt: recordedAt, previous: previous,
            payloadCount: payload.count)
        var hasher = DigestHasher()
        hasher.updateEntry(header.encoded(), payload)
        self.init(
            sequence: sequence, recordedAt: recordedAt, previous: previous, payload: payload,
            digest: hasher.finish())
    }

    /// An entry that says this; whether its digest fits is not looked at.
    package init(
        sequence: SequenceNumber, recordedAt: Int64, previous: Digest, payload: [UInt8],
        digest: Digest
    ) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.previous = previous
        self.payload = payload
        self.digest = digest
    }

    /// Reads an entry from its bytes.
    ///
    /// - Throws: ``JournalError`` with ``JournalError/Code/entryBroken`` when they are not those of an entry.
    package init(bytes: [UInt8]) throws(JournalError) {
        let header: RecordHeader
        switch RecordHeader.decode(bytes.span.bytes) {
        case .success(let found): header = found
        case .failure(let flaw): throw .notAnEntry(because: flaw.reason)
        }
        let payload = Array(bytes.dropFirst(RecordHeader.byteCount))
        guard payload.count == header.payloadCount else {
            throw .notAnEntry(
                because: "its payload has \(payload.count) bytes, and should have "
                    + "\(header.payloadCount)")
        }
        self.init(
            sequence: header.sequence, recordedAt: header.recordedAt, previous: header.previous,
            payload: payload, digest: .ofEntry(bytes))
    }

    /// The entry's bytes.
    package var bytes: [UInt8] {
        let header = RecordHeader(
            sequence: sequence, recordedAt: recordedAt, previous: previous,
            payloadCount: payload.count)
        return header.encoded().bytes + payload
    }

    /// Whether it has its own pages instead of one record inside a leaf page.
    package var isLong: Bool { Journal.isLong(RecordHeader.byteCount + payload.count) }
}

extension DigestHasher {
    /// Takes in an entry: a zero byte, which belongs only to the digest, and its bytes.
    mutating func updateEntry(_ header: KeyWriter, _ payload: [UInt8]) {
        update(0)
        update(header.bytes.span.bytes)
        update(payload.span.bytes)
    }
}

extension Digest {
    /// The digest of an entry from its bytes.
    package static func ofEntry(_ bytes: [UInt8]) -> Digest {
        of([0] + bytes)
    }
}

/// The fixed fields before an entry's payload.
struct RecordHeader {
    let sequence: SequenceNumber
    let recordedAt: Int64
    let previous: Digest
    let payloadCount: Int

    /// The bytes of exactly one header.
    typealias Bytes = InlineArray<57, UInt8>

    static let byteCount = Bytes.count
    static let formatVersion: UInt8 = 1

    /// Reads the header, or returns its fault.
    static func decode(_ bytes: RawSpan) -> Result<RecordHeader, Malformation> {
        guard bytes.byteCount >= byteCount else {
            return .failure(Malformation("its header ends after \(bytes.byteCount) bytes"))
        }
        return bytes.withUnsafeBytes { buffer in
            func number(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            guard buffer[0] == formatVersion else {
                return .failure(
                    Malformation(
                        "its format version is \(buffer[0]), and this program reads version "
                            + "\(formatVersion)"))
            }
            let previous = Digest(UnsafeRawBufferPointer(rebasing: buffer[17..<49]).bytes)
            guard let previous, let payloadCount = Int(exactly: number(49)) else {
                return .failure(Malformation("the length of its payload is impossible"))
            }
            return .success(
                RecordHeader(
                    sequence: SequenceNumber(number(1)),
                    recordedAt: Int64(bitPattern: number(9)), previous: previous,
                    payloadCount: payloadCount))
        }
    }

    /// The bytes before the payload.
    func encoded() -> KeyWriter {
        var writer = KeyWriter(capacity: Self.byteCount)
        writer.append(Self.formatVersion)
        writer.append(sequence.rawValue)
        writer.append(UInt64(bitPattern: recordedAt))
        previous.withBytes { writer.append(bytes: $0) }
        writer.append(UInt64(payloadCount))
        return writer
    }

    /// The fault of bytes that should be an entry.
    struct Malformation: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }
}
