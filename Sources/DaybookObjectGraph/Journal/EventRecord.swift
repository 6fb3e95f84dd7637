import DaybookObjectModel
import DaybookStopping

/// What happened to one object in the event that is being recorded.
///
/// Setting a property many times in one event costs one record: the old value is kept when the
/// property is first touched, and the new one is read from the object when the event ends.
struct EventRecord {
    enum Kind {
        case insert
        case update
        case delete
        /// An insert and a delete in one event: nothing happened.
        case nothing
    }

    /// The position of a member before and after; nil for not a member.
    struct Move {
        var old: Double?
        var new: Double?
    }

    let object: ManagedObject
    var kind: Kind
    /// What was edited, with the old values. The new ones are filled in when the event ends.
    var edits: [Edit] = []
    var moves: [PropertyNumber: [ObjectID: Move]] = [:]
    var cause: ObjectID?
    /// What the object was before the event that has deleted it. What is set after the delete changes
    /// nothing but the instance.
    private(set) var valuesDeleted: [Value]?

    /// Records the value of a property before it is first set.
    mutating func touch(_ property: PropertyNumber, _ old: Value) {
        for edit in edits where edit.property == property { return }
        edits.append(Edit(property: property, old: old, new: .null))
    }

    /// Ends the object's record with its deletion.
    mutating func delete(_ values: [Value], because cause: ObjectID?) {
        self.cause = cause
        kind = kind == .insert ? .nothing : .delete
        valuesDeleted = values
    }

    /// The change this record amounts to; nil for none.
    var change: Change? {
        var record = self
        return record.takeChange()
    }

    /// Ends the record: the change it amounts to takes over what was recorded; nil for none.
    mutating func takeChange() -> Change? {
        let id = object.graphID.object
        switch kind {
        case .nothing:
            return nil
        case .insert:
            return Change(
                object: id, kind: .insert(values: object.values, members: memberships { $0 }))
        case .update:
            finishEdits()
            let members = memberships { $0 }
            guard !edits.isEmpty || !members.isEmpty else { return nil }
            return Change(object: id, kind: .update(edits: edits, members: members), cause: cause)
        case .delete:
            return Change(
                object: id,
                kind: .delete(
                    values: valuesDeleted ?? object.values,
                    members: memberships { Move(old: $0.old, new: nil) }),
                cause: cause)
        }
    }

    /// Fills in the new values, drops edits without effect and sorts the others.
    private mutating func finishEdits() {
        let entity = object.binding.schema
        let values = object.values
        var isNet = true
        var isSorted = true
        for index in edits.indices {
            guard let slot = entity.slot(of: edits[index].property) else { continue }
            edits[index].new = values[slot]
            if edits[index].old == edits[index].new { isNet = false }
            if index > 0, edits[index].property < edits[index - 1].property { isSorted = false }
        }
        if !isNet { edits.removeAll { $0.old == $0.new } }
        if !isSorted { edits.sort { $0.property < $1.property } }
    }

    private func memberships(_ adjust: (Move) -> Move) -> [MembershipEdit] {
        guard !moves.isEmpty else { return [] }
        var edits: [MembershipEdit] = []
        for (property, moves) in moves {
            var added: [Member] = []
            var removed: [Member] = []
            for (member, move) in moves {
                let move = adjust(move)
                guard move.old != move.new else { continue }
                if let order = move.old { removed.append(Member(object: member, order: order)) }
                if let order = move.new { added.append(Member(object: member, order: order)) }
            }
            edits.append(MembershipEdit(property: property, added: added, removed: removed))
        }
        return edits.filter { !$0.isEmpty }.sorted { $0.property < $1.property }
    }
}
