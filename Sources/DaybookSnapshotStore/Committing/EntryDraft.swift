internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// How the changes of a request fit the tables.
enum Fit {
    /// Each starts from exactly what the tables hold, and all have been folded.
    case folded
    /// Some change needs a closer look.
    case unknown
}

/// The entry that a save is about to append: its bytes and the records that follow from them.
///
/// Nothing is written before it is appended, so it can be started over.
struct EntryDraft {
    private let parts: StoreParts
    /// Where the journal and the rows end: before the entry, and behind it once it is appended. Then the next entry may
    /// follow.
    private(set) var last: LastCommitState
    private var projector: Projector<StoredState>
    private let work: LongWork?
    private var payload: [UInt8] = []

    init(_ parts: StoreParts, after last: LastCommitState, _ work: LongWork? = nil) {
        self.parts = parts
        self.last = last
        self.work = work
        projector = Projector(
            StoredState(parts.projection, greatest: last.greatest), after: .journal(parts.journal))
        projector.work = work
        projector.pending = last.pending
    }

    /// Tries to fold a request as it is: most changes fit the tables, and then each row is read
    /// once.
    mutating func attempt(
        _ request: ValidatedSave, in transaction: borrowing WriteTransaction
    ) throws -> Fit {
        guard !request.mayHaveMoved(parts.projection.schema) else { return .unknown }
        do {
            try take(request.payload, in: transaction)
        } catch let error as StoreError where error.code == .corrupt {
            return .unknown
        }
        return .folded
    }

    /// Folds the bytes of an entry and discards what was folded before.
    mutating func fold(
        _ payload: [UInt8], in transaction: borrowing WriteTransaction
    ) throws {
        self = EntryDraft(parts, after: last, work)
        try take(payload, in: transaction)
    }

    /// Folds what remains of a request, unless that is as it was attempted.
    ///
    /// - Returns: Whether there is anything to append.
    mutating func complete(
        _ settlement: Settlement, of request: ValidatedSave, _ fit: Fit,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        switch (settlement.content, fit) {
        case (.nothing, _): return false
        case (.asSent, .folded): return true
        case (.asSent, .unknown): try fold(request.payload, in: transaction)
        case (.changed(let changes), _):
            try fold(EntryPayload.bytes(request.request.header, changes), in: transaction)
        }
        return true
    }

    private mutating func take(
        _ payload: [UInt8], in transaction: borrowing WriteTransaction
    ) throws {
        self.payload = payload
        try projector.takeInTurn(
            try EntryPayload.Encoded(payload), of: last.head.sequence.next, in: transaction)
    }

    /// Appends the entry to the journal and writes its records. Another one may be drafted afterwards.
    ///
    /// - Parameters:
    ///   - recordedAt: When it is recorded, in microseconds since 1970.
    ///   - occurredAt: When it happened, if that is given.
    ///   - setsModel: Whether it sets a model. The next entry needs another draft then, by that model.
    ///   - transaction: The write transaction.
    /// - Returns: The entry as it stands in the journal.
    /// - Throws: ``JournalError`` or ``StoreError``; the transaction must not be committed then.
    mutating func append(
        recordedAt: Int64, occurredAt: Int64?, settingModel setsModel: Bool = false,
        in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        guard last.isLinked == (transaction.gate != .none) else {
            throw last.isLinked ? StoreError.opensWithoutLink() : .unlinkedMeanwhile()
        }
        let entry = try parts.journal.append(
            payload: payload, recordedAt: recordedAt, after: last.head, in: transaction)
        if transaction.gate == .ahead { transaction.submit(entry) }
        if entry.isLong { projector.take(occurredAt ?? recordedAt, of: entry.sequence) }
        try projector.write(in: transaction)
        if entry.sequence.writesTimes {
            // Those of long entries are read from the table.
            projector.takeTimes(try parts.timeRecords(through: entry.sequence, in: transaction))
            try projector.write(in: transaction)
        }
        last = last.after(
            entry, greatest: projector.state.greatestKnown, setsModel: setsModel)
        return entry
    }
}
