import DaybookObjectModel

/// Related objects that have been read.
///
/// Holding the objects strongly is what keeps a destination alive while its source is realized; a
/// refresh drops the cache and so breaks the cycle of a two-way relationship.
enum RelationCache {
    /// The destination of a stored to-one relationship.
    case one(ManagedObject)
    /// The members of a to-many relationship, or of a to-one that is derived from its inverse.
    case many(MemberList)
}

/// The members of a relationship with their order, and the objects once they have been read.
struct MemberList {
    private(set) var orders: [ObjectID: Double]
    /// The objects in order; nil until they are read and after a change.
    var objects: [ManagedObject]?

    init(_ orders: [ObjectID: Double]) {
        self.orders = orders
    }

    /// The members in order; without one, by object.
    var sorted: [ObjectID] {
        orders.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    /// Adds a member or gives it another position.
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
