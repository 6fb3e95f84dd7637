/// The earlier names of what a model calls by other names.
package struct ModelMatching: Sendable, Hashable {
    /// The earlier names of entities by their current names.
    package var entities: [String: String] = [:]
    /// The earlier names of properties by their current names, by the current name of the declaring
    /// entity.
    package var properties: [String: [String: String]] = [:]

    /// No names: nothing has been renamed.
    package init() {}

    /// The names that a model gives as renaming identifiers.
    ///
    /// An identifier that is the name itself says nothing.
    package init(renamingIdentifiersOf model: ManagedObjectModel) {
        for entity in model.entities {
            entities[entity.name] = entity.renamingIdentifier
            for attribute in entity.attributes {
                properties[entity.name, default: [:]][attribute.name] =
                    attribute.renamingIdentifier
            }
            for relationship in entity.relationships {
                properties[entity.name, default: [:]][relationship.name] =
                    relationship.renamingIdentifier
            }
        }
    }

    /// These names with another's, which win where both name the same thing.
    package func merging(_ other: ModelMatching) -> ModelMatching {
        var merged = self
        merged.entities.merge(other.entities) { _, theirs in theirs }
        for (entity, names) in other.properties {
            merged.properties[entity, default: [:]].merge(names) { _, theirs in theirs }
        }
        return merged
    }

    /// The earlier name of an entity, if it had another.
    func earlierName(of entity: String) -> String? { entities[entity] }

    /// The earlier name of a property, if it had another.
    func earlierName(of property: String, in entity: String) -> String? {
        properties[entity]?[property]
    }
}
