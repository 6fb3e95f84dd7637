import DaybookObjectModel
import Foundation

/// Reads a compiled model, a `.mom`: a keyed archive of Core Data's descriptions.
///
/// Descriptions refer to each other in circles (a property to its entity, an entity to its model).
/// Only references downwards are followed, from the model to entities to properties; ends of
/// relationships and superentities are known by their names.
struct CompiledModelReader {
    /// The first bytes of a file.
    static let mark = BinaryPropertyList.mark

    private let archive: KeyedArchive
    private var model = XcodeModel()

    /// The model of a file.
    ///
    /// - Throws: ``ModelFileError`` with the entity or property of the mistake.
    static func model(in data: Data) throws(ModelFileError) -> XcodeModel {
        var reader = CompiledModelReader(archive: try KeyedArchive(data))
        try reader.read()
        return reader.model
    }

    private init(archive: KeyedArchive) {
        self.archive = archive
    }

    private mutating func read() throws(ModelFileError) {
        let root = try archive.rootObject()
        guard root.className == "NSManagedObjectModel" else {
            throw ModelFileError(
                "It is an archive of '\(root.className)' and not of 'NSManagedObjectModel'.")
        }
        let entities = try archive.entries("NSEntities", of: root)
        guard entities.count <= Self.entitiesMaximum else {
            throw ModelFileError("It has more than \(Self.entitiesMaximum) entities.")
        }
        for (key, object) in entities {
            model.entities.append(try entity(object, key))
        }
        for (name, _) in try archive.entries("NSFetchRequestTemplates", of: root) {
            model.remarks.append(XcodeModel.remark(ofFetchRequest: name))
        }
        for (name, list) in try archive.entries("NSConfigurations", of: root) {
            var names: [String] = []
            for entity in try archive.elements(of: list) {
                if let name = try archive.text("NSEntityName", of: entity) { names.append(name) }
            }
            // A set has no order of its own.
            model.configurations.append(XcodeConfiguration(name: name, entityNames: names.sorted()))
        }
    }

    private static let entitiesMaximum = 10_000

    // MARK: - Entities

    private mutating func entity(
        _ object: KeyedArchive.Object, _ key: String
    ) throws(ModelFileError) -> XcodeEntity {
        do {
            try check(object, is: ["NSEntityDescription"])
            let name = try archive.text("NSEntityName", of: object) ?? key
            var entity = XcodeEntity(
                name: name,
                className: try archive.text("NSClassNameForEntity", of: object)?.plainClassName,
                isAbstract: try archive.truth("NSIsAbstract", of: object),
                history: try history(of: object))
            if let superentity = try archive.object("NSSuperentity", of: object) {
                entity.superentityName = try archive.text("NSEntityName", of: superentity)
            }
            for (key, property) in try archive.entries("NSProperties", of: object) {
                // A model that was archived in use repeats in each entity what it inherits.
                if let owner = try archive.object("NSEntity", of: property),
                    owner.number != object.number
                {
                    continue
                }
                try append(property, key, to: &entity)
            }
            try readIndexes(of: object, into: &entity)
            for tuple in try archive.elements("NSUniqueTuples", of: object) {
                entity.uniquenessConstraints.append(try names(in: tuple))
            }
            return entity
        } catch {
            throw ModelFileError(error.problems.map { "In the entity '\(key)': \($0)" })
        }
    }

    /// The properties that a list names, as texts or as the descriptions themselves.
    private func names(in list: KeyedArchive.Object) throws(ModelFileError) -> [String] {
        let texts = try archive.texts(of: list)
        if !texts.isEmpty { return texts }
        var names: [String] = []
        for property in try archive.elements(of: list) {
            if let name = try archive.text("NSPropertyName", of: property) { names.append(name) }
        }
        return names
    }

    private func readIndexes(
        of object: KeyedArchive.Object, into entity: inout XcodeEntity
    ) throws(ModelFileError) {
        for index in try archive.elements("NSFetchIndexDescriptions", of: object) {
            var found = XcodeIndex(
                name: try archive.text("NSIndexName", of: index) ?? "",
                isPartial: try archive.object("NSPartialIndexPredicate", of: index) != nil)
            for element in try archive.elements("NSIndexElements", of: index) {
                let isExpression = try archive.object("NSIndexedProperty", of: element) != nil
                found.propertyNames.append(
                    isExpression ? nil : try archive.text("NSPropertyName", of: element))
                if try archive.integer("NSFetchIndexElementType", of: element) == 1 {
                    found.isSpatial = true
                }
            }
            entity.indexes.append(found)
        }
        // The same indexes in the form for older systems, needed only if there is no other.
        guard entity.indexes.isEmpty else { return }
        for list in try archive.elements("NSCompoundIndexes", of: object) {
            let names = try names(in: list)
            entity.indexes.append(
                XcodeIndex(name: names.joined(separator: ", "), propertyNames: names))
        }
    }

    private func history(of object: KeyedArchive.Object) throws(ModelFileError) -> XcodeHistory {
        XcodeHistory(
            renamingIdentifier: try archive.text("NSRenamingIdentifier", of: object),
            versionHashModifier: try archive.text("NSVersionHashModifier", of: object),
            userInfo: try archive.textEntries("NSUserInfo", of: object))
    }

    private func check(
        _ object: KeyedArchive.Object, is classes: [String]
    ) throws(ModelFileError) {
        guard classes.contains(object.className) else {
            throw ModelFileError(
                "Object \(object.number) is of the class '\(object.className)' and not "
                    + "'\(classes.joined(separator: "' or '"))'.")
        }
    }

    // MARK: - Properties

    private mutating func append(
        _ object: KeyedArchive.Object, _ key: String, to entity: inout XcodeEntity
    ) throws(ModelFileError) {
        do {
            let name = try archive.text("NSPropertyName", of: object) ?? key
            switch object.className {
            case "NSRelationshipDescription":
                entity.relationships.append(try relationship(object, name))
            case "NSFetchedPropertyDescription":
                model.remarks.append(XcodeModel.remark(ofFetchedProperty: name, in: entity.name))
            default:
                try check(
                    object,
                    is: [
                        "NSAttributeDescription", "NSDerivedAttributeDescription",
                        "NSCompositeAttributeDescription",
                    ])
                entity.attributes.append(try attribute(object, name, of: entity.name))
            }
        } catch {
            throw ModelFileError(error.problems.map { "The property '\(key)': \($0)" })
        }
    }

    private mutating func attribute(
        _ object: KeyedArchive.Object, _ name: String, of entityName: String
    ) throws(ModelFileError) -> XcodeAttribute {
        var attribute = XcodeAttribute(
            name: name, type: XcodeType(number: try archive.integer("NSAttributeType", of: object)),
            isOptional: try archive.truth("NSIsOptional", of: object),
            isTransient: try archive.truth("NSIsTransient", of: object),
            isIndexed: try archive.truth("NSIsIndexed", of: object),
            transformerName: try archive.text("NSValueTransformerName", of: object),
            history: try history(of: object))
        if object.className == "NSDerivedAttributeDescription" {
            attribute.derivation = ""
            return attribute
        }
        if case .transformable = attribute.type {
            attribute.className = try archive.text("NSAttributeValueClassName", of: object)
                .flatMap { $0 == "NSObject" ? nil : $0 }
            return attribute
        }
        let value = try archive.value("NSDefaultValue", of: object)
        if !value.isNull { attribute.defaultValue = .value(value) }
        for predicate in try archive.elements("NSValidationPredicates", of: object) {
            guard try limit(predicate, &attribute) else {
                model.remarks.append(
                    "A validation predicate of '\(entityName).\(name)' is left out: it does not limit a "
                        + "value, its length or its pattern.")
                continue
            }
        }
        return attribute
    }

    /// Reads a validation predicate as Xcode makes it from the limits in its editor.
    ///
    /// - Returns: Whether it is one of these.
    private func limit(
        _ predicate: KeyedArchive.Object, _ attribute: inout XcodeAttribute
    ) throws(ModelFileError) -> Bool {
        guard predicate.className == "NSComparisonPredicate",
            let kind = try archive.object("NSPredicateOperator", of: predicate),
            let left = try archive.object("NSLeftExpression", of: predicate),
            let right = try archive.object("NSRightExpression", of: predicate),
            right.className == "NSConstantValueExpression"
        else { return false }
        let value = XcodeValue.value(try archive.value("NSConstantValue", of: right))
        let isText = if case .plain(.string) = attribute.type { true } else { false }
        let isItself = left.className == "NSSelfExpression"
        // The limits of text apply to its length.
        if !isItself {
            guard isText, try isLength(left) else { return false }
        }
        switch (try archive.integer("NSOperatorType", of: kind), isItself, isText) {
        case (1, true, false), (1, false, true): attribute.maximum = value
        case (3, true, false), (3, false, true): attribute.minimum = value
        case (6, true, true):
            guard case .value(.string(let pattern)) = value else { return false }
            attribute.pattern = pattern
        default: return false
        }
        return true
    }

    /// Whether an expression is the key path `length`.
    private func isLength(_ expression: KeyedArchive.Object) throws(ModelFileError) -> Bool {
        guard expression.className == "NSKeyPathExpression",
            let arguments = try archive.object("NSArguments", of: expression),
            let path = try archive.elements(of: arguments).first
        else { return false }
        return try archive.text("NSKeyPath", of: path) == "length"
    }

    private func relationship(
        _ object: KeyedArchive.Object, _ name: String
    ) throws(ModelFileError) -> XcodeRelationship {
        let number = try archive.integer("NSDeleteRule", of: object)
        let rules: [DeleteRule] = [.noAction, .nullify, .cascade, .deny]
        guard rules.indices.contains(number) else {
            throw ModelFileError("\(number) is not a delete rule.")
        }
        let minimum = try archive.integer("NSMinCount", of: object)
        let maximum = try archive.integer("NSMaxCount", of: object)
        guard minimum >= 0, maximum >= 0 else {
            throw ModelFileError("A number of objects is negative.")
        }
        guard
            let destination = try self.name(
                "_NSDestinationEntityName", "NSDestinationEntity", "NSEntityName", of: object)
        else { throw ModelFileError("It leads to no entity.") }
        return XcodeRelationship(
            name: name, destinationName: destination,
            inverseName: try self.name(
                "_NSInverseRelationshipName", "NSInverseRelationship", "NSPropertyName", of: object),
            isToMany: maximum != 1, isOrdered: try archive.truth("NSIsOrdered", of: object),
            isOptional: try archive.truth("NSIsOptional", of: object),
            isTransient: try archive.truth("NSIsTransient", of: object), deleteRule: rules[number],
            minimumCount: minimum, maximumCount: maximum, history: try history(of: object))
    }

    /// A name that is given directly, or else by a description.
    private func name(
        _ plain: String, _ member: String, _ key: String, of object: KeyedArchive.Object
    ) throws(ModelFileError) -> String? {
        if let name = try archive.text(plain, of: object) { return name }
        guard let other = try archive.object(member, of: object) else { return nil }
        return try archive.text(key, of: other)
    }
}

extension XcodeType {
    /// A type by its number in Core Data, `NSAttributeType`.
    fileprivate init(number: Int) {
        switch number {
        case 0, 2000: self = .unstored
        case 100: self = .plain(.int16)
        case 200: self = .plain(.int32)
        case 300: self = .plain(.int64)
        case 400: self = .plain(.decimal)
        case 500: self = .plain(.double)
        case 600: self = .plain(.float)
        case 700: self = .plain(.string)
        case 800: self = .plain(.bool)
        case 900: self = .plain(.date)
        case 1000: self = .plain(.data)
        case 1100: self = .plain(.uuid)
        case 1200: self = .plain(.url)
        case 1800: self = .transformable
        case 2100: self = .composite(nil)
        default: self = .unknown(String(number))
        }
    }
}
