/// The effect of a change on one reference of its object: it begins, ends or changes its order.
package struct ReferenceChange: Sendable {
    /// The stored relationship.
    package let property: SchemaProperty
    /// The object at the other end.
    package let destination: ObjectID
    /// The order before, 0 for a to-one relationship; nil for no reference.
    package let old: Double?
    /// The order after; nil for no reference.
    package let new: Double?

    /// Whether the object starts to refer to the destination.
    package var begins: Bool { old == nil && new != nil }
    /// Whether the object stops referring to the destination.
    package var ends: Bool { old != nil && new == nil }

    /// By how much the object's references to the destination grow.
    fileprivate var difference: Int { (new == nil ? 0 : 1) - (old == nil ? 0 : 1) }
}

extension Change {
    /// Calls `body` with every effect of this change on the references of its object: those in
    /// slots by property, then members by relationship and member.
    ///
    /// A change that names only the object, without values, has no effect on references.
    package func forEachReference<Failure: Error>(
        of entity: SchemaEntity, _ body: (ReferenceChange) throws(Failure) -> Void
    ) throws(Failure) {
        switch kind {
        case .insert(let values, let members):
            for property in entity.referenceSlots {
                guard let slot = property.slot, slot < values.count else { continue }
                try Self.move(property, from: .null, to: values[slot], body)
            }
            try Self.move(members, of: entity, body)
        case .update(let edits, let members):
            let edits = edits.span
            for index in edits.indices {
                guard let property = entity.property(edits[index].property), !property.isAttribute
                else { continue }
                try Self.move(property, from: edits[index].old, to: edits[index].new, body)
            }
            try Self.move(members, of: entity, body)
        case .delete(let values, let members):
            for property in entity.referenceSlots {
                guard let slot = property.slot, slot < values.count else { continue }
                try Self.move(property, from: values[slot], to: .null, body)
            }
            try Self.move(members, of: entity, body)
        }
    }

    /// Every effect of this change on the references of its object.
    package func references(of entity: SchemaEntity) -> [ReferenceChange] {
        var found: [ReferenceChange] = []
        forEachReference(of: entity) { found.append($0) }
        return found
    }

    private static func move<Failure: Error>(
        _ property: SchemaProperty, from old: Value, to new: Value,
        _ body: (ReferenceChange) throws(Failure) -> Void
    ) throws(Failure) {
        guard old != new else { return }
        if let old = old.reference {
            try body(ReferenceChange(property: property, destination: old, old: 0, new: nil))
        }
        if let new = new.reference {
            try body(ReferenceChange(property: property, destination: new, old: nil, new: 0))
        }
    }

    private static func move<Failure: Error>(
        _ edits: [MembershipEdit], of entity: SchemaEntity,
        _ body: (ReferenceChange) throws(Failure) -> Void
    ) throws(Failure) {
        for edit in edits {
            guard let property = entity.property(edit.property) else { continue }
            for move in edit.moves {
                try body(
                    ReferenceChange(
                        property: property, destination: move.object, old: move.old, new: move.new))
            }
        }
    }

    /// Calls `body` with every end of a relationship where this change may change the number of
    /// objects, and with the difference.
    ///
    /// A change names only one end; the other follows from it, unless the relationship is its own
    /// inverse: then each of the two objects has a change of its own.
    package func forEachCount(
        of entity: SchemaEntity, _ body: (ObjectID, PropertyNumber, Int) -> Void
    ) {
        if isInsert { for property in entity.counted { body(object, property.number, 0) } }
        forEachReference(of: entity) { reference in
            let property = reference.property
            if property.slot == nil { body(object, property.number, reference.difference) }
            guard let opposite = property.opposite else { return }
            body(reference.destination, opposite, reference.difference)
        }
    }
}

extension ObjectState {
    /// The objects referred to, each with its stored relationship.
    package func references(
        of entity: SchemaEntity
    ) -> [(property: SchemaProperty, destination: ObjectID)] {
        var found: [(property: SchemaProperty, destination: ObjectID)] = []
        for property in entity.referenceSlots {
            guard let slot = property.slot, slot < values.count,
                let destination = values[slot].reference
            else { continue }
            found.append((property, destination))
        }
        for property in entity.storedToMany {
            for member in (members[property.number] ?? [:]).keys {
                found.append((property, member))
            }
        }
        return found
    }
}
