package import DaybookJournalLog
package import DaybookObjectModel

/// The kind of an entry.
package enum EntryKind: UInt8, Sendable, Hashable {
    /// A context saved.
    case save = 1
    /// A batch of changes without a context.
    case batch = 2
    /// An earlier entry was undone.
    case undo = 3
    /// The model was set.
    case model = 4
}

/// What an entry says besides its changes.
package struct EntryHeader: Sendable, Hashable {
    /// The kind of the entry.
    package var kind: EntryKind
    /// Who made it.
    package var author: String?
    /// Why, in the author's words.
    package var note: String?
    /// What else is kept with it, by key: see ``EntryInfo``.
    package var info: [String: String]
    /// The name of the context that saved.
    package var context: String?
    /// When it happened, in microseconds since 1970, if not when it was recorded.
    package var occurredAt: Int64?
    /// The sequence number on which the changes were based.
    package var base: SequenceNumber
    /// The entries that it undoes, one or several in a row.
    package var undoes: ClosedRange<SequenceNumber>?

    /// Creates an entry.
    package init(
        kind: EntryKind = .save, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        context: String? = nil, occurredAt: Int64? = nil, base: SequenceNumber = .zero,
        undoes: ClosedRange<SequenceNumber>? = nil
    ) {
        self.kind = kind
        self.author = author
        self.note = note
        self.info = info
        self.context = context
        self.occurredAt = occurredAt
        self.base = base
        self.undoes = undoes
    }
}

/// One saved unit of the journal, decoded.
package struct Entry: Sendable {
    /// Its sequence number.
    package let sequence: SequenceNumber
    /// When it was recorded, in microseconds since 1970.
    package let recordedAt: Int64
    /// The digest of the entry.
    package let digest: Digest
    /// The digest of the entry before.
    package let previous: Digest
    /// Its header.
    package let header: EntryHeader
    /// The model, in an entry that sets it.
    package let version: ModelVersion?
    /// What it changes, in the order of ``Change/precedes(_:)``.
    package internal(set) var changes: [Change]

    /// Creates an entry.
    package init(
        sequence: SequenceNumber, recordedAt: Int64, digest: Digest, previous: Digest,
        header: EntryHeader, version: ModelVersion? = nil, changes: [Change] = []
    ) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.digest = digest
        self.previous = previous
        self.header = header
        self.version = version
        self.changes = changes
    }

    /// The model, in an entry that sets it.
    package var model: ManagedObjectModel? { version?.model }

    /// When it happened or, when that is not stated, was recorded.
    package var time: Int64 {
        header.occurredAt ?? recordedAt
    }
}

extension Entry {
    /// Decodes the bytes of an entry, as a proof is about them; whether a journal has it is not looked at.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when they are not those of an entry.
    package init(bytes: [UInt8]) throws {
        let entry: JournalEntry
        do {
            entry = try JournalEntry(bytes: bytes)
        } catch {
            throw StoreError(.corrupt, error.message, cause: error)
        }
        try self.init(entry)
    }

    /// Decodes an entry of the journal.
    init(_ entry: JournalEntry) throws {
        let payload: EntryPayload
        do {
            payload = try EntryPayload(entry.payload)
            try payload.header.check(at: entry.sequence)
        } catch {
            throw StoreError.entryUnreadable(entry.sequence, cause: error)
        }
        self.init(
            sequence: entry.sequence, recordedAt: entry.recordedAt, digest: entry.digest,
            previous: entry.previous, header: payload.header, version: payload.version,
            changes: payload.changes)
    }
}
