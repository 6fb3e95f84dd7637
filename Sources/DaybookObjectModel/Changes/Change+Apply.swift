extension Change {
    /// Applies this change to a state: the one function by which context, projection, replay and
    /// time travel move.
    ///
    /// The state must be the one that the change starts from; otherwise it is left unchanged.
    ///
    /// - Parameters:
    ///   - state: The object before and after; nil when it does not exist.
    ///   - entity: The object's entity, which gives the slot of each property.
    /// - Throws: ``ChangeMismatch`` with the first property whose old value differs.
    package func apply(
        to state: inout ObjectState?, of entity: SchemaEntity
    ) throws(ChangeMismatch) {
        switch kind {
        case .insert(let values, let members):
            guard state == nil else { throw ChangeMismatch(object: object, property: nil) }
            var born = ObjectState(values: values)
            for edit in members { try edit.apply(to: &born.members, of: object) }
            state = born
        case .update(let edits, let members):
            guard var changed = state else { throw ChangeMismatch(object: object, property: nil) }
            try Change.apply(edits, to: &changed.values, of: object, entity)
            for edit in members { try edit.apply(to: &changed.members, of: object) }
            state = changed
        case .delete(let values, let members):
            guard var last = state else { throw ChangeMismatch(object: object, property: nil) }
            if let slot = zip(values, last.values).enumerated().first(where: {
                $0.element.0 != $0.element.1
            })?.offset {
                throw ChangeMismatch(object: object, property: entity.slots[slot].number)
            }
            for edit in members { try edit.apply(to: &last.members, of: object) }
            guard last.members.isEmpty, values.count == last.values.count else {
                throw ChangeMismatch(object: object, property: last.members.keys.min())
            }
            state = nil
        }
    }

    /// Applies edits to values.
    ///
    /// - Throws: ``ChangeMismatch`` when a value is not the edit's old one; some values may have
    ///   been changed then.
    package static func apply(
        _ edits: [Edit], to values: inout [Value], of object: ObjectID, _ entity: SchemaEntity
    ) throws(ChangeMismatch) {
        for edit in edits {
            guard let slot = entity.property(edit.property)?.slot, slot < values.count,
                values[slot] == edit.old
            else { throw ChangeMismatch(object: object, property: edit.property) }
            values[slot] = edit.new
        }
    }
}

extension MembershipEdit {
    /// Applies this edit to members.
    package func apply(
        to members: inout [PropertyNumber: [ObjectID: Double]], of object: ObjectID
    ) throws(ChangeMismatch) {
        var current = members[property] ?? [:]
        for member in removed {
            guard current.removeValue(forKey: member.object) == member.order else {
                throw ChangeMismatch(object: object, property: property)
            }
        }
        for member in added {
            guard current.updateValue(member.order, forKey: member.object) == nil else {
                throw ChangeMismatch(object: object, property: property)
            }
        }
        members[property] = current.isEmpty ? nil : current
    }
}
