/// Joins a canonical model with numbers.
struct SchemaCompiler {
    let entitiesByName: [String: EntityDescription]
    private(set) var entityNumbers: [String: EntityNumber] = [:]
    private var propertyNumbers: [String: [String: PropertyNumber]] = [:]
    private var childrenByName: [String: [String]] = [:]
    private let numbered: [NumberedEntity]

    init(_ model: ManagedObjectModel, _ numbered: [NumberedEntity]) {
        entitiesByName = model.entitiesByName
        self.numbered = numbered
        for entity in numbered where !entity.isRemoved {
            entityNumbers[entity.name] = entity.number
            propertyNumbers[entity.name] = entity.properties
        }
        var next = Schema.transientNumberMinimum
        for entity in model.entities {
            if let parent = entity.superentityName {
                childrenByName[parent, default: []].append(entity.name)
            }
            for attribute in entity.attributes where attribute.isTransient {
                propertyNumbers[entity.name, default: [:]][attribute.name] =
                    PropertyNumber(rawValue: next)
                next += 1
            }
        }
    }

    /// The entity with its properties and layout; nil when it has no number.
    func entity(_ description: EntityDescription) -> SchemaEntity? {
        guard let number = entityNumbers[description.name] else { return nil }
        return SchemaEntity(
            numbers: numbered[Int(number.rawValue) - 1], description: description,
            superentity: description.superentityName.flatMap { entityNumbers[$0] },
            family: family(of: description.name), properties: properties(of: description),
            constraints: constraints(of: description), indexes: indexes(of: description),
            indexesChanges: description.lineage(entitiesByName).contains(where: \.indexesChanges),
            displayName: description.displayPropertyName(entitiesByName))
    }

    /// All properties of an entity, inherited ones included, in no order.
    func properties(
        of description: EntityDescription
    ) -> [(PropertyNumber, String, SchemaProperty.Kind)] {
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
        return properties
    }

    /// The number of the entity that declares each persistent property, from property number 1.
    func declarers(upTo bound: UInt32) -> [UInt32] {
        var declarers = [UInt32](repeating: 0, count: Int(bound) - 1)
        for entity in numbered where !entity.isRemoved {
            for property in entity.properties.values {
                declarers[Int(property.rawValue) - 1] = entity.number.rawValue
            }
        }
        return declarers
    }

    /// The uniqueness constraints, with the numbers of their index records.
    private func constraints(
        of description: EntityDescription
    ) -> [(PropertyNumber, names: [String])] {
        description.lineage(entitiesByName).reversed().flatMap { ancestor in
            let numbers = entityNumbers[ancestor.name].map {
                numbered[Int($0.rawValue) - 1].constraints
            }
            return ancestor.uniquenessConstraints.map { names in
                (PropertyNumber(rawValue: numbers?[names] ?? 0), names)
            }
        }
    }

    /// The indexes over several properties, with the numbers of their records.
    private func indexes(
        of description: EntityDescription
    ) -> [(PropertyNumber, IndexDescription)] {
        description.lineage(entitiesByName).reversed().flatMap { ancestor in
            let numbers = entityNumbers[ancestor.name].map {
                numbered[Int($0.rawValue) - 1].indexes
            }
            return ancestor.indexes.map { index in
                (PropertyNumber(rawValue: numbers?[index] ?? 0), index)
            }
        }
    }

    /// The entity and all that inherit from it, in the order of their numbers.
    func family(of name: String) -> [EntityNumber] {
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
