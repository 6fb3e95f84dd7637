import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// The answers of a custom policy become part of the request: edits that start from what the store has no
// longer collide with it.
//
// An answer is not a merge, so `Edit.starting(from:of:unmergeable:)` is of no use here: whoever answers has
// seen all sides and may have chosen any value, for an attribute that merges as well, and for a property
// that was not edited.

extension SaveRequest {
    /// Rebases changes on what the store has, as a policy has settled them.
    ///
    /// - Complexity: O(*n* + *k* log *m*), *n* the number of changes, *k* of conflicts and
    ///   *m* of objects.
    mutating func rebase(on conflicts: [ObjectConflict], in store: PersistentStore) throws {
        let indices = indices(of: Set(conflicts.map(\.objectID.object)))
        var dropped: Set<ObjectID> = []
        for conflict in conflicts {
            guard let index = indices[conflict.objectID.object] else {
                markSeen(conflict)
                continue
            }
            if try !rebase(changeAt: index, on: conflict, in: store) {
                dropped.insert(conflict.objectID.object)
            }
        }
        if !dropped.isEmpty { changes.removeAll { dropped.contains($0.object) } }
    }

    /// The indices of the changes of some objects.
    func indices(of objects: Set<ObjectID>) -> [ObjectID: Int] {
        var indices: [ObjectID: Int] = [:]
        for index in changes.indices where objects.contains(changes[index].object) {
            indices[changes[index].object] = index
        }
        return indices
    }

    /// - Returns: Whether anything is left of the change.
    private mutating func rebase(
        changeAt index: Int, on conflict: ObjectConflict, in store: PersistentStore
    ) throws -> Bool {
        let object = conflict.objectID.object
        guard let entity = store.store.schema.entity(object.entity) else {
            markSeen(conflict)
            return true
        }
        let change = changes[index]
        switch (conflict.side, change.kind) {
        case (.theirs?, _):
            markSeen(conflict)
            return false
        case (.ours?, .update) where conflict.newVersion == .zero && seen[object] != nil:
            // The store brings it back, with what its delete had taken from it.
            returning.insert(object)
            watched[object] = nil
        case (.ours?, .insert), (.ours?, .delete),
            (.ours?, .update) where conflict.isOneGone:
            let current = try store.read(at: nil) { try $0.state(of: object) }
            let outcome = ThreeWayMerge(of: entity, policy: .mergeByPropertyObjectTrump)
                .merge(ours: change, seen: seen[object], current: current)
            markSeen(conflict)
            guard let settled = outcome.change else { return false }
            changes[index] = settled
        case (_, .insert(let values, let members)):
            changes[index].kind = .insert(
                values: conflict.settled(values, entity), members: members)
        case (_, .update(let edits, let members)) where returning.contains(object):
            changes[index].kind = .update(
                edits: conflict.settledAsInserted(edits, entity), members: members)
        case (_, .update(let edits, let members)) where !conflict.isOneGone:
            changes[index].kind = .update(
                edits: conflict.settled(edits, entity), members: members)
            if conflict.settlesAll(edits, entity) { markSeen(conflict) }
        default: break
        }
        return true
    }

    /// Marks the store's state of an object as seen by the request.
    private mutating func markSeen(_ conflict: ObjectConflict) {
        let object = conflict.objectID.object
        let isWatched = watched.removeValue(forKey: object) != nil
        guard conflict.newVersion != .zero else { return }
        seenSince[object] = conflict.newVersion
        if isWatched { watched[object] = conflict.newVersion }
    }

    /// Takes over what a policy has decided about values that are taken.
    mutating func settle(_ conflicts: [ConstraintConflict], of schema: Schema) {
        let indices = indices(of: Set(conflicts.flatMap(\.objects)))
        for conflict in conflicts { settle(conflict, indices, of: schema) }
    }

    private mutating func settle(
        _ conflict: ConstraintConflict, _ indices: [ObjectID: Int], of schema: Schema
    ) {
        for object in conflict.objects {
            switch conflict.side {
            case .ours?: constraintPolicies[object] = .mergeByPropertyObjectTrump
            case .theirs?: constraintPolicies[object] = .mergeByPropertyStoreTrump
            case nil: break
            }
            guard let entity = schema.entity(object.entity), let index = indices[object] else {
                continue
            }
            for (name, value) in conflict.replacements[object] ?? [:] {
                guard let property = entity.property(named: name) else { continue }
                changes[index].replace(property, with: value)
            }
        }
    }
}

extension ObjectConflict {
    /// Whether one side has deleted the object.
    fileprivate var isOneGone: Bool { newVersion == .zero || ours.isEmpty }

    private func resolution(of property: SchemaProperty) -> ConflictResolution? {
        // Attributes that merge are left to the save, so that our side drops nothing of theirs.
        resolutions[property.name] ?? (side == .ours && property.merge == nil ? .ours : nil)
    }

    private func value(_ resolution: ConflictResolution, _ property: SchemaProperty) -> Value {
        switch resolution {
        case .base: base[property.name] ?? .null
        case .theirs: theirs[property.name] ?? .null
        case .ours: ours[property.name] ?? .null
        case .value(let value): value.normalized(for: property.attribute?.type)
        }
    }

    /// The edits; settled ones start from what the store has.
    fileprivate func settled(_ edits: [Edit], _ entity: SchemaEntity) -> [Edit] {
        let open = edits.filter { edit in
            entity.property(edit.property).map { resolution(of: $0) == nil } ?? true
        }
        let settled = entity.slots.prefix(entity.storedSlotCount).compactMap { property -> Edit? in
            let isEdited = edits.contains { $0.property == property.number }
            guard isEdited || resolutions[property.name] != nil,
                let resolution = resolution(of: property)
            else { return nil }
            return Edit(
                property: property.number, old: theirs[property.name] ?? .null,
                new: value(resolution, property))
        }
        return (open + settled).filter { $0.old != $0.new }.sorted { $0.property < $1.property }
    }

    /// The edits of an object that comes back, as the policy has settled them.
    fileprivate func settledAsInserted(_ edits: [Edit], _ entity: SchemaEntity) -> [Edit] {
        edits.map { edit in
            guard let property = entity.property(edit.property),
                let resolution = resolution(of: property)
            else { return edit }
            return Edit(
                property: edit.property, old: edit.old, new: value(resolution, property))
        }
    }

    /// The values of an insert that refers to what is gone, as the policy has settled it.
    fileprivate func settled(_ values: [Value], _ entity: SchemaEntity) -> [Value] {
        zip(entity.slots, values).map { property, old in
            resolution(of: property).map { value($0, property) } ?? old
        }
    }

    /// Whether nothing that the context has changed is left open.
    fileprivate func settlesAll(_ edits: [Edit], _ entity: SchemaEntity) -> Bool {
        edits.allSatisfy { edit in
            guard let property = entity.property(edit.property) else { return false }
            return property.merge != nil || resolution(of: property) != nil
        }
    }
}

extension Change {
    /// Saves another value of one property.
    fileprivate mutating func replace(_ property: SchemaProperty, with value: Value) {
        guard let slot = property.slot else { return }
        switch kind {
        case .insert(var values, let members) where slot < values.count:
            values[slot] = value.normalized(for: property.attribute?.type)
            kind = .insert(values: values, members: members)
        case .update(let edits, let members):
            let value = value.normalized(for: property.attribute?.type)
            let replaced = edits.map { edit in
                edit.property == property.number
                    ? Edit(property: edit.property, old: edit.old, new: value) : edit
            }
            kind = .update(edits: replaced.filter { $0.old != $0.new }, members: members)
        case .insert, .delete: return
        }
    }
}
