// A composite attribute is a group of attributes whose names begin alike: 'address.street' and
// 'address.city' are the elements of the composite attribute 'address'. Each element is an attribute like
// any other, with its own number, so history, merging, indexes and migrations know nothing of groups.

extension AttributeDescription {
    /// The attributes that are the elements of a composite attribute.
    ///
    /// ```swift
    /// let address = AttributeDescription.composite(
    ///     "address",
    ///     elements: [
    ///         AttributeDescription(name: "street", type: .string),
    ///         AttributeDescription(name: "city", type: .string, isIndexed: true),
    ///     ])
    /// let person = EntityDescription(name: "Person", attributes: address)
    /// ```
    ///
    /// A composite attribute has no value of its own, only those of its elements. In an entity
    /// these are attributes called `address.street` and `address.city`, each with its own type,
    /// default, rules and index.
    ///
    /// - Parameters:
    ///   - name: The name of the composite attribute.
    ///   - elements: Its elements, which may include those of another composite attribute.
    ///   - renamingIdentifier: The earlier name of the composite attribute; nil for none. An
    ///     element with a renaming identifier of its own, the full earlier name of an attribute,
    ///     keeps that.
    /// - Returns: The elements, with the name of the composite attribute and a dot before theirs.
    public static func composite(
        _ name: String, elements: [AttributeDescription], renamingIdentifier: String? = nil
    ) -> [AttributeDescription] {
        elements.map { element in
            var attribute = element
            attribute.name = "\(name).\(element.name)"
            attribute.renamingIdentifier =
                element.renamingIdentifier ?? renamingIdentifier.map { "\($0).\(element.name)" }
            return attribute
        }
    }

    /// The maximal number of names in the name of an element.
    package static let levelsMaximum = 16

    /// The mistakes in the name, which includes those of the composite attributes around an
    /// element.
    func nameProblems(in entity: EntityDescription) -> [String] {
        let names = name.split(separator: ".", omittingEmptySubsequences: false)
        var problems: [String] = []
        if !name.isAttributeName {
            problems.append(
                "'\(entity.name).\(name)' has no usable name: a name is a letter, then letters, digits "
                    + "and underscores.")
        } else if names.count > Self.levelsMaximum {
            problems.append(
                "'\(entity.name).\(name)' lies in more than \(Self.levelsMaximum - 1) composite "
                    + "attributes.")
        }
        if names.count > 1, derivation != nil {
            problems.append(
                "'\(entity.name).\(name)' is an element of a composite attribute and so cannot be "
                    + "derived. Derive an attribute of its own from it.")
        }
        return problems
    }
}

extension EntityDescription {
    /// The names of the composite attributes that are declared here, those in others included.
    public var compositeNames: Set<String> {
        Set(attributes.flatMap(\.name.compositeNames))
    }

    /// Composite attributes that share their name with another property, or have elements of two
    /// entities.
    func compositeProblems(_ entitiesByName: [String: EntityDescription]) -> [String] {
        var problems: [String] = []
        let own = compositeNames
        for ancestor in lineage(entitiesByName) {
            let isSelf = ancestor.name == name
            let theirs = ancestor.compositeNames
            let plain = ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name)
            var clashes = own.intersection(plain)
            if !isSelf {
                clashes.formUnion(own.intersection(theirs))
                clashes.formUnion(theirs.intersection(propertyNames))
            }
            problems += clashes.sorted().map {
                "'\(name).\($0)' is declared twice, once as a composite attribute"
                    + (isSelf ? "." : ": '\(ancestor.name)' has it already.")
            }
        }
        return problems
    }
}

extension String {
    /// Whether this can name an attribute: the name of a property, or names with dots between them.
    var isAttributeName: Bool {
        split(separator: ".", omittingEmptySubsequences: false)
            .allSatisfy { String($0).isPropertyName }
    }

    /// The composite attributes that an attribute of this name lies in, the outermost first.
    package var compositeNames: [String] {
        indices.filter { self[$0] == "." }.map { String(self[..<$0]) }
    }
}

extension ModelMatching {
    /// The same names with those of elements in place of a composite attribute's.
    func expanded(for model: ManagedObjectModel) -> ModelMatching {
        var expanded = self
        for entity in model.entities where !entity.compositeNames.isEmpty {
            var names = properties[entity.name] ?? [:]
            for composite in entity.compositeNames.sorted(by: { $0.count > $1.count }) {
                guard let old = names.removeValue(forKey: composite) else { continue }
                for attribute in entity.attributes where attribute.name.hasPrefix(composite + ".") {
                    let earlier = old + attribute.name.dropFirst(composite.count)
                    names[attribute.name] = names[attribute.name] ?? earlier
                }
            }
            if !names.isEmpty { expanded.properties[entity.name] = names }
        }
        return expanded
    }
}

extension SchemaEntity {
    /// Whether this is the name of a composite attribute, or of one in another.
    package func isComposite(_ name: String) -> Bool { compositeNames.contains(name) }

    /// The elements of a composite attribute, those of composite attributes in it included, by number.
    package func elements(of composite: String) -> [SchemaProperty] {
        properties.filter { $0.name.hasPrefix(composite + ".") }
    }

    /// The property that a path of names begins with, and how many of them are its name: several for an
    /// element of a composite attribute.
    package func property(
        at names: ArraySlice<String>
    ) -> (property: SchemaProperty, count: Int)? {
        var name = ""
        for (index, part) in names.enumerated() {
            name += index == 0 ? part : ".\(part)"
            if let property = property(named: name) { return (property, index + 1) }
            guard isComposite(name) else { return nil }
        }
        return nil
    }

    /// Why names lead to no property.
    package func unknownProperty(at names: ArraySlice<String>) -> QueryError {
        let known = names.indices.prefix {
            isComposite(names[names.startIndex...$0].joined(separator: "."))
        }
        let composite = names.prefix(known.count).joined(separator: ".")
        guard known.count < names.count else { return elementMissing(of: composite) }
        let name = names.prefix(known.count + 1).joined(separator: ".")
        let suggestion = name.suggestion(among: properties.map(\.name))
        return QueryError(
            "'\(self.name)' has no property '\(name)'" + (suggestion.isEmpty ? "." : suggestion))
    }

    /// Why a composite attribute cannot stand where a value is expected.
    func elementMissing(of composite: String, at column: Int? = nil) -> QueryError {
        let element = elements(of: composite).first?.name ?? composite
        return QueryError(
            "'\(composite)' is a composite attribute: name one of its elements, as in '\(element)'.",
            at: column)
    }

    /// The members, with those of its elements in place of each composite attribute that has an
    /// object: `{"address": {"city": "Bern"}}` means the same as `{"address.city": "Bern"}`. Null
    /// means that every element is null.
    ///
    /// - Throws: ``JSONError`` without a location when two members give the same element.
    package func elementMembers(of members: [JSONMember]) throws(JSONError) -> [JSONMember] {
        guard !compositeNames.isEmpty else { return members }
        var result: [JSONMember] = []
        var spellings: [String: String] = [:]
        for member in members {
            for element in try elementMembers(of: member) {
                if let earlier = spellings.updateValue(member.name, forKey: element.name) {
                    let both = [earlier, member.name].map {
                        $0 == element.name ? "as '\($0)'" : "in '\($0)'"
                    }
                    throw JSONError(
                        "'\(element.name)' is given twice, \(both[0]) and \(both[1]). Leave out one."
                    )
                }
                result.append(element)
            }
        }
        return result
    }

    private func elementMembers(of member: JSONMember) throws(JSONError) -> [JSONMember] {
        guard isComposite(member.name) else { return [member] }
        switch member.value {
        case .null: return elements(of: member.name).map { JSONMember($0.name, .null) }
        case .object(let inner):
            return try elementMembers(
                of: inner.map { JSONMember("\(member.name).\($0.name)", $0.value) })
        default: return [member]
        }
    }
}
