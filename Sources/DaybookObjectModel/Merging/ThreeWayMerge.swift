/// What a three-way merge of one object came to.
package struct MergeOutcome: Sendable, Hashable {
    /// What is left to do to the object as it now stands in the store; nil for nothing.
    package var change: Change?
    /// Where the two sides collided, whichever side then won.
    package var conflicts: [MergeConflict]
    /// Where both changes have become one.
    package var merged: [MergedValue] = []
}

/// What is known, besides values, of whether others have changed an object.
package enum ObjectMovement: Sendable, Hashable {
    /// Nothing: the values tell.
    case untold
    /// They have changed something of it, and what we change of it collides with that.
    case row
    /// They have changed something of it, and nobody was to.
    case watched
}

/// Merges one side's change of an object into what the object has become.
///
/// The danger first: a merge that is wrong loses somebody's work without a word. So every collision
/// is listed even when the policy settles it. Three states go in: what our change says was there
/// (its old values), what is there now (`current`), and what we want (its new values). One change
/// comes out, which applies to `current` exactly.
///
/// - A property we did not change keeps their value.
/// - A property they did not change takes our value.
/// - A property both changed takes both changes where its attribute has a ``MergeStrategy``; else it is
///   a conflict, under ``MergePolicy/error`` even if both have come to the same value.
/// - Members of a to-many relationship merge one by one and never collide.
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
    ///   - current: The object as it now stands; nil when it is gone.
    ///   - movement: Whether the object counts as changed by the others whatever they changed of it,
    ///     so that everything we change of it collides.
    /// - Returns: What is left to do, and every collision.
    package func merge(
        ours: Change, seen: [Value]?, current: ObjectState?, movement: ObjectMovement = .untold
    ) -> MergeOutcome {
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

    /// What is left to do of one edit; nil for nothing.
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

    /// Every property we changed collides with their change of any other, but for those that merge.
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

    /// An undone delete that meets its object alive, because somebody else brought it back first.
    /// Nobody can say which values both started from, so every difference is a conflict.
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

    /// Edits that make `current` what we had in memory, but for what merges.
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

    /// An update of an object that is gone: lost, or brought back by the policies in which our side
    /// wins, if we know the whole object.
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
