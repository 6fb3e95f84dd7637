import DaybookObjectModel

/// Who has joined and left relationships between base and cursor, including the current event.
///
/// A part of the working journal's index, found from either end. Reading a collection applies these records
/// to what the store has. Joining and leaving are idempotent, so it does not matter whether the store has
/// them already. A member that is back where it was has no record, so that others may move it.
struct RelationLinks {
    private struct Move {
        let old: Double?
        var new: Double?
    }

    private var moves: [RelationKey: [ObjectID: Move]] = [:]

    /// Records that a member goes from one position to another; nil for not being a member.
    mutating func record(_ link: RelationLink) {
        var move = moves[link.key]?[link.member] ?? Move(old: link.old, new: link.new)
        move.new = link.new
        moves[link.key, default: [:]][link.member] = move.old == move.new ? nil : move
    }

    /// Whether anybody has joined, left or moved.
    func hasMoves(_ key: RelationKey) -> Bool {
        moves[key]?.isEmpty == false
    }

    /// Takes the records back from members to which they have been applied.
    func takeBack(_ key: RelationKey, from members: inout [ObjectID: Double]) {
        for (member, move) in moves[key] ?? [:] { members[member] = move.old }
    }

    /// Applies the records to members that were read.
    func overlay(_ key: RelationKey, on members: inout RelationMembers) {
        for (member, move) in moves[key] ?? [:] { members.set(member, order: move.new) }
    }

    /// Forgets everything.
    mutating func removeAll() {
        moves.removeAll()
    }
}

/// A member of a relationship that goes from one position to another; nil for not being a member.
struct RelationLink {
    let key: RelationKey
    let member: ObjectID
    let old: Double?
    let new: Double?

    /// How a new destination of a stored to-one relationship changes the inverse.
    static func ofReference(
        _ property: SchemaProperty, of owner: GraphID, from old: ObjectID?, to new: ObjectID?,
        _ body: (RelationLink) -> Void
    ) {
        guard let inverse = property.opposite else { return }
        func tell(_ destination: ObjectID?, _ old: Double?, _ new: Double?) {
            guard let destination else { return }
            let id = GraphID(store: owner.store, object: destination)
            body(
                RelationLink(
                    key: RelationKey(owner: id, property: inverse), member: owner.object,
                    old: old, new: new))
        }
        tell(old, 0, nil)
        tell(new, nil, 0)
    }

    /// How a member's move changes both ends of a stored to-many relationship.
    static func ofMember(
        _ member: ObjectID, in property: SchemaProperty, of owner: GraphID,
        from old: Double?, to new: Double?, _ body: (RelationLink) -> Void
    ) {
        body(
            RelationLink(
                key: RelationKey(owner: owner, property: property.number), member: member,
                old: old, new: new))
        guard let inverse = property.opposite else { return }
        let id = GraphID(store: owner.store, object: member)
        body(
            RelationLink(
                key: RelationKey(owner: id, property: inverse), member: owner.object,
                old: old.map { _ in 0 }, new: new.map { _ in 0 }))
    }
}

extension Change {
    /// Passes on who joins and who leaves a relationship by this change, at either end.
    func forEachLink(of owner: ManagedObject, _ body: (RelationLink) -> Void) {
        let schema = owner.binding.schema
        guard !schema.referenceSlots.isEmpty || !schema.storedToMany.isEmpty else { return }
        forEachReference(of: schema) { reference in
            let (property, other) = (reference.property, reference.destination)
            if property.slot == nil {
                RelationLink.ofMember(
                    other, in: property, of: owner.graphID, from: reference.old,
                    to: reference.new, body)
            } else {
                RelationLink.ofReference(
                    property, of: owner.graphID, from: reference.old.map { _ in other },
                    to: reference.new.map { _ in other }, body)
            }
        }
    }
}
