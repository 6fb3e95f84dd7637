// The room of the projection: the tables derived from the journal. They are written only by folding
// entries, in the transaction that appends the entry or in that of a rebuild.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// The tables that follow from the journal, read as of any sequence number.
///
/// A row is the state of its object since the entry in its `since`. Earlier states are in
/// `versions`, each under the entry that replaced it. So the state at a sequence number *s* is the
/// row, if its `since` is not after *s*, and otherwise the first version replaced after *s*, if its
/// `since` is not after *s*; failing both, the object does not exist. Connections work alike.
final class Projection: Sendable {
    let tables: StoreTables
    let schema: Schema
    /// What folding needs of the entities, from number 1 at index 0.
    private let foldedEntities: [FoldedEntity?]
    /// Whether the model has rules that span objects: that references lead to objects, that values
    /// are unique, that counts of members are limited.
    let hasConstraints: Bool
    /// Whether the model has attributes whose values the store works out.
    let isDeriving: Bool
    /// The laws of the model.
    let laws: SchemaLaws
    /// What entries are indexed by.
    let indexedAttribution: [IndexedAttribution]

    init(tables: StoreTables, schema: Schema) {
        self.tables = tables
        self.schema = schema
        foldedEntities = schema.version.entities.map {
            schema.entity($0.number).map(FoldedEntity.init)
        }
        isDeriving = !schema.derivations.isEmpty
        laws = SchemaLaws(schema)
        indexedAttribution = schema.model.indexesEntries.ordered
        hasConstraints = schema.entities.contains {
            !$0.referenceSlots.isEmpty || !$0.storedToMany.isEmpty || !$0.constraints.isEmpty
                || !$0.counted.isEmpty
        }
    }

    /// What folding needs of the entity with that number.
    func foldedEntity(_ number: EntityNumber) -> FoldedEntity? {
        let index = Int(number.rawValue) - 1
        return foldedEntities.indices.contains(index) ? foldedEntities[index] : nil
    }

    /// The values of a row, as the model has them, in slot order.
    func values(
        of object: ObjectID, _ row: RowLayout, _ bytes: RawSpan
    ) throws -> [Value] {
        try decoding(object) { () throws(DecodingFailure) in
            guard let layout = foldedEntity(object.entity)?.layout else {
                return try row.values(in: bytes)
            }
            return try layout.values(row, bytes)
        }
    }

    /// One value of a row, as the model has it.
    func value(
        _ slot: Int, of object: ObjectID, _ row: RowLayout, _ bytes: RawSpan
    ) throws -> Value {
        try decoding(object) { () throws(DecodingFailure) in
            guard slot >= row.count, let entity = foldedEntity(object.entity) else {
                return try row.value(slot, in: bytes)
            }
            return try entity.layout.value(slot, row, bytes)
        }
    }

    /// Checks a row, and brings it into the layout that the model has where it is in another.
    ///
    /// - Returns: Whether that was so, and the row is in `fitted`.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the bytes are not those of a row.
    func fit(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, into fitted: inout FittedRow
    ) throws -> Bool {
        try decoding(object) { () throws(DecodingFailure) in
            try row.check(bytes)
            guard let layout = foldedEntity(object.entity)?.layout, !layout.fits(row, bytes) else {
                return false
            }
            try layout.fit(row, bytes, into: &fitted)
            return true
        }
    }

    /// A row as it was read, in the layout that the model has.
    func encodedRow(of object: ObjectID, _ bytes: [UInt8]) throws -> EncodedRow {
        let span = bytes.span.bytes
        let row = try decoding(object) { () throws(DecodingFailure) in try RowLayout(span) }
        var fitted = FittedRow()
        let checked = try fit(object, row, span, into: &fitted) ? fitted.bytes : bytes
        return EncodedRow(checked: checked, 0..<checked.count)
    }

    /// Calls `body` with the bytes of a checked row in the layout that the model has.
    func withFitted<R>(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, _ body: (RawSpan) throws -> R
    ) throws -> R {
        var fitted = FittedRow()
        guard try fit(object, row, bytes, into: &fitted) else { return try body(bytes) }
        return try body(fitted.bytes.span.bytes)
    }

    // MARK: - Rows

    /// Calls `body` with the bytes of an object's row as of `sequence`.
    ///
    /// - Complexity: O(log *n*) page reads.
    func withRow<R>(
        of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (RawSpan, RowLayout) throws -> R
    ) throws -> R? {
        let current = try withUnchangedRow(of: object, since: sequence, in: transaction, body)
        if let current { return current }
        guard sequence < .latest else { return nil }
        return try withReplacedRow(of: object, since: sequence, in: transaction, body)
    }

    /// Calls `body` with the bytes of an object's row, if that has not changed since `sequence`.
    func withUnchangedRow<R>(
        of object: ObjectID, since sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (RawSpan, RowLayout) throws -> R
    ) throws -> R? {
        let found: R?? = try transaction.get(tables.rows, ObjectKey(object)) { bytes -> R? in
            let layout = try decoding(object) { () throws(DecodingFailure) in
                try RowLayout(bytes)
            }
            return layout.since <= sequence ? try body(bytes, layout) : nil
        }
        return found.flatMap(\.self)
    }

    /// Calls `body` with the bytes that an object's row had as of `sequence`, if it has changed since.
    func withReplacedRow<R>(
        of object: ObjectID, since sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (RawSpan, RowLayout) throws -> R
    ) throws -> R? {
        let key = StoreKey.object(object)
        let later = StoreKey.version(object, sequence.next)
        let found: R?? = try transaction.seek(tables.versions, atOrAfter: later.span.bytes) {
            found, bytes -> R? in
            guard found.starts(with: key) else { return nil }
            let layout = try decoding(object) { () throws(DecodingFailure) in
                try RowLayout(bytes)
            }
            guard layout.since <= sequence else { return nil }
            return try body(bytes, layout)
        }
        return found.flatMap(\.self)
    }

    /// Calls `body` with the row that an object had last before an entry, by which it is not there.
    func withLastVersion<R>(
        of object: ObjectID, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        let prefix = StoreKey.object(object)
        let end = StoreKey.version(object, sequence)
        let found: R?? = try transaction.seek(tables.versions, before: end.span.bytes) {
            key, bytes -> R? in
            key.starts(with: prefix) ? try body(bytes) : nil
        }
        return found.flatMap(\.self)
    }

    /// An object's row as of `sequence`; nil when there is none.
    func row(
        of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Row? {
        try withRow(of: object, at: sequence, in: transaction) { bytes, layout in
            Row(
                since: layout.since,
                values: try values(of: object, layout, bytes))
        }
    }

    /// An object's values and members as of `sequence`; nil when there is no such object.
    func state(
        of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ObjectState? {
        guard let row = try row(of: object, at: sequence, in: transaction) else { return nil }
        var state = ObjectState(values: row.values)
        for property in schema.entity(object.entity)?.storedToMany ?? [] {
            var members: [ObjectID: Double] = [:]
            try links(
                of: object, property.number, tables.members, tables.membersPast, at: sequence,
                in: transaction
            ) { members[$0] = $1 }
            if !members.isEmpty { state.members[property.number] = members }
        }
        return state
    }

    /// An object's state without derived values, which are nobody's to set: what changes are made from
    /// before they become an entry.
    func ownState(
        of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ObjectState? {
        guard var state = try state(of: object, at: sequence, in: transaction) else { return nil }
        if let entity = schema.entity(object.entity) {
            state.values = entity.withoutDerived(state.values)
        }
        return state
    }

    // MARK: - Connections

    /// Walks the objects connected with one through a relationship as of `sequence`, in no order.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of connections it ever had.
    func links(
        of object: ObjectID, _ property: PropertyNumber, _ current: Table, _ past: Table,
        at sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, Double) -> Void
    ) throws {
        let prefix = StoreKey.links(of: object, property)
        let end = StoreKey.end(of: prefix) ?? []
        try transaction.scan(
            current, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            let link = try Link(key, value)
            if link.since <= sequence { body(link.other, link.order) }
            return .proceed
        }
        try transaction.scan(
            past, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            let link = try Link(key, value)
            if let removal = link.removal, removal > sequence, link.since <= sequence {
                body(link.other, link.order)
            }
            return .proceed
        }
    }

    /// The objects at the other end of some records of a table of connections, in their order.
    func linked(
        with object: ObjectID, _ property: PropertyNumber, _ table: Table,
        in transaction: borrowing some Reading & ~Copyable, where isWanted: (Link) -> Bool
    ) throws -> [ObjectID] {
        let prefix = StoreKey.links(of: object, property)
        let end = StoreKey.end(of: prefix) ?? []
        var found: [ObjectID] = []
        try transaction.scan(
            table, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            let link = try Link(key, value)
            if isWanted(link) { found.append(link.other) }
            return .proceed
        }
        return found
    }

    /// The references to an object that stand now, through one stored relationship or all.
    func links(
        to object: ObjectID, _ property: PropertyNumber?,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Link] {
        let prefix = property.map { StoreKey.links(of: object, $0) } ?? StoreKey.object(object)
        let end = StoreKey.end(of: prefix) ?? []
        var found: [Link] = []
        try transaction.scan(
            tables.referrers, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            found.append(try Link(key, value))
            return .proceed
        }
        return found
    }

    /// The objects that refer to one through a stored relationship as of `sequence`.
    func referrers(
        to object: ObjectID, _ property: PropertyNumber, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        var owners: [ObjectID] = []
        try links(
            of: object, property, tables.referrers, tables.referrersPast, at: sequence,
            in: transaction
        ) { owner, _ in owners.append(owner) }
        return owners.sorted()
    }

    /// The members of a relationship of any kind as of `sequence`, sorted by (order, object).
    func members(
        of property: SchemaProperty, in object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Member] {
        guard let end = property.end else { return [] }
        if property.isStoredToMany {
            var members: [Member] = []
            try links(
                of: object, property.number, tables.members, tables.membersPast, at: sequence,
                in: transaction
            ) { members.append(Member(object: $0, order: $1)) }
            return members.sorted { ($0.order, $0.object) < ($1.order, $1.object) }
        }
        if end.isStored {
            let value = try value(of: property, in: object, at: sequence, in: transaction)
            return value.reference.map { [Member(object: $0)] } ?? []
        }
        guard let stored = end.inverse else { return [] }
        return try referrers(to: object, stored, at: sequence, in: transaction)
            .map { Member(object: $0) }
    }

    /// One field of a row; null when there is no such object.
    func value(
        of property: SchemaProperty, in object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Value {
        guard let own = schema.entity(object.entity)?.property(property.number) else {
            return .null
        }
        guard let slot = own.slot else {
            return try members(of: own, in: object, at: sequence, in: transaction).first
                .map { .object($0.object) } ?? .null
        }
        return try withRow(of: object, at: sequence, in: transaction) { bytes, layout in
            try value(slot, of: object, layout, bytes)
        } ?? .null
    }

    /// Whether an object has changed since it was read, derived values aside.
    func hasMoved(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, since seen: SequenceNumber
    ) throws -> Bool {
        guard row.since != seen, let entity = schema.entity(object.entity),
            !entity.derivedSlots.isEmpty, let layout = foldedEntity(object.entity)?.layout
        else { return row.since != seen }
        let origins = try decoding(object) { () throws(DecodingFailure) in
            try row.origins(
                in: bytes, relationships: layout.relationshipCount(at: row.since))
        }
        let derived = Set(entity.derivedSlots.compactMap(\.slot))
        let own = origins.values.enumerated().filter { !derived.contains($0.offset) }
        return ([origins.birth] + own.map(\.element) + origins.members).contains { $0 > seen }
    }

    /// Runs a decoder and adds the object's name to its failure.
    func decoding<R>(_ object: ObjectID, _ body: () throws(DecodingFailure) -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw unreadable(object, error)
        }
    }

    /// The error for a malformed row of an object.
    func unreadable(_ object: ObjectID, _ failure: DecodingFailure) -> StoreError {
        .rowUnreadable(schema.name(of: object), cause: failure)
    }
}

/// A record of `members`, `referrers` or their tables of the past.
struct Link {
    let object: ObjectID
    let property: PropertyNumber
    let other: ObjectID
    /// The entry that ended the connection; nil while it stands.
    let removal: SequenceNumber?
    let since: SequenceNumber
    let order: Double

    init(_ key: RawSpan, _ value: RawSpan) throws(LMDBError) {
        var reader = KeyReader()
        object = try reader.object(key)
        property = PropertyNumber(rawValue: try reader.uint32(key))
        other = try reader.object(key)
        removal = reader.remaining(in: key) == 0 ? nil : try reader.sequence(key)
        var fields = KeyReader()
        since = try fields.sequence(value)
        let hasOrder = fields.remaining(in: value) > 0
        order = hasOrder ? Double(bitPattern: try fields.uint64(value)) : 0
    }
}

extension SequenceNumber {
    /// The newest state in the current transaction.
    static let latest = SequenceNumber(rawValue: .max)
}
