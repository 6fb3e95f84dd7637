import DaybookObjectModel

// Objects that only one owner may hold, when a child's save gives them two.

extension ManagedObjectContext {
    /// Who holds an object here over a relationship with only one owner, apart from owners that the save
    /// itself makes let go.
    func holders(
        of member: ObjectID, over property: SchemaProperty, in store: UInt32,
        _ references: ArrivingReferences
    ) throws -> [ObjectID] {
        let id = GraphID(store: store, object: member)
        var holders: [ObjectID] = []
        if property.isSelfInverse {
            // The one that is held holds in return.
            holders = try currentValue(of: property, in: id).reference.map { [$0] } ?? []
        } else if let inverse = property.opposite,
            let derived = binding(member.entity).schema.property(inverse)
        {
            holders = try currentMembers(of: derived, in: id).sorted
        }
        return holders.filter {
            !references.isReleased(member, by: GraphID(store: store, object: $0), property.number)
        }
    }

    /// Makes others let go of an object that only one owner may hold.
    ///
    /// - Parameters:
    ///   - member: The object.
    ///   - property: The relationship over which its new owner comes to hold it.
    ///   - owner: The new owner.
    ///   - former: What the owner held before.
    func takeFromOthers(
        _ member: ObjectID?, _ property: SchemaProperty, for owner: ManagedObject,
        insteadOf former: ObjectID? = nil
    ) {
        guard let member, property.isExclusive else { return }
        let store = owner.graphID.store
        let held = object(GraphID(store: store, object: member))
        guard property.isSelfInverse else {
            guard let inverse = property.opposite else { return }
            return held.leaveOtherOwners(of: inverse, through: property, except: owner, self)
        }
        // In a pair each holds the other, so both former partners are left without one.
        let rival = held.destinations(of: property).first
        for left in [rival, former.map { object(GraphID(store: store, object: $0)) }] {
            guard let left, left !== owner, left !== held,
                let partner = left.destinations(of: property).first,
                partner === owner || partner === held
            else { continue }
            left.assignReference(to: nil, of: property, self)
        }
    }
}

/// What the references in a child's save lead to and what they release, as far as the child's side has
/// won.
struct ArrivingReferences {
    private struct Link: Hashable {
        let owner: GraphID
        let property: PropertyNumber
        let member: ObjectID
    }

    private var known: [GraphID: Bool] = [:]
    private var released: Set<Link> = []
    /// What the save deletes no longer holds anything.
    private var deleted: Set<GraphID> = []

    /// Records a change as the child has sent it.
    mutating func record(sent change: Change, of id: GraphID) {
        // What the child makes and deletes itself is its own business.
        if change.isInsert || change.isDelete { known[id] = true }
    }

    /// Records what the merge has left of a change: what has lost to the parent releases nothing.
    mutating func record(merged change: Change, of id: GraphID, _ entity: SchemaEntity) {
        if change.isDelete { deleted.insert(id) }
        // Also one that comes back.
        if change.isInsert { known[id] = true }
        change.forEachReference(of: entity) { reference in
            guard reference.ends else { return }
            released.insert(
                Link(
                    owner: id, property: reference.property.number, member: reference.destination))
        }
    }

    /// Whether there is an object to refer to.
    mutating func isThere(_ id: GraphID, _ look: () throws -> Bool) rethrows -> Bool {
        if let known = known[id] { return known }
        let found = try look()
        known[id] = found
        return found
    }

    /// Whether the save itself makes an owner let go.
    func isReleased(_ member: ObjectID, by owner: GraphID, _ property: PropertyNumber) -> Bool {
        deleted.contains(owner)
            || released.contains(Link(owner: owner, property: property, member: member))
    }
}
