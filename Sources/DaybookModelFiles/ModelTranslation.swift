import DaybookObjectModel

/// Translates a model of Xcode to one of Daybook.
///
/// What Daybook does not support goes to the remarks, and what no model can have goes to the
/// problems, all of them.
struct ModelTranslation {
    private let source: XcodeModel
    private var entities: [EntityDescription] = []
    private var places: [String: Int] = [:]
    private var remarks: [String]
    private var problems: [String] = []
    private var composites: XcodeComposites

    /// Translates a model.
    ///
    /// - Throws: ``ModelFileError`` with a sentence for each reason why Daybook cannot have it.
    static func reading(of source: XcodeModel) throws(ModelFileError) -> ModelReading {
        var translation = ModelTranslation(source)
        translation.translate()
        guard translation.problems.isEmpty else { throw ModelFileError(translation.problems) }
        let model = ManagedObjectModel(
            entities: translation.entities,
            configurations: Dictionary(
                source.configurations.map { ($0.name, $0.entityNames) },
                uniquingKeysWith: { first, _ in first }))
        do {
            try model.validate()
        } catch {
            throw ModelFileError(error.problems)
        }
        return ModelReading(
            model: model,
            classNames: Dictionary(
                source.entities.compactMap { entity in entity.className.map { (entity.name, $0) } },
                uniquingKeysWith: { first, _ in first }),
            compositeNames: translation.composites.kinds,
            remarks: translation.remarks)
    }

    private init(_ source: XcodeModel) {
        self.source = source
        remarks = source.remarks
        composites = XcodeComposites(source.composites)
    }

    private mutating func translate() {
        for entity in source.entities {
            checkName(entity.name, of: "The entity '\(entity.name)'")
            places[entity.name] = entities.count
            entities.append(
                EntityDescription(
                    name: entity.name, superentityName: entity.superentityName,
                    isAbstract: entity.isAbstract,
                    attributes: entity.attributes.flatMap { attributes($0, of: entity) },
                    relationships: entity.relationships.map { relationship($0, of: entity) },
                    renamingIdentifier: entity.history.renamingIdentifier(of: entity.name),
                    versionHashModifier: entity.history.versionHashModifier,
                    userInfo: entity.history.userInfo))
        }
        dropUnfitDerivations()
        // Constraints and indexes may name what an entity inherits, so all entities come first, and none may name
        // what is left out.
        for entity in source.entities {
            for names in entity.uniquenessConstraints { constrain(entity.name, names) }
            for index in entity.indexes { self.index(entity.name, index) }
        }
        dropDefaultsOfUniqueAttributes()
        unorderSecondSides()
    }

    private mutating func checkName(_ name: String, of subject: String) {
        if let problem = XcodeModel.problem(ofName: name, of: subject) { problems.append(problem) }
    }

    // MARK: - Attributes

    private mutating func attributes(
        _ source: XcodeAttribute, of entity: XcodeEntity
    ) -> [AttributeDescription] {
        let expansion = composites.expand(source, of: entity.name)
        remarks += expansion.remarks
        problems += expansion.problems
        return expansion.elements.compactMap { attribute($0, of: entity) }
    }

    private mutating func attribute(
        _ element: XcodeComposites.Element, of entity: XcodeEntity
    ) -> AttributeDescription? {
        let source = element.attribute
        let subject = "'\(entity.name).\(element.path)'"
        guard let type = type(of: source, subject) else { return nil }
        checkName(source.name, of: subject)
        if source.keepsDataOutside {
            remarks.append(
                "\(subject) may be kept in a file beside the store; here its data is kept in the store."
            )
        }
        var attribute = AttributeDescription(
            name: element.path, type: type, isOptional: source.isOptional,
            isTransient: source.isTransient, isIndexed: source.isIndexed && !source.isTransient,
            derivation: source.derivation.flatMap { Derivation($0) },
            renamingIdentifier: source.history.renamingIdentifier(of: element.path),
            versionHashModifier: source.history.versionHashModifier,
            userInfo: source.history.userInfo)
        attribute.defaultValue = value(source.defaultValue, type, "default value", subject)
        if attribute.derivation == nil {
            attribute.rules = rules(of: source, type, subject)
        } else if attribute.defaultValue.isNull {
            // A new object has nothing until it is saved.
            attribute.isOptional = true
        }
        return attribute
    }

    /// Leaves out derived attributes that a store cannot compute.
    private mutating func dropUnfitDerivations() {
        let byName = ManagedObjectModel(entities: entities).entitiesByName
        for place in entities.indices {
            let entity = entities[place]
            entities[place].attributes.removeAll { attribute in
                let found = attribute.derivationProblems(in: entity, byName)
                remarks += found.map { "\($0) It is left out; compute it in the class." }
                return !found.isEmpty
            }
        }
    }

    /// The type in a store; nil for an attribute that is left out.
    private mutating func type(
        of source: XcodeAttribute, _ subject: String
    ) -> AttributeType? {
        if let derivation = source.derivation, Derivation(derivation) == nil {
            let origin = derivation.isEmpty ? "" : " from '\(derivation)'"
            remarks.append(
                "\(subject) is derived\(origin) and is left out: a model has no such "
                    + "expression. Compute it in the class.")
            return nil
        }
        switch source.type {
        case .plain(let type): return type
        case .transformable:
            let how = [
                source.transformerName.map { "transformer '\($0)'" },
                source.className.map { "class '\($0)'" },
            ].compactMap(\.self).joined(separator: ", ")
            remarks.append(
                "\(subject) is transformable\(how.isEmpty ? "" : " (\(how))"); here it is data, the "
                    + "bytes that the transformer makes. For new values a 'Codable' type is simpler."
            )
            return .data
        case .composite: break  // Its elements are attributes.
        case .unstored:
            remarks.append(
                "\(subject) has no type that could be stored and is left out. Use a property of the "
                    + "class.")
        case .unknown(let name):
            problems.append("\(subject) is of type '\(name)', which is not known here.")
        }
        return nil
    }

    private mutating func rules(
        of source: XcodeAttribute, _ type: AttributeType, _ subject: String
    ) -> AttributeRules {
        var rules = AttributeRules(pattern: source.pattern)
        if type == .string || type == .data {
            rules.minimumLength = length(source.minimum, "minimum", subject)
            rules.maximumLength = length(source.maximum, "maximum", subject)
        } else {
            rules.minimum = value(source.minimum, type, "minimum", subject)
            rules.maximum = value(source.maximum, type, "maximum", subject)
        }
        return rules
    }

    private mutating func length(
        _ source: XcodeValue?, _ what: String, _ subject: String
    ) -> Int {
        let limit = value(source, .int64, "\(what) length", subject)
        if case .int(let count) = limit, let length = Int(exactly: count), length >= 0 {
            return length
        }
        if !limit.isNull {
            problems.append("The \(what) length of \(subject) is not a number of characters.")
        }
        return 0
    }

    private mutating func value(
        _ source: XcodeValue?, _ type: AttributeType, _ what: String, _ subject: String
    ) -> Value {
        guard let source, !source.isNothing(for: type) else { return .null }
        guard let value = source.value(of: type) else {
            problems.append("The \(what) of \(subject) is not \(type.noun): '\(source.shown)'.")
            return .null
        }
        return value
    }

    // MARK: - Relationships

    private mutating func relationship(
        _ source: XcodeRelationship, of entity: XcodeEntity
    ) -> RelationshipDescription {
        let subject = "'\(entity.name).\(source.name)'"
        checkName(source.name, of: subject)
        if source.isTransient {
            remarks.append(
                "\(subject) is a transient relationship; here it is stored, like every relationship."
            )
        }
        // Xcode writes a count of one for every to-one relationship.
        return RelationshipDescription(
            name: source.name, destinationName: source.destinationName,
            inverseName: source.inverseName, isToMany: source.isToMany,
            isOrdered: source.isOrdered && source.isToMany, isOptional: source.isOptional,
            deleteRule: source.deleteRule,
            minimumCount: source.isToMany ? source.minimumCount : 0,
            maximumCount: source.isToMany ? source.maximumCount : 0,
            renamingIdentifier: source.history.renamingIdentifier(of: source.name),
            versionHashModifier: source.history.versionHashModifier,
            userInfo: source.history.userInfo)
    }

    /// A relationship that is ordered at both ends loses the order at the second one.
    private mutating func unorderSecondSides() {
        for (place, entity) in entities.enumerated() {
            for (number, relationship) in entity.relationships.enumerated()
            where entities[place].relationships[number].isOrdered {
                guard let inverseName = relationship.inverseName,
                    let other = places[relationship.destinationName],
                    let inverse = entities[other].relationships.firstIndex(where: {
                        $0.name == inverseName
                    }), entities[other].relationships[inverse].isOrdered
                else { continue }
                entities[other].relationships[inverse].isOrdered = false
                let end = "'\(relationship.destinationName).\(inverseName)'"
                remarks.append(
                    "'\(entity.name).\(relationship.name)' and its inverse \(end) are both ordered; here "
                        + "only one end can be, and \(end) is not.")
            }
        }
    }

    // MARK: - Constraints and indexes

    private mutating func constrain(_ entityName: String, _ names: [String]) {
        guard let place = places[entityName] else { return }
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        for name in names {
            guard case .attribute(let owner, let number)? = property(name, of: place),
                !entities[owner].attributes[number].isTransient,
                entities[owner].attributes[number].derivation == nil
            else {
                remarks.append(
                    "The uniqueness constraint on \(list) of '\(entityName)' is left out: '\(name)' is not "
                        + "an attribute that is stored here.")
                return
            }
        }
        if names.count == 1, case .attribute(place, let number)? = property(names[0], of: place) {
            entities[place].attributes[number].isUnique = true
        } else if !names.isEmpty, !entities[place].uniquenessConstraints.contains(names) {
            entities[place].uniquenessConstraints.append(names)
        }
    }

    private mutating func dropDefaultsOfUniqueAttributes() {
        for (place, entity) in entities.enumerated() {
            for (number, attribute) in entity.attributes.enumerated()
            where attribute.isUnique && !attribute.defaultValue.isNull {
                entities[place].attributes[number].defaultValue = .null
                remarks.append(
                    "'\(entity.name).\(attribute.name)' is unique and has a default value, which only one "
                        + "object could keep: the default value is left out.")
            }
        }
    }

    private mutating func index(_ entityName: String, _ index: XcodeIndex) {
        guard let place = places[entityName] else { return }
        let subject = "The index '\(index.name)' of '\(entityName)'"
        guard !index.isSpatial else {
            remarks.append("\(subject) is left out: it is spatial.")
            return
        }
        guard index.propertyNames.allSatisfy({ $0 != nil }) else {
            remarks.append(
                "\(subject) is left out: it is on an expression, and only attributes have indexes.")
            return
        }
        let names = index.propertyNames.compactMap(\.self)
        guard names.count == 1 else {
            if names.count > 1 { addIndex(names, index, to: place, subject) }
            return
        }
        switch property(names[0], of: place) {
        case .relationship: break  // A relationship has its index anyway.
        case .attribute(let owner, let number)
        where !entities[owner].attributes[number].isTransient:
            entities[owner].attributes[number].isIndexed = true
            if index.isPartial {
                remarks.append("\(subject) covers some objects only; here it covers all.")
            }
        default:
            remarks.append(
                "\(subject) is left out: '\(names[0])' is not an attribute that is stored here.")
        }
    }

    /// Takes over an index on several properties, if all of them can be in one.
    private mutating func addIndex(
        _ names: [String], _ source: XcodeIndex, to place: Int, _ subject: String
    ) {
        let index = IndexDescription(
            names.enumerated().map { number, name in
                IndexDescription.Element(name, isAscending: !source.descending.contains(number))
            })
        var trial = entities[place]
        trial.indexes = [index]
        let byName = Dictionary(
            entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let problems = trial.indexProblems(byName)
        guard problems.isEmpty else {
            remarks.append("\(subject) is left out. " + problems.joined(separator: " "))
            return
        }
        if !entities[place].indexes.contains(index) { entities[place].indexes.append(index) }
        if source.isPartial {
            remarks.append("\(subject) covers some objects only; here it covers all.")
        }
    }

    private enum Place {
        case attribute(entity: Int, Int)
        case relationship
    }

    /// A property that an entity has or inherits.
    private func property(_ name: String, of place: Int) -> Place? {
        var place = place
        // A model that goes round in circles or too deep is refused by its validation.
        for _ in 0...EntityDescription.levelsMaximum {
            if let number = entities[place].attributes.firstIndex(where: { $0.name == name }) {
                return .attribute(entity: place, number)
            }
            if entities[place].relationships.contains(where: { $0.name == name }) {
                return .relationship
            }
            guard let next = entities[place].superentityName.flatMap({ places[$0] }) else {
                return nil
            }
            place = next
        }
        return nil
    }
}
