/// The names under which an earlier version has what a model has under others.
package struct ModelMatching: Sendable, Hashable {
    /// The earlier name of an entity by its name now.
    package var entities: [String: String] = [:]
    /// The earlier names of properties by their names now, by the name now of the declaring entity.
    package var properties: [String: [String: String]] = [:]

    /// Names nothing: everything is called as it was.
    package init() {}

    /// What a model says by its renaming identifiers.
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

    /// These names, and another's where they differ.
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
