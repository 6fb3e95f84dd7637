internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Synchronization

/// An encoder that makes the bytes of each record for itself, whatever the others are, so that it may do so on
/// several threads and in any order.
package protocol RecordwiseEncoder: AuditEncoder, Sendable {
    /// The bytes of one record; empty for none.
    func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8]

    /// Whether a record is written piece by piece when its turn comes.
    func isWrittenInPieces(_ record: AuditRecord) -> Bool
}

extension RecordwiseEncoder {
    package func isWrittenInPieces(_ record: AuditRecord) -> Bool { false }
}

/// What can be made of an entry for an export without the entries before it.
struct PreparedRecord: Sendable {
    /// The entry.
    let sequence: SequenceNumber
    /// Its record, with the changes to show but nothing hidden; nil when the filter does not want it.
    let shown: AuditRecord?
    /// Whether the filter leaves it out for nothing but happening too late; false for those after one
    /// that was, which are not asked.
    let isTooLate: Bool
    /// Whether it is the first with a hidden value, as far as is known.
    let isOfHidden: Bool
    /// Whether it refers to large data that was not there before.
    let hasLargeData: Bool
    /// The bytes of the record; nil where the encoder has to make them in order, or could not.
    private let bytes: [UInt8]?
    /// Whether these bytes tell the digest.
    private let tellsDigest: Bool

    /// The bytes, if they are right for a record that tells its digest, or does not.
    func bytes(tellingDigest tellsDigest: Bool) -> [UInt8]? {
        tellsDigest == self.tellsDigest ? bytes : nil
    }

    /// Prepares the records of an export, on any thread.
    struct Maker: Sendable {
        let filter: ResolvedFilter
        let redaction: Redaction
        /// Whether all changes of an entry are shown even if the filter wants some.
        let isWhole: Bool
        /// Whether references to large data are looked for.
        let carriesLargeData: Bool
        /// Whether the last record that was written told its digest: later ones mostly do then, and never do
        /// otherwise.
        let tellsDigests: DigestTelling
        /// Whether an entry is left out for happening too late.
        let lateEntries: LateEntries
        /// The encoder, if it makes bytes in any order.
        let encoder: (any RecordwiseEncoder)?
        let pass: Int

        func prepare(_ entry: Entry) -> PreparedRecord {
            let isOfHidden = tellsDigests.isTold && redaction.concerns(entry.changes)
            let tellsDigest = tellsDigests.isTold && !isOfHidden
            guard let record = filter.record(of: entry) else {
                return PreparedRecord(
                    sequence: entry.sequence, shown: nil,
                    isTooLate: !lateEntries.areFound && filter.isTooLate(entry),
                    isOfHidden: isOfHidden, hasLargeData: false, bytes: nil,
                    tellsDigest: tellsDigest)
            }
            let shown = isWhole ? record.whole : record
            return PreparedRecord(
                sequence: entry.sequence, shown: shown, isTooLate: false, isOfHidden: isOfHidden,
                hasLargeData: carriesLargeData && shown.shown.contains(where: \.hasNewLargeData),
                bytes: bytes(of: shown.redacted(by: redaction, tellsDigest: tellsDigest)),
                tellsDigest: tellsDigest)
        }

        private func bytes(of record: AuditRecord) -> [UInt8]? {
            guard let encoder, !encoder.isWrittenInPieces(record) else { return nil }
            do {
                return try encoder.bytes(of: record, inPass: pass)
            } catch {
                // It is tried again when the record is written, and the error is thrown then.
                return nil
            }
        }
    }
}

/// Whether the records of an export still tell their digests.
///
/// Each digest covers the one before, so none is told from the first that covers a hidden value on.
final class DigestTelling: Sendable {
    private let told: Atomic<Bool>

    init(_ isTold: Bool) { told = Atomic(isTold) }

    var isTold: Bool { told.load(ordering: .relaxed) }

    /// From now on no digest is told.
    func end() { told.store(false, ordering: .relaxed) }
}

/// Whether an export has come to an entry that is left out for nothing but happening too late: only the first
/// counts, and later ones need not be looked at as closely.
final class LateEntries: Sendable {
    private let found = Atomic(false)

    var areFound: Bool { found.load(ordering: .relaxed) }

    /// There is one.
    func find() { found.store(true, ordering: .relaxed) }
}

extension Change {
    fileprivate var hasNewLargeData: Bool {
        var isFound = false
        forEachNewLargeData { _ in isFound = true }
        return isFound
    }
}
