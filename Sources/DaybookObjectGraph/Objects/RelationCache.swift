import DaybookObjectModel

/// Related objects that have been asked for.
///
/// Holding the objects strongly is what keeps a destination alive while its source is realized; a
/// refresh drops the cache and so breaks the cycle of a two-way relationship.
enum RelationCache {
    /// The destination of a stored to-one relationship.
    case one(ManagedObject)
    /// The members of a to-many relationship, or of a to-one that is derived from its inverse.
    case many(MemberList)
}

/// The members of a relationship with their order, and the objects once they have been asked for.
struct MemberList {
    private(set) var orders: [ObjectID: Double]
    /// The objects in order; nil until they are asked for and after a change.
    var objects: [ManagedObject]?

    init(_ orders: [ObjectID: Double]) {
        self.orders = orders
    }

    /// The members in order; without one, by object.
    var sorted: [ObjectID] {
        orders.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    /// Adds a member or gives it another place.
    mutating func add(_ object: ObjectID, order: Double) {
        orders[object] = order
        objects = nil
    }

    /// Removes a member.
    mutating func remove(_ object: ObjectID) {
        orders[object] = nil
        objects = nil
    }
}

/// One end of a relationship of one object.
struct RelationKey: Hashable {
    let owner: GraphID
    let property: PropertyNumber
}

/// Who has joined and left relationships in a context since it last agreed with the store.
///
/// Reading a collection lays these over what the store has. Joining and leaving are idempotent, so
/// they stay right whether the store has taken them in or not. A member that is back where it was
/// leaves no note: others may move it then.
struct RelationDeltas {
    private struct Move {
        let old: Double?
        var new: Double?
    }

    private var deltas: [RelationKey: [ObjectID: Move]] = [:]

    /// Notes that a member goes from one place to another; nil for not being a member.
    mutating func note(
        _ key: RelationKey, _ member: ObjectID, from old: Double?, to new: Double?
    ) {
        var move = deltas[key]?[member] ?? Move(old: old, new: new)
        move.new = new
        deltas[key, default: [:]][member] = move.old == move.new ? nil : move
    }

    /// Whether anybody has joined, left or moved.
    func hasMoves(_ key: RelationKey) -> Bool {
        deltas[key]?.isEmpty == false
    }

    /// Takes the notes back from members that have them.
    func takeBack(_ key: RelationKey, from members: inout [ObjectID: Double]) {
        for (member, move) in deltas[key] ?? [:] { members[member] = move.old }
    }

    /// Lays the notes over members that were read.
    func overlay(_ key: RelationKey, on members: inout [ObjectID: Double]) {
        for (member, move) in deltas[key] ?? [:] { members[member] = move.new }
    }

    /// Forgets everything.
    mutating func removeAll() {
        deltas.removeAll()
    }
}
