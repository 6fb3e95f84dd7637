internal import JournalLog
internal import LMDB
internal import ObjectModel

/// Folds entries into the projection.
///
/// First every change is compared with what stands in the tables and turned into records; then the
/// records are written, table by table and sorted. So a change that does not fit is found before
/// anything is written. Saving, rebuilding and verifying all fold through here; where verifying only
/// keeps account, nothing is written, and what stood before is found in the tables of the past.
///
/// What is folded are the bytes of an entry. As every value has one encoding, old values are compared
/// and new ones copied as bytes, and a row is read once.
struct Projector {
    let projection: Projection
    /// What verifying keeps; nil when records are written.
    unowned let account: ProjectionAccount?
    /// The entry being folded.
    private(set) var sequence = SequenceNumber.zero
    private var encoder = RowEncoder()
    private var fields: [RowField] = []
    private var ages: [UInt64] = []
    private(set) var change = EncodedChange()
    private var entity: FoldedEntity?
    /// The new objects that the entry begins with.
    private var births: LeadingInserts?
    private var rows = PutBatch()
    private var versions = PutBatch()
    private var times = PutBatch()
    /// The times of the last entries, as long as they are not to be written; nil for a long one,
    /// which has written its own.
    private(set) var recentTimes: [Int64?]
    var index = PutBatch()
    var members = PutBatch()
    var membersPast = PutBatch()
    var referrers = PutBatch()
    var referrersPast = PutBatch()
    var removals: [(Table, [UInt8])] = []
    /// The greatest object number of each entity met so far, to tell that an object is new without
    /// looking for it.
    private var numbersMaximum: [EntityNumber: UInt64] = [:]
    /// The same for the entity met last; no entity has number 0.
    private var greatest = Self.noObject
    private static let noObject = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)

    /// - Parameters:
    ///   - projection: Where to.
    ///   - account: What verifying keeps.
    ///   - recentTimes: For who goes on with folding one entry after the other: where that has come.
    init(
        _ projection: Projection, _ account: ProjectionAccount? = nil, recentTimes: [Int64?] = []
    ) {
        self.projection = projection
        self.account = account
        self.recentTimes = recentTimes
    }

    /// Folds for a save.
    ///
    /// - Parameters:
    ///   - projection: The tables.
    ///   - greatest: An upper bound: no object of that entity has a greater number; nil when none is
    ///     known. There need not be an object of that number.
    init(_ projection: Projection, greatest: ObjectID?) {
        self.init(projection)
        self.greatest = greatest ?? Self.noObject
    }

    /// An upper bound, for the entity of the object met last that was to be new, or else the one known
    /// before: no object of that entity has a greater number. There need not be one of that number.
    var greatestKnown: ObjectID? { greatest == Self.noObject ? nil : greatest }

    // MARK: - Whole entries

    /// Takes in the changes of an entry; nothing is written yet.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a change does not start from
    ///   what stands in the tables, or cannot be read.
    mutating func take(
        _ payload: EntryPayload.Encoded, of sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        self.sequence = sequence
        // What is there is of an entry before, which has not been written.
        var leading =
            account == nil && births == nil && payload.changesCount >= Self.birthsMinimum
            ? LeadingInserts(payload) : nil
        let bytes = payload.bytes.span.bytes
        var offset = payload.changesOffset
        for done in 0..<payload.changesCount {
            if done == Self.sampleSize {
                // A little more than it takes if the rest is like the beginning.
                let whole = Double(bytes.byteCount - payload.changesOffset)
                makeRoom(times: 1.125 * whole / Double(offset - payload.changesOffset))
            }
            do throws(DecodingFailure) {
                try change.read(bytes, at: &offset)
            } catch {
                throw StoreError.entryUnreadable(sequence, cause: error)
            }
            let isLeading = change.kind == .insert && leading?.take(change.object, at: done) == true
            try fold(bytes, isLeading, in: transaction)
        }
        if let leading, leading.count > 0 { births = leading }
        guard offset == bytes.byteCount else {
            throw StoreError.entryUnreadable(
                sequence, cause: DecodingFailure(at: offset, expected: "the end of the entry"))
        }
    }

    /// How many changes an entry has at least for the memory of its new rows to matter.
    private static let birthsMinimum = 64

    /// After how many changes of a long entry room is made for the records of all.
    private static let sampleSize = 1024

    private mutating func makeRoom(times factor: Double) {
        rows.makeRoom(times: factor)
        versions.makeRoom(times: factor)
        index.makeRoom(times: factor)
        members.makeRoom(times: factor)
        membersPast.makeRoom(times: factor)
        referrers.makeRoom(times: factor)
        referrersPast.makeRoom(times: factor)
    }

    /// Takes in when entries happened that have their times written together; nil leaves one out.
    mutating func take(_ times: [Int64?], through last: SequenceNumber) {
        for (passed, time) in times.reversed().enumerated() {
            guard let time else { continue }
            let sequence = SequenceNumber(last.rawValue - UInt64(passed))
            self.times.add(StoreKey.time(time, sequence))
        }
    }

    /// Takes in when a long entry happened, which writes its own time.
    mutating func take(_ time: Int64, of long: SequenceNumber) {
        times.add(StoreKey.time(time, long))
    }

    /// Takes in when an entry happened that follows the one taken in before.
    private mutating func takeNext(_ time: Int64, of entry: JournalEntry) {
        if entry.isLong { take(time, of: entry.sequence) }
        recentTimes.append(entry.isLong ? nil : time)
        guard entry.sequence.writesTimes else { return }
        take(recentTimes, through: entry.sequence)
        recentTimes.removeAll(keepingCapacity: true)
    }

    /// Folds an entry of the journal, whatever its kind, that follows the one folded before.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when it cannot be read, or does not
    ///   start from what stands in the tables; nothing of it has been written then.
    mutating func fold(
        _ entry: JournalEntry, in transaction: borrowing WriteTransaction
    ) throws {
        let payload = try EntryPayload.Encoded(entry)
        if payload.header.kind == .model {
            let key = StoreKey.sequence(entry.sequence)
            let model = try payload.model(of: entry).canonicalBytes
            try transaction.put(
                projection.tables.models, key.span.bytes, model.span.bytes, .upsert)
        } else {
            try take(payload, of: entry.sequence, in: transaction)
        }
        takeNext(payload.header.occurredAt ?? entry.recordedAt, of: entry)
        try write(in: transaction)
    }

    /// Keeps account of an entry in a store that has it already; it follows the one before.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the tables cannot be what folding
    ///   gives.
    mutating func count(
        _ entry: JournalEntry, in transaction: borrowing ReadTransaction
    ) throws {
        guard let account else { return }
        let tables = projection.tables
        let payload = try EntryPayload.Encoded(entry)
        if payload.header.kind == .model {
            let key = StoreKey.sequence(entry.sequence)
            let model = try payload.model(of: entry).canonicalBytes
            account.add(tables.models, key.span.bytes, model.span.bytes)
        } else {
            try take(payload, of: entry.sequence, in: transaction)
        }
        takeNext(payload.header.occurredAt ?? entry.recordedAt, of: entry)
        account.add(times, to: tables.times)
        account.add(rows, to: tables.rows)
        account.add(versions, to: tables.versions, from: tables.rows)
        account.add(index, to: tables.index)
        account.add(members, to: tables.members)
        account.add(membersPast, to: tables.membersPast, from: tables.members)
        account.add(referrers, to: tables.referrers)
        account.add(referrersPast, to: tables.referrersPast, from: tables.referrers)
        let nothing: [UInt8] = []
        for (table, key) in removals where table == tables.index {
            account.subtract(table, key.span.bytes, nothing.span.bytes)
        }
        removeAll()
    }

    /// Writes what has been taken in.
    mutating func write(in transaction: borrowing WriteTransaction) throws {
        let tables = projection.tables
        for (table, key) in removals {
            guard try transaction.delete(table, key.span.bytes) else {
                throw StoreError.corrupt(
                    "A record of '\(table.name)' that entry \(sequence) ends is not there")
            }
        }
        try writeBirths(in: transaction)
        try rows.write(to: tables.rows, in: transaction)
        try versions.write(to: tables.versions, in: transaction)
        try index.write(to: tables.index, in: transaction)
        try members.write(to: tables.members, in: transaction)
        try membersPast.write(to: tables.membersPast, in: transaction)
        try referrers.write(to: tables.referrers, in: transaction)
        try referrersPast.write(to: tables.referrersPast, in: transaction)
        try times.write(to: tables.times, in: transaction)
        removeAll()
    }

    private mutating func removeAll() {
        births = nil
        rows.removeAll()
        versions.removeAll()
        times.removeAll()
        index.removeAll()
        members.removeAll()
        membersPast.removeAll()
        referrers.removeAll()
        referrersPast.removeAll()
        if !removals.isEmpty { removals.removeAll(keepingCapacity: true) }
    }

    // MARK: - One change

    private mutating func foldedEntity() throws -> FoldedEntity {
        if entity?.number != change.object.entity {
            entity = projection.foldedEntity(change.object.entity)
        }
        guard let entity else { throw mismatch() }
        return entity
    }

    private mutating func fold(
        _ entry: RawSpan, _ isLeading: Bool, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let entity = try foldedEntity()
        switch change.kind {
        case .insert: try insert(entity, entry, isLeading, in: transaction)
        case .update: try update(entity, entry, in: transaction)
        case .delete: try delete(entity, entry, in: transaction)
        }
        if !change.members.isEmpty { try fold(change.members, in: transaction) }
    }

    private mutating func insert(
        _ entity: FoldedEntity, _ entry: RawSpan, _ isLeading: Bool,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let key = VersionKey(change.object)
        guard change.fields.count <= Int(UInt16.max),
            try isNew(change.object, key, in: transaction)
        else { throw mismatch() }
        if !isLeading {
            encodeBirth(entity, entry)
            let row = encoder.bytes
            rows.add(
                key.bytes.span.bytes.extracting(first: VersionKey.rowSize), row.span.bytes)
        }
        for property in entity.indexed {
            try addIndex(property, try field(property), entry)
        }
        if !entity.compounds.isEmpty {
            fields.removeAll(keepingCapacity: true)
            for field in change.fields { fields.append(RowField(place: field, isNew: true)) }
            indexConstraints(entity, from: nil, to: try decoded(entry, entry))
        }
        for property in entity.references { try connect(property, try field(property), entry) }
    }

    private mutating func encodeBirth(_ entity: FoldedEntity, _ entry: RawSpan) {
        encoder.encode(
            since: sequence, new: change.fields, from: entry,
            parts: 1 + change.fields.count + entity.storedToMany.count)
    }

    /// Writes the rows of the new objects that the entry begins with, out of its bytes: gathered
    /// first, as other records, they would take as much memory once more.
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

    private mutating func update(
        _ entity: FoldedEntity, _ entry: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let found: Void? = try withRow(in: transaction) { (projector, before, layout) in
            try projector.splice(entity, entry, before, layout)
        }
        guard found != nil else { throw mismatch() }
        for edit in change.edits {
            guard let property = entity.property(edit.property),
                property.isIndexed || property.isReference,
                !entry.hasSame(edit.old, edit.new)
            else { continue }
            if property.isIndexed {
                try removeIndex(property, edit.old, entry)
                try addIndex(property, edit.new, entry)
            } else {
                try disconnect(property, edit.old, entry, in: transaction)
                try connect(property, edit.new, entry)
            }
        }
    }

    /// Makes the row after an update out of the one before, which is kept as a version.
    private mutating func splice(
        _ entity: FoldedEntity, _ entry: RawSpan, _ before: RawSpan, _ layout: RowLayout
    ) throws {
        do throws(DecodingFailure) {
            try layout.fields(in: before, &fields)
            try layout.ages(in: before, relationships: entity.storedToMany.count, &ages)
        } catch {
            throw unreadable(error)
        }
        let old = entity.compounds.isEmpty ? nil : try decoded(entry, before)
        let passed = sequence.rawValue - layout.since.rawValue
        for part in ages.indices { ages[part] += passed }
        for edit in change.edits {
            // A second edit of one property would start from the first, which no entry has.
            guard let slot = entity.property(edit.property)?.slot, slot < fields.count,
                !fields[slot].isNew, entry.hasSame(edit.old, as: fields[slot].place, in: before)
            else { throw mismatch(edit.property) }
            guard !entry.hasSame(edit.old, edit.new) else { continue }
            fields[slot] = RowField(place: edit.new, isNew: true)
            ages[1 + slot] = 0
        }
        for edit in change.members where !edit.isEmpty {
            let place = entity.storedToMany.firstIndex(of: edit.property)
            if let place { ages[1 + fields.count + place] = 0 }
        }
        // Fields that the entry does not touch are copied as they are: damage in them stays for
        // `verify` to find.
        encoder.encode(since: sequence, fields, from: entry, before, ages: ages)
        let key = VersionKey(change.object, sequence)
        let row = encoder.bytes
        rows.add(key.bytes.span.bytes.extracting(first: VersionKey.rowSize), row.span.bytes)
        versions.add(key.bytes.span.bytes, before)
        if let old { indexConstraints(entity, from: old, to: try decoded(entry, before)) }
    }

    private mutating func delete(
        _ entity: FoldedEntity, _ entry: RawSpan,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let found: Void? = try withRow(in: transaction) { (projector, before, layout) in
            try projector.retire(entity, entry, before, layout)
        }
        guard found != nil else { throw mismatch() }
        for property in entity.indexed {
            try removeIndex(property, try field(property), entry)
        }
        for property in entity.references {
            try disconnect(property, try field(property), entry, in: transaction)
        }
    }

    /// Keeps the row before a delete as a version.
    private mutating func retire(
        _ entity: FoldedEntity, _ entry: RawSpan, _ before: RawSpan, _ layout: RowLayout
    ) throws {
        do throws(DecodingFailure) {
            try layout.fields(in: before, &fields)
        } catch {
            throw unreadable(error)
        }
        guard fields.count == change.fields.count,
            zip(change.fields, fields).allSatisfy({
                entry.hasSame($0, as: $1.place, in: before)
            }), account?.end(change.object) ?? true
        else { throw mismatch() }
        let key = VersionKey(change.object, sequence)
        versions.add(key.bytes.span.bytes, before)
        removals.append((projection.tables.rows, StoreKey.object(change.object)))
        if !entity.compounds.isEmpty {
            indexConstraints(entity, from: try decoded(entry, before), to: nil)
        }
    }

    /// The values of the fields at hand.
    private func decoded(_ entry: RawSpan, _ before: RawSpan) throws -> [Value] {
        var values: [Value] = []
        for field in fields {
            do {
                values.append(
                    field.isNew
                        ? try entry.value(at: field.place) : try before.value(at: field.place))
            } catch {
                throw unreadable(error)
            }
        }
        return values
    }

    /// Where the change has the value of a property.
    private func field(_ property: FoldedEntity.Property) throws -> EncodedField {
        guard property.slot < change.fields.count else { throw mismatch(property.number) }
        return change.fields[property.slot]
    }

    private mutating func isNew(
        _ object: ObjectID, _ key: VersionKey, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if let account { return account.begin(object) }
        if object.entity != greatest.entity {
            if greatest != Self.noObject { numbersMaximum[greatest.entity] = greatest.number }
            let known = numbersMaximum[object.entity]
            greatest = ObjectID(
                entity: object.entity,
                number: try known
                    ?? projection.numberMaximum(of: object.entity, in: transaction))
        }
        if object.number > greatest.number {
            greatest = object
            return true
        }
        return try !transaction.contains(
            projection.tables.rows, key.bytes.span.bytes.extracting(first: VersionKey.rowSize))
    }

    // MARK: - What stands before an entry

    /// Calls `body` with the row of the object of the change, as it stands before the entry: in the
    /// table of the present, or for an entry of long ago in that of the past.
    private mutating func withRow<R>(
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (inout Projector, RawSpan, RowLayout) throws -> R
    ) throws -> R? {
        let object = change.object
        if let account, !account.isThere(object) { return nil }
        let key = VersionKey(object, sequence)
        let place = key.bytes.span.bytes
        guard account != nil else {
            let row = place.extracting(first: VersionKey.rowSize)
            return try transaction.get(projection.tables.rows, row) { bytes in
                let layout = try layout(bytes)
                return try body(&self, bytes, layout)
            }
        }
        return try transaction.get(projection.tables.versions, place) { bytes -> R? in
            guard bytes.isOlder(than: sequence) else { return nil }
            let layout = try layout(bytes)
            return try body(&self, bytes, layout)
        } ?? nil
    }

    private mutating func layout(_ bytes: RawSpan) throws -> RowLayout {
        let layout: RowLayout
        do {
            layout = try RowLayout(bytes)
        } catch {
            throw unreadable(error)
        }
        guard layout.since < sequence else {
            throw StoreError.corrupt(
                "The record of \(projection.schema.name(of: change.object)) says that it is of "
                    + "entry \(layout.since), which cannot be before entry \(sequence)")
        }
        return layout
    }

    private func unreadable(_ failure: DecodingFailure) -> StoreError {
        .rowUnreadable(projection.schema.name(of: change.object), cause: failure)
    }

    func mismatch(_ property: PropertyNumber? = nil) -> StoreError {
        let object = change.object
        let name = projection.schema.name(of: object)
        let entity = projection.schema.entity(object.entity)
        let place = property.flatMap { entity?.property($0)?.name }.map { "'\($0)' of \(name)" }
        return .corrupt(
            "Entry \(sequence) does not fit what stands in the tables for \(place ?? name)")
    }
}

extension RawSpan {
    /// The value of a field.
    func value(at field: EncodedField) throws(DecodingFailure) -> Value {
        guard !field.isEmpty else { return .null }
        var offset = field.start
        let value = try readValue(at: &offset)
        guard offset == field.end else {
            throw DecodingFailure(at: offset, expected: "the end of a field")
        }
        return value
    }

    /// Whether two fields have the same value.
    fileprivate func hasSame(_ field: EncodedField, _ other: EncodedField) -> Bool {
        hasSame(field, as: other, in: self)
    }

    /// Whether a field has the same value as one of other bytes.
    fileprivate func hasSame(
        _ field: EncodedField, as other: EncodedField, in bytes: RawSpan
    ) -> Bool {
        guard field.byteCount == other.byteCount else { return false }
        return extracting(field.start..<field.end)
            .hasSameBytes(as: bytes.extracting(other.start..<other.end))
    }

    /// Whether a record of the past begins with a sequence number before another.
    func isOlder(than sequence: SequenceNumber) -> Bool {
        byteCount >= 8
            && UInt64(bigEndian: unsafeLoadUnaligned(as: UInt64.self)) < sequence.rawValue
    }
}
