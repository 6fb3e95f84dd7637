/// The layout of JSON.
public enum JSONLayout: Sendable, Hashable {
    /// One line without spaces.
    case oneLine
    /// A line for each property, two spaces a level.
    case pretty
}

extension ManagedObjectModel {
    /// Reads a model file.
    ///
    /// ```json
    /// {"entities": [{"name": "Country", "attributes": [{"name": "code", "type": "string"}]}]}
    /// ```
    ///
    /// Omitted members have defaults: optional, not indexed, no default value, to one, nullify.
    /// Whether the entities fit together is checked when the model is compiled or by `validate()`.
    ///
    /// - Parameter text: The file.
    /// - Throws: ``ModelError`` with a sentence for every mistake, each with its location.
    public init(json text: String) throws(ModelError) {
        let document: JSONValue
        do {
            document = try JSONValue(parsing: text)
        } catch {
            throw ModelError(["The model is not JSON: \(error)"])
        }
        var reader = ModelReader()
        let model = reader.model(document)
        guard reader.problems.isEmpty else { throw ModelError(reader.problems) }
        self = model
    }

    /// The model as a model file, without defaults, in the order of declaration.
    ///
    /// - Parameter layout: The layout of the JSON.
    /// - Returns: Text that reads back as the same model.
    public func json(_ layout: JSONLayout) -> String {
        var members = [JSONMember("entities", .array(entities.map(\.json)))]
        if !configurations.isEmpty {
            let lists = configurations.sorted { $0.key < $1.key }.map { name, entities in
                JSONMember(name, .array(entities.map { .string($0) }))
            }
            members.append(JSONMember("configurations", .object(lists)))
        }
        if !requires.isEmpty {
            members.append(JSONMember("requires", .array(requires.ordered.map(\.json))))
        }
        if !indexesEntries.isEmpty {
            members.append(
                JSONMember("indexesEntries", .array(indexesEntries.ordered.map(\.json))))
        }
        let document = JSONValue.object(members)
        return layout == .pretty ? document.prettyText : document.text
    }
}

// MARK: - Writing

extension AttributionRequirement {
    fileprivate var json: JSONValue {
        switch self {
        case .author: .string("author")
        case .note: .string("note")
        case .info(let key): .object([JSONMember("info", .string(key))])
        }
    }
}

extension IndexedAttribution {
    fileprivate var json: JSONValue {
        switch self {
        case .author: .string("author")
        case .info(let key): .object([JSONMember("info", .string(key))])
        }
    }
}

extension EntityDescription {
    fileprivate var json: JSONValue {
        var members = [JSONMember("name", .string(name))]
        if let superentityName {
            members.append(JSONMember("superentity", .string(superentityName)))
        }
        if isAbstract { members.append(JSONMember("abstract", .bool(true))) }
        if !attributes.isEmpty {
            members.append(JSONMember("attributes", .array(attributes.nestedJSON(in: ""))))
        }
        if !relationships.isEmpty {
            members.append(JSONMember("relationships", .array(relationships.map(\.json))))
        }
        if !uniquenessConstraints.isEmpty {
            let lists = uniquenessConstraints.map { JSONValue.array($0.map { .string($0) }) }
            members.append(JSONMember("uniquenessConstraints", .array(lists)))
        }
        if !laws.isEmpty { members.append(JSONMember("laws", .array(laws.map(\.json)))) }
        if !indexes.isEmpty {
            members.append(JSONMember("indexes", .array(indexes.map(\.json))))
        }
        if indexesChanges { members.append(JSONMember("indexesChanges", .bool(true))) }
        members += JSONMember.annotations(renamingIdentifier, versionHashModifier, userInfo)
        return .object(members)
    }
}

extension LawDescription {
    fileprivate var json: JSONValue {
        .object([JSONMember("name", .string(name)), JSONMember("rule", .string(rule))])
    }
}

extension IndexDescription {
    fileprivate var json: JSONValue {
        .array(
            elements.map { element in
                element.isAscending
                    ? .string(element.propertyName)
                    : .object([JSONMember("descending", .string(element.propertyName))])
            })
    }
}

extension [AttributeDescription] {
    /// Attributes, with those of each composite attribute inside it, where the first of them stands.
    ///
    /// - Parameter composite: What the names of all of them begin with.
    /// - Returns: The attributes as a model file has them.
    fileprivate func nestedJSON(in composite: String) -> [JSONValue] {
        var seen: Set<Substring> = []
        return compactMap { attribute in
            let rest = attribute.name.dropFirst(composite.count)
            guard let dot = rest.firstIndex(of: ".") else {
                return attribute.json(named: String(rest))
            }
            guard seen.insert(rest[..<dot]).inserted else { return nil }
            let start = composite + rest[...dot]
            let elements = filter { $0.name.hasPrefix(start) }.nestedJSON(in: start)
            return .object([
                JSONMember("name", .string(String(rest[..<dot]))),
                JSONMember("type", .string("composite")), JSONMember("elements", .array(elements)),
            ])
        }
    }
}

extension AttributeDescription {
    fileprivate func json(named name: String) -> JSONValue {
        var members = [
            JSONMember("name", .string(name)), JSONMember("type", .string(type.rawValue)),
        ]
        if !isOptional { members.append(JSONMember("optional", .bool(false))) }
        if isTransient { members.append(JSONMember("transient", .bool(true))) }
        if isIndexed { members.append(JSONMember("indexed", .bool(true))) }
        if isUnique { members.append(JSONMember("unique", .bool(true))) }
        if isConfidential { members.append(JSONMember("confidential", .bool(true))) }
        if isSet { members.append(JSONMember("set", .bool(true))) }
        if !defaultValue.isNull {
            members.append(JSONMember("default", JSONValue(defaultValue, for: type)))
        }
        members += rules.members(for: type)
        if let merge { members.append(JSONMember("merge", .string(merge.rawValue))) }
        if let derivation {
            members.append(JSONMember("derived", .string(derivation.description)))
        }
        members += JSONMember.annotations(renamingIdentifier, versionHashModifier, userInfo)
        return .object(members)
    }
}

extension AttributeRules {
    fileprivate func members(for type: AttributeType) -> [JSONMember] {
        var members: [JSONMember] = []
        if !minimum.isNull {
            members.append(JSONMember("minimum", JSONValue(minimum, for: type)))
        }
        if !maximum.isNull {
            members.append(JSONMember("maximum", JSONValue(maximum, for: type)))
        }
        if minimumLength != 0 {
            members.append(JSONMember("minLength", .number(String(minimumLength))))
        }
        if maximumLength != 0 {
            members.append(JSONMember("maxLength", .number(String(maximumLength))))
        }
        if let pattern { members.append(JSONMember("pattern", .string(pattern))) }
        return members
    }
}

extension RelationshipDescription {
    fileprivate var json: JSONValue {
        var members = [
            JSONMember("name", .string(name)), JSONMember("destination", .string(destinationName)),
        ]
        if isToMany { members.append(JSONMember("toMany", .bool(true))) }
        if isOrdered { members.append(JSONMember("ordered", .bool(true))) }
        if let inverseName { members.append(JSONMember("inverse", .string(inverseName))) }
        if !isOptional { members.append(JSONMember("optional", .bool(false))) }
        if deleteRule != .nullify {
            members.append(JSONMember("deleteRule", .string(deleteRule.rawValue)))
        }
        if minimumCount != 0 {
            members.append(JSONMember("minCount", .number(String(minimumCount))))
        }
        if maximumCount != 0 {
            members.append(JSONMember("maxCount", .number(String(maximumCount))))
        }
        members += JSONMember.annotations(renamingIdentifier, versionHashModifier, userInfo)
        return .object(members)
    }
}

extension JSONMember {
    /// The members that any description may have.
    fileprivate static func annotations(
        _ renamingIdentifier: String?, _ versionHashModifier: String?, _ userInfo: [String: String]
    ) -> [JSONMember] {
        var members: [JSONMember] = []
        if let renamingIdentifier {
            members.append(JSONMember("renamingIdentifier", .string(renamingIdentifier)))
        }
        if let versionHashModifier {
            members.append(JSONMember("versionHashModifier", .string(versionHashModifier)))
        }
        if !userInfo.isEmpty {
            let info = userInfo.sorted { $0.key < $1.key }.map { JSONMember($0, .string($1)) }
            members.append(JSONMember("userInfo", .object(info)))
        }
        return members
    }
}
