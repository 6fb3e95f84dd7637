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

    /// The objects of a list that have been read.
    var objects: [ManagedObject]? {
        if case .many(let list) = self { list.objects } else { nil }
    }

    /// Adds a member to a list, gives it another position, or removes it for nil. The list is changed in
    /// place.
    mutating func set(_ object: ObjectID, order: Double?) {
        guard case .many(var list) = self else { return }
        // Let go of, so that the table is not copied.
        self = .many(MemberList(RelationMembers(read: [])))
        list.set(object, order: order)
        self = .many(list)
    }
}

/// The members of a relationship with their order, and the objects once they have been read.
struct MemberList {
    private(set) var members: RelationMembers
    /// The objects in order; nil until they are read and after a change.
    var objects: [ManagedObject]?

    init(_ members: RelationMembers) {
        self.members = members
    }

    init(_ orders: [ObjectID: Double]) {
        self.init(RelationMembers(orders))
    }

    var count: Int { members.count }

    /// The members in order; without one, by object.
    var sorted: [ObjectID] { members.sorted }

    /// The order of each member.
    var orders: [ObjectID: Double] { members.orders }

    /// The order of one member; nil for an object that is not a member.
    func order(of object: ObjectID) -> Double? { members.order(of: object) }

    /// Adds a member, gives it another position, or removes it for nil.
    mutating func set(_ object: ObjectID, order: Double?) {
        members.set(object, order: order)
        objects = nil
    }
}

/// One end of a relationship of one object.
struct RelationKey: Hashable {
    let owner: GraphID
    let property: PropertyNumber
}
