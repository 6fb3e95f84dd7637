/// The recorded head of a journal, beside its tables.
enum SaidHead {
    case nothing
    /// A record with too few or too many bytes.
    case malformed(Int)
    case said(SequenceNumber, Digest)

    /// What a record says.
    init(_ bytes: RawSpan) {
        guard bytes.byteCount == Journal.headSize,
            let digest = Digest(bytes.extracting(droppingFirst: 8))
        else {
            self = .malformed(bytes.byteCount)
            return
        }
        let number = bytes.withUnsafeBytes {
            UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))
        }
        self = .said(SequenceNumber(number), digest)
    }

    /// The fault of the number of the last entry found; nil for none.
    func flaw(ofLast last: SequenceNumber) -> String? {
        switch self {
        case .nothing:
            last == .zero
                ? nil : "it has entries up to \(last), and does not say which is the last"
        case .malformed(let count): "the record of its end has \(count) bytes"
        case .said(let sequence, _):
            sequence == last
                ? nil
                : "it says that it ends with entry \(sequence), and \(last) is the last one found"
        }
    }

    /// The fault of the digest of the last entry; nil for none.
    func flaw(ofLast last: SequenceNumber, _ digest: Digest?) -> String? {
        guard case .said(last, let said) = self, said != digest else { return nil }
        return "it says that it ends with another entry \(last) than the one found"
    }

    /// Refuses a last entry of another number.
    func check(_ last: SequenceNumber) throws {
        if let flaw = flaw(ofLast: last) { throw JournalError.headBroken(flaw) }
    }

    /// Refuses a last entry with another digest.
    func check(_ last: SequenceNumber, _ digest: Digest) throws {
        if let flaw = flaw(ofLast: last, digest) { throw JournalError.headBroken(flaw) }
    }
}
