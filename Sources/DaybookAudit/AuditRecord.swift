public import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation

/// An entry of the journal made readable: names instead of numbers.
///
/// A record keeps the entry and looks names up on demand, so that skipping a record costs nothing.
/// It gives access to everything in the entry without loss.
public struct AuditRecord: Sendable {
    /// The origin of an entry.
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
    /// The model under which it was written; in an entry that sets one, that one.
    package let schema: Schema
    /// The model before, in an entry that sets a later one.
    private let before: Schema?
    /// The shown changes: all of them, unless a filter selects fewer.
    package let shown: [Change]
    /// The values to hide.
    let redaction: Redaction
    /// Whether the digest may be shown: with it, a reader who knows the rest can find hidden values
    /// by trying.
    private let tellsDigest: Bool

    /// Makes an entry readable.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - schema: The model under which it was written.
    ///   - before: The model before, for an entry that sets a later one.
    ///   - changes: The changes to show; all of them when nil.
    ///   - redaction: The values to hide.
    ///   - tellsDigest: Whether the digest may be shown.
    package init(
        _ entry: Entry, in schema: Schema, before: Schema? = nil, showing changes: [Change]? = nil,
        _ redaction: Redaction = .none, tellsDigest: Bool = true
    ) {
        self.entry = entry
        self.schema = schema
        self.before = before
        self.redaction = redaction
        self.tellsDigest = tellsDigest
        shown = changes ?? entry.changes
    }

    /// The same record with all changes of its entry.
    package var whole: AuditRecord {
        AuditRecord(entry, in: schema, before: before, redaction, tellsDigest: tellsDigest)
    }

    /// The same record with some values hidden, and the digest, too, if it could reveal them.
    package func redacted(by redaction: Redaction, tellsDigest: Bool) -> AuditRecord {
        AuditRecord(
            entry, in: schema, before: before, showing: shown, redaction, tellsDigest: tellsDigest)
    }

    /// The digest in hexadecimal; nil if it could reveal hidden values.
    package var toldDigest: String? { tellsDigest ? entry.digest.hexadecimal : nil }

    /// The steps from the model before, in an entry that sets a later one.
    package var steps: [ModelStep] { before.map { schema.steps(from: $0) } ?? [] }

    /// Whether the entry sets a model by which objects that it does not change may read otherwise than
    /// before: under other names, or with other properties or values.
    var rewordsObjects: Bool { steps.contains { !$0.kind.leavesWording } }

    /// The sequence number of the entry.
    public var sequence: SequenceNumber { entry.sequence }

    /// When it happened, by the author's time or else the recording time.
    public var time: Date { Date(microseconds: entry.time) }

    /// When it was recorded.
    public var recordedAt: Date { Date(microseconds: entry.recordedAt) }

    /// The author.
    public var author: String? { entry.header.author }

    /// The author's note.
    public var note: String? { entry.header.note }

    /// What else was kept with it, by key, such as the number of a request.
    public var info: [String: String] { entry.header.info }

    /// Each key and its text as `key=text`, in the order of the bytes of the keys.
    var infoTexts: [String] { EntryInfo.ordered(info).map { "\($0.key)=\($0.value)" } }

    /// The name of the context that saved it.
    public var context: String? { entry.header.context }

    /// The entry on which its changes were based.
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

    /// Its kind.
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

extension ModelStep.Kind {
    /// Whether objects read as before after such a step.
    fileprivate var leavesWording: Bool {
        switch self {
        case .makeOptional, .changeDefault, .changeRules, .addIndex, .dropIndex, .addUnique,
            .dropUnique, .addConstraint, .dropConstraint, .changeConfidential, .changeMerge,
            .changeDeleteRule, .changeCounts, .changeRequirements, .changeLaws, .annotate:
            true
        default: false
        }
    }
}

extension Date {
    /// The date of microseconds since 1970.
    init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}
