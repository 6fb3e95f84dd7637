import DaybookObjectModel

extension ManagedObjectContext {
    /// Drops, from what is pending and from what can be undone, references to objects that others
    /// have deleted; and that such an object was taken out of a list from which it has gone with them:
    /// whoever brings it back decides where it is.
    ///
    /// - Returns: A conflict for each pending reference that was dropped.
    func dropReferences(to lost: Set<ObjectID>, inStore store: UInt32) -> [MergeConflict] {
        guard !lost.isEmpty else { return [] }
        var conflicts: [MergeConflict] = []
        for item in journal.net {
            guard let change = item.change, !change.isDelete, item.object.graphID.store == store
            else { continue }
            var kept = change
            conflicts += kept.dropReferences(to: lost, of: item.object.binding.schema)
            dropLeaves(of: lost, from: &kept, item.object)
            guard kept != change else { continue }
            forgetLists(touchedBy: change, item.object.graphID)
            take(kept, of: item.object)
        }
        let schema = coordinator.model.schema
        journal.dropReferences(to: lost, inStore: store, keeping: schema.leavesDangling)
        return conflicts
    }

    /// Removes from an update what takes some members out of lists that no longer have them below.
    private func dropLeaves(
        of members: Set<ObjectID>, from change: inout Change, _ object: ManagedObject
    ) {
        guard case .update(let edits, var lists) = change.kind else { return }
        for index in lists.indices {
            guard lists[index].removed.contains(where: { members.contains($0.object) }),
                let property = object.binding.schema.property(lists[index].property)
            else { continue }
            let below = readMembers(of: property, in: object)
            lists[index].removed.removeAll {
                members.contains($0.object) && below[$0.object] == nil
            }
        }
        change.kind = .update(edits: edits, members: lists.filter { !$0.isEmpty })
    }

    /// Replaces a pending change with what is left of it, and puts its values in the object.
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
        object.undergo(.editsDropped)
    }
}

extension Change {
    /// Removes from an insert or update what leads to some objects.
    ///
    /// A reference returns to its previous value; one to an object that only one owner may hold becomes
    /// empty, since another may have taken that object meanwhile.
    mutating func dropReferences(
        to lost: Set<ObjectID>, of entity: SchemaEntity
    ) -> [MergeConflict] {
        let left = leaveOut(
            of: entity, where: { lost.contains($0.destination) },
            // Nobody has checked who holds the reference's former destination.
            unlessTaken: { _, _ in true })
        return left.map {
            MergeConflict(
                kind: .reference, object: object, property: $0.property, base: $0.base,
                theirs: .null, ours: $0.ours)
        }
    }
}

extension Value {
    /// Whether this is a reference to one of some objects.
    func leads(to objects: Set<ObjectID>) -> Bool {
        reference.map(objects.contains) ?? false
    }
}

extension [MembershipEdit] {
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
