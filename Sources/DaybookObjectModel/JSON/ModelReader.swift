/// Reads a model file and records every mistake instead of stopping at the first.
struct ModelReader {
    private(set) var problems: [String] = []

    mutating func model(_ json: JSONValue) -> ManagedObjectModel {
        let names = ["entities", "configurations", "requires", "indexesEntries"]
        guard var fields = fields(of: json, at: "model", names: names) else {
            return ManagedObjectModel()
        }
        fields.prefix = ""
        let entities = list(fields, "entities", isRequired: true)
        return ManagedObjectModel(
            entities: entities.compactMap { entity($0.value, at: $0.location) },
            configurations: configurations(fields), requires: requirements(fields),
            indexesEntries: indexedAttribution(fields))
    }

    private mutating func requirements(_ fields: Fields) -> Set<AttributionRequirement> {
        var requirements: Set<AttributionRequirement> = []
        for (location, json) in list(fields, "requires") {
            guard let requirement = requirement(json, at: location) else { continue }
            guard requirements.insert(requirement).inserted else {
                report(location, "\(requirement.noun) is required already.")
                continue
            }
        }
        return requirements
    }

    private mutating func requirement(
        _ json: JSONValue, at location: String
    ) -> AttributionRequirement? {
        switch json {
        case .string("author"): return .author
        case .string("note"): return .note
        case .object:
            guard let fields = fields(of: json, at: location, names: ["info"]) else { return nil }
            return text(fields, "info", isRequired: true).map { .info($0) }
        default:
            report(location, "\"author\", \"note\" or {\"info\": KEY} was expected.")
            return nil
        }
    }

    private mutating func indexedAttribution(_ fields: Fields) -> Set<IndexedAttribution> {
        var indexed: Set<IndexedAttribution> = []
        for (location, json) in list(fields, "indexesEntries") {
            guard let attribution = indexedAttribution(json, at: location) else { continue }
            guard indexed.insert(attribution).inserted else {
                report(location, "entries are indexed by \(attribution.noun) already.")
                continue
            }
        }
        return indexed
    }

    private mutating func indexedAttribution(
        _ json: JSONValue, at location: String
    ) -> IndexedAttribution? {
        switch json {
        case .string("author"): return .author
        case .object:
            guard let fields = fields(of: json, at: location, names: ["info"]) else { return nil }
            return text(fields, "info", isRequired: true).map { .info($0) }
        default:
            report(location, "\"author\" or {\"info\": KEY} was expected.")
            return nil
        }
    }

    private mutating func configurations(_ fields: Fields) -> [String: [String]] {
        guard let json = fields["configurations"] else { return [:] }
        guard case .object(let members) = json else {
            report(fields.location("configurations"), "an object was expected, not \(json.noun).")
            return [:]
        }
        var configurations: [String: [String]] = [:]
        let lists = Fields(
            members: Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first },
            prefix: fields.location("configurations") + ".")
        for member in members {
            configurations[member.name] = list(lists, member.name).compactMap { location, name in
                if case .string(let name) = name { return name }
                report(location, "the name of an entity was expected, not \(name.noun).")
                return nil
            }
        }
        return configurations
    }

    private mutating func entity(_ json: JSONValue, at location: String) -> EntityDescription? {
        let names = [
            "name", "superentity", "abstract", "attributes", "relationships",
            "uniquenessConstraints", "indexes", "indexesChanges", "laws", "renamingIdentifier",
            "versionHashModifier", "userInfo",
        ]
        guard let fields = fields(of: json, at: location, names: names),
            let name = text(fields, "name", isRequired: true)
        else { return nil }
        return EntityDescription(
            name: name, superentityName: text(fields, "superentity"),
            isAbstract: truth(fields, "abstract", default: false),
            attributes: attributes(list(fields, "attributes")),
            relationships: list(fields, "relationships").compactMap {
                relationship($0.value, at: $0.location)
            },
            uniquenessConstraints: list(fields, "uniquenessConstraints").map {
                attributeNames($0.value, at: $0.location)
            },
            indexes: list(fields, "indexes").map {
                IndexDescription(indexElements($0.value, at: $0.location))
            }, renamingIdentifier: text(fields, "renamingIdentifier"),
            versionHashModifier: text(fields, "versionHashModifier"), userInfo: userInfo(fields),
            laws: list(fields, "laws").compactMap { law($0.value, at: $0.location) },
            indexesChanges: truth(fields, "indexesChanges", default: false))
    }

    private mutating func law(_ json: JSONValue, at location: String) -> LawDescription? {
        guard let fields = fields(of: json, at: location, names: ["name", "rule"]) else {
            return nil
        }
        let name = text(fields, "name", isRequired: true)
        let rule = text(fields, "rule", isRequired: true)
        guard let name, let rule else { return nil }
        return LawDescription(name, rule)
    }

    private mutating func indexElements(
        _ json: JSONValue, at location: String
    ) -> [IndexDescription.Element] {
        guard case .array(let elements) = json else {
            report(location, "a list was expected, not \(json.noun).")
            return []
        }
        return elements.enumerated().compactMap { index, element in
            let location = "\(location)[\(index)]"
            switch element {
            case .string(let name): return IndexDescription.Element(name)
            case .object:
                guard let fields = fields(of: element, at: location, names: ["descending"]),
                    let name = text(fields, "descending", isRequired: true)
                else { return nil }
                return .descending(name)
            default:
                report(
                    location,
                    "the name of a property was expected, or {\"descending\": name}, not "
                        + "\(element.noun).")
                return nil
            }
        }
    }

    private mutating func userInfo(_ fields: Fields) -> [String: String] {
        guard let json = fields["userInfo"] else { return [:] }
        guard case .object(let members) = json else {
            report(fields.location("userInfo"), "an object was expected, not \(json.noun).")
            return [:]
        }
        var info: [String: String] = [:]
        for member in members {
            if case .string(let text) = member.value {
                info[member.name] = text
            } else {
                report(
                    fields.location("userInfo.\(member.name)"),
                    "text was expected, not \(member.value.noun).")
            }
        }
        return info
    }

    private mutating func attributeNames(_ json: JSONValue, at location: String) -> [String] {
        guard case .array(let elements) = json else {
            report(location, "a list was expected, not \(json.noun).")
            return []
        }
        return elements.enumerated().compactMap { index, element in
            if case .string(let name) = element { return name }
            report("\(location)[\(index)]", "text was expected, not \(element.noun).")
            return nil
        }
    }

    /// Attributes, with the elements of each composite attribute in its place.
    private mutating func attributes(
        _ list: [(location: String, value: JSONValue)], _ depth: Int = 1
    ) -> [AttributeDescription] {
        var composites: Set<String> = []
        return list.flatMap { location, json -> [AttributeDescription] in
            guard case .object(let members) = json,
                members.first(where: { $0.name == "type" })?.value == .string("composite")
            else {
                guard let attribute = attribute(json, at: location) else { return [] }
                if let dot = attribute.name.firstIndex(of: ".") {
                    report(
                        "\(location).name",
                        "'\(attribute.name)' has a dot: declare '\(attribute.name[..<dot])' with the "
                            + "type 'composite' and the rest of the name among its 'elements'.")
                }
                return [attribute]
            }
            let names = ["name", "type", "elements", "renamingIdentifier"]
            guard let fields = fields(of: json, at: location, names: names),
                let name = text(fields, "name", isRequired: true)
            else { return [] }
            if !composites.insert(name).inserted {
                report("\(location).name", "there are two composite attributes '\(name)'.")
            }
            guard depth < AttributeDescription.levelsMaximum else {
                report(location, "the composite attributes are nested too deep.")
                return []
            }
            let elements = self.list(fields, "elements", isRequired: true)
            if elements.isEmpty, fields["elements"] != nil {
                report(fields.location("elements"), "at least one element was expected.")
            }
            return AttributeDescription.composite(
                name, elements: attributes(elements, depth + 1),
                renamingIdentifier: text(fields, "renamingIdentifier"))
        }
    }

    private mutating func attribute(
        _ json: JSONValue, at location: String
    ) -> AttributeDescription? {
        let names = [
            "name", "type", "optional", "transient", "indexed", "unique", "default", "minimum",
            "maximum", "minLength", "maxLength", "pattern", "confidential", "merge", "set",
            "derived", "renamingIdentifier", "versionHashModifier", "userInfo",
        ]
        guard let fields = fields(of: json, at: location, names: names) else { return nil }
        let name = text(fields, "name", isRequired: true)
        let type: AttributeType? = choice(fields, "type", noun: "a type")
        if fields["type"] == nil { report(fields.location("type"), "is missing.") }
        guard let name, let type else { return nil }
        var attribute = AttributeDescription(
            name: name, type: type, isOptional: truth(fields, "optional", default: true),
            isTransient: truth(fields, "transient", default: false),
            isIndexed: truth(fields, "indexed", default: false),
            isUnique: truth(fields, "unique", default: false),
            isConfidential: truth(fields, "confidential", default: false))
        attribute.defaultValue = value(fields, "default", of: type)
        attribute.rules = AttributeRules(
            minimum: value(fields, "minimum", of: type),
            maximum: value(fields, "maximum", of: type),
            minimumLength: count(fields, "minLength"), maximumLength: count(fields, "maxLength"),
            pattern: text(fields, "pattern"))
        attribute.merge = choice(fields, "merge", noun: "a merge strategy")
        attribute.isSet = truth(fields, "set", default: false)
        attribute.derivation = derivation(fields)
        attribute.renamingIdentifier = text(fields, "renamingIdentifier")
        attribute.versionHashModifier = text(fields, "versionHashModifier")
        attribute.userInfo = userInfo(fields)
        return attribute
    }

    private mutating func derivation(_ fields: Fields) -> Derivation? {
        guard let text = text(fields, "derived") else { return nil }
        if let derivation = Derivation(text) { return derivation }
        report(
            fields.location("derived"),
            "'\(text)' is not an expression; there are 'employees.@count', 'employees.salary.@sum', "
                + "'@min' and '@max', 'canonical:(name)', 'lowercase:(name)' and 'uppercase:(name)'."
        )
        return nil
    }

    private mutating func value(
        _ fields: Fields, _ name: String, of type: AttributeType
    ) -> Value {
        guard let json = fields[name] else { return .null }
        do {
            return try Value(json, for: type)
        } catch {
            problems.append(error.within(fields.location(name)).description)
            return .null
        }
    }

    private mutating func relationship(
        _ json: JSONValue, at location: String
    ) -> RelationshipDescription? {
        let names = [
            "name", "destination", "toMany", "ordered", "inverse", "optional", "deleteRule",
            "minCount", "maxCount", "renamingIdentifier", "versionHashModifier", "userInfo",
        ]
        guard let fields = fields(of: json, at: location, names: names) else { return nil }
        let name = text(fields, "name", isRequired: true)
        let destination = text(fields, "destination", isRequired: true)
        guard let name, let destination else { return nil }
        return RelationshipDescription(
            name: name, destinationName: destination, inverseName: text(fields, "inverse"),
            isToMany: truth(fields, "toMany", default: false),
            isOrdered: truth(fields, "ordered", default: false),
            isOptional: truth(fields, "optional", default: true),
            deleteRule: choice(fields, "deleteRule", noun: "a delete rule") ?? .nullify,
            minimumCount: count(fields, "minCount"), maximumCount: count(fields, "maxCount"),
            renamingIdentifier: text(fields, "renamingIdentifier"),
            versionHashModifier: text(fields, "versionHashModifier"), userInfo: userInfo(fields))
    }

    // MARK: - Fields

    /// The members of an object and their path.
    private struct Fields {
        let members: [String: JSONValue]
        var prefix: String

        subscript(name: String) -> JSONValue? {
            members[name]
        }

        func location(_ name: String) -> String {
            prefix + name
        }
    }

    private mutating func report(_ location: String, _ message: String) {
        problems.append("\(location): \(message)")
    }

    private mutating func fields(
        of json: JSONValue, at location: String, names: [String]
    ) -> Fields? {
        guard case .object(let members) = json else {
            report(location, "an object was expected, not \(json.noun).")
            return nil
        }
        for member in members where !names.contains(member.name) {
            let suggestion = member.name.suggestion(among: names)
            report(
                location,
                "'\(member.name)' is not known here"
                    + (suggestion.isEmpty
                        ? "; there are \(names.map { "'\($0)'" }.joined(separator: ", "))."
                        : suggestion))
        }
        let named = Dictionary(
            members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return Fields(members: named, prefix: location + ".")
    }

    private mutating func text(
        _ fields: Fields, _ name: String, isRequired: Bool = false
    ) -> String? {
        switch fields[name] {
        case .string(let text): return text
        case nil:
            if isRequired { report(fields.location(name), "is missing.") }
        case let json?: report(fields.location(name), "text was expected, not \(json.noun).")
        }
        return nil
    }

    private mutating func truth(_ fields: Fields, _ name: String, default: Bool) -> Bool {
        switch fields[name] {
        case .bool(let value): return value
        case nil: break
        case let json?:
            report(fields.location(name), "true or false was expected, not \(json.noun).")
        }
        return `default`
    }

    private mutating func count(_ fields: Fields, _ name: String) -> Int {
        guard let json = fields[name] else { return 0 }
        if case .number(let text) = json, let count = Int(text), count >= 0 { return count }
        report(fields.location(name), "an integer from 0 was expected, not \(json.noun).")
        return 0
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ fields: Fields, _ name: String, noun: String
    ) -> Choice? {
        guard let text = text(fields, name) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let suggestion = text.suggestion(among: names)
        report(
            fields.location(name),
            "'\(text)' is not \(noun)"
                + (suggestion.isEmpty
                    ? "; there are \(names.map { "'\($0)'" }.joined(separator: ", "))."
                    : suggestion))
        return nil
    }

    private mutating func list(
        _ fields: Fields, _ name: String, isRequired: Bool = false
    ) -> [(location: String, value: JSONValue)] {
        switch fields[name] {
        case .array(let values):
            return values.enumerated().map {
                ("\(fields.location(name))[\($0.offset)]", $0.element)
            }
        case nil:
            if isRequired { report(fields.location(name), "is missing.") }
        case let json?: report(fields.location(name), "a list was expected, not \(json.noun).")
        }
        return []
    }
}
