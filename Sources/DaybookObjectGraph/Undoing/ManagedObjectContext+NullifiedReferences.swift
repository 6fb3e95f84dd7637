import DaybookObjectModel
import DaybookSnapshotStore

/// A reference that only the store empties when its destination is deleted, since it has no inverse.
private struct NullifiedReference {
    let owner: GraphID
    let kind: Change.Kind
    let destination: GraphID

    func change(of object: ManagedObject, isSaved: Bool) -> RecordedChange {
        RecordedChange(
            object: object,
            change: Change(object: owner.object, kind: kind, cause: destination.object),
            isSaved: isSaved)
    }
}

extension ManagedObjectContext {
    /// Empties references without inverse, in what is to be saved, to objects that will not exist.
    ///
    /// Until the save such a reference reads as none and comes back when the delete is undone. The
    /// emptying becomes a part of the step that deleted.
    func emptyReferencesToDeleted() {
        let items = journal.net
        var lost: Set<GraphID> = []
        for index in items.indices where items[index].isGone {
            lost.insert(items[index].object.graphID)
        }
        guard !lost.isEmpty else { return }
        let emptied = items.flatMap { references(of: $0, to: lost) }
        let steps = journal.steps(thatDelete: Set(emptied.map(\.destination)))
        if !emptied.isEmpty { advanceRevision() }
        for reference in emptied {
            let object = object(reference.owner)
            let recorded = reference.change(of: object, isSaved: false)
            apply(recorded.change, to: object)
            updateLists(touchedBy: recorded.change, of: object)
            journal.append(recorded, toStep: steps[reference.destination])
        }
    }

    /// The object that a reference leads to; nil for one that was inserted and deleted here.
    ///
    /// Only a reference without inverse can still lead to such an object, and will again if the
    /// delete is undone.
    func destination(_ id: GraphID) -> ManagedObject? {
        if let object = registry[id] { return object }
        return journal.net(of: id)?.isAnnihilated == true ? nil : object(id)
    }

    /// Follows the store where a save has emptied references without inverse to what it deleted.
    ///
    /// That also becomes a part of the step that deleted, so that undoing the step brings them back.
    func followNullifiedReferences(_ changes: [Change], inStore store: UInt32) {
        var deleted: Set<GraphID> = []
        for index in changes.indices where changes[index].isDelete {
            deleted.insert(GraphID(store: store, object: changes[index].object))
        }
        guard !deleted.isEmpty else { return }
        let schema = coordinator.model.schema
        guard schema.entities.contains(where: { $0.properties.contains(where: \.isOneWay) })
        else { return }
        let steps = journal.steps(thatDelete: deleted)
        journal.emptyReferences(to: deleted, deletedIn: steps)
        let emptied = changes.flatMap { references(emptiedBy: $0, inStore: store, to: deleted) }
        for reference in emptied {
            if let object = registry[reference.owner], !object.isFault {
                let change = reference.change(of: object, isSaved: true).change
                apply(change, to: object)
                for edit in change.members { object.relations[edit.property] = nil }
            }
            guard let step = steps[reference.destination] else { continue }
            journal.append(
                reference.change(of: object(reference.owner), isSaved: true), toStep: step)
        }
    }

    /// The references without inverse to some objects that a pending object has got.
    ///
    /// Those that it had before are the store's, which knows where they lead by now.
    private func references(
        of item: NetChange, to lost: Set<GraphID>
    ) -> [NullifiedReference] {
        guard let change = item.change, !change.isDelete, item.object.realizeIfNeeded() else {
            return []
        }
        let owner = item.object.graphID
        let schema = item.object.binding.schema
        var found: [NullifiedReference] = []
        for property in schema.referenceSlots where property.isOneWay {
            guard change.sets(property.number), let slot = property.slot,
                let target = item.object.values[slot].reference
            else { continue }
            let destination = GraphID(store: owner.store, object: target)
            guard lost.contains(destination) else { continue }
            let edit = Edit(property: property.number, old: .object(target), new: .null)
            found.append(
                NullifiedReference(
                    owner: owner, kind: .update(edits: [edit], members: []),
                    destination: destination))
        }
        for edit in change.members {
            guard schema.property(edit.property)?.isOneWay == true else { continue }
            for member in edit.added {
                let destination = GraphID(store: owner.store, object: member.object)
                guard lost.contains(destination) else { continue }
                found.append(member.leaving(edit.property, of: owner))
            }
        }
        return found
    }

    /// The references without inverse that a saved change has emptied, if the context still has them.
    private func references(
        emptiedBy change: Change, inStore store: UInt32, to deleted: Set<GraphID>
    ) -> [NullifiedReference] {
        guard case .update(let edits, let members) = change.kind else { return [] }
        let owner = GraphID(store: store, object: change.object)
        let schema = binding(change.object.entity).schema
        let object = registry[owner].flatMap { $0.isFault ? nil : $0 }
        var found: [NullifiedReference] = []
        for edit in edits where edit.new == .null {
            guard let property = schema.property(edit.property), property.isOneWay,
                let slot = property.slot, let target = edit.old.reference,
                object == nil || object?.values[slot] == edit.old
            else { continue }
            let destination = GraphID(store: store, object: target)
            guard deleted.contains(destination) else { continue }
            found.append(
                NullifiedReference(
                    owner: owner, kind: .update(edits: [edit], members: []),
                    destination: destination))
        }
        for edit in members where schema.property(edit.property)?.isOneWay == true {
            var known: [ObjectID: Double]?
            if case .many(let list)? = object?.relations[edit.property] { known = list.orders }
            for member in edit.removed {
                let destination = GraphID(store: store, object: member.object)
                guard deleted.contains(destination) else { continue }
                if let known, known[member.object] == nil { continue }
                found.append(member.leaving(edit.property, of: owner))
            }
        }
        return found
    }
}

extension NetChange {
    /// Whether the object will not exist once this is saved.
    fileprivate var isGone: Bool { kind == .delete || isAnnihilated }
}

extension Member {
    fileprivate func leaving(_ property: PropertyNumber, of owner: GraphID) -> NullifiedReference {
        NullifiedReference(
            owner: owner,
            kind: .update(
                edits: [], members: [MembershipEdit(property: property, removed: [self])]),
            destination: GraphID(store: owner.store, object: object))
    }
}

extension Change {
    /// Whether it gives a property with a slot a value.
    fileprivate func sets(_ property: PropertyNumber) -> Bool {
        switch kind {
        case .insert: true
        case .update(let edits, _): edits.contains { $0.property == property }
        case .delete: false
        }
    }
}
