import DaybookObjectModel

// Objects that only one may hold, where a child's save makes two hold them.

extension ManagedObjectContext {
    /// Looks for others that hold what a change takes, where only one may hold it.
    ///
    /// Where our side wins, the others let go when the change is made; else it is left out.
    func settleCompetingOwners(
        of change: inout Change, _ owner: GraphID, _ entity: SchemaEntity, _ policy: MergePolicy,
        _ references: ArrivingReferences
    ) throws -> [MergeConflict] {
        var conflicts: [MergeConflict] = []
        var refused: [PropertyNumber: Set<ObjectID>] = [:]
        for (property, member) in change.joins(of: entity) {
            guard let property = entity.property(property), property.isExclusive else { continue }
            let rivals = try rivals(of: owner, property, member).filter {
                !references.isReleased(
                    member, by: GraphID(store: owner.store, object: $0), property.number)
            }
            guard !rivals.isEmpty else { continue }
            conflicts.append(
                MergeConflict(
                    kind: .reference, object: owner.object, property: property.number,
                    ours: .object(member)))
            if policy != .mergeByPropertyObjectTrump, policy != .overwrite {
                refused[property.number, default: []].insert(member)
            }
        }
        for (property, members) in refused {
            change.dropJoins(of: members, over: property, of: entity)
        }
        return conflicts
    }

    /// Who else holds an object here over a relationship that only one may have to it.
    private func rivals(
        of owner: GraphID, _ property: SchemaProperty, _ member: ObjectID
    ) throws -> [ObjectID] {
        guard let inverse = property.end?.inverse,
            let derived = binding(member.entity).schema.property(inverse)
        else { return [] }
        let id = GraphID(store: owner.store, object: member)
        return try currentMembers(of: derived, in: id).keys.filter { $0 != owner.object }
    }

    /// Makes others let go of an object that only one may hold.
    func takeFromOthers(
        _ member: ObjectID?, _ property: SchemaProperty, for owner: ManagedObject
    ) {
        guard let member, property.isExclusive, let inverse = property.end?.inverse else { return }
        object(GraphID(store: owner.graphID.store, object: member))
            .leaveOtherOwners(of: inverse, through: property, except: owner, self)
    }
}

extension SchemaProperty {
    /// Whether an object at the other end may be held by one only, as its inverse is to-one.
    fileprivate var isExclusive: Bool {
        guard let end, let inverse = end.inverse else { return false }
        return !end.inverseIsToMany && inverse != number
    }
}

/// What the references in a child's save lead to and leave, as far as the child's side has won.
struct ArrivingReferences {
    private struct Link: Hashable {
        let owner: GraphID
        let property: PropertyNumber
        let member: ObjectID
    }

    private var known: [GraphID: Bool] = [:]
    private var released: Set<Link> = []
    /// What the save deletes holds nothing any more.
    private var deleted: Set<GraphID> = []

    /// Notes a change as the child has sent it.
    mutating func note(sent change: Change, of id: GraphID) {
        // What the child makes and deletes itself is its own business.
        if change.isInsert || change.isDelete { known[id] = true }
    }

    /// Notes what the merge has left of a change: what has lost to the parent lets go of nothing.
    mutating func note(merged change: Change, of id: GraphID) {
        if change.isDelete { deleted.insert(id) }
        if case .update(let edits, _) = change.kind {
            for edit in edits {
                guard let old = edit.old.reference else { continue }
                released.insert(Link(owner: id, property: edit.property, member: old))
            }
        }
        for edit in change.members {
            let staying = Set(edit.added.map(\.object))
            for member in edit.removed where !staying.contains(member.object) {
                released.insert(Link(owner: id, property: edit.property, member: member.object))
            }
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

extension Change {
    /// What an insert or update comes to refer to, and over which relationship.
    fileprivate func joins(of entity: SchemaEntity) -> [(PropertyNumber, ObjectID)] {
        var found = members.flatMap { edit in
            let left = Set(edit.removed.map(\.object))
            return edit.added.filter { !left.contains($0.object) }.map {
                (edit.property, $0.object)
            }
        }
        switch kind {
        case .insert(let values, _):
            found += entity.referenceSlots.compactMap { property in
                property.slot.flatMap { values[$0].reference }.map { (property.number, $0) }
            }
        case .update(let edits, _):
            found += edits.compactMap { edit in edit.new.reference.map { (edit.property, $0) } }
        case .delete: break
        }
        return found
    }

    /// Leaves some objects where they are.
    fileprivate mutating func dropJoins(
        of objects: Set<ObjectID>, over property: PropertyNumber, of entity: SchemaEntity
    ) {
        switch kind {
        case .insert(var values, let members):
            if let slot = entity.property(property)?.slot, values[slot].leads(to: objects) {
                values[slot] = .null
            }
            kind = .insert(values: values, members: members.withoutJoins(of: objects, property))
        case .update(let edits, let members):
            kind = .update(
                edits: edits.filter { $0.property != property || !$0.new.leads(to: objects) },
                members: members.withoutJoins(of: objects, property))
        case .delete: return
        }
    }
}

extension [MembershipEdit] {
    /// These edits without the joins of some members over one relationship.
    fileprivate func withoutJoins(
        of objects: Set<ObjectID>, _ property: PropertyNumber
    ) -> [MembershipEdit] {
        let others = filter { $0.property != property }
        let kept = filter { $0.property == property }.withoutJoins(of: objects)
        return (others + kept).sorted { $0.property < $1.property }
    }
}
