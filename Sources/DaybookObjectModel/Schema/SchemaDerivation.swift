/// A derived attribute with the numbers of what it comes from.
package struct SchemaDerivation: Sendable, Hashable {
    /// How the value is computed.
    package enum Formula: Sendable, Hashable {
        /// A form of a text of the same object.
        case text(Derivation.TextForm, source: PropertyNumber)
        /// How many objects a relationship has.
        case count(relationship: PropertyNumber)
        /// One value from the values of an attribute of these objects.
        case aggregate(
            Derivation.Aggregate, source: PropertyNumber, relationship: PropertyNumber)
    }

    /// The entity that declares the attribute; those below it have the attribute as well.
    package let entity: EntityNumber
    /// The attribute.
    package let property: PropertyNumber
    /// Where its values come from.
    package let formula: Formula

    /// The relationship whose objects count; nil for a text.
    package var relationship: PropertyNumber? {
        switch formula {
        case .text: nil
        case .count(let relationship), .aggregate(_, _, let relationship): relationship
        }
    }

    /// The attribute whose values count; nil where only objects are counted.
    package var source: PropertyNumber? {
        switch formula {
        case .text(_, let source), .aggregate(_, let source, _): source
        case .count: nil
        }
    }

    /// The derived attributes that an entity declares itself.
    static func declared(
        in entity: SchemaEntity, _ entities: [SchemaEntity]
    ) -> [SchemaDerivation] {
        entity.derivedSlots.compactMap { property in
            guard entity.numbers.properties[property.name] == property.number,
                let derivation = property.attribute?.derivation,
                let formula = formula(derivation, in: entity, entities)
            else { return nil }
            return SchemaDerivation(
                entity: entity.number, property: property.number, formula: formula)
        }
    }

    private static func formula(
        _ derivation: Derivation, in entity: SchemaEntity, _ entities: [SchemaEntity]
    ) -> Formula? {
        switch derivation {
        case .text(let form, let name):
            return entity.property(named: name).map { .text(form, source: $0.number) }
        case .count(let name):
            return entity.property(named: name).map { .count(relationship: $0.number) }
        case .aggregate(let aggregate, let name, let relationshipName):
            guard let relationship = entity.property(named: relationshipName),
                let destination = entities.first(where: {
                    $0.number == relationship.end?.destination
                }), let source = destination.property(named: name)
            else { return nil }
            return .aggregate(
                aggregate, source: source.number, relationship: relationship.number)
        }
    }
}

extension Schema {
    /// The derived attributes that have another source than under an earlier model, or belong to
    /// other objects: their values are computed anew.
    package func derivationsRenewed(after before: Schema) -> Set<PropertyNumber> {
        let known = Set(before.derivations)
        let renewed = derivations.filter { derivation in
            !known.contains(derivation)
                || families(of: derivation) != before.families(of: derivation)
        }
        return Set(renewed.map(\.property))
    }

    /// The entities that have an attribute, and those from whose objects it comes.
    private func families(of derivation: SchemaDerivation) -> [[EntityNumber]] {
        let owner = entity(derivation.entity)
        let destination = derivation.relationship.flatMap { owner?.property($0)?.end?.destination }
        return [owner?.family ?? [], destination.flatMap { entity($0)?.family } ?? []]
    }
}

// MARK: - What a program makes of derived values

// A change on its way to a store has no derived values: they are worked out when everything else is
// settled. So nothing that a program or a merge does can depend on them, or collide over them.

extension SchemaEntity {
    /// Values in slot order, with the default in place of each derived one.
    package func withoutDerived(_ values: [Value]) -> [Value] {
        guard !derivedSlots.isEmpty else { return values }
        var own = values
        for case let slot? in derivedSlots.map(\.slot) where slot < own.count {
            own[slot] = defaults[slot]
        }
        return own
    }
}

extension Change {
    /// The change without derived values; it may be empty then.
    package func withoutDerived(of entity: SchemaEntity) -> Change {
        guard !entity.derivedSlots.isEmpty else { return self }
        var own = self
        switch kind {
        case .insert(let values, let members):
            own.kind = .insert(values: entity.withoutDerived(values), members: members)
        case .update(let edits, let members):
            own.kind = .update(
                edits: edits.filter { entity.property($0.property)?.isDerived != true },
                members: members)
        case .delete(let values, let members):
            own.kind = .delete(values: entity.withoutDerived(values), members: members)
        }
        return own
    }
}

extension [Change] {
    /// The changes without derived values, and without those that changed nothing else.
    package func withoutDerived(in schema: Schema) -> [Change] {
        guard !schema.derivations.isEmpty else { return self }
        return compactMap { change in
            guard let entity = schema.entity(change.object.entity), !entity.derivedSlots.isEmpty
            else { return change }
            let own = change.withoutDerived(of: entity)
            return own.isEmpty ? nil : own
        }
    }
}
