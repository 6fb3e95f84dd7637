package import DaybookObjectModel

/// A model by identities of its own: what a thing is called and where it is kept play no part.
package struct PlannedModel: Sendable {
    /// An entity.
    package struct Entity: Sendable {
        package var name: String
        package var parent: Int?
        package var isAbstract = false
        /// The attributes that are unique together, by the identity of the constraint.
        package var constraints: [Int: [Int]] = [:]
        package var note = 0
    }

    /// Where the values of a derived attribute come from, in the entity that declares it.
    package enum Source: Sendable, Hashable {
        case lowercase(Int), uppercase(Int)
        case count(Int)
    }

    /// An attribute.
    package struct Attribute: Sendable {
        package var owner: Int
        package var name: String
        package var type: AttributeType
        /// How many times its values were converted.
        package var generation = 0
        package var isOptional = true
        package var isIndexed = false
        package var isUnique = false
        package var isConfidential = false
        package var defaultValue = Value.null
        package var minimum: Int64?
        package var note = 0
        package var merge: MergeStrategy?
        /// What it is derived from; nil when it is set.
        package var source: Source?
        /// Whether another entity has declared it before.
        package var hasMoved = false
    }

    /// One end of a relationship.
    package struct Relationship: Sendable {
        package let owner: Int
        package var name: String
        package var destination: Int
        package var inverse: Int?
        package var isToMany: Bool
        package var isOrdered: Bool
        package var deleteRule = DeleteRule.nullify
        /// How many objects there may be; 0 for any number.
        package var maximum = 0
        /// How many times its objects were brought over to be kept in another way.
        package var generation = 0
    }

    package var entities: [Int: Entity] = [:]
    package var attributes: [Int: Attribute] = [:]
    package var relationships: [Int: Relationship] = [:]
    /// How many custom stages have led here.
    package var stages = 0

    // MARK: - Inheritance

    /// The entity and those above it, nearest first.
    package func lineage(of entity: Int) -> [Int] {
        var line = [entity]
        while let parent = entities[line[line.count - 1]]?.parent { line.append(parent) }
        return line
    }

    /// The entity and those below it.
    package func family(of entity: Int) -> [Int] {
        entities.keys.filter { lineage(of: $0).contains(entity) }.sorted()
    }

    /// The attributes of an entity, inherited ones included.
    package func attributes(of entity: Int) -> [Int] {
        let line = lineage(of: entity)
        return attributes.filter { line.contains($0.value.owner) }.map(\.key).sorted()
    }

    /// The relationships of an entity, inherited ones included.
    package func relationships(of entity: Int) -> [Int] {
        let line = lineage(of: entity)
        return relationships.filter { line.contains($0.value.owner) }.map(\.key).sorted()
    }

    /// The constraints of an entity, inherited ones included.
    package func constraints(of entity: Int) -> [[Int]] {
        lineage(of: entity).flatMap { entities[$0]?.constraints.values.map(\.self) ?? [] }
    }

    /// The end by which the links of a relationship are kept here.
    package func mainEnd(of relationship: Int) -> Int {
        min(relationship, relationships[relationship]?.inverse ?? relationship)
    }

    /// The derived attributes that come from an attribute or a relationship.
    package func dependents(of id: Int) -> [Int] {
        attributes.filter { $0.value.source?.identity == id }.keys.sorted()
    }

    /// Whether an attribute is one of those that are unique together.
    package func isConstrained(_ id: Int) -> Bool {
        entities.values.contains { $0.constraints.values.contains { $0.contains(id) } }
    }

    /// All names in use.
    package var names: Set<String> {
        Set(
            entities.values.map(\.name) + attributes.values.map(\.name)
                + relationships.values.map(\.name))
    }

    // MARK: - As a model

    /// The model, with renaming identifiers for what an earlier one calls by other names.
    package func model(after old: PlannedModel? = nil) -> ManagedObjectModel {
        func earlier(_ name: String, _ before: String?) -> String? { before == name ? nil : before }
        return ManagedObjectModel(
            entities: entities.sorted { $0.key < $1.key }.map { id, entity in
                EntityDescription(
                    name: entity.name,
                    superentityName: entity.parent.flatMap { entities[$0]?.name },
                    isAbstract: entity.isAbstract,
                    attributes: attributes.filter { $0.value.owner == id }.map { key, attribute in
                        var description = attribute.description
                        description.derivation = attribute.source.flatMap { derivation($0) }
                        if let source = attribute.source.flatMap({ attributes[$0.identity] }) {
                            description.isConfidential =
                                attribute.isConfidential || source.isConfidential
                        }
                        description.renamingIdentifier = earlier(
                            attribute.name, old?.attributes[key]?.name)
                        return description
                    },
                    relationships: relationships.filter { $0.value.owner == id }.map { key, end in
                        RelationshipDescription(
                            name: end.name,
                            destinationName: entities[end.destination]?.name ?? "",
                            inverseName: end.inverse.flatMap { relationships[$0]?.name },
                            isToMany: end.isToMany, isOrdered: end.isOrdered,
                            deleteRule: end.deleteRule, maximumCount: end.maximum,
                            renamingIdentifier: earlier(end.name, old?.relationships[key]?.name))
                    },
                    uniquenessConstraints: entity.constraints.values.map { ids in
                        ids.compactMap { attributes[$0]?.name }
                    }, indexes: indexes(of: id),
                    renamingIdentifier: earlier(entity.name, old?.entities[id]?.name),
                    userInfo: entity.note == 0 ? [:] : ["note": "\(entity.note)"],
                    indexesChanges: !entity.note.isMultiple(of: 2))
            })
    }

    /// Several indexed attributes of one entity also have an index together.
    private func indexes(of entity: Int) -> [IndexDescription] {
        let indexed = attributes.filter { $0.value.owner == entity && $0.value.isIndexed }
            .sorted { $0.key < $1.key }
        if indexed.count < 2 { return [] }
        return [
            IndexDescription(
                indexed.map { id, attribute in
                    IndexDescription.Element(attribute.name, isAscending: id % 3 > 0)
                })
        ]
    }

    private func derivation(_ source: Source) -> Derivation? {
        switch source {
        case .lowercase(let id): attributes[id].map { .text(.lowercase, attribute: $0.name) }
        case .uppercase(let id): attributes[id].map { .text(.uppercase, attribute: $0.name) }
        case .count(let id): relationships[id].map { .count(relationship: $0.name) }
        }
    }

    // MARK: - Old programs

    /// Whether a program with this model can go on writing to a store that has a later one.
    package func isCompatible(with later: PlannedModel) -> Bool {
        guard stages == later.stages else { return false }
        for (id, entity) in entities {
            guard let after = later.entities[id], after.parent == entity.parent,
                after.isAbstract == entity.isAbstract,
                after.constraints.keys.allSatisfy({ entity.constraints[$0] != nil })
            else { return false }
        }
        for (id, entity) in later.entities where entities[id] == nil {
            if let parent = entity.parent, entities[parent] != nil { return false }
        }
        for (id, attribute) in attributes {
            guard let after = later.attributes[id], after.generation == attribute.generation,
                after.owner == attribute.owner, after.merge == attribute.merge,
                after.type == attribute.type, after.isOptional || !attribute.isOptional,
                !after.isUnique || attribute.isUnique,
                after.minimum ?? .min <= attribute.minimum ?? .min
            else { return false }
        }
        for (id, attribute) in later.attributes where attributes[id] == nil {
            // What is new in a new entity concerns nobody.
            if entities[attribute.owner] == nil { continue }
            if attribute.isUnique { return false }
            if !attribute.isOptional, attribute.defaultValue.isNull { return false }
        }
        for (id, end) in relationships {
            guard let after = later.relationships[id], after.deleteRule == end.deleteRule,
                after.generation == end.generation, after.destination == end.destination,
                after.maximum == 0 || end.maximum != 0 && after.maximum >= end.maximum
            else { return false }
            // An inverse that allows one owner only is one that others must know of.
            if end.inverse == nil, let inverse = after.inverse,
                later.relationships[inverse]?.isToMany == false
            {
                return false
            }
        }
        return true
    }
}

extension PlannedModel.Source {
    /// The attribute or the relationship.
    package var identity: Int {
        switch self {
        case .lowercase(let id), .uppercase(let id), .count(let id): id
        }
    }
}

extension PlannedModel.Attribute {
    fileprivate var description: AttributeDescription {
        AttributeDescription(
            name: name, type: type, isOptional: isOptional, isIndexed: isIndexed,
            isUnique: isUnique, isConfidential: isConfidential, defaultValue: defaultValue,
            rules: AttributeRules(minimum: minimum.map { .int($0) } ?? .null), merge: merge,
            userInfo: note == 0 ? [:] : ["note": "\(note)"])
    }

    /// Whether the model allows a value, looked at by itself.
    package func allows(_ value: Value) -> Bool {
        switch (type, value) {
        case (_, .null): return isOptional
        case (.int16, .int(let number)):
            return Int16(exactly: number) != nil && number >= minimum ?? .min
        case (.int32, .int(let number)):
            return Int32(exactly: number) != nil && number >= minimum ?? .min
        case (.int64, .int(let number)): return number >= minimum ?? .min
        default: return true
        }
    }
}

extension AttributeType {
    /// Whether values are of the same kind, so that nothing has to be converted.
    package func isLike(_ other: AttributeType) -> Bool {
        let kinds: [[AttributeType]] = [
            [.int16, .int32, .int64], [.float, .double], [.string, .url], [.data, .codable],
        ]
        return self == other || kinds.contains { $0.contains(self) && $0.contains(other) }
    }
}
