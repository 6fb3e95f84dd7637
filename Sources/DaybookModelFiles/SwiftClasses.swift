import DaybookObjectModel

/// Writes the classes that declare a model.
///
/// A container made with them has the same model, except for what only a model can declare, such as
/// configurations. ``remarks`` lists that.
package struct SwiftClasses {
    private let model: ManagedObjectModel
    private var names: SwiftNames
    private let compositeNames: [String: String]
    /// The structs of composite attributes: their names by their content.
    private var structs: [[String]: String] = [:]
    private var problems: [String] = []
    private var lines = ["import Daybook", "import Foundation"]
    /// What classes cannot declare: a sentence for each.
    package private(set) var remarks: [String] = []

    /// The classes of a model that has been read.
    ///
    /// - Throws: ``ModelFileError`` with every property that no class can have.
    package init(_ reading: ModelReading) throws(ModelFileError) {
        model = reading.model
        names = SwiftNames(of: reading)
        compositeNames = reading.compositeNames
        for entity in model.entities { append(entity) }
        for name in model.configurations.keys.sorted() {
            remarks.append(
                "Classes cannot declare the configuration '\(name)': name it when you add a store.")
        }
        guard problems.isEmpty else { throw ModelFileError(problems) }
    }

    /// A Swift file.
    package var text: String { lines.joined(separator: "\n") + "\n" }

    // MARK: - Classes

    private mutating func append(_ entity: EntityDescription) {
        let name = names.className(of: entity.name)
        let hasSubentities = model.entities.contains { $0.superentityName == entity.name }
        let superclass = entity.superentityName.map(names.className(of:)) ?? "ManagedObject"
        // The structs of composite attributes come before the class.
        let properties =
            attributes(of: entity)
            + entity.relationships.compactMap { relationship($0, of: entity) }
        let overrides = overrides(of: entity, name, hasSubentities: hasSubentities)
        lines += ["", "\(hasSubentities ? "" : "final ")class \(name): \(superclass) {"]
        lines += properties
        if !properties.isEmpty, !overrides.isEmpty { lines.append("") }
        lines += overrides + ["}"]
    }

    private mutating func overrides(
        of entity: EntityDescription, _ name: String, hasSubentities: Bool
    ) -> [String] {
        var overrides: [String] = []
        if name != entity.name {
            overrides.append(
                "    override class var entityName: String { \(SwiftNames.literal(entity.name)) }")
        }
        if entity.isAbstract, hasSubentities {
            overrides.append(
                "    override class var isAbstractEntity: Bool { self == \(name).self }")
        } else if entity.isAbstract {
            remarks.append(
                "'\(entity.name)' is abstract and nothing inherits from it, which a class cannot say: here it "
                    + "is not abstract.")
        }
        if !entity.uniquenessConstraints.isEmpty {
            let lists = entity.uniquenessConstraints.map {
                "[" + $0.map(SwiftNames.literal).joined(separator: ", ") + "]"
            }
            let inherited = entity.superentityName == nil ? "" : "super.uniquenessConstraints + "
            overrides += [
                "    override class var uniquenessConstraints: [[String]] {",
                "        \(inherited)[\(lists.joined(separator: ", "))]",
                "    }",
            ]
        }
        if !entity.laws.isEmpty {
            let inherited = entity.superentityName == nil ? "" : "super.laws + "
            overrides += ["    override class var laws: [Law] {", "        \(inherited)["]
            for law in entity.laws {
                let words = [law.name, law.rule].map(SwiftNames.literal)
                overrides.append("            Law(\(words.joined(separator: ", "))),")
            }
            overrides += ["        ]", "    }"]
        }
        if !entity.indexes.isEmpty {
            let lists = entity.indexes.map { index in
                let elements = index.elements.map { element in
                    let name = SwiftNames.literal(element.propertyName)
                    return element.isAscending ? name : ".descending(\(name))"
                }
                return "[" + elements.joined(separator: ", ") + "]"
            }
            let inherited = entity.superentityName == nil ? "" : "super.indexes + "
            overrides += [
                "    override class var indexes: [IndexDescription] {",
                "        \(inherited)[\(lists.joined(separator: ", "))]",
                "    }",
            ]
        }
        func add(_ name: String, _ type: String, _ literal: String) {
            overrides.append("    override class var \(name): \(type) { \(literal) }")
        }
        if entity.indexesChanges { add("indexesChanges", "Bool", "true") }
        if let earlier = entity.renamingIdentifier {
            add("renamingIdentifier", "String?", SwiftNames.literal(earlier))
        }
        if let modifier = entity.versionHashModifier {
            add("versionHashModifier", "String?", SwiftNames.literal(modifier))
        }
        if !entity.userInfo.isEmpty {
            add("userInfo", "[String: String]", Self.literal(entity.userInfo))
        }
        return overrides
    }

    /// The options for the renaming identifier, the version hash modifier and the user info of a
    /// property.
    private static func options(
        _ renamingIdentifier: String?, _ modifier: String?, _ userInfo: [String: String]
    ) -> [String] {
        [
            renamingIdentifier.map { ".renamed(\(SwiftNames.literal($0)))" },
            modifier.map { ".versionHashModifier(\(SwiftNames.literal($0)))" },
            userInfo.isEmpty ? nil : ".userInfo(\(literal(userInfo)))",
        ].compactMap(\.self)
    }

    private static func literal(_ userInfo: [String: String]) -> String {
        let pairs = userInfo.sorted { $0.key < $1.key }.map {
            "\(SwiftNames.literal($0.key)): \(SwiftNames.literal($0.value))"
        }
        return "[\(pairs.joined(separator: ", "))]"
    }

    /// Options as the first argument of a declaration.
    private static func argument(_ options: [String]) -> [String] {
        options.count < 2 ? options : ["[\(options.joined(separator: ", "))]"]
    }

    // MARK: - Properties

    /// The declaration of a property; nil when no class can have its name.
    private mutating func declaration(
        _ wrapper: String, _ arguments: [String], _ name: String, _ type: String,
        of entity: EntityDescription, isReadOnly: Bool = false
    ) -> String? {
        guard let plain = SwiftNames.property(name) else {
            problems.append(
                "'\(entity.name).\(name)' cannot be a property of a class: 'ManagedObject' has that name "
                    + "already, or Swift does. Rename it in a new version of the model, with the old name "
                    + "as its renaming identifier, or declare the model as JSON.")
            return nil
        }
        let list = arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))"
        let variable = (isReadOnly ? "private(set) " : "") + "var \(plain): \(type)"
        let line = "    @\(wrapper)\(list) \(variable)"
        return line.utf8.count <= 100 ? line : "    @\(wrapper)\(list)\n    \(variable)"
    }

    private mutating func attribute(
        _ attribute: AttributeDescription, of entity: EntityDescription
    ) -> String? {
        guard
            let (options, arguments, type) = parts(
                of: attribute, "'\(entity.name).\(attribute.name)'")
        else { return nil }
        return declaration(
            attribute.isTransient ? "Transient" : "Attribute",
            Self.argument(options) + arguments, attribute.name, type, of: entity,
            isReadOnly: attribute.derivation != nil)
    }

    /// The options and the other arguments of the declaration of an attribute, and its type with its
    /// default value.
    private mutating func parts(
        of attribute: AttributeDescription, _ subject: String, isElement: Bool = false
    ) -> (options: [String], arguments: [String], type: String)? {
        guard let typeName = attribute.type.swiftName else {
            problems.append(
                "\(subject) holds coded values, of a type that the model does not name.")
            return nil
        }
        let hasDefault = !attribute.defaultValue.isNull
        var isOptional = attribute.isOptional
        if !isOptional, !hasDefault, attribute.type == .url {
            isOptional = true
            remarks.append(
                "\(subject) is a mandatory URL without a default value, which a class cannot say: here it is "
                    + "optional.")
        }
        var options: [String] = []
        if attribute.isIndexed { options.append(".indexed") }
        if attribute.isUnique { options.append(".unique") }
        if let derivation = attribute.derivation {
            options.append(".derived(\(SwiftNames.literal(derivation.description)))")
        }
        if !isOptional, !hasDefault, !attribute.isUnique, !attribute.isTransient {
            options.append(".required")
        }
        let annotations = Self.options(
            attribute.renamingIdentifier, attribute.versionHashModifier, attribute.userInfo)
        if isElement {
            // The earlier name of an element is given where the composite attribute is declared.
            options += Self.options(nil, attribute.versionHashModifier, attribute.userInfo)
        } else if attribute.isTransient, !annotations.isEmpty {
            remarks.append(
                "\(subject) is transient and has an earlier name, a version hash modifier or user "
                    + "information, which classes cannot say: the model as JSON can.")
        } else {
            options += annotations
        }
        var arguments: [String] = []
        var type = typeName + (isOptional ? "?" : "")
        if hasDefault {
            let literal = attribute.type.literal(
                attribute.defaultValue, isOptional: isOptional)
            // An expression that makes a date or an identifier never counts as a constant.
            if isElement, attribute.type == .date || attribute.type == .uuid {
                type += " = \(literal)"
                remarks.append(
                    "The default value of \(subject) is one that classes make for each object: it is "
                        + "in the class and not in the model.")
            } else if attribute.isTransient {
                type += " = \(literal)"
            } else if attribute.type == .date || attribute.type == .uuid {
                arguments.append("default: \(literal)")
            } else {
                type += " = \(literal)"
            }
        }
        if !attribute.isTransient { arguments += rules(attribute) }
        return (options, arguments, type)
    }

    private func rules(_ attribute: AttributeDescription) -> [String] {
        let rules = attribute.rules
        var list: [String] = []
        if !rules.minimum.isNull {
            let limit = attribute.type.literal(
                rules.minimum, isOptional: attribute.isOptional)
            list.append(".minimum(\(limit))")
        }
        if !rules.maximum.isNull {
            let limit = attribute.type.literal(
                rules.maximum, isOptional: attribute.isOptional)
            list.append(".maximum(\(limit))")
        }
        if rules.minimumLength != 0 { list.append(".minimumLength(\(rules.minimumLength))") }
        if rules.maximumLength != 0 { list.append(".maximumLength(\(rules.maximumLength))") }
        if let pattern = rules.pattern { list.append(".pattern(\(SwiftNames.literal(pattern)))") }
        return list.isEmpty ? [] : ["rules: [\(list.joined(separator: ", "))]"]
    }

    private mutating func relationship(
        _ relationship: RelationshipDescription, of entity: EntityDescription
    ) -> String? {
        let rule = relationship.deleteRule
        var arguments = Self.argument(
            (rule == .nullify ? [] : [".\(rule.rawValue)"])
                + Self.options(
                    relationship.renamingIdentifier, relationship.versionHashModifier,
                    relationship.userInfo))
        if let inverse = inverse(of: relationship, entity) { arguments.append(inverse) }
        if !relationship.isOptional { arguments.append("isOptional: false") }
        if relationship.minimumCount != 0 {
            arguments.append("minimumCount: \(relationship.minimumCount)")
        }
        if relationship.maximumCount != 0 {
            arguments.append("maximumCount: \(relationship.maximumCount)")
        }
        let destination = names.className(of: relationship.destinationName)
        let type =
            !relationship.isToMany
            ? "\(destination)?"
            : relationship.isOrdered ? "[\(destination)]" : "Set<\(destination)>"
        return declaration("Relationship", arguments, relationship.name, type, of: entity)
    }

    /// How a relationship names its inverse; nil for the side that the other one names.
    private func inverse(
        of relationship: RelationshipDescription, _ entity: EntityDescription
    ) -> String? {
        guard let name = relationship.inverseName else { return nil }
        if relationship.destinationName == entity.name, name == relationship.name {
            return "inverse: .itself"
        }
        let destination = model.entities.first { $0.name == relationship.destinationName }
        guard let inverse = destination?.relationships.first(where: { $0.name == name }) else {
            return "inverseName: \(SwiftNames.literal(name))"
        }
        // Key paths on both sides would form a circle: the to-many side has it, or else the first
        // by name.
        let own = (entity.name, relationship.name)
        let isNaming =
            relationship.isToMany == inverse.isToMany
            ? own < (relationship.destinationName, name) : relationship.isToMany
        guard isNaming, let property = SwiftNames.property(name) else { return nil }
        return "inverse: \\\(names.className(of: relationship.destinationName)).\(property)"
    }
}

// MARK: - Composite attributes

extension SwiftClasses {
    /// The declarations of an entity's attributes, one for each composite attribute.
    private mutating func attributes(of entity: EntityDescription) -> [String] {
        var seen: Set<String> = []
        return entity.attributes.compactMap { attribute in
            guard let composite = attribute.name.compositeNames.first else {
                return self.attribute(attribute, of: entity)
            }
            return seen.insert(composite).inserted ? self.composite(composite, of: entity) : nil
        }
    }

    private mutating func composite(_ name: String, of entity: EntityDescription) -> String? {
        let earlier = entity.attributes.compactMap { attribute -> String? in
            guard attribute.name.hasPrefix(name + "."), let earlier = attribute.renamingIdentifier
            else { return nil }
            let path = attribute.name.dropFirst(name.count + 1)
            return "\(SwiftNames.literal(String(path))): \(SwiftNames.literal(earlier))"
        }
        return declaration(
            "Composite",
            earlier.isEmpty ? [] : ["gathering: [\(earlier.joined(separator: ", "))]"], name,
            structName(of: name, entity), of: entity)
    }

    /// The struct of a composite attribute, which is written if there is none like it.
    private mutating func structName(of path: String, _ entity: EntityDescription) -> String {
        var seen: Set<Substring> = []
        var fields: [String] = []
        var elements: [String] = []
        for attribute in entity.attributes where attribute.name.hasPrefix(path + ".") {
            let rest = attribute.name.dropFirst(path.count + 1)
            let name = rest.prefix { $0 != "." }
            guard seen.insert(name).inserted else { continue }
            guard let plain = SwiftNames.property(String(name)) else {
                problems.append(
                    "'\(entity.name).\(attribute.name)' cannot be a property of a struct. Rename it in a "
                        + "new version of the model, or declare the model as JSON.")
                continue
            }
            guard name == rest else {
                let type = structName(of: "\(path).\(name)", entity)
                fields.append("    var \(plain) = \(type)()")
                elements.append("        CompositeElement(\\.\(plain)),")
                continue
            }
            let subject = "'\(entity.name).\(attribute.name)'"
            guard let (options, arguments, type) = parts(of: attribute, subject, isElement: true)
            else { continue }
            let needsValue = !type.contains("=") && !type.hasSuffix("?")
            fields.append(
                "    var \(plain): \(type)"
                    + (needsValue ? " = \(attribute.type.emptyLiteral)" : ""))
            let list = ["\\.\(plain)"] + Self.argument(options) + arguments
            elements.append("        CompositeElement(\(list.joined(separator: ", "))),")
        }
        let body = fields + elements
        if let known = structs[body] { return known }
        let last = path.split(separator: ".").last.map(String.init) ?? path
        let name = names.takeTypeName(
            compositeNames["\(entity.name).\(path)"]
                ?? last.prefix(1).uppercased() + last.dropFirst())
        structs[body] = name
        lines += ["", "struct \(name): CompositeAttribute {"] + fields
        lines += ["", "    static let elements: [CompositeElement<\(name)>] = ["] + elements
        lines += ["    ]", "}"]
        return name
    }
}
