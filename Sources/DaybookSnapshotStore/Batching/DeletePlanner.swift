internal import DaybookLMDB
internal import DaybookObjectModel

/// The deletes of objects, without what these have in lists: what their rows alone say.
struct RowDeletes: Sendable {
    /// The deletes, in the order in which the objects came.
    private(set) var changes: [Change] = []
    private let projection: Projection
    /// The entity of the last object: most are of one.
    private var entity: SchemaEntity?

    init(in projection: Projection) {
        self.projection = projection
    }

    /// Adds the delete of an object.
    mutating func take(_ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan) throws {
        if entity?.number != object.entity { entity = projection.schema.entity(object.entity) }
        guard let entity else { return }
        changes.append(
            try Change(deleting: object, of: entity, row, bytes, cause: nil, in: projection))
    }
}

extension Change {
    /// The delete of an object, without what it has in lists.
    fileprivate init(
        deleting object: ObjectID, of entity: SchemaEntity, _ row: RowLayout, _ bytes: RawSpan,
        cause: ObjectID?, in projection: Projection
    ) throws {
        let values = try entity.withoutDerived(projection.values(of: object, row, bytes))
        self.init(object: object, kind: .delete(values: values, members: []), cause: cause)
    }
}

/// Works out the changes of a delete: the objects themselves, those that a rule deletes with them, and the
/// references of others that end.
///
/// The rules are those that a context applies: ``DeleteRule/cascade`` goes on to the other end,
/// ``DeleteRule/nullify`` takes the reference there back, ``DeleteRule/deny`` refuses as long as there is an
/// object that is not deleted, too, and ``DeleteRule/noAction`` leaves references as they are. References
/// without inverse are taken back.
struct DeletePlanner {
    private let projection: Projection
    /// The deletes, without what the objects have in lists.
    private var victims: [Change] = []
    /// The objects, but for those that nothing can lead to.
    private var deleted: Set<ObjectID> = []
    private var releases: [ObjectID: Release] = [:]
    private var rules: [EntityNumber: Rules] = [:]
    /// What was looked up last: most objects are of one entity.
    private var latest: Rules?

    private var schema: Schema { projection.schema }

    /// What the model says about deleting objects of an entity.
    private final class Rules {
        let entity: SchemaEntity
        let cascading: [SchemaProperty]
        let denying: [SchemaProperty]
        let hasMembers: Bool
        /// Whether stored references may lead to its objects.
        let mayBeReferredTo: Bool

        init(of entity: SchemaEntity, in schema: Schema) {
            self.entity = entity
            func properties(_ rule: DeleteRule) -> [SchemaProperty] {
                entity.properties.filter { $0.relationship?.deleteRule == rule }
            }
            (cascading, denying) = (properties(.cascade), properties(.deny))
            hasMembers = !entity.storedToMany.isEmpty
            mayBeReferredTo = schema.entities.contains { other in
                (other.referenceSlots + other.storedToMany).contains { property in
                    guard let end = property.end else { return false }
                    return schema.entity(end.destination)?.family.contains(entity.number) ?? false
                }
            }
        }

        /// Whether its objects lead nowhere, and nothing to them.
        var isAlone: Bool {
            !hasMembers && !mayBeReferredTo && entity.referenceSlots.isEmpty && cascading.isEmpty
                && denying.isEmpty
        }
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

    /// Deletes objects, of which none has been named before.
    mutating func append(_ deletes: RowDeletes) {
        for change in deletes.changes {
            guard let rules = rules(of: change.object), !rules.isAlone else { continue }
            deleted.insert(change.object)
        }
        victims += deletes.changes
    }

    /// Applies the delete rules to the objects.
    ///
    /// - Returns: The changes, and the relationships that forbid them.
    mutating func finish(
        in transaction: borrowing ReadTransaction
    ) throws -> ([Change], [ValidationFailure]) {
        try cascade(in: transaction)
        let failures = try denials(in: transaction)
        if rules.values.contains(where: \.mayBeReferredTo) {
            for victim in victims { try release(victim.object, in: transaction) }
        }
        return (try changes(in: transaction), failures)
    }

    private mutating func rules(of object: ObjectID) -> Rules? {
        if let latest, latest.entity.number == object.entity { return latest }
        if rules[object.entity] == nil {
            rules[object.entity] = schema.entity(object.entity).map { Rules(of: $0, in: schema) }
        }
        latest = rules[object.entity]
        return latest
    }

    // MARK: - Rules

    /// Adds what is deleted with objects, and what is deleted with that.
    private mutating func cascade(in transaction: borrowing ReadTransaction) throws {
        guard rules.values.contains(where: { !$0.cascading.isEmpty }) else { return }
        var next = 0
        while next < victims.count {
            let object = victims[next].object
            next += 1
            for property in rules(of: object)?.cascading ?? [] {
                let members = try projection.members(
                    of: property, in: object, at: .latest, in: transaction)
                for member in members where deleted.insert(member.object).inserted {
                    guard let entity = rules(of: member.object)?.entity else { continue }
                    let delete = try projection.withRow(
                        of: member.object, at: .latest, in: transaction
                    ) { bytes, row in
                        try Change(
                            deleting: member.object, of: entity, row, bytes, cause: object,
                            in: projection)
                    }
                    if let delete { victims.append(delete) }
                }
            }
        }
    }

    /// The relationships that still lead somewhere and forbid a delete.
    private mutating func denials(
        in transaction: borrowing ReadTransaction
    ) throws -> [ValidationFailure] {
        var failures: [ValidationFailure] = []
        guard rules.values.contains(where: { !$0.denying.isEmpty }) else { return failures }
        for victim in victims {
            for property in rules(of: victim.object)?.denying ?? [] {
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

    /// Takes back the references of others to a deleted object.
    private mutating func release(
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        guard rules(of: object)?.mayBeReferredTo == true else { return }
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

    // MARK: - Changes

    private mutating func changes(in transaction: borrowing ReadTransaction) throws -> [Change] {
        var changes = victims
        if rules.values.contains(where: \.hasMembers) {
            for index in changes.indices { try addMembers(to: &changes[index], in: transaction) }
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

    /// Has a delete say what the object has in its lists.
    private mutating func addMembers(
        to change: inout Change, in transaction: borrowing ReadTransaction
    ) throws {
        guard rules(of: change.object)?.hasMembers == true,
            case .delete(let values, _) = change.kind
        else { return }
        let state = try projection.state(of: change.object, at: .latest, in: transaction)
        let members = (state?.members ?? [:]).sorted { $0.key < $1.key }.map {
            MembershipEdit(property: $0, from: $1, to: [:])
        }
        change = Change(
            object: change.object, kind: .delete(values: values, members: members),
            cause: change.cause)
    }
}
