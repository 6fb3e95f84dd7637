/// The entities of a store: their attributes and relationships.
///
/// A model is a value. Using it (opening a store with it) compiles a copy, so changing
/// a model afterwards changes nothing that is in use.
public struct ManagedObjectModel: Sendable, Hashable {
    /// The entities, in any order; the order has no meaning.
    public var entities: [EntityDescription]
    /// Names of entities by the name of a configuration. A store that is added to a coordinator under
    /// a configuration holds objects of just these entities; each sub-entity is named by itself.
    public var configurations: [String: [String]]

    /// Makes a model of entities. It is checked when it is compiled or used.
    public init(
        entities: [EntityDescription] = [], configurations: [String: [String]] = [:]
    ) {
        self.entities = entities
        self.configurations = configurations
    }

    /// The entities of a configuration; nil when there is none of that name.
    public func entities(forConfigurationName name: String) -> [EntityDescription]? {
        configurations[name].map { names in entities.filter { names.contains($0.name) } }
    }

    /// The entities by their names.
    public var entitiesByName: [String: EntityDescription] {
        Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The same model with entities and properties in the order of their names, default values and
    /// rules in the form in which values are kept.
    package var canonical: ManagedObjectModel {
        var copy = self
        copy.entities.sort { $0.name < $1.name }
        copy.configurations = configurations.mapValues { Set($0).sorted() }
        for index in copy.entities.indices {
            copy.entities[index].attributes.sort { $0.name < $1.name }
            copy.entities[index].relationships.sort { $0.name < $1.name }
            copy.entities[index].uniquenessConstraints = Set(
                copy.entities[index].uniquenessConstraints.map { $0.sorted() }
            ).sorted { $0.lexicographicallyPrecedes($1) }
            for place in copy.entities[index].attributes.indices {
                let value = copy.entities[index].attributes[place].defaultValue
                copy.entities[index].attributes[place].defaultValue = value.normalized
                let rules = copy.entities[index].attributes[place].rules
                copy.entities[index].attributes[place].rules = rules.normalized
            }
        }
        return copy
    }

    /// The same model without transient attributes: what a store keeps of it.
    package var persistent: ManagedObjectModel {
        var copy = self
        for index in copy.entities.indices {
            copy.entities[index].attributes.removeAll(where: \.isTransient)
        }
        return copy
    }
}

/// Everything that is wrong with a model.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for each mistake: the place, what is wrong, and what would be right.
    public let problems: [String]

    /// Collects mistakes.
    package init(_ problems: [String]) {
        self.problems = problems
    }

    /// All mistakes in one line.
    public var description: String {
        problems.joined(separator: " ")
    }
}
