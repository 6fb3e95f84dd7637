internal import DaybookLMDB
internal import DaybookObjectModel

/// What an entry does to the members of a relationship from which an attribute is derived, object by
/// object.
struct DerivedMovements {
    /// What the members of one object gain and lose.
    struct Movement {
        /// The objects that join.
        var joined: Set<ObjectID> = []
        /// The objects that leave.
        var left: Set<ObjectID> = []
        /// The values that count from now on.
        var gained: [Value] = []
        /// The values that no longer count.
        var lost: [Value] = []
    }

    private let derivation: SchemaDerivation
    private let values: DerivedValues
    private let relationship: SchemaProperty?
    /// What happens to the members of each object that exists after the entry.
    private(set) var movements: [ObjectID: Movement] = [:]

    init(of derivation: SchemaDerivation, _ values: DerivedValues) {
        self.derivation = derivation
        self.values = values
        relationship = derivation.relationship.flatMap { number in
            values.schema.entity(derivation.entity)?.property(number)
        }
    }

    /// Looks through the changes of the entry.
    mutating func gather(in transaction: borrowing some Reading & ~Copyable) throws {
        guard let relationship, let end = relationship.end else { return }
        let owners = Set(values.schema.entity(derivation.entity)?.family ?? [])
        let members = Set(values.schema.entity(end.destination)?.family ?? [])
        for change in values.ownChanges {
            if owners.contains(change.object.entity) {
                // A new object has a value even when nothing joins it.
                if change.isInsert { movements[change.object, default: Movement()].gained += [] }
                if end.isStored { gather(change.members, of: change.object, relationship.number) }
            }
            guard !end.isStored, let inverse = end.inverse,
                members.contains(change.object.entity),
                let stored = values.schema.entity(change.object.entity)?.property(inverse)
            else { continue }
            if let slot = stored.slot {
                gather(reference: inverse, slot, of: change)
            } else {
                gather(backwards: change.members, of: change.object, inverse)
            }
        }
        try gatherValues(members, in: transaction)
        for object in movements.keys where values.change(of: object)?.isDelete == true {
            movements[object] = nil
        }
    }

    // MARK: - Joins and leaves

    private mutating func join(_ member: ObjectID, _ owner: ObjectID) {
        movements[owner, default: Movement()].joined.insert(member)
    }

    private mutating func leave(_ member: ObjectID, _ owner: ObjectID) {
        movements[owner, default: Movement()].left.insert(member)
    }

    /// Takes what is stored at the owner. A member that only moves is in both lists.
    private mutating func gather(
        _ edits: [MembershipEdit], of owner: ObjectID, _ number: PropertyNumber
    ) {
        for edit in edits where edit.property == number {
            let (added, removed) = (Set(edit.added.map(\.object)), Set(edit.removed.map(\.object)))
            for member in added.subtracting(removed) { join(member, owner) }
            for member in removed.subtracting(added) { leave(member, owner) }
        }
    }

    /// Takes what is stored as a list at the member.
    private mutating func gather(
        backwards edits: [MembershipEdit], of member: ObjectID, _ number: PropertyNumber
    ) {
        for edit in edits where edit.property == number {
            let (added, removed) = (Set(edit.added.map(\.object)), Set(edit.removed.map(\.object)))
            for owner in added.subtracting(removed) { join(member, owner) }
            for owner in removed.subtracting(added) { leave(member, owner) }
        }
    }

    /// Takes what is stored as a value at the member.
    private mutating func gather(reference number: PropertyNumber, _ slot: Int, of change: Change) {
        let (old, new): (ObjectID?, ObjectID?)
        switch change.kind {
        case .insert(let values, _): (old, new) = (nil, values[slot].reference)
        case .delete(let values, _): (old, new) = (values[slot].reference, nil)
        case .update(let edits, _):
            let edit = edits.first { $0.property == number }
            (old, new) = (edit?.old.reference, edit?.new.reference)
        }
        guard old != new else { return }
        if let old { leave(change.object, old) }
        if let new { join(change.object, new) }
    }

    // MARK: - Values

    private mutating func gatherValues(
        _ members: Set<EntityNumber>, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let source = derivation.source else { return }
        for (owner, movement) in movements {
            for member in movement.joined.sorted() {
                let value = try values.value(after: source, of: member, in: transaction)
                if !value.isNull { movements[owner]?.gained.append(value) }
            }
            for member in movement.left.sorted() {
                let value = try values.value(before: source, of: member, in: transaction)
                if !value.isNull { movements[owner]?.lost.append(value) }
            }
        }
        for change in values.ownChanges where members.contains(change.object.entity) {
            try gatherDangling(change, source, in: transaction)
            guard case .update(let edits, _) = change.kind,
                let edit = edits.first(where: { $0.property == source }), edit.old != edit.new
            else { continue }
            for owner in try owners(of: change.object, in: transaction) {
                if movements[owner]?.left.contains(change.object) == true { continue }
                var movement = movements[owner] ?? Movement()
                if !edit.old.isNull { movement.lost.append(edit.old) }
                if !edit.new.isNull { movement.gained.append(edit.new) }
                movements[owner] = movement
            }
        }
    }

    /// Takes members that go or come back while references to them stay.
    private mutating func gatherDangling(
        _ change: Change, _ source: PropertyNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let relationship, relationship.end?.isStored == true,
            values.schema.leavesDangling(relationship), change.isInsert || change.isDelete
        else { return }
        let value =
            change.isInsert
            ? try values.value(after: source, of: change.object, in: transaction)
            : try values.value(before: source, of: change.object, in: transaction)
        guard !value.isNull else { return }
        for owner in try owners(of: change.object, in: transaction)
        where movements[owner]?.left.contains(change.object) != true {
            var movement = movements[owner] ?? Movement()
            if change.isInsert {
                movement.gained.append(value)
            } else {
                movement.lost.append(value)
            }
            movements[owner] = movement
        }
    }

    /// The objects that have a member before the entry.
    private func owners(
        of member: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID] {
        guard let relationship, let end = relationship.end else { return [] }
        let projection = values.projection
        if end.isStored {
            return try projection.referrers(
                to: member, relationship.number, at: .latest, in: transaction)
        }
        guard let inverse = end.inverse,
            let stored = values.schema.entity(member.entity)?.property(inverse)
        else { return [] }
        return try projection.members(of: stored, in: member, at: .latest, in: transaction)
            .map(\.object)
    }
}
