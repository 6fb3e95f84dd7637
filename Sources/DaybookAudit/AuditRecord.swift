public import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation

/// An entry of the journal made readable: names in place of numbers.
///
/// A record keeps the entry as it is and looks names up when they are asked for, so that passing
/// over a record costs nothing. Its values and times lose nothing: everything the entry holds can
/// be had from it.
public struct AuditRecord: Sendable {
    /// What made an entry.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A context saved.
        case save
        /// A batch of changes without a context.
        case batch
        /// An earlier entry was undone.
        case undo
        /// The model was set.
        case model
    }

    /// The entry.
    package let entry: Entry
    /// The model under which it was written.
    package let schema: Schema
    /// The changes that are shown: all of them, unless a filter asked for less.
    package let shown: [Change]
    /// Which values are kept back.
    let redaction: Redaction
    /// Whether the digest may be told: with it, who knows the rest can find out by trying what was kept
    /// back.
    private let tellsDigest: Bool

    /// Makes an entry readable.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - schema: The model under which it was written.
    ///   - changes: Those to show; all of them when nil.
    ///   - redaction: Which values to keep back.
    ///   - tellsDigest: Whether the digest may be told.
    package init(
        _ entry: Entry, in schema: Schema, showing changes: [Change]? = nil,
        _ redaction: Redaction = .none, tellsDigest: Bool = true
    ) {
        self.entry = entry
        self.schema = schema
        self.redaction = redaction
        self.tellsDigest = tellsDigest
        shown = changes ?? entry.changes
    }

    /// The same record with all changes of its entry.
    package var whole: AuditRecord {
        AuditRecord(entry, in: schema, redaction, tellsDigest: tellsDigest)
    }

    /// The same record with some values kept back, and the digest, too, if that would give them away.
    package func redacted(by redaction: Redaction, tellsDigest: Bool) -> AuditRecord {
        AuditRecord(entry, in: schema, showing: shown, redaction, tellsDigest: tellsDigest)
    }

    /// The digest in hexadecimal; nil where it would give away what is kept back.
    package var toldDigest: String? { tellsDigest ? entry.digest.hexadecimal : nil }

    /// The place of the entry in the journal.
    public var sequence: SequenceNumber { entry.sequence }

    /// When it happened: as the author said, else when it was recorded.
    public var time: Date { Date(microseconds: entry.time) }

    /// When it was recorded.
    public var recordedAt: Date { Date(microseconds: entry.recordedAt) }

    /// Who saved it.
    public var author: String? { entry.header.author }

    /// Why, in the author's words.
    public var note: String? { entry.header.note }

    /// The name of the context that saved it.
    public var context: String? { entry.header.context }

    /// The entry that its changes were based on.
    public var base: SequenceNumber { entry.header.base }

    /// The entries that it undoes, one or several in a row.
    public var undoes: ClosedRange<SequenceNumber>? { entry.header.undoes }

    /// The entries that it undoes as text: `7`, or `5-9` for several.
    var undoesText: String? {
        undoes.map { range in
            range.lowerBound == range.upperBound
                ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }
    }

    /// What made it.
    public var kind: Kind { Kind(entry.header.kind) }

    /// Its digest, which covers the digest of the entry before.
    public var digest: Digest { entry.digest }

    /// What it changes: inserts, then updates, then deletes.
    public var changes: [AuditChange] {
        shown.map(readable)
    }

    /// One of the changes made readable.
    package func readable(_ change: Change) -> AuditChange {
        AuditChange(change, in: schema, redaction)
    }
}

extension AuditRecord.Kind {
    init(_ kind: EntryKind) {
        self =
            switch kind {
            case .save: .save
            case .batch: .batch
            case .undo: .undo
            case .model: .model
            }
    }

    /// The same kind as the store keeps it.
    package var entryKind: EntryKind {
        switch self {
        case .save: .save
        case .batch: .batch
        case .undo: .undo
        case .model: .model
        }
    }
}

extension Date {
    /// The date of microseconds since 1970.
    init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}
