import DaybookObjectModel

extension ManagedObjectContext {
    /// Drops, from what is pending and from what can be undone, references to objects that others
    /// have deleted.
    ///
    /// - Returns: A conflict for each pending reference that was dropped.
    func dropReferences(to lost: Set<ObjectID>, inStore store: UInt32) -> [MergeConflict] {
        guard !lost.isEmpty else { return [] }
        var conflicts: [MergeConflict] = []
        for item in journal.net {
            guard let change = item.change, !change.isDelete, item.object.graphID.store == store
            else { continue }
            var kept = change
            let dropped = kept.dropReferences(to: lost, of: item.object.binding.schema)
            guard !dropped.isEmpty else { continue }
            conflicts += dropped
            forgetLists(touchedBy: change, item.object.graphID)
            take(kept, of: item.object)
        }
        journal.dropReferences(to: lost, inStore: store)
        return conflicts
    }

    /// Puts what is left of a pending change in its place, and its values in the object.
    private func take(_ kept: Change, of object: ManagedObject) {
        let before = journal.change(of: object.graphID)
        let schema = object.binding.schema
        switch (before?.kind, kept.kind) {
        case (.insert?, .insert(let values, _)):
            for property in schema.referenceSlots {
                guard let slot = property.slot, values[slot] != object.values[slot] else {
                    continue
                }
                object.values[slot] = values[slot]
                object.relations[property.number] = nil
            }
        case (.update(let edits, _)?, .update(let keptEdits, _)):
            for edit in edits {
                let left = keptEdits.first { $0.property == edit.property }
                guard let slot = schema.property(edit.property)?.slot, left != edit else {
                    continue
                }
                object.values[slot] = left?.new ?? edit.old
                object.relations[edit.property] = nil
            }
        default: return
        }
        guard kept.isEmpty else { return journal.rebase(object, to: kept) }
        journal.clear(object)
        object.status.remove(.updated)
    }
}

extension Change {
    /// Whether this takes the object out of the store.
    var isDelete: Bool {
        if case .delete = kind { true } else { false }
    }

    /// Whether this brings the object into the store.
    var isInsert: Bool {
        if case .insert = kind { true } else { false }
    }

    /// Takes out of an insert or update what leads to some objects.
    ///
    /// A reference goes back to what it was before; one to an object that only one may hold becomes
    /// empty, since another may have taken that object meanwhile.
    mutating func dropReferences(
        to lost: Set<ObjectID>, of entity: SchemaEntity
    ) -> [MergeConflict] {
        var conflicts: [MergeConflict] = []
        func note(_ property: PropertyNumber, from base: Value, to ours: Value) {
            conflicts.append(
                MergeConflict(
                    kind: .reference, object: object, property: property, base: base, theirs: .null,
                    ours: ours))
        }
        func withoutLost(_ members: [MembershipEdit]) -> [MembershipEdit] {
            for edit in members {
                for member in edit.added where lost.contains(member.object) {
                    note(edit.property, from: .null, to: .object(member.object))
                }
            }
            return members.withoutJoins(of: lost)
        }
        switch kind {
        case .insert(var values, let members):
            for property in entity.referenceSlots {
                guard let slot = property.slot, values[slot].leads(to: lost) else { continue }
                note(property.number, from: .null, to: values[slot])
                values[slot] = .null
            }
            kind = .insert(values: values, members: withoutLost(members))
        case .update(let edits, let members):
            let kept = edits.map { edit in
                guard edit.new.leads(to: lost) else { return edit }
                note(edit.property, from: edit.old, to: edit.new)
                var edit = edit
                edit.new = entity.mayShare(edit.property) ? edit.old : .null
                return edit
            }
            kind = .update(
                edits: kept.filter { $0.old != $0.new }, members: withoutLost(members))
        case .delete: break
        }
        return conflicts
    }
}

extension SchemaEntity {
    /// Whether several objects may refer to the same one over a relationship.
    func mayShare(_ property: PropertyNumber) -> Bool {
        guard let end = self.property(property)?.end else { return true }
        return end.inverse == nil || end.inverseIsToMany
    }
}

extension Value {
    /// Whether this is a reference to one of some objects.
    func leads(to objects: Set<ObjectID>) -> Bool {
        reference.map(objects.contains) ?? false
    }
}

extension [MembershipEdit] {
    /// These edits without the joins and moves of some members.
    func withoutJoins(of members: Set<ObjectID>) -> [MembershipEdit] {
        map { edit in
            var edit = edit
            let dropped = Set(edit.added.map(\.object)).intersection(members)
            edit.added.removeAll { dropped.contains($0.object) }
            edit.removed.removeAll { dropped.contains($0.object) }
            return edit
        }.filter { !$0.isEmpty }
    }

    /// These edits without some members.
    func without(_ members: Set<ObjectID>) -> [MembershipEdit] {
        map { edit in
            var edit = edit
            edit.added.removeAll { members.contains($0.object) }
            edit.removed.removeAll { members.contains($0.object) }
            return edit
        }.filter { !$0.isEmpty }
    }
}
