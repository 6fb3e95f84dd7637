// The room of models: what a program, a model file or Xcode's editor declares, by names, and what is refused of it.
// It knows no numbers, and nothing of how a row is laid out.

/// The entities of a store: their attributes and relationships.
///
/// A model is a value. Using it (opening a store with it) compiles a copy, so later changes of a
/// model do not affect its use.
public struct ManagedObjectModel: Sendable, Hashable {
    /// The entities, in any order; the order has no meaning.
    public var entities: [EntityDescription]
    /// Names of entities by the name of a configuration. A store that is added to a coordinator under
    /// a configuration holds objects of just these entities; each subentity is named by itself.
    public var configurations: [String: [String]]
    /// What every entry that changes objects must say: who saves, why, or information by a key. A save
    /// that does not is refused.
    public var requires: Set<AttributionRequirement>
    /// What the store finds entries by without reading all others: their author, or information by a key. A save that
    /// says it takes a little longer.
    public var indexesEntries: Set<IndexedAttribution>

    /// Makes a model from entities. It is checked when it is compiled or used.
    public init(
        entities: [EntityDescription] = [], configurations: [String: [String]] = [:],
        requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = []
    ) {
        self.entities = entities
        self.configurations = configurations
        self.requires = requires
        self.indexesEntries = indexesEntries
    }

    /// The entities of a configuration; nil when no configuration has that name.
    public func entities(forConfigurationName name: String) -> [EntityDescription]? {
        configurations[name].map { names in entities.filter { names.contains($0.name) } }
    }

    /// The entities by their names.
    public var entitiesByName: [String: EntityDescription] {
        Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The same model with entities and properties in the order of their names, and with normalized
    /// default values and rules.
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
            copy.entities[index].laws.sort { ($0.name, $0.rule) < ($1.name, $1.rule) }
            copy.entities[index].indexes = Set(copy.entities[index].indexes)
                .sorted { $0.precedes($1) }
            for number in copy.entities[index].attributes.indices {
                let value = copy.entities[index].attributes[number].defaultValue
                copy.entities[index].attributes[number].defaultValue = value.normalized
                let rules = copy.entities[index].attributes[number].rules
                copy.entities[index].attributes[number].rules = rules.normalized
            }
        }
        return copy
    }

    /// The same model without transient attributes, as a store keeps it.
    package var persistent: ManagedObjectModel {
        var copy = self
        for index in copy.entities.indices {
            copy.entities[index].attributes.removeAll(where: \.isTransient)
        }
        return copy
    }
}

/// All mistakes of a model.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for each mistake, with its location and the remedy.
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
