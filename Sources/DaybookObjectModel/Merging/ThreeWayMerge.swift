/// The outcome of a three-way merge of one object.
package struct MergeOutcome: Sendable, Hashable {
    /// The change that remains to be made to the current object; nil for none.
    package var change: Change?
    /// The conflicts between the two sides, whichever side won.
    package var conflicts: [MergeConflict]
    /// The values that combine both changes.
    package var merged: [MergedValue] = []
}

/// What is known, besides values, about changes of an object by others.
package enum ObjectMovement: Sendable, Hashable {
    /// Nothing; only the values show changes.
    case untold
    /// Others have changed the object, and any change of ours collides with that.
    case row
    /// Others have changed the object, which was not to be changed.
    case watched
}

/// Merges one side's change of an object into its current state.
///
/// A wrong merge silently loses work, so every conflict is listed even when the policy settles it.
/// Three states go in: the old values of our change, the current state (`current`), and the new
/// values of our change. One change comes out, which applies exactly to `current`.
///
/// - A property we did not change keeps their value.
/// - A property they did not change takes our value.
/// - A property both changed combines both changes if its attribute has a ``MergeStrategy``;
///   otherwise it is a conflict, under ``MergePolicy/error`` even if both have set the same value.
/// - Members of a to-many relationship merge one by one and never collide. A member that we only
///   move stays out if they have removed it.
package struct ThreeWayMerge {
    private let entity: SchemaEntity
    private let policy: MergePolicy

    /// Prepares to merge objects of an entity under a policy.
    package init(of entity: SchemaEntity, policy: MergePolicy) {
        self.entity = entity
        self.policy = policy
    }

    /// Merges a change.
    ///
    /// - Parameters:
    ///   - ours: Our change, with the old values that we saw.
    ///   - seen: All values as we saw them, for an update under ``MergePolicy/overwrite`` and for
    ///     bringing back an object deleted by others; nil when they are not known.
    ///   - current: The current state of the object; nil when it is gone.
    ///   - movement: Whether the object counts as changed by others whatever they changed, so that
    ///     every change of ours collides.
    /// - Returns: The change that remains, and every conflict.
    package func merge(
        ours: Change, seen: [Value]?, current: ObjectState?, movement: ObjectMovement = .untold
    ) -> MergeOutcome {
        let ours = ours.withoutDerived(of: entity)
        let seen = seen.map(entity.withoutDerived)
        var current = current
        if let values = current?.values { current?.values = entity.withoutDerived(values) }
        switch (ours.kind, current) {
        case (.insert, nil):
            return MergeOutcome(change: ours, conflicts: [])
        case (.insert(let values, let members), let current?):
            return merge(inserted: values, members, of: ours, into: current)
        case (.update(let edits, let members), let current?):
            return merge(
                edits, members, of: ours, seen: seen, into: current, movement: movement)
        case (.update(let edits, let members), nil):
            return resurrect(edits, members, of: ours, seen: seen)
        case (.delete, nil):
            return MergeOutcome(change: nil, conflicts: [])
        case (.delete(let values, _), let current?):
            return delete(values, of: ours, current, hasMoved: movement != .untold)
        }
    }

    private func merge(
        _ edits: [Edit], _ members: [MembershipEdit], of ours: Change, seen: [Value]?,
        into current: ObjectState, movement: ObjectMovement
    ) -> MergeOutcome {
        var outcome = MergeOutcome(change: nil, conflicts: [])
        var kept = edits.compactMap { settle($0, of: ours, current, &outcome) }
        if movement != .untold, outcome.conflicts.isEmpty {
            outcome.conflicts = collisions(of: edits, ours, current, movement)
        }
        if !outcome.conflicts.isEmpty, policy == .rollback {
            return MergeOutcome(change: nil, conflicts: outcome.conflicts)
        }
        if policy == .overwrite, let seen, !outcome.conflicts.isEmpty {
            kept = overwriting(current.values, with: edits, kept, on: seen)
        }
        let change = Change(
            object: ours.object,
            kind: .update(
                edits: kept,
                members: members.map {
                    $0.starting(from: current.members[$0.property] ?? [:])
                }.filter { !$0.isEmpty }),
            cause: ours.cause)
        outcome.change = change.isEmpty ? nil : change
        return outcome
    }

    /// What remains of one edit; nil for nothing.
    private func settle(
        _ edit: Edit, of ours: Change, _ current: ObjectState, _ outcome: inout MergeOutcome
    ) -> Edit? {
        guard let property = entity.property(edit.property), let slot = property.slot,
            slot < current.values.count
        else { return nil }
        let theirs = current.values[slot]
        guard theirs != edit.old else { return edit }
        switch property.meeting(
            of: edit, with: theirs, isByRule: ours.cause != nil, under: policy)
        {
        case .merged(let value):
            outcome.merged.append(
                MergedValue(
                    edit, of: property, in: ours.object, theirs: theirs, written: value))
            return theirs == value
                ? nil : Edit(property: edit.property, old: theirs, new: value)
        case .alike: return nil
        case .collision:
            outcome.conflicts.append(
                MergeConflict(
                    kind: .value, object: ours.object, property: edit.property, base: edit.old,
                    theirs: theirs, ours: edit.new))
            return policy == .mergeByPropertyObjectTrump || policy == .overwrite
                ? Edit(property: edit.property, old: theirs, new: edit.new) : nil
        }
    }

    /// Makes every property we changed collide with any change of theirs, except properties that
    /// merge.
    private func collisions(
        of edits: [Edit], _ ours: Change, _ current: ObjectState, _ movement: ObjectMovement
    ) -> [MergeConflict] {
        let colliding = edits.filter {
            movement == .watched || entity.property($0.property)?.merge == nil
        }
        guard !colliding.isEmpty else {
            let merges = !edits.isEmpty && ours.members.allSatisfy(\.isEmpty)
            return merges ? [] : [MergeConflict(kind: .value, object: ours.object)]
        }
        return colliding.map { edit in
            let slot = entity.property(edit.property)?.slot
            return MergeConflict(
                kind: .value, object: ours.object, property: edit.property, base: edit.old,
                theirs: slot.map { current.values[$0] } ?? .null, ours: edit.new)
        }
    }

    /// Merges an undone delete whose object others have already brought back. The common base is
    /// not known, so every difference is a conflict.
    private func merge(
        inserted values: [Value], _ members: [MembershipEdit], of ours: Change,
        into current: ObjectState
    ) -> MergeOutcome {
        let differences = [Edit](from: current.values, to: values, of: entity)
        let oursWins = policy == .mergeByPropertyObjectTrump || policy == .overwrite
        let asUpdate = Change(
            object: ours.object,
            kind: .update(edits: oursWins ? differences : [], members: members),
            cause: ours.cause)
        var outcome = merge(ours: asUpdate, seen: nil, current: current)
        outcome.conflicts += differences.map {
            MergeConflict(
                kind: .value, object: ours.object, property: $0.property, theirs: $0.old,
                ours: $0.new)
        }
        return outcome
    }

    /// Edits that give `current` the values we had in memory, except where values merge.
    private func overwriting(
        _ current: [Value], with edits: [Edit], _ kept: [Edit], on seen: [Value]
    ) -> [Edit] {
        var wanted = seen
        let merging = Set(entity.mergingSlots.map(\.number))
        wanted.take(edits.filter { !merging.contains($0.property) }, of: entity)
        for slot in entity.mergingSlots.compactMap(\.slot) where slot < wanted.count {
            wanted[slot] = current[slot]
        }
        wanted.take(kept.filter { merging.contains($0.property) }, of: entity)
        return [Edit](from: current, to: wanted, of: entity)
    }

    /// Merges an update of a deleted object: the update is lost, or the policies in which our side
    /// wins bring the object back, if we know all its values.
    private func resurrect(
        _ edits: [Edit], _ members: [MembershipEdit], of ours: Change, seen: [Value]?
    ) -> MergeOutcome {
        let conflicts = edits.map { edit in
            MergeConflict(
                kind: .deletedByThem, object: ours.object, property: edit.property, base: edit.old,
                ours: edit.new)
        }
        let listed =
            conflicts.isEmpty
            ? [MergeConflict(kind: .deletedByThem, object: ours.object)] : conflicts
        guard policy == .overwrite || policy == .mergeByPropertyObjectTrump, var values = seen
        else {
            return MergeOutcome(change: nil, conflicts: listed)
        }
        values.take(edits, of: entity)
        let added = members.map { MembershipEdit(property: $0.property, added: $0.added) }
            .filter { !$0.isEmpty }
        return MergeOutcome(
            change: Change(object: ours.object, kind: .insert(values: values, members: added)),
            conflicts: listed)
    }

    private func delete(
        _ values: [Value], of ours: Change, _ current: ObjectState, hasMoved: Bool
    ) -> MergeOutcome {
        var conflicts: [MergeConflict] = []
        for (slot, pair) in zip(values, current.values).enumerated() where pair.0 != pair.1 {
            conflicts.append(
                MergeConflict(
                    kind: .deletedByUs, object: ours.object, property: entity.slots[slot].number,
                    base: pair.0, theirs: pair.1))
        }
        if hasMoved, conflicts.isEmpty {
            conflicts = [MergeConflict(kind: .deletedByUs, object: ours.object)]
        }
        let oursWins =
            conflicts.isEmpty || policy == .overwrite || policy == .mergeByPropertyObjectTrump
        guard oursWins else { return MergeOutcome(change: nil, conflicts: conflicts) }
        let left = ours.starting(from: current, of: entity, unmergeable: .kept)
        return MergeOutcome(change: left, conflicts: conflicts)
    }
}
