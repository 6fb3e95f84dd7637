internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// The state before the entry being folded: a ``Projector`` reads it and reports what the entry
/// begins and ends.
///
/// A table of the past holds the former records of its table of the present, each under its key and
/// the entry that ended it.
protocol PriorState {
    /// The tables and their model.
    var projection: Projection { get set }

    /// The inserts at the start of an entry whose rows need not be kept until they are written; nil
    /// for none.
    func prefix(of payload: EntryPayload.Encoded) -> InsertPrefix?

    /// Begins an object; false when it already exists.
    mutating func begin(
        _ object: ObjectID, _ key: VersionKey, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool

    /// Ends an object whose row was read; false when it does not exist.
    mutating func end(_ object: ObjectID) -> Bool

    /// The members that an object has over a relationship before an entry.
    func members(
        of owner: ObjectID, _ property: PropertyNumber, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID]

    /// Calls `body` with the row of every object of an entity before an entry.
    func forEachRow(
        of entity: EntityNumber, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> Void
    ) throws

    /// Calls `body` with the row of an object before an entry; nil when it does not exist.
    func withRow<R>(
        of object: ObjectID, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable, _ body: (RawSpan) throws -> R
    ) throws -> R?

    /// Begins a membership; false when it already exists, unless it only moves.
    mutating func beginMember(
        _ key: [UInt8], _ origin: MemberOrigin, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool

    /// Begins the record that leads back from a reference; false when it already exists.
    mutating func beginReferrer(_ key: [UInt8]) -> Bool

    /// Ends a connection.
    ///
    /// - Returns: The value of its record before the entry; nil when there is none.
    mutating func endLink(
        _ key: [UInt8], _ kind: LinkKind, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]?
}

/// Where a member of a relationship comes from.
enum MemberOrigin {
    /// It was a member, and the entry changes its order.
    case moved
    case joined
}

/// The kind of a connection, which decides its tables.
enum LinkKind {
    case member
    case referrer

    func present(_ tables: StoreTables) -> Table {
        switch self {
        case .member: tables.members
        case .referrer: tables.referrers
        }
    }

    func past(_ tables: StoreTables) -> Table {
        switch self {
        case .member: tables.membersPast
        case .referrer: tables.referrersPast
        }
    }
}

/// The state before the next entry of a store: the tables of the present.
struct StoredState: PriorState {
    var projection: Projection
    /// The greatest object number of each entity met so far, which shows that an object is new
    /// without looking it up.
    private var numbersMaximum: [EntityNumber: UInt64] = [:]
    /// The same for the entity met last; no entity has number 0.
    private var greatest: ObjectID
    private static let noObject = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)

    /// - Parameters:
    ///   - projection: The tables.
    ///   - greatest: An upper bound: no object of that entity has a greater number; nil when none
    ///     is known. No object need have that number.
    init(_ projection: Projection, greatest: ObjectID? = nil) {
        self.projection = projection
        self.greatest = greatest ?? Self.noObject
    }

    /// An upper bound for the entity of the last inserted object, or else the bound given at the
    /// start: no object of that entity has a greater number. No object need have that number.
    var greatestKnown: ObjectID? { greatest == Self.noObject ? nil : greatest }

    /// The number of changes from which the memory of an entry's new rows matters.
    private static let prefixMinimum = 64

    func prefix(of payload: EntryPayload.Encoded) -> InsertPrefix? {
        payload.changesCount >= Self.prefixMinimum ? InsertPrefix(payload) : nil
    }

    mutating func begin(
        _ object: ObjectID, _ key: VersionKey, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if object.entity != greatest.entity {
            if greatest != Self.noObject { numbersMaximum[greatest.entity] = greatest.number }
            let known = numbersMaximum[object.entity]
            greatest = ObjectID(
                entity: object.entity,
                number: try known
                    ?? projection.tables.rows.numberMaximum(of: object.entity, in: transaction))
        }
        if object.number > greatest.number {
            greatest = object
            return true
        }
        return try !transaction.contains(
            projection.tables.rows, key.bytes.span.bytes.extracting(first: VersionKey.rowSize))
    }

    func members(
        of owner: ObjectID, _ property: PropertyNumber, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        try projection.linked(with: owner, property, projection.tables.members, in: transaction) {
            _ in true
        }
    }

    func forEachRow(
        of entity: EntityNumber, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> Void
    ) throws {
        _ = try projection.walkRows(of: entity, in: transaction) { object, row, bytes in
            try body(object, row, bytes)
            return .proceed
        }
    }

    mutating func end(_ object: ObjectID) -> Bool { true }

    func withRow<R>(
        of object: ObjectID, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        let key = VersionKey(object)
        let rowKey = key.bytes.span.bytes.extracting(first: VersionKey.rowSize)
        return try transaction.get(projection.tables.rows, rowKey, body)
    }

    mutating func beginMember(
        _ key: [UInt8], _ origin: MemberOrigin, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        switch origin {
        case .moved: true
        case .joined: try !transaction.contains(projection.tables.members, key.span.bytes)
        }
    }

    mutating func beginReferrer(_ key: [UInt8]) -> Bool { true }

    mutating func endLink(
        _ key: [UInt8], _ kind: LinkKind, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]? {
        try transaction.get(kind.present(projection.tables), key.span.bytes) { $0.array }
    }
}

/// The state before an earlier entry of a store: an account knows which objects and connections
/// existed, and the tables of the past hold their records.
struct CountedState: PriorState {
    var projection: Projection
    private unowned let account: ProjectionAccount

    init(_ projection: Projection, _ account: ProjectionAccount) {
        self.projection = projection
        self.account = account
    }

    func prefix(of payload: EntryPayload.Encoded) -> InsertPrefix? { nil }

    mutating func begin(
        _ object: ObjectID, _ key: VersionKey, in transaction: borrowing some Reading & ~Copyable
    ) -> Bool {
        account.begin(object)
    }

    func members(
        of owner: ObjectID, _ property: PropertyNumber, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        // What ends now stands in the past under this entry; the sum tells whether that is all.
        try projection.linked(
            with: owner, property, projection.tables.membersPast, in: transaction
        ) { $0.removal == sequence }
    }

    func forEachRow(
        of entity: EntityNumber, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> Void
    ) throws {
        let before = sequence.previous
        try projection.objects(of: [entity], at: before, isLatest: false, in: transaction) {
            object in
            _ = try projection.withRow(of: object, at: before, in: transaction) { bytes, row in
                try body(object, row, bytes)
            }
            return .proceed
        }
    }

    mutating func end(_ object: ObjectID) -> Bool { account.end(object) }

    func withRow<R>(
        of object: ObjectID, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        guard account.isThere(object) else { return nil }
        let key = VersionKey(object, sequence)
        let found = try transaction.get(projection.tables.versions, key.bytes.span.bytes) { bytes in
            bytes.isOlder(than: sequence) ? try body(bytes) : nil
        }
        return found ?? nil
    }

    mutating func beginMember(
        _ key: [UInt8], _ origin: MemberOrigin, in transaction: borrowing some Reading & ~Copyable
    ) -> Bool {
        account.begin(projection.tables.members, key)
    }

    mutating func beginReferrer(_ key: [UInt8]) -> Bool {
        account.begin(projection.tables.referrers, key)
    }

    mutating func endLink(
        _ key: [UInt8], _ kind: LinkKind, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]? {
        guard account.end(kind.present(projection.tables), key) else { return nil }
        let pastKey = key + StoreKey.sequence(sequence)
        let found = try transaction.get(kind.past(projection.tables), pastKey.span.bytes) {
            $0.array
        }
        return found.flatMap { $0.span.bytes.isOlder(than: sequence) ? $0 : nil }
    }
}

extension RawSpan {
    /// Whether a record of the past begins with an earlier sequence number.
    fileprivate func isOlder(than sequence: SequenceNumber) -> Bool {
        byteCount >= 8
            && UInt64(bigEndian: unsafeLoadUnaligned(as: UInt64.self)) < sequence.rawValue
    }
}
