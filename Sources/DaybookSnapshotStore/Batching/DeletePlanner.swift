internal import DaybookLMDB
internal import DaybookObjectModel

/// Works out the changes of a delete: the objects themselves, those that a rule deletes with them, and the
/// references of others that end.
///
/// The rules are those that a context applies: ``DeleteRule/cascade`` goes on to the other end,
/// ``DeleteRule/nullify`` takes the reference there back, ``DeleteRule/deny`` refuses as long as there is an
/// object that is not deleted, too, and ``DeleteRule/noAction`` leaves references as they are. References
/// without inverse are taken back.
struct DeletePlanner {
    private let projection: Projection
    private var victims: [Victim] = []
    private var deleted: Set<ObjectID> = []
    private var releases: [ObjectID: Release] = [:]
    /// Whether stored references may lead to objects of an entity.
    private var mayBeReferredTo: [EntityNumber: Bool] = [:]

    private var schema: Schema { projection.schema }

    /// An object to be deleted, with its values.
    private struct Victim {
        let object: ObjectID
        let values: [Value]
        let cause: ObjectID?
    }

    /// The references that an object loses.
    private struct Release {
        let cause: ObjectID
        var edits: [Edit] = []
        var members: [PropertyNumber: [Member]] = [:]
    }

    init(in projection: Projection) {
        self.projection = projection
    }

    /// Deletes an object.
    mutating func take(_ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan) throws {
        guard deleted.insert(object).inserted else { return }
        try add(object, row, bytes, cause: nil)
    }

    /// Applies the delete rules to the objects.
    ///
    /// - Returns: The changes, and the relationships that forbid them.
    mutating func finish(
        in transaction: borrowing ReadTransaction
    ) throws -> ([Change], [ValidationFailure]) {
        try cascade(in: transaction)
        let failures = try denials(in: transaction)
        for victim in victims { try release(victim.object, in: transaction) }
        return (try changes(in: transaction), failures)
    }

    private mutating func add(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, cause: ObjectID?
    ) throws {
        guard let entity = schema.entity(object.entity) else { return }
        let values = try entity.withoutDerived(projection.values(of: object, row, bytes))
        victims.append(Victim(object: object, values: values, cause: cause))
    }

    // MARK: - Rules

    /// Adds what is deleted with objects, and what is deleted with that.
    private mutating func cascade(in transaction: borrowing ReadTransaction) throws {
        var next = 0
        while next < victims.count {
            let object = victims[next].object
            next += 1
            for property in relationships(of: object, under: .cascade) {
                let members = try projection.members(
                    of: property, in: object, at: .latest, in: transaction)
                for member in members where deleted.insert(member.object).inserted {
                    _ = try projection.withRow(of: member.object, at: .latest, in: transaction) {
                        bytes, row in try add(member.object, row, bytes, cause: object)
                    }
                }
            }
        }
    }

    /// The relationships that still lead somewhere and forbid a delete.
    private func denials(in transaction: borrowing ReadTransaction) throws -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        for victim in victims {
            for property in relationships(of: victim.object, under: .deny) {
                let count = try projection.members(
                    of: property, in: victim.object, at: .latest, in: transaction
                ).count { !deleted.contains($0.object) }
                guard count > 0 else { continue }
                failures.append(
                    .deleteDenied(
                        victim.object, schema.name(of: victim.object), property.name, count: count))
            }
        }
        return failures
    }

    private func relationships(of object: ObjectID, under rule: DeleteRule) -> [SchemaProperty] {
        schema.entity(object.entity)?.properties.filter { $0.relationship?.deleteRule == rule }
            ?? []
    }

    /// Takes back the references of others to a deleted object.
    private mutating func release(
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        guard mayBeReferredTo(object.entity) else { return }
        for link in try projection.links(to: object, nil, in: transaction)
        where !deleted.contains(link.other) {
            guard let property = schema.entity(link.other.entity)?.property(link.property),
                !schema.leavesDangling(property)
            else { continue }
            if property.isStoredToMany {
                let key = StoreKey.link(from: link.other, property.number, to: object)
                let order = try transaction.get(projection.tables.members, key.span.bytes) {
                    try Link(key.span.bytes, $0).order
                }
                releases[link.other, default: Release(cause: object)]
                    .members[property.number, default: []]
                    .append(Member(object: object, order: order ?? 0))
            } else {
                releases[link.other, default: Release(cause: object)].edits.append(
                    Edit(property: property.number, old: .object(object), new: .null))
            }
        }
    }

    private mutating func mayBeReferredTo(_ number: EntityNumber) -> Bool {
        if let known = mayBeReferredTo[number] { return known }
        let isTarget = schema.entities.contains { entity in
            (entity.referenceSlots + entity.storedToMany).contains { property in
                guard let end = property.end else { return false }
                return schema.entity(end.destination)?.family.contains(number) ?? false
            }
        }
        mayBeReferredTo[number] = isTarget
        return isTarget
    }

    // MARK: - Changes

    private func changes(in transaction: borrowing ReadTransaction) throws -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(victims.count + releases.count)
        for victim in victims {
            var members: [MembershipEdit] = []
            if schema.entity(victim.object.entity)?.storedToMany.isEmpty == false {
                let state = try projection.state(of: victim.object, at: .latest, in: transaction)
                members = (state?.members ?? [:]).sorted { $0.key < $1.key }.map {
                    MembershipEdit(property: $0, from: $1, to: [:])
                }
            }
            changes.append(
                Change(
                    object: victim.object,
                    kind: .delete(values: victim.values, members: members), cause: victim.cause))
        }
        for (owner, release) in releases.sorted(by: { $0.key < $1.key }) {
            let members = release.members.sorted { $0.key < $1.key }.map {
                MembershipEdit(property: $0, removed: $1)
            }
            changes.append(
                Change(
                    object: owner,
                    kind: .update(
                        edits: release.edits.sorted { $0.property < $1.property },
                        members: members),
                    cause: release.cause))
        }
        return changes
    }
}
