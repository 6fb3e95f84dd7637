/// A compiled model: checked, numbered and laid out.
///
/// Invariants:
/// - Entities are numbered from 1 in the order of their names; properties from 1 in the order of
///   (declaring entity, property name), transient ones after all others. So equal models have equal
///   numbers, and transient attributes, which a store does not know, do not affect them.
/// - Of every relationship and its inverse exactly one side is stored.
package final class Schema: Sendable {
    /// The model, in canonical order.
    package let model: ManagedObjectModel
    /// The entities by number, from number 1 at index 0.
    package let entities: [SchemaEntity]
    private let numbersByName: [String: EntityNumber]
    /// The entity that declares each property, from property number 1 at index 0.
    private let declarers: [EntityNumber]

    /// Compiles a model.
    ///
    /// - Throws: ``ModelError`` when the model is inconsistent.
    package init(_ model: ManagedObjectModel) throws(ModelError) {
        try model.validate()
        let canonical = model.canonical
        self.model = canonical
        let numbering = SchemaNumbering(canonical)
        entities = canonical.entities.map { numbering.entity($0) }
        numbersByName = numbering.entityNumbers
        declarers = numbering.declarers
    }

    /// The entity of that name.
    package func entity(named name: String) -> SchemaEntity? {
        numbersByName[name].flatMap(entity(_:))
    }

    /// The entity of that number.
    package func entity(_ number: EntityNumber) -> SchemaEntity? {
        let index = Int(number.rawValue) - 1
        return entities.indices.contains(index) ? entities[index] : nil
    }

    /// `Country/17`.
    package func name(of object: ObjectID) -> String {
        "\(entity(object.entity)?.name ?? "?\(object.entity.rawValue)")/\(object.number)"
    }

    /// The object named by `Country/17`; nil when the text has another form or names no entity.
    package func object(named text: String) -> ObjectID? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let entity = entity(named: String(parts[0])),
            let number = UInt64(parts[1]), String(number) == parts[1], number > 0
        else { return nil }
        return ObjectID(entity: entity.number, number: number)
    }

    /// The property with that number, in the entity that declares it.
    package func property(_ number: PropertyNumber) -> SchemaProperty? {
        let index = Int(number.rawValue) - 1
        guard declarers.indices.contains(index) else { return nil }
        return entity(declarers[index])?.property(number)
    }
}

/// Computes the numbers of a canonical model.
private struct SchemaNumbering {
    let entitiesByName: [String: EntityDescription]
    var entityNumbers: [String: EntityNumber] = [:]
    var propertyNumbers: [String: [String: PropertyNumber]] = [:]
    var childrenByName: [String: [String]] = [:]
    var declarers: [EntityNumber] = []
    /// The number of each entity's first constraint of several attributes.
    var constraintNumbers: [String: UInt32] = [:]

    init(_ model: ManagedObjectModel) {
        entitiesByName = model.entitiesByName
        var next: UInt32 = 1
        for (index, entity) in model.entities.enumerated() {
            entityNumbers[entity.name] = EntityNumber(rawValue: UInt32(index + 1))
            if let parent = entity.superentityName {
                childrenByName[parent, default: []].append(entity.name)
            }
        }
        var nextConstraint = SchemaConstraint.compoundNumberMinimum
        for entity in model.entities {
            constraintNumbers[entity.name] = nextConstraint
            nextConstraint += UInt32(entity.uniquenessConstraints.count)
        }
        func assignNumbers(_ names: (EntityDescription) -> [String]) {
            for entity in model.entities {
                for name in names(entity).sorted() {
                    let property = PropertyNumber(rawValue: next)
                    propertyNumbers[entity.name, default: [:]][name] = property
                    declarers.append(entityNumbers[entity.name] ?? EntityNumber(rawValue: 0))
                    next += 1
                }
            }
        }
        assignNumbers { entity in
            entity.attributes.filter { !$0.isTransient }.map(\.name)
                + entity.relationships.map(\.name)
        }
        assignNumbers { $0.attributes.filter(\.isTransient).map(\.name) }
    }

    func entity(_ description: EntityDescription) -> SchemaEntity {
        var properties: [(PropertyNumber, String, SchemaProperty.Kind)] = []
        for ancestor in description.lineage(entitiesByName) {
            for attribute in ancestor.attributes {
                properties.append(
                    (number(ancestor, attribute.name), attribute.name, .attribute(attribute)))
            }
            for relationship in ancestor.relationships {
                properties.append(
                    (
                        number(ancestor, relationship.name), relationship.name,
                        .relationship(relationship, end(of: relationship, from: ancestor))
                    ))
            }
        }
        return SchemaEntity(
            number: entityNumbers[description.name] ?? EntityNumber(rawValue: 0),
            description: description,
            superentity: description.superentityName.flatMap { entityNumbers[$0] },
            family: family(of: description.name), properties: properties,
            constraints: constraints(of: description))
    }

    /// The uniqueness constraints, with the numbers of their index records.
    private func constraints(
        of description: EntityDescription
    ) -> [(PropertyNumber, names: [String])] {
        description.lineage(entitiesByName).reversed().flatMap { ancestor in
            let first = constraintNumbers[ancestor.name] ?? 0
            return ancestor.uniquenessConstraints.enumerated().map { index, names in
                (PropertyNumber(rawValue: first + UInt32(index)), names)
            }
        }
    }

    /// The entity and all that inherit from it, in the order of their numbers.
    private func family(of name: String) -> [EntityNumber] {
        var found: [EntityNumber] = []
        var open = [name]
        while let next = open.popLast() {
            if let number = entityNumbers[next] { found.append(number) }
            open += childrenByName[next] ?? []
        }
        return found.sorted()
    }

    private func number(_ entity: EntityDescription, _ property: String) -> PropertyNumber {
        propertyNumbers[entity.name]?[property] ?? PropertyNumber(rawValue: 0)
    }

    private func end(
        of relationship: RelationshipDescription, from owner: EntityDescription
    ) -> RelationshipEnd {
        let own = number(owner, relationship.name)
        var end = RelationshipEnd(
            destination: entityNumbers[relationship.destinationName] ?? EntityNumber(rawValue: 0),
            inverse: nil, isStored: true, inverseIsToMany: true)
        guard let inverseName = relationship.inverseName,
            let destination = entitiesByName[relationship.destinationName]
        else { return end }
        for ancestor in destination.lineage(entitiesByName) {
            guard let inverse = ancestor.relationships.first(where: { $0.name == inverseName })
            else { continue }
            let other = number(ancestor, inverseName)
            end.inverse = other
            end.inverseIsToMany = inverse.isToMany
            if relationship.isOrdered != inverse.isOrdered {
                end.isStored = relationship.isOrdered
            } else if relationship.isToMany != inverse.isToMany {
                end.isStored = !relationship.isToMany
            } else {
                // A relationship that is its own inverse (friends) is stored at both ends.
                end.isStored = own <= other
            }
        }
        return end
    }
}
