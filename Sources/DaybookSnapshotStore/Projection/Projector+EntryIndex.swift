internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// The index of entries by what their headers say, where a model asks for one, or does so no longer. What it has of
// earlier entries follows from their headers, which are read from the journal.

/// Where a projector finds the headers of the entries before the one at hand.
enum EarlierEntries {
    /// In the journal beside the tables, as the transaction at hand has it.
    case journal(Journal)
    /// In a store whose journal is folded into tables elsewhere.
    case store(Store)

    /// Passes the headers of the first entries to `body`, in order.
    ///
    /// - Throws: ``JournalError`` or ``StoreError`` at an entry that cannot be trusted; what `body` throws.
    fileprivate func forEachHeader(
        through last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (SequenceNumber, EntryHeader) throws -> Void
    ) throws {
        let first = SequenceNumber(1)
        switch self {
        case .journal(let journal):
            try journal.entries(from: first, through: last, in: transaction) { entry in
                try body(entry.sequence, try EntryPayload.header(of: entry))
                return .proceed
            }
        case .store(let store):
            try store.journalEntries(from: first, through: last) { entry in
                try body(entry.sequence, try EntryPayload.header(of: entry))
                return .proceed
            }
        }
    }
}

/// What an entry that sets a model changes in the index of entries.
struct EntryIndexMove {
    let added: [IndexedAttribution]
    let dropped: [IndexedAttribution]

    var isEmpty: Bool { added.isEmpty && dropped.isEmpty }

    init(from before: Projection, to after: Projection) {
        // What is the same in the table is the same.
        let had = Set(before.indexedAttribution.map(StoreKey.entries(by:)))
        let has = Set(after.indexedAttribution.map(StoreKey.entries(by:)))
        added = after.indexedAttribution.filter { !had.contains(StoreKey.entries(by: $0)) }
        dropped = before.indexedAttribution.filter { !has.contains(StoreKey.entries(by: $0)) }
    }
}

extension Projector {
    /// Takes in what the index of entries has of the entry at hand.
    mutating func indexEntry(_ header: EntryHeader) {
        for attribution in projection.indexedAttribution {
            guard let text = attribution.text(header.author, header.info) else { continue }
            index.add(StoreKey.entry(by: attribution, text, sequence))
        }
    }

    /// Works out the records of all entries before the one at hand, in parts of a bounded size.
    ///
    /// - Parameters:
    ///   - attributions: What the records are by.
    ///   - transaction: The state to read.
    ///   - part: Takes some records.
    /// - Throws: ``JournalError`` or ``StoreError`` at an entry that cannot be trusted; what `part` throws.
    private func forEachPart(
        of attributions: [IndexedAttribution], in transaction: borrowing some Reading & ~Copyable,
        _ part: (inout PutBatch) throws -> Void
    ) throws {
        guard !attributions.isEmpty else { return }
        try work?.begin(Int64(clamping: sequence.previous.rawValue))
        var records = PutBatch()
        var count = 0
        try earlier.forEachHeader(through: sequence.previous, in: transaction) { number, header in
            try work?.reach(number)
            for attribution in attributions {
                guard let text = attribution.text(header.author, header.info) else { continue }
                records.add(StoreKey.entry(by: attribution, text, number))
                count += 1
            }
            guard count >= Self.entriesPerPart else { return }
            try part(&records)
            records.removeAll()
            count = 0
        }
        try part(&records)
    }

    /// How many records of earlier entries are kept in memory before they are written: some megabytes.
    private static var entriesPerPart: Int { 65_536 }
}

extension Projector where State == StoredState {
    /// Brings the index of entries to what the model at hand has.
    ///
    /// - Throws: ``JournalError`` or ``StoreError`` at an earlier entry that cannot be trusted: an index without it
    ///   would leave it out of every answer.
    func moveEntries(
        _ move: EntryIndexMove, in transaction: borrowing WriteTransaction
    ) throws {
        let table = projection.tables.index
        for attribution in move.dropped {
            try transaction.removeAll(of: table, under: StoreKey.entries(by: attribution))
        }
        try forEachPart(of: move.added, in: transaction) { records in
            try records.mergeIntoTail(of: table, in: transaction)
        }
    }
}

extension Projector where State == CountedState {
    /// Adds to an account what ``moveEntries(_:in:)`` writes and removes.
    func countEntries(
        _ move: EntryIndexMove, to account: ProjectionAccount,
        in transaction: borrowing ReadTransaction
    ) throws {
        let table = projection.tables.index
        try forEachPart(of: move.added, in: transaction) { records in
            account.add(records, to: table)
        }
        try forEachPart(of: move.dropped, in: transaction) { records in
            records.forEach { account.subtract(table, $0, $1) }
        }
    }
}

extension WriteTransaction {
    /// Removes all records whose keys begin with some bytes, a few thousand at a time.
    fileprivate func removeAll(of table: Table, under prefix: [UInt8]) throws {
        let end = StoreKey.end(of: prefix) ?? []
        while true {
            var keys: [[UInt8]] = []
            try scan(
                table, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
            ) { key, _ in
                keys.append(key.array)
                return keys.count < 4096 ? .proceed : .stop
            }
            guard !keys.isEmpty else { return }
            for key in keys { _ = try delete(table, key.span.bytes) }
        }
    }
}
