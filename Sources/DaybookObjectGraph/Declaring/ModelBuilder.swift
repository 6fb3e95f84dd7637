import DaybookObjectModel

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
                isAbstract: type.isAbstractEntity, uniquenessConstraints: ownConstraints(of: type),
                indexes: ownIndexes(of: type), renamingIdentifier: ownRenamingIdentifier(of: type),
                versionHashModifier: type.versionHashModifier, userInfo: type.userInfo,
                laws: ownLaws(of: type).compactMap { law in
                    prototypes[type.entityName].flatMap { law.description(on: $0) }
                },
                indexesChanges: type.indexesChanges
                    && superentity(of: type)?.indexesChanges != true)
        }
        for index in entities.indices {
            for definition in definitions[entities[index].name] ?? [] {
                switch definition.kind {
                case .attribute(var attribute):
                    attribute.name = definition.name
                    attribute.renamingIdentifier =
                        definition.earlierName ?? attribute.renamingIdentifier
                    attribute.defaultValue = modelDefault(of: definition, attribute)
                    entities[index].attributes.append(attribute)
                case .relationship(var relationship, let destination):
                    relationship.name = definition.name
                    relationship.destinationName = destination.entityName
                    relationship.inverseName = inverseName(of: definition, entities[index].name)
                    entities[index].relationships.append(relationship)
                case .composite: break  // Its elements are among the definitions.
                }
            }
        }
        return ManagedObjectModel(entities: entities)
    }

    /// Mistakes in what the classes declare that no model can show, a sentence for each.
    var problems: [String] {
        nameProblems
            + types.flatMap { type in
                let name = type.entityName
                let own = definitions[name] ?? []
                return own.compactMap { problem(of: $0, in: name) } + abstractionProblems(of: type)
                    + lawProblems(of: type)
            }
    }

    /// Mistakes in what classes call themselves.
    private var nameProblems: [String] {
        let generic = types.filter { $0.entityName.contains("<") }.map { type in
            "'\(type.entityName)' is a generic class, whose name no entity can have. Leave it out of the "
                + "model, and its subclasses have its properties; or override 'entityName' with "
                + "'self == \(type).self ? \"…\" : super.entityName'."
        }
        let inherited = types.compactMap { type -> String? in
            guard
                let other = types.first(where: {
                    $0 != type && $0.entityName == type.entityName && isSubclass(type, of: $0)
                })
            else { return nil }
            return "'\(type)' inherits the name of the entity '\(type.entityName)'. Override "
                + "'entityName' in both, or let '\(other)' return 'self == \(other).self ? "
                + "\"\(type.entityName)\" : super.entityName'."
        }
        return generic + inherited
    }

    private func isSubclass(_ type: ManagedObject.Type, of other: ManagedObject.Type) -> Bool {
        sequence(first: Mirror(reflecting: Self.makePrototype(of: type)), next: \.superclassMirror)
            .contains { $0.subjectType == other }
    }

    private func problem(of definition: PropertyDefinition, in entityName: String) -> String? {
        let path = "'\(entityName).\(definition.name)'"
        switch definition.kind {
        case .composite(let form, _, let gathered):
            let paths = form.leaves.map(\.path)
            let unknown = gathered.keys.filter { !paths.contains($0) }.sorted().map {
                "\(path) gathers '\($0)', which is not an element."
            }
            let problems = form.problems + unknown
            return problems.isEmpty ? nil : problems.joined(separator: " ")
        case .attribute(let attribute):
            if let expression = definition.unknownDerivation {
                return
                    "\(path) is derived from '\(expression)', which is not an expression. There are "
                    + "'employees.@count', 'employees.salary.@sum', '@min' and '@max', "
                    + "'canonical:(name)', 'lowercase:(name)' and 'uppercase:(name)'."
            }
            guard let form = definition.form, case .none = form.initial, !attribute.isOptional,
                !attribute.isTransient, !attribute.isUnique, !definition.isRequired
            else { return nil }
            return "\(path) is mandatory and has no default value, so that an object which is not "
                + "given one cannot be saved. Give it a default value, make it optional, or say "
                + "'@Attribute(.required)'."
        case .relationship(_, let destination):
            guard let inverse = definition.inverse else { return nil }
            if case .itself = inverse {
                guard destination.entityName != entityName else { return nil }
                return "\(path) says that it is its own inverse, and leads to "
                    + "'\(destination.entityName)'. Name the relationship of "
                    + "'\(destination.entityName)' that leads back."
            }
            guard name(of: inverse, in: definition, on: destination) == nil else { return nil }
            return
                "The inverse of \(path) is not a relationship of '\(destination.entityName)': the key "
                + "path leads to a computed property, or further than one."
        }
    }

    /// An abstract class without subclasses has inherited `isAbstractEntity` from one that has some.
    private func abstractionProblems(of type: ManagedObject.Type) -> [String] {
        guard type.isAbstractEntity, !types.contains(where: { superentity(of: $0) == type }) else {
            return []
        }
        let declaring = "\(superentity(of: type) ?? type)"
        return [
            "'\(type.entityName)' is abstract and no class of the model inherits from it, so that it "
                + "can have no objects. Subclasses inherit 'isAbstractEntity': where it is meant for "
                + "one class only, return 'self == \(declaring).self'."
        ]
    }

    /// The default value that the model records: one that all new objects have.
    private func modelDefault(
        of definition: PropertyDefinition, _ attribute: AttributeDescription
    ) -> Value {
        guard let initial = definition.form?.initial else { return .null }
        // A date or an identifier that is the same in every trial may differ tomorrow. A default that
        // only one object could have is a mistake all the same.
        if case .expression = initial, !attribute.isUnique,
            attribute.type == .date || attribute.type == .uuid
        {
            return .null
        }
        return initial.constant ?? .null
    }

    /// Makes an object whose wrappers have declarations, with their names.
    static func makePrototype(of type: ManagedObject.Type) -> ManagedObject {
        let definitions = DefinitionList()
        let seed = FaultSeed(
            binding: EntityBinding(prototypeOf: type, definitions),
            graphID: GraphID(
                store: 0, object: ObjectID(entity: EntityNumber(rawValue: 0), number: 0)))
        let prototype = Prototyping.whileActive(in: definitions) { type.init(seed) }
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

    /// The laws of a class without those it only inherits.
    private func ownLaws(of type: ManagedObject.Type) -> [Law] {
        guard let prototype = prototypes[type.entityName] else { return type.laws }
        let above = superentity(of: type)?.laws ?? []
        let inherited = Set(above.map { $0.description(on: prototype) })
        return type.laws.filter { !inherited.contains($0.description(on: prototype)) }
    }

    private func lawProblems(of type: ManagedObject.Type) -> [String] {
        guard let prototype = prototypes[type.entityName] else { return [] }
        return ownLaws(of: type).filter { $0.description(on: prototype) == nil }.map { law in
            "The law \(ReadableText.quoted(law.name)) of '\(type.entityName)' is about no property: its key path "
                + "leads to a computed property, or further than one."
        }
    }

    /// The indexes of a class without those it only inherits.
    private func ownIndexes(of type: ManagedObject.Type) -> [IndexDescription] {
        let inherited = superentity(of: type)?.indexes ?? []
        return type.indexes.filter { !inherited.contains($0) }
    }

    /// The name that an entity had before, unless its class only inherits what another entity says.
    private func ownRenamingIdentifier(of type: ManagedObject.Type) -> String? {
        let inherited = superentity(of: type)?.renamingIdentifier
        return type.renamingIdentifier == inherited ? nil : type.renamingIdentifier
    }

    private func superentity(of type: ManagedObject.Type) -> (ManagedObject.Type)? {
        var mirror = prototypes[type.entityName].map { Mirror(reflecting: $0) }?.superclassMirror
        while let current = mirror {
            if let match = types.first(where: { $0 == current.subjectType }) { return match }
            mirror = current.superclassMirror
        }
        return nil
    }

    /// The definitions of a class and of its superclasses that are not entities themselves.
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
                    found += definition.elements
                }
            }
            mirror = current.superclassMirror
        }
        return found
    }

    /// The inverse a declaration names, or the declaration at the other end that names this one.
    private func inverseName(of definition: PropertyDefinition, _ entityName: String) -> String? {
        guard case .relationship(_, let destination) = definition.kind else { return nil }
        if let inverse = definition.inverse {
            return name(of: inverse, in: definition, on: destination)
        }
        for other in definitions[destination.entityName] ?? [] {
            guard case .relationship(_, let back) = other.kind, back.entityName == entityName,
                let inverse = other.inverse
            else { continue }
            if name(of: inverse, in: other, on: back) == definition.name { return other.name }
        }
        return nil
    }

    private func name(
        of inverse: PropertyDefinition.Inverse, in definition: PropertyDefinition,
        on type: ManagedObject.Type
    ) -> String? {
        switch inverse {
        case .itself: return definition.name
        case .name(let name): return name
        case .keyPath(let keyPath):
            let prototype = prototypes[type.entityName] ?? Self.makePrototype(of: type)
            guard case .properties(let names) = KeyPathProbe.meaning(of: keyPath, on: prototype),
                names.count == 1
            else { return nil }
            return names[0]
        }
    }
}
