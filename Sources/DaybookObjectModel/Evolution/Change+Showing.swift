extension Change {
    /// The change as another version of the model sees it.
    ///
    /// Values that the version does not know are left out, and what an older entry lacks is filled in
    /// as it is for rows.
    ///
    /// - Returns: Nil when the version does not have the entity; an empty update when it knows nothing
    ///   of what is changed.
    package func shown(by schema: Schema) -> Change? {
        guard let entity = schema.entity(object.entity) else { return nil }
        if isShown(by: entity) { return self }
        var shown = self
        switch kind {
        case .insert(let values, let members):
            shown.kind = .insert(
                values: entity.shown(values), members: entity.shown(members))
        case .delete(let values, let members):
            shown.kind = .delete(
                values: entity.shown(values), members: entity.shown(members))
        case .update(let edits, let members):
            shown.kind = .update(
                edits: edits.filter { entity.property($0.property) != nil },
                members: entity.shown(members))
        }
        return shown
    }
}

extension Change {
    /// Whether a version has every changed property, in the layout of the change.
    private func isShown(by entity: SchemaEntity) -> Bool {
        switch kind {
        case .insert(let values, let members), .delete(let values, let members):
            values.count == entity.storedSlotCount && entity.removedSlots.isEmpty
                && entity.knows(members)
        case .update(let edits, let members):
            edits.allSatisfy { entity.property($0.property) != nil } && entity.knows(members)
        }
    }
}

extension SchemaEntity {
    fileprivate func knows(_ members: [MembershipEdit]) -> Bool {
        members.allSatisfy { property($0.property)?.isStoredToMany == true }
    }

    /// The values of a row of any version, in the layout of this one.
    fileprivate func shown(_ values: [Value]) -> [Value] {
        var shown = Array(values.prefix(storedSlotCount))
        while shown.count < storedSlotCount {
            switch fills[shown.count] {
            case .value(let value): shown.append(value)
            case .converted(let source, let type):
                let place = numbers.slots.firstIndex { $0.property == source }
                let value = place.flatMap { $0 < values.count ? values[$0] : nil }
                shown.append(value?.converted(to: type) ?? .null)
            }
        }
        for slot in removedSlots { shown[slot] = .null }
        return shown
    }

    fileprivate func shown(_ members: [MembershipEdit]) -> [MembershipEdit] {
        members.filter { property($0.property)?.isStoredToMany == true }
    }
}
