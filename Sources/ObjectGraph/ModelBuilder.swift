import ObjectModel

/// Reads a model off classes.
///
/// One prototype is made of each class; its property wrappers carry their declarations, and the
/// names come from reflection. Inverses are found by following their key paths on a prototype.
struct ModelBuilder {
    private let types: [ManagedObject.Type]
    private(set) var prototypes: [String: ManagedObject] = [:]
    private var definitions: [String: [PropertyDefinition]] = [:]

    init(_ types: [ManagedObject.Type]) {
        self.types = types
        for type in types {
            let prototype = Self.makePrototype(of: type)
            prototypes[type.entityName] = prototype
            definitions[type.entityName] = ownDefinitions(of: prototype)
        }
    }

    /// The model the classes declare.
    var model: ManagedObjectModel {
        var entities = types.map { type in
            EntityDescription(
                name: type.entityName, superentityName: superentity(of: type)?.entityName,
                isAbstract: type.isAbstractEntity, uniquenessConstraints: ownConstraints(of: type))
        }
        for index in entities.indices {
            for definition in definitions[entities[index].name] ?? [] {
                switch definition.kind {
                case .attribute(var attribute):
                    attribute.name = definition.name
                    entities[index].attributes.append(attribute)
                case .relationship(var relationship, let destination):
                    relationship.name = definition.name
                    relationship.destinationName = destination.entityName
                    relationship.inverseName = inverseName(of: definition, entities[index].name)
                    entities[index].relationships.append(relationship)
                }
            }
        }
        return ManagedObjectModel(entities: entities)
    }

    /// Makes an object whose wrappers have declarations, with their names.
    static func makePrototype(of type: ManagedObject.Type) -> ManagedObject {
        let seed = FaultSeed(
            binding: EntityBinding(prototypeOf: type),
            graphID: GraphID(
                store: 0, object: ObjectID(entity: EntityNumber(rawValue: 0), number: 0)))
        let prototype = Prototyping.whileActive(in: seed.binding.definitions) { type.init(seed) }
        var mirror: Mirror? = Mirror(reflecting: prototype)
        while let current = mirror {
            for child in current.children {
                guard let property = child.value as? any DeclaredProperty, let label = child.label
                else { continue }
                prototype.definition(property.ordinal)?.name = String(label.drop { $0 == "_" })
            }
            mirror = current.superclassMirror
        }
        return prototype
    }

    /// The constraints of a class without those it only inherits.
    private func ownConstraints(of type: ManagedObject.Type) -> [[String]] {
        let inherited = superentity(of: type)?.uniquenessConstraints ?? []
        return type.uniquenessConstraints.filter { !inherited.contains($0) }
    }

    private func superentity(of type: ManagedObject.Type) -> (ManagedObject.Type)? {
        var mirror = prototypes[type.entityName].map { Mirror(reflecting: $0) }?.superclassMirror
        while let current = mirror {
            if let match = types.first(where: { $0 == current.subjectType }) { return match }
            mirror = current.superclassMirror
        }
        return nil
    }

    /// The definitions of a class and of those superclasses that are no entities themselves.
    private func ownDefinitions(of prototype: ManagedObject) -> [PropertyDefinition] {
        var found: [PropertyDefinition] = []
        var mirror: Mirror? = Mirror(reflecting: prototype)
        let ownType = mirror?.subjectType
        while let current = mirror {
            let isOtherEntity =
                current.subjectType != ownType && types.contains { $0 == current.subjectType }
            if isOtherEntity { break }
            for child in current.children {
                if let property = child.value as? any DeclaredProperty,
                    let definition = prototype.definition(property.ordinal)
                {
                    found.append(definition)
                }
            }
            mirror = current.superclassMirror
        }
        return found
    }

    /// The inverse a declaration names, or the declaration at the other end that names this one.
    private func inverseName(of definition: PropertyDefinition, _ entityName: String) -> String? {
        guard case .relationship(_, let destination) = definition.kind else { return nil }
        if let keyPath = definition.inverse {
            return Self.name(of: keyPath, on: destination)
        }
        for other in definitions[destination.entityName] ?? [] {
            guard case .relationship(_, let back) = other.kind, back.entityName == entityName,
                let keyPath = other.inverse
            else { continue }
            if Self.name(of: keyPath, on: back) == definition.name { return other.name }
        }
        return nil
    }

    private static func name(
        of keyPath: AnyKeyPath, on type: ManagedObject.Type
    ) -> String? {
        let prototype = makePrototype(of: type)
        return KeyPathProbe.record { prototype[keyPath: keyPath] }.first
    }
}
