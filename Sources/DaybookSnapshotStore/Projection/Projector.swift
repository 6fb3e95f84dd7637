internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Folds entries into the projection.
///
/// First every change is compared with the tables and turned into records; then the records are
/// written, table by table and sorted. So a change that does not fit is found before anything is
/// written. Saving, rebuilding and verifying all fold here; where verifying only keeps an account,
/// nothing is written, and the earlier state is found in the tables of the past.
///
/// It folds the bytes of an entry. As every value has one encoding, old values are compared and new
/// ones copied as bytes, and a row is read once.
struct Projector<State: PriorState> {
    /// The state before the entry.
    var state: State
    /// The entry being folded.
    private(set) var sequence = SequenceNumber.zero
    var encoder = RowEncoder()
    var fields: [RowField] = []
    var ages: [UInt64] = []
    var indexKeys = IndexKeyWriter()
    /// The indexes that are being built.
    var pending = PendingIndexes()
    /// The entries before the one being folded.
    let earlier: EarlierEntries
    /// Told of every object and entry that is looked at because a model is set.
    var work: LongWork?
    private(set) var change = EncodedChange()
    var entity: FoldedEntity?
    /// The inserts that the entry begins with.
    private var births: InsertPrefix?
    var rows = PutBatch()
    var versions = PutBatch()
    private var times = PutBatch()
    /// The times of the last entries that have not been written together yet.
    private(set) var recentTimes: [Int64]
    var models = PutBatch()
    var index = PutBatch()
    var members = PutBatch()
    var membersPast = PutBatch()
    var referrers = PutBatch()
    var referrersPast = PutBatch()
    var removals = RemovalBatch()

    var projection: Projection { state.projection }

    /// - Parameters:
    ///   - state: The state before the entry.
    ///   - earlier: The entries before it.
    ///   - recentTimes: The times not written yet, when folding continues after earlier entries.
    init(_ state: State, after earlier: EarlierEntries, recentTimes: [Int64] = []) {
        self.state = state
        self.earlier = earlier
        self.recentTimes = recentTimes
    }

    // MARK: - Whole entries

    /// Takes in the changes of an entry; nothing is written yet.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a change does not fit the
    ///   tables or cannot be read.
    mutating func take(
        _ payload: EntryPayload.Encoded, of sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        self.sequence = sequence
        if let version = payload.version { try setModel(version, in: transaction) }
        try takeContent(payload, in: transaction)
    }

    /// Takes in what an entry says and changes.
    private mutating func takeContent(
        _ payload: EntryPayload.Encoded, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        indexEntry(payload.header)
        // Existing records are of an earlier entry that has not been written yet.
        var leading = births == nil ? state.prefix(of: payload) : nil
        let bytes = payload.bytes.span.bytes
        var offset = payload.changesOffset
        for done in 0..<payload.changesCount {
            if done == Self.sampleSize {
                // A little more than needed if the rest is like the beginning.
                let whole = Double(bytes.byteCount - payload.changesOffset)
                makeRoom(times: 1.125 * whole / Double(offset - payload.changesOffset))
            }
            do throws(DecodingFailure) {
                try change.read(bytes, at: &offset)
            } catch {
                throw StoreError.entryUnreadable(sequence, cause: error)
            }
            let isLeading =
                change.kind == .insert && leading != nil && isPlain(change.object.entity)
                && leading?.take(change.object, at: done) == true
            try fold(bytes, isLeading, in: transaction)
        }
        if let leading, leading.count > 0 { births = leading }
        guard offset == bytes.byteCount else {
            throw StoreError.entryUnreadable(
                sequence, cause: DecodingFailure(at: offset, expected: "the end of the entry"))
        }
    }

    /// Whether rows of new objects have nothing but what the entry says: a property that was removed may
    /// come back with an object.
    private func isPlain(_ entity: EntityNumber) -> Bool {
        projection.foldedEntity(entity)?.layout.removed.isEmpty ?? true
    }

    /// The number of changes of a long entry after which room is reserved for the records of all.
    private static var sampleSize: Int { 1024 }

    private mutating func makeRoom(times factor: Double) {
        rows.makeRoom(times: factor)
        versions.makeRoom(times: factor)
        index.makeRoom(times: factor)
        members.makeRoom(times: factor)
        membersPast.makeRoom(times: factor)
        referrers.makeRoom(times: factor)
        referrersPast.makeRoom(times: factor)
        removals.makeRoom(times: factor)
    }

    /// Takes in records of the table of times.
    mutating func takeTimes(_ records: [(key: [UInt8], value: [UInt8])]) {
        for record in records { times.add(record.key, record.value) }
    }

    /// Takes in the time of a long entry, which is written on its own.
    mutating func take(_ time: Int64, of long: SequenceNumber) {
        let record = TimeTree.record(ofLong: long, time)
        times.add(record.key, record.value)
    }

    /// Takes in the time of the next entry.
    private mutating func takeNext(
        _ time: Int64, of entry: JournalEntry, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        if entry.isLong { take(time, of: entry.sequence) }
        recentTimes.append(time)
        guard entry.sequence.writesTimes else { return }
        let tree = TimeTree(table: projection.tables.times)
        takeTimes(try tree.records(through: entry.sequence, recentTimes, in: transaction))
        recentTimes.removeAll(keepingCapacity: true)
    }

    private mutating func removeAll() {
        births = nil
        rows.removeAll()
        versions.removeAll()
        times.removeAll()
        models.removeAll()
        index.removeAll()
        members.removeAll()
        membersPast.removeAll()
        referrers.removeAll()
        referrersPast.removeAll()
        removals.removeAll()
    }
}

// MARK: - Writing

extension Projector where State == StoredState {
    /// Folds an entry of the journal, whatever its kind, that follows the one folded before.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when it cannot be read or does not
    ///   fit the tables; nothing of it has been written then.
    mutating func fold(
        _ entry: JournalEntry, in transaction: borrowing WriteTransaction
    ) throws {
        let payload = try EntryPayload.Encoded(entry)
        try takeInTurn(payload, of: entry.sequence, in: transaction)
        try takeNext(
            payload.header.occurredAt ?? entry.recordedAt, of: entry, in: transaction)
        try write(in: transaction)
    }

    /// Takes in an entry as ``take(_:of:in:)`` does. Where it sets a model, what that comes to is written
    /// first: its changes may change the records again.
    mutating func takeInTurn(
        _ payload: EntryPayload.Encoded, of sequence: SequenceNumber,
        in transaction: borrowing WriteTransaction
    ) throws {
        self.sequence = sequence
        if let version = payload.version {
            let before = projection
            try setModel(version, in: transaction)
            try write(in: transaction)
            let move = EntryIndexMove(from: before, to: projection)
            if sequence > SequenceNumber(1), !move.isEmpty {
                try moveEntries(move, in: transaction)
            }
        }
        try takeContent(payload, in: transaction)
    }

    /// Writes what has been taken in.
    mutating func write(in transaction: borrowing WriteTransaction) throws {
        let tables = projection.tables
        try transaction.removeRun { run in
            try removals.forEach { table, key in
                guard try run.remove(table, key) else {
                    throw StoreError.corrupt(
                        "A record of '\(table.name)' that entry \(sequence) ends is not there")
                }
            }
        }
        let isOfModel = !models.isEmpty
        try models.write(to: tables.models, in: transaction)
        try writeBirths(in: transaction)
        try rows.write(to: tables.rows, in: transaction)
        try versions.mergeIntoTail(of: tables.versions, in: transaction)
        // The records of a new index are all before those of any with a greater number.
        if isOfModel {
            try index.mergeIntoTail(of: tables.index, in: transaction)
        } else {
            try index.write(to: tables.index, in: transaction)
        }
        try members.write(to: tables.members, in: transaction)
        try membersPast.mergeIntoTail(of: tables.membersPast, in: transaction)
        try referrers.write(to: tables.referrers, in: transaction)
        try referrersPast.mergeIntoTail(of: tables.referrersPast, in: transaction)
        try times.write(to: tables.times, in: transaction)
        removeAll()
    }

    /// Writes the rows of the inserts that the entry begins with, straight from its bytes: gathered
    /// first, like other records, they would take the same memory again.
    private mutating func writeBirths(in transaction: borrowing WriteTransaction) throws {
        guard let births else { return }
        let bytes = births.payload.bytes.span.bytes
        try transaction.putAscendingRun(projection.tables.rows) { run in
            var offset = births.payload.changesOffset
            for _ in 0..<births.count {
                do throws(DecodingFailure) {
                    try change.read(bytes, at: &offset)
                } catch {
                    throw StoreError.entryUnreadable(sequence, cause: error)
                }
                encodeBirth(try foldedEntity(), bytes)
                let key = VersionKey(change.object)
                try run.put(
                    key.bytes.span.bytes.extracting(first: VersionKey.rowSize),
                    encoder.bytes.span.bytes)
            }
        }
    }
}

// MARK: - Accounting

extension Projector where State == CountedState {
    /// Adds the next entry of a store that already holds it to an account.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the tables cannot come from
    ///   folding.
    mutating func count(
        _ entry: JournalEntry, to account: ProjectionAccount,
        in transaction: borrowing ReadTransaction
    ) throws {
        let tables = projection.tables
        let payload = try EntryPayload.Encoded(entry)
        let before = projection
        try take(payload, of: entry.sequence, in: transaction)
        if payload.version != nil, sequence > SequenceNumber(1) {
            try countEntries(
                EntryIndexMove(from: before, to: projection), to: account, in: transaction)
        }
        try takeNext(
            payload.header.occurredAt ?? entry.recordedAt, of: entry, in: transaction)
        account.add(times, to: tables.times)
        account.add(models, to: tables.models)
        account.add(rows, to: tables.rows)
        account.add(versions, to: tables.versions, from: tables.rows)
        account.add(index, to: tables.index)
        account.add(members, to: tables.members)
        account.add(membersPast, to: tables.membersPast, from: tables.members)
        account.add(referrers, to: tables.referrers)
        account.add(referrersPast, to: tables.referrersPast, from: tables.referrers)
        let nothing: [UInt8] = []
        removals.forEach { table, key in
            if table == tables.index { account.subtract(table, key, nothing.span.bytes) }
        }
        removeAll()
    }
}
