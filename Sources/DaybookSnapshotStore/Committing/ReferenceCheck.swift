internal import DaybookLMDB
internal import DaybookObjectModel

/// Checks that every reference leads to an object after an entry, and settles those that do not.
///
/// - A new reference to a missing object is a conflict; unless the policy is ``MergePolicy/error``,
///   the reference is left out.
/// - Deleting an object that others still refer to is a conflict; where our side wins, the entry
///   takes back those references as well. References without an inverse are always taken back,
///   because nothing on the other side does it; so are those over a relationship that the program
///   does not know, where their delete rule allows it.
/// - A new reference through a relationship whose inverse is to-one is a conflict when another
///   object holds the target; where our side wins, that object releases it.
/// - References stay as they are where the deleted object's delete rule is ``DeleteRule/noAction``.
struct ReferenceCheck {
    private let policy: MergePolicy
    private let projection: Projection
    /// The model of the program that saves.
    private let view: Schema
    private var changes: [Change]
    private var positions: [ObjectID: Int] = [:]
    private var known: [ObjectID: Bool] = [:]
    /// The new owner of each target that only one object may hold.
    private var claims: [[UInt8]: ObjectID] = [:]
    /// The updates that the policy drops, by position.
    private var dropped: [Int] = []
    /// What collided, whichever side then won.
    private(set) var conflicts: [MergeConflict] = []
    /// Whether the changes came out as they went in.
    private(set) var isUntouched = true

    init(
        _ changes: [Change], policy: MergePolicy, _ projection: Projection, savedBy view: Schema
    ) {
        self.changes = changes
        self.policy = policy
        self.projection = projection
        self.view = view
    }

    /// Settles the changes.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/conflict`` for what no policy can settle.
    mutating func settle(in transaction: borrowing some Reading & ~Copyable) throws -> [Change] {
        let refers = projection.schema.entities.contains {
            !$0.referenceSlots.isEmpty || !$0.storedToMany.isEmpty
        }
        guard refers else { return changes }
        let hasExclusive = projection.schema.entities.contains { entity in
            (entity.referenceSlots + entity.storedToMany).contains(where: \.isExclusive)
        }
        for (position, change) in changes.enumerated() {
            if change.isInsert {
                known[change.object] = true
            } else {
                positions[change.object] = position
                if change.isDelete { known[change.object] = false }
            }
        }
        if hasExclusive { for change in changes { try claim(for: change, in: transaction) } }
        for position in changes.indices { try settleReferences(position, in: transaction) }
        releaseDropped()
        for change in changes where change.isDelete {
            try settleReferrers(of: change, in: transaction)
        }
        if policy == .error, !conflicts.isEmpty { throw conflict }
        if !isUntouched {
            changes.removeAll(where: \.isEmpty)
            changes.sort { $0.precedes($1) }
            do {
                try SaveRequestValidation.check(changes, schema: projection.schema)
            } catch {
                // The policy left out or took back something that the model requires.
                throw conflicts.isEmpty ? error : conflict
            }
        }
        return changes
    }

    private var conflict: StoreError {
        .conflict(conflicts, in: projection.schema)
    }

    // MARK: - References that the entry makes

    private mutating func settleReferences(
        _ position: Int, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        var change = changes[position]
        let owner = change.object
        guard let entity = projection.schema.entity(owner.entity) else { return }
        let lost = try change.leaveOut(
            of: entity,
            where: { reference in
                // A member that only moves was there before.
                try reference.begins
                    && !mayRefer(
                        owner, reference.property, to: reference.destination, in: transaction)
            },
            unlessTaken: { isTaken($1, over: $0, from: owner) })
        guard !lost.isEmpty else { return }
        for reference in lost {
            recordConflict(owner, reference.property, base: reference.base, ours: reference.ours)
        }
        isUntouched = false
        if policy == .rollback, case .update = change.kind {
            dropped.append(position)
        } else {
            changes[position] = change
        }
    }

    /// Drops updates, except that they release what the entry gives to others. What a dropped
    /// update was to take is not given away.
    private mutating func releaseDropped() {
        guard !dropped.isEmpty else { return }
        let owners = Set(dropped.map { changes[$0].object })
        claims = claims.filter { !owners.contains($0.value) }
        for position in dropped {
            guard let entity = projection.schema.entity(changes[position].object.entity) else {
                continue
            }
            changes[position].kind = releases(of: changes[position], entity)
        }
    }

    /// What is left of a dropped update: it releases what the entry gives to others.
    private func releases(of change: Change, _ entity: SchemaEntity) -> Change.Kind {
        var edits: [Edit] = []
        var leaving: [PropertyNumber: [Member]] = [:]
        change.forEachReference(of: entity) { reference in
            let property = reference.property
            guard reference.ends, property.isExclusive,
                isTaken(reference.destination, over: property, from: change.object)
            else { return }
            if property.slot == nil {
                leaving[property.number, default: []].append(
                    Member(object: reference.destination, order: reference.old ?? 0))
            } else {
                edits.append(
                    Edit(
                        property: property.number, old: .object(reference.destination), new: .null))
            }
        }
        let members = leaving.sorted { $0.key < $1.key }.map { property, members in
            MembershipEdit(property: property, removed: members.sorted { $0.object < $1.object })
        }
        return .update(edits: edits, members: members)
    }

    // MARK: - Targets with one owner

    /// Records which object claims each target that only one may hold, from the changes as sent.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/validation`` when two objects claim the same
    ///   target.
    private mutating func claim(
        for change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let entity = projection.schema.entity(change.object.entity) else { return }
        try change.forEachReference(of: entity) { reference in
            guard reference.new != nil, reference.property.isExclusive else { return }
            let target = reference.destination
            guard try isThere(target, in: transaction) else { return }
            let key = StoreKey.links(of: target, reference.property.number)
            guard let other = claims.updateValue(change.object, forKey: key), other != change.object
            else { return }
            let schema = projection.schema
            let name = reference.property.name
            throw StoreError.validation([
                ValidationFailure(
                    .tooManyObjects, object: change.object, property: name,
                    "'\(name)' of \(schema.name(of: change.object)) and of "
                        + "\(schema.name(of: other)) cannot both lead to "
                        + "\(schema.name(of: target)).")
            ])
        }
    }

    /// Whether the entry gives an object that only one may hold to another owner.
    private func isTaken(
        _ object: ObjectID, over property: SchemaProperty, from owner: ObjectID
    ) -> Bool {
        claims[StoreKey.links(of: object, property.number)].map { $0 != owner } ?? false
    }

    /// Whether an owner may refer to a target: it exists, and no other object holds a target that
    /// only one can hold.
    private mutating func mayRefer(
        _ owner: ObjectID, _ property: SchemaProperty, to target: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        let standing = try property.standing(
            of: target, from: owner, exists: { try isThere($0, in: transaction) },
            holders: { target in
                try projection.referrers(
                    to: target, property.number, at: .latest, in: transaction
                ).filter { stillRefers($0, property, to: target) }
            })
        switch standing {
        case .allowed: return true
        case .gone: return false
        case .held(let others):
            guard policy.isOurs else { return false }
            for other in others {
                recordConflict(owner, property.number, base: .null, ours: .object(target))
                try takeBack(other, property, from: target, cause: nil, in: transaction)
            }
            return true
        }
    }

    private mutating func isThere(
        _ object: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if let known = known[object] { return known }
        let key = StoreKey.object(object)
        let isThere = try transaction.contains(projection.tables.rows, key.span.bytes)
        known[object] = isThere
        return isThere
    }

    // MARK: - References to what the entry deletes

    private mutating func settleReferrers(
        of change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        for link in try projection.links(to: change.object, nil, in: transaction) {
            guard
                let property = projection.schema.entity(link.other.entity)?.property(link.property),
                !projection.schema.leavesDangling(property),
                stillRefers(link.other, property, to: change.object)
            else { continue }
            try release(link.other, property, from: change.object, in: transaction)
        }
    }

    /// Whether an owner that refers to an object now still does so after the entry.
    private func stillRefers(
        _ owner: ObjectID, _ property: SchemaProperty, to object: ObjectID
    ) -> Bool {
        guard let position = positions[owner] else { return true }
        switch changes[position].kind {
        case .delete: return false
        case .insert: return true
        case .update(let edits, let members):
            let isEdited = edits.contains {
                $0.property == property.number && $0.new.reference != object
            }
            let isRemoved = members.contains { edit in
                edit.property == property.number
                    && edit.removed.contains { $0.object == object }
                    && !edit.added.contains { $0.object == object }
            }
            return !isEdited && !isRemoved
        }
    }

    /// Takes a reference back, or records a conflict where their side wins.
    private mutating func release(
        _ owner: ObjectID, _ property: SchemaProperty, from object: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        if view.entity(owner.entity)?.property(property.number) == nil {
            try applyDeleteRule(of: property, from: owner, to: object)
        } else if property.end?.inverse != nil {
            let conflict = MergeConflict(
                kind: .reference, object: owner, property: property.number,
                theirs: .object(object))
            conflicts.append(conflict)
            guard policy.isOurs else {
                throw self.conflict
            }
        }
        try takeBack(owner, property, from: object, cause: object, in: transaction)
    }

    /// Lets a reference be taken back that the program could not know of, if that is what the delete rule
    /// of the model in force comes to.
    private func applyDeleteRule(
        of property: SchemaProperty, from owner: ObjectID, to object: ObjectID
    ) throws {
        let schema = projection.schema
        let opposite = property.end?.inverse.flatMap { schema.entity(object.entity)?.property($0) }
        let reason: String
        switch opposite?.relationship?.deleteRule ?? .nullify {
        case .cascade: reason = "would have to be deleted with it"
        case .deny: reason = "forbids deleting it"
        case .nullify, .noAction:
            if property.slot == nil || property.relationship?.isOptional == true { return }
            reason = "cannot be without it"
        }
        throw StoreError(
            .modelSuperseded,
            "Nothing was saved: \(schema.name(of: owner)), whose '\(property.name)' leads to "
                + "\(schema.name(of: object)), \(reason), and this program's model does not have "
                + "that relationship. Delete \(schema.name(of: object)) with a program that has the "
                + "newer model.")
    }

    /// Adds the edit by which an owner releases an object.
    private mutating func takeBack(
        _ owner: ObjectID, _ property: SchemaProperty, from object: ObjectID, cause: ObjectID?,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        var edits: [Edit] = []
        var members: [MembershipEdit] = []
        if property.isStoredToMany {
            let key = StoreKey.link(from: owner, property.number, to: object)
            let order = try transaction.get(projection.tables.members, key.span.bytes) { value in
                try Link(key.span.bytes, value).order
            }
            members = [
                MembershipEdit(
                    property: property.number,
                    removed: [Member(object: object, order: order ?? 0)])
            ]
        } else {
            edits = [Edit(property: property.number, old: .object(object), new: .null)]
        }
        let back = Change(
            object: owner, kind: .update(edits: edits, members: members), cause: cause)
        isUntouched = false
        try changes.join(back, at: &positions, in: projection.schema)
    }

    // MARK: - Conflicts

    private mutating func recordConflict(
        _ object: ObjectID, _ property: PropertyNumber, base: Value, ours: Value
    ) {
        conflicts.append(
            MergeConflict(
                kind: .reference, object: object, property: property, base: base, theirs: .null,
                ours: ours))
    }
}
