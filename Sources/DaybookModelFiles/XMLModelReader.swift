import DaybookObjectModel

/// Reads the XML of Xcode's model editor, the file `contents` of an `.xcdatamodel`.
struct XMLModelReader {
    private var model = XcodeModel()
    private var problems: [String] = []

    /// The model of a file.
    ///
    /// - Throws: ``ModelFileError`` with every mistake and its line.
    static func model(in root: XMLNode) throws(ModelFileError) -> XcodeModel {
        guard root.name == "model" else {
            throw ModelFileError(
                "Its outermost element is '\(root.name)' and not 'model': it is not an Xcode model."
            )
        }
        var reader = XMLModelReader()
        for child in root.children { reader.read(child) }
        guard reader.problems.isEmpty else { throw ModelFileError(reader.problems) }
        return reader.model
    }

    private mutating func read(_ node: XMLNode) {
        switch node.name {
        case "entity":
            guard let name = name(of: node) else { return }
            model.entities.append(entity(node, name))
        case "configuration":
            guard let name = name(of: node) else { return }
            model.configurations.append(
                XcodeConfiguration(
                    name: name,
                    entityNames: node.children(named: "memberEntity").compactMap { $0.text("name") }
                ))
        case "fetchRequest":
            model.remarks.append(XcodeModel.remark(ofFetchRequest: node.text("name") ?? ""))
        case "composite":
            guard let name = name(of: node) else { return }
            for child in node.children {
                guard child.name == "attribute" else {
                    if child.name != "userInfo" { remark(child, in: "'\(name)'") }
                    continue
                }
                guard let element = self.name(of: child) else { continue }
                model.composites[name, default: []].append(attribute(child, element))
            }
        case "elements":
            break  // Where entities stand in the editor.
        default:
            remark(node, in: "the model")
        }
    }

    private mutating func entity(_ node: XMLNode, _ name: String) -> XcodeEntity {
        var entity = XcodeEntity(
            name: name, className: node.text("representedClassName").flatMap(\.plainClassName),
            superentityName: node.text("parentEntity"), isAbstract: node.says("isAbstract"),
            history: history(of: node))
        for child in node.children {
            switch child.name {
            case "attribute":
                guard let name = self.name(of: child) else { continue }
                entity.attributes.append(attribute(child, name))
            case "relationship":
                guard let relationship = relationship(child, of: name) else { continue }
                entity.relationships.append(relationship)
            case "fetchedProperty":
                model.remarks.append(
                    XcodeModel.remark(ofFetchedProperty: child.text("name") ?? "", in: name))
            case "fetchIndex": entity.indexes.append(index(child))
            case "compoundIndexes":
                entity.indexes += child.children(named: "compoundIndex").map { index in
                    let names = index.children(named: "index").map { $0.text("value") }
                    return XcodeIndex(
                        name: names.compactMap(\.self).joined(separator: ", "), propertyNames: names
                    )
                }
            case "uniquenessConstraints":
                entity.uniquenessConstraints += child.children(named: "uniquenessConstraint").map {
                    $0.children(named: "constraint").compactMap { $0.text("value") }
                }
            case "userInfo": break
            default: remark(child, in: "'\(name)'")
            }
        }
        return entity
    }

    private func attribute(_ node: XMLNode, _ name: String) -> XcodeAttribute {
        let type = XcodeType(named: node.text("attributeType") ?? "Undefined")
        let isComposite = if case .composite = type { true } else { false }
        return XcodeAttribute(
            name: name, type: isComposite ? .composite(node.text("elementName")) : type,
            isOptional: node.says("optional"), isTransient: node.says("transient"),
            isIndexed: node.says("indexed"),
            keepsDataOutside: node.says("allowsExternalBinaryDataStorage"),
            derivation: node.says("derived") ? node.text("derivationExpression") ?? "" : nil,
            transformerName: node.text("valueTransformerName"),
            className: node.text("customClassName"),
            defaultValue: value(node, "defaultValueString", "defaultDateTimeInterval"),
            minimum: value(node, "minValueString", "minDateTimeInterval"),
            maximum: value(node, "maxValueString", "maxDateTimeInterval"),
            pattern: node.text("regularExpressionString"), history: history(of: node))
    }

    /// A value that is given as text or, for a date, as an interval.
    private func value(_ node: XMLNode, _ text: String, _ interval: String) -> XcodeValue? {
        node.text(interval).map { .interval($0) } ?? node.attributes[text].map { .text($0) }
    }

    private mutating func relationship(
        _ node: XMLNode, of entityName: String
    ) -> XcodeRelationship? {
        guard let name = name(of: node) else { return nil }
        guard let destination = node.text("destinationEntity") else {
            problems.append(
                "Line \(node.line): the relationship '\(entityName).\(name)' has no "
                    + "'destinationEntity'.")
            return nil
        }
        let rule = node.text("deletionRule") ?? "Nullify"
        guard let deleteRule = DeleteRule(xcodeName: rule) else {
            problems.append(
                "Line \(node.line): '\(rule)' of '\(entityName).\(name)' is not a delete rule; there "
                    + "are 'No Action', 'Nullify', 'Cascade' and 'Deny'.")
            return nil
        }
        return XcodeRelationship(
            name: name, destinationName: destination, inverseName: node.text("inverseName"),
            isToMany: node.says("toMany"), isOrdered: node.says("ordered"),
            isOptional: node.says("optional"), isTransient: node.says("transient"),
            deleteRule: deleteRule,
            minimumCount: count(node, "minCount"), maximumCount: count(node, "maxCount"),
            history: history(of: node))
    }

    private mutating func count(_ node: XMLNode, _ name: String) -> Int {
        guard let text = node.text(name) else { return 0 }
        if let count = Int(text), count >= 0 { return count }
        problems.append("Line \(node.line): '\(text)' as '\(name)' is not a number of objects.")
        return 0
    }

    private func index(_ node: XMLNode) -> XcodeIndex {
        let elements = node.children(named: "fetchIndexElement")
        return XcodeIndex(
            name: node.text("name") ?? "", propertyNames: elements.map { $0.text("property") },
            descending: Set(elements.indices.filter { elements[$0].text("order") == "descending" }),
            isSpatial: elements.contains { $0.text("type") == "RTree" },
            isPartial: node.text("partialIndexPredicate") != nil)
    }

    private func history(of node: XMLNode) -> XcodeHistory {
        let entries = node.children(named: "userInfo").flatMap { $0.children(named: "entry") }
        return XcodeHistory(
            renamingIdentifier: node.text("elementID"),
            versionHashModifier: node.text("versionHashModifier"),
            userInfo: Dictionary(
                entries.compactMap { entry in
                    entry.text("key").map { ($0, entry.attributes["value"] ?? "") }
                }, uniquingKeysWith: { first, _ in first }))
    }

    private mutating func name(of node: XMLNode) -> String? {
        if let name = node.text("name") { return name }
        problems.append("Line \(node.line): this '\(node.name)' has no 'name'.")
        return nil
    }

    private mutating func remark(_ node: XMLNode, in place: String) {
        let name = node.text("name").map { " '\($0)'" } ?? ""
        model.remarks.append(
            "The element '\(node.name)'\(name) of \(place) is left out: a model has nothing like it."
        )
    }
}

extension DeleteRule {
    /// A rule by its name in Xcode.
    fileprivate init?(xcodeName: String) {
        switch xcodeName {
        case "No Action": self = .noAction
        case "Nullify": self = .nullify
        case "Cascade": self = .cascade
        case "Deny": self = .deny
        default: return nil
        }
    }
}

extension XcodeType {
    /// A type by its name in Xcode.
    init(named name: String) {
        switch name {
        case "Integer 16": self = .plain(.int16)
        case "Integer 32": self = .plain(.int32)
        case "Integer 64": self = .plain(.int64)
        case "Decimal": self = .plain(.decimal)
        case "Double": self = .plain(.double)
        case "Float": self = .plain(.float)
        case "String": self = .plain(.string)
        case "Boolean": self = .plain(.bool)
        case "Date": self = .plain(.date)
        case "Binary": self = .plain(.data)
        case "UUID": self = .plain(.uuid)
        case "URI": self = .plain(.url)
        case "Transformable": self = .transformable
        case "Composite": self = .composite(nil)
        case "Undefined", "Object ID", "ObjectID": self = .unstored
        default: self = .unknown(name)
        }
    }
}

extension String {
    /// The name of a class without its module; nil for the class that stands for none.
    var plainClassName: String? {
        let name = split(separator: ".").last.map(String.init) ?? ""
        return name.isEmpty || name == "NSManagedObject" ? nil : name
    }
}
