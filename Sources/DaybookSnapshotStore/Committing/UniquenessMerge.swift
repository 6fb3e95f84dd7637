internal import DaybookLMDB
internal import DaybookObjectModel

/// Settles clashes of unique values with stored objects where the policy says which side wins.
///
/// - A new object is merged into the stored one that has the values: what the entry makes refer to
///   the new object refers to the stored one instead, which also gets the new object's members, and
///   its references where it has none itself. Where our side wins, it takes the new object's values
///   as well.
/// - An edit to a taken value is left out where their side wins.
/// - Everything else is left for ``UniquenessCheck`` to refuse.
struct UniquenessMerge {
    private let request: SaveRequest
    private let projection: Projection
    private var changes: [ObjectID: Change] = [:]
    /// What was settled.
    private(set) var conflicts: [ConstraintConflict] = []
    /// The stored object that each new one was merged into.
    private(set) var replaced: [ObjectID: ObjectID] = [:]

    /// Whether every clash was looked for, and none was found.
    private(set) var hasSeenAll = false

    /// Whether the changes came out as they went in.
    var isUntouched: Bool { conflicts.isEmpty }

    init(_ request: SaveRequest, _ projection: Projection) {
        self.request = request
        self.projection = projection
    }

    /// Settles the changes.
    ///
    /// - Returns: Changes in the order of an entry.
    mutating func settle(
        _ merged: [Change], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Change] {
        guard request.policy != .error || !request.constraintPolicies.isEmpty else { return merged }
        let found = try UniquenessCheck.conflicts(of: merged, projection, in: transaction)
        hasSeenAll = found.isEmpty
        guard !found.isEmpty else { return merged }
        changes = Dictionary(merged.map { ($0.object, $0) }) { first, _ in first }
        for conflict in found where settle(conflict) { conflicts.append(conflict) }
        guard !conflicts.isEmpty else { return merged }
        for object in Array(changes.keys) {
            guard var change = changes[object] else { continue }
            change.kind = try redirected(change, in: transaction)
            changes[object] = change
        }
        for (object, survivor) in replaced.sorted(by: { $0.key < $1.key }) {
            try unite(object, with: survivor, in: transaction)
        }
        return changes.values.filter { !$0.isEmpty }.sorted { $0.precedes($1) }
    }

    private func policy(for object: ObjectID) -> MergePolicy {
        request.constraintPolicies[object] ?? request.policy
    }

    // MARK: - One clash

    /// Settles the objects of a clash as far as the policy allows.
    ///
    /// - Returns: Whether all of them are settled.
    private mutating func settle(_ conflict: ConstraintConflict) -> Bool {
        guard let owner = conflict.owner else { return false }
        return conflict.objects.allSatisfy { object in
            let policy = policy(for: object)
            switch changes[object]?.kind {
            case .insert where policy != .error:
                let isAlone = conflict.objects.count == 1 || !policy.isOurs
                let isOther = replaced[object].map { $0 != owner } ?? false
                guard isAlone, !isOther, object.entity == owner.entity else { return false }
                replaced[object] = owner
                return true
            case .update(let edits, let members):
                guard policy == .mergeByPropertyStoreTrump || policy == .rollback else {
                    return false
                }
                let kept = edits.filter { edit in
                    let name = projection.schema.entity(object.entity)?.property(edit.property)?
                        .name
                    return !conflict.properties.contains { $0 == name }
                }
                let isDropped = policy == .rollback
                changes[object]?.kind = .update(
                    edits: isDropped ? [] : kept, members: isDropped ? [] : members)
                return true
            case .insert, .delete, nil: return false
            }
        }
    }

    // MARK: - References to new objects

    private func redirected(_ value: Value) -> Value {
        value.reference.flatMap { replaced[$0] }.map { .object($0) } ?? value
    }

    /// A change with its references redirected to the survivors.
    private func redirected(
        _ change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Change.Kind {
        switch change.kind {
        case .insert(let values, let members):
            return .insert(
                values: values.map(redirected),
                members: try redirected(members, of: change.object, in: transaction))
        case .update(let edits, let members):
            let moved = edits.map {
                Edit(property: $0.property, old: $0.old, new: redirected($0.new))
            }
            return .update(
                edits: moved.filter { $0.old != $0.new },
                members: try redirected(members, of: change.object, in: transaction))
        case .delete: return change.kind
        }
    }

    private func redirected(
        _ edits: [MembershipEdit], of owner: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [MembershipEdit] {
        var moved: [MembershipEdit] = []
        for edit in edits {
            var added = edit.added.filter { replaced[$0.object] == nil }
            for member in edit.added {
                guard let survivor = replaced[member.object] else { continue }
                let key = StoreKey.link(from: owner, edit.property, to: survivor)
                let isMember = try transaction.contains(
                    projection.tables.members, key.span.bytes)
                guard !isMember, !added.contains(where: { $0.object == survivor }) else {
                    continue
                }
                added.append(Member(object: survivor, order: member.order))
            }
            let edit = MembershipEdit(property: edit.property, added: added, removed: edit.removed)
            if !edit.isEmpty { moved.append(edit) }
        }
        return moved
    }

    // MARK: - Merging two objects

    private mutating func unite(
        _ object: ObjectID, with survivor: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let entity = projection.schema.entity(object.entity),
            case .insert(let values, let members)? = changes.removeValue(forKey: object)?.kind
        else { return }
        let policy = policy(for: object)
        guard policy != .rollback else { return }
        let earlier = changes[survivor]
        do {
            var current = try projection.ownState(of: survivor, at: .latest, in: transaction)
            try earlier?.apply(to: &current, of: entity)
            guard let current else { return }
            let next = Change(
                object: survivor,
                kind: .update(
                    edits: edits(from: current.values, to: values, policy, entity),
                    members: members.compactMap { $0.joining(current.members[$0.property] ?? [:]) }
                ))
            changes[survivor] = try earlier.map { try $0.followed(by: next, of: entity) } ?? next
        } catch let error as ChangeMismatch {
            throw StoreError.corrupt(
                "The changes of \(projection.schema.name(of: survivor)) do not agree", cause: error)
        }
    }

    private func edits(
        from current: [Value], to values: [Value], _ policy: MergePolicy, _ entity: SchemaEntity
    ) -> [Edit] {
        let wanted = zip(entity.slots, zip(current, values)).map { property, pair in
            let isReference = property.relationship != nil
            let isTaken =
                policy.isOurs
                ? !isReference || !pair.1.isNull
                : isReference && pair.0.isNull
            return isTaken ? pair.1 : pair.0
        }
        return [Edit](from: current, to: wanted, of: entity)
    }
}

extension MergePolicy {
    /// Whether the context's side wins where values collide.
    var isOurs: Bool { self == .mergeByPropertyObjectTrump || self == .overwrite }
}

extension MembershipEdit {
    /// The joins of this edit that are new to some members; nil for none.
    fileprivate func joining(_ members: [ObjectID: Double]) -> MembershipEdit? {
        let joining = added.filter { members[$0.object] == nil }
        return joining.isEmpty ? nil : MembershipEdit(property: property, added: joining)
    }
}
