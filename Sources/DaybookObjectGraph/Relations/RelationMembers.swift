// The room of relations: the members of relationships as a context sees them, read, changed and put in order, and
// what an object lets go of.

import DaybookObjectModel

/// The members of a relationship with their order.
///
/// As they were read they are a list. It becomes a table by object when one of them joins, leaves or moves;
/// most lists are only read.
struct RelationMembers {
    private enum Content {
        /// In order; without one, by object. No object comes twice.
        case read([Member])
        case changed([ObjectID: Double])
    }

    private var content: Content

    /// Members in order, as the store has them.
    init(read members: [Member]) {
        content = .read(members)
    }

    /// Members with their order.
    init(_ orders: [ObjectID: Double]) {
        content = .changed(orders)
    }

    var count: Int {
        switch content {
        case .read(let members): members.count
        case .changed(let orders): orders.count
        }
    }

    /// The members in order; without one, by object.
    var sorted: [ObjectID] {
        switch content {
        case .read(let members): members.map(\.object)
        case .changed(let orders):
            orders.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        }
    }

    /// The order of each member.
    ///
    /// - Complexity: O(*k*) where none of the *k* members has changed.
    var orders: [ObjectID: Double] {
        switch content {
        case .read(let members):
            Dictionary(members.map { ($0.object, $0.order) }) { first, _ in first }
        case .changed(let orders): orders
        }
    }

    /// The order of one member; nil for an object that is not a member.
    ///
    /// - Complexity: O(*k*) where none of the *k* members has changed: for many, ask ``orders`` once.
    func order(of object: ObjectID) -> Double? {
        switch content {
        case .read(let members): members.first { $0.object == object }?.order
        case .changed(let orders): orders[object]
        }
    }

    /// Gives a member an order, or takes it out for nil.
    mutating func set(_ object: ObjectID, order: Double?) {
        var orders = orders
        // Let go of, so that the table is changed in place instead of copied.
        content = .read([])
        orders[object] = order
        content = .changed(orders)
    }

    /// The members for which `isIncluded` is true.
    func filter(_ isIncluded: (ObjectID) -> Bool) -> RelationMembers {
        switch content {
        case .read(let members):
            RelationMembers(read: members.filter { isIncluded($0.object) })
        case .changed(let orders): RelationMembers(orders.filter { isIncluded($0.key) })
        }
    }
}

extension RelationMembers: Equatable {
    /// Whether both have the same members in the same order.
    ///
    /// - Complexity: O(1) for two copies of which neither has changed; else O(*k*).
    static func == (left: Self, right: Self) -> Bool {
        switch (left.content, right.content) {
        case (.read(let left), .read(let right)): left == right
        case (.changed(let left), .changed(let right)): left == right
        default: left.count == right.count && left.orders == right.orders
        }
    }
}
