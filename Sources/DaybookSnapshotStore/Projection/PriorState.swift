internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What stands before the entry that is folded: what a ``Projector`` asks, and tells what the entry begins
/// and ends.
///
/// A table of the past has what its table of the present had, under the same key and the entry that
/// ended it.
protocol PriorState {
    /// The tables, and the model by which they are read.
    var projection: Projection { get }

    /// The changes at the beginning of an entry whose rows need not be kept until they are written;
    /// nil for none.
    func prefix(of payload: EntryPayload.Encoded) -> InsertPrefix?

    /// Has an object begin; false when it is there.
    mutating func begin(
        _ object: ObjectID, _ key: VersionKey, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool

    /// Has an object end whose row was read; false when it is not there.
    mutating func end(_ object: ObjectID) -> Bool

    /// Calls `body` with the row of an object as it stands before an entry; nil when it is not there.
    func withRow<R>(
        of object: ObjectID, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable, _ body: (RawSpan) throws -> R
    ) throws -> R?

    /// Has a membership begin; false when it is there, unless it has only moved.
    mutating func beginMember(
        _ key: [UInt8], _ origin: MemberOrigin, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool

    /// Has the way back of a reference begin; false when it is there.
    mutating func beginReferrer(_ key: [UInt8]) -> Bool

    /// Has a connection end.
    ///
    /// - Returns: What stands under its key before the entry; nil when it is not there.
    mutating func endLink(
        _ key: [UInt8], _ kind: LinkKind, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]?
}

/// Where a member of a relationship comes from.
enum MemberOrigin {
    /// It was there, and the entry gives it another place.
    case moved
    case joined
}

/// The tables in which a connection stands.
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

/// The state before an entry that comes next: it stands in the tables of the present.
struct StoredState: PriorState {
    let projection: Projection
    /// The greatest object number of each entity met so far, to tell that an object is new without
    /// looking for it.
    private var numbersMaximum: [EntityNumber: UInt64] = [:]
    /// The same for the entity met last; no entity has number 0.
    private var greatest: ObjectID
    private static let noObject = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)

    /// - Parameters:
    ///   - projection: The tables.
    ///   - greatest: An upper bound: no object of that entity has a greater number; nil when none is
    ///     known. There need not be an object of that number.
    init(_ projection: Projection, greatest: ObjectID? = nil) {
        self.projection = projection
        self.greatest = greatest ?? Self.noObject
    }

    /// An upper bound, for the entity of the object met last that was to be new, or else the one known
    /// before: no object of that entity has a greater number. There need not be one of that number.
    var greatestKnown: ObjectID? { greatest == Self.noObject ? nil : greatest }

    /// How many changes an entry has at least for the memory of its new rows to matter.
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

    mutating func end(_ object: ObjectID) -> Bool { true }

    func withRow<R>(
        of object: ObjectID, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        let key = VersionKey(object)
        let place = key.bytes.span.bytes.extracting(first: VersionKey.rowSize)
        return try transaction.get(projection.tables.rows, place, body)
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

/// The state before an entry of long ago, in a store that has come further: what was there an account
/// knows, and what it was stands in the tables of the past.
struct CountedState: PriorState {
    let projection: Projection
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
        let place = key + StoreKey.sequence(sequence)
        let found = try transaction.get(kind.past(projection.tables), place.span.bytes) { $0.array }
        return found.flatMap { $0.span.bytes.isOlder(than: sequence) ? $0 : nil }
    }
}

extension RawSpan {
    /// Whether a record of the past begins with a sequence number before another.
    fileprivate func isOlder(than sequence: SequenceNumber) -> Bool {
        byteCount >= 8
            && UInt64(bigEndian: unsafeLoadUnaligned(as: UInt64.self)) < sequence.rawValue
    }
}
