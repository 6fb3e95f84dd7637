/// The entities of a store: their attributes and relationships.
///
/// A model is a value. Using it (opening a store with it) compiles a copy, so changing
/// a model afterwards changes nothing that is in use.
public struct ManagedObjectModel: Sendable, Hashable {
    /// The entities, in any order; the order has no meaning.
    public var entities: [EntityDescription]

    /// Makes a model of entities. It is checked when it is compiled or used.
    public init(entities: [EntityDescription] = []) {
        self.entities = entities
    }

    /// The entities by their names.
    public var entitiesByName: [String: EntityDescription] {
        Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The same model with entities and properties in the order of their names, and default values
    /// in the form in which values are kept.
    package var canonical: ManagedObjectModel {
        var copy = self
        copy.entities.sort { $0.name < $1.name }
        for index in copy.entities.indices {
            copy.entities[index].attributes.sort { $0.name < $1.name }
            copy.entities[index].relationships.sort { $0.name < $1.name }
            copy.entities[index].uniquenessConstraints = Set(
                copy.entities[index].uniquenessConstraints.map { $0.sorted() }
            ).sorted { $0.lexicographicallyPrecedes($1) }
            for place in copy.entities[index].attributes.indices {
                let value = copy.entities[index].attributes[place].defaultValue
                copy.entities[index].attributes[place].defaultValue = value.normalized
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
