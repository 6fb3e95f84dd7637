extension ManagedObjectModel {
    /// Checks names, inheritance, default values, rules, merge strategies, derivations,
    /// uniqueness constraints and laws, and that relationships fit together.
    ///
    /// - Throws: ``ModelError`` with a sentence for every mistake found.
    public func validate() throws(ModelError) {
        var problems: [String] = []
        var names: Set<String> = []
        for entity in entities {
            if !entity.name.isPropertyName {
                problems.append(
                    "An entity cannot be called '\(entity.name)': a name is a letter, then letters, "
                        + "digits and underscores.")
            }
            if !names.insert(entity.name).inserted {
                problems.append("There are two entities called '\(entity.name)'.")
            }
        }
        let entitiesByName = entitiesByName
        for (configuration, names) in configurations.sorted(by: { $0.key < $1.key }) {
            for name in names where entitiesByName[name] == nil {
                problems.append(
                    "The configuration '\(configuration)' has an entity '\(name)', which is not in "
                        + "the model.")
            }
        }
        problems += requires.problems + indexesEntries.problems
        problems += inheritanceProblems(entitiesByName)
        if problems.isEmpty {
            for entity in entities {
                problems += entity.propertyProblems(entitiesByName)
            }
        }
        if problems.isEmpty { problems += lawProblems }
        if !problems.isEmpty { throw ModelError(problems) }
    }

    /// The mistakes in inheritance. Of the entities that inherit over too many levels only the
    /// first is named: all that inherit from it would follow.
    private func inheritanceProblems(
        _ entitiesByName: [String: EntityDescription]
    ) -> [String] {
        var problems: [String] = []
        var hasDeepOne = false
        for entity in entities {
            switch entity.ancestry(entitiesByName) {
            case .sound: continue
            case .flawed(let problem): problems.append(problem)
            case .tooDeep:
                if hasDeepOne { continue }
                hasDeepOne = true
                problems.append(
                    "'\(entity.name)' inherits over more than \(EntityDescription.levelsMaximum) "
                        + "levels.")
            }
        }
        return problems
    }
}

extension EntityDescription {
    /// The maximal number of levels of inheritance. Each entity has all properties of those above
    /// it, so a longer chain would cost the square of its length.
    package static let levelsMaximum = 100

    /// The maximal number of properties of an entity, inherited ones included: the maximal number
    /// of fields of a row.
    static let propertiesMaximum = 65_535

    fileprivate enum Ancestry {
        case sound
        case flawed(String)
        case tooDeep
    }

    fileprivate func ancestry(_ entitiesByName: [String: EntityDescription]) -> Ancestry {
        var seen: Set<String> = [name]
        var current = self
        while let name = current.superentityName {
            guard let next = entitiesByName[name] else {
                return .flawed(
                    "'\(current.name)' inherits from '\(name)', which is not in the model.")
            }
            guard seen.insert(name).inserted else {
                return .flawed("'\(self.name)' inherits from itself.")
            }
            if seen.count > Self.levelsMaximum + 1 { return .tooDeep }
            current = next
        }
        return .sound
    }
}

extension EntityDescription {
    /// The entity itself and its superentities, nearest first.
    ///
    /// It is also asked of models that are not validated yet: one that goes round in circles has no end.
    func lineage(_ entitiesByName: [String: EntityDescription]) -> [EntityDescription] {
        var line = [self]
        while line.count <= Self.levelsMaximum, let name = line.last?.superentityName,
            let next = entitiesByName[name]
        {
            line.append(next)
        }
        return line
    }

    /// The attribute that the entity, or the nearest one it inherits from, names as the one by whose values people
    /// know the objects.
    func displayPropertyName(_ entitiesByName: [String: EntityDescription]) -> String? {
        lineage(entitiesByName).lazy.compactMap { $0.userInfo[Self.displayPropertyKey] }.first
    }

    fileprivate func propertyProblems(
        _ entitiesByName: [String: EntityDescription]
    ) -> [String] {
        var problems: [String] = []
        var seen: [String: String] = [:]
        for ancestor in lineage(entitiesByName).reversed() {
            for property in ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name) {
                if let other = seen[property], ancestor.name == name {
                    problems.append(
                        "'\(name).\(property)' is declared twice"
                            + (other == name ? "." : ": '\(other)' has it already."))
                }
                seen[property] = ancestor.name
            }
        }
        if seen.count > Self.propertiesMaximum {
            problems.append(
                "'\(name)' has \(seen.count) properties, including those that it inherits; it can have "
                    + "\(Self.propertiesMaximum).")
        }
        problems += compositeProblems(entitiesByName)
        for attribute in attributes {
            problems += attribute.problems(in: self)
        }
        for attribute in attributes where attribute.derivation != nil {
            problems += attribute.derivationProblems(in: self, entitiesByName)
        }
        for relationship in relationships {
            problems += relationship.problems(in: self, entitiesByName)
        }
        return problems + constraintProblems(entitiesByName) + indexProblems(entitiesByName)
            + displayProblems(entitiesByName)
    }

    private func displayProblems(_ entitiesByName: [String: EntityDescription]) -> [String] {
        guard let property = userInfo[Self.displayPropertyKey],
            !lineage(entitiesByName).flatMap(\.attributes).contains(where: {
                $0.name == property && !$0.isTransient
            })
        else { return [] }
        return [
            "The '\(Self.displayPropertyKey)' of '\(name)' is '\(property)', which is not a stored "
                + "attribute of it."
        ]
    }

    private func constraintProblems(
        _ entitiesByName: [String: EntityDescription]
    ) -> [String] {
        let attributes = lineage(entitiesByName).flatMap(\.attributes)
        var problems: [String] = []
        for names in uniquenessConstraints {
            if names.isEmpty || Set(names).count != names.count {
                problems.append(
                    "A uniqueness constraint of '\(name)' names no attribute, or one twice.")
            }
            for attributeName in names {
                let attribute = attributes.first { $0.name == attributeName }
                guard let attribute, !attribute.isTransient, attribute.type != .codable else {
                    problems.append(
                        "A uniqueness constraint of '\(name)' names '\(attributeName)', which is "
                            + "not an attribute that can be unique.")
                    continue
                }
                if attribute.derivation != nil {
                    problems.append(
                        "A uniqueness constraint of '\(name)' names '\(attributeName)', which is "
                            + "derived and so cannot be unique.")
                }
                if let merge = attribute.merge {
                    problems.append(
                        "A uniqueness constraint of '\(name)' names '\(attributeName)', which is "
                            + "merged by '\(merge.rawValue)': what two sides merge to may belong to "
                            + "another object. Leave out one of the two.")
                }
            }
        }
        return problems
    }
}

extension AttributeDescription {
    fileprivate func problems(in entity: EntityDescription) -> [String] {
        let subject = "'\(entity.name).\(name)'"
        var problems = nameProblems(in: entity)
        if type == .data, let count = defaultValue.dataCount, count > LargeData.inlineBytesMaximum {
            problems.append(
                "The default value of \(subject) has \(count) bytes, and a model keeps no more than "
                    + "\(LargeData.inlineBytesMaximum) of one. Leave it out, and set the value of "
                    + "each new object.")
        } else if !defaultValue.isNull, let objection = type.objection(to: defaultValue) {
            problems.append("The default value of \(subject) does not fit: it \(objection).")
        }
        if isTransient, isIndexed || isUnique {
            problems.append("\(subject) is transient and so cannot be indexed or unique.")
        }
        if type == .codable, isIndexed || isUnique {
            problems.append("\(subject) holds coded values and so cannot be indexed or unique.")
        }
        if type != .codable, isSet {
            problems.append(
                "\(subject) is of type '\(type.rawValue)' and declared as a set, but only coded values "
                    + "can be sets.")
        }
        if !defaultValue.isNull, isUnique || entity.uniquenessConstraints.contains([name]) {
            problems.append(
                "\(subject) is unique and has a default value, which only one object could keep. Leave "
                    + "the default value out, or have it made for each object.")
        }
        problems += rules.problems(for: type).map { "\(subject) \($0)" }
        problems += merge?.problems(for: self).map { "\(subject) \($0)" } ?? []
        return problems
    }
}

extension RelationshipDescription {
    fileprivate func problems(
        in entity: EntityDescription, _ entitiesByName: [String: EntityDescription]
    ) -> [String] {
        let subject = "'\(entity.name).\(name)'"
        var problems: [String] = []
        if !name.isPropertyName {
            problems.append(
                "\(subject) has no usable name: a name is a letter, then letters, digits and "
                    + "underscores.")
        }
        if isOrdered, !isToMany {
            problems.append("\(subject) is ordered, which only a to-many relationship can be.")
        }
        if minimumCount < 0 || maximumCount < 0 || (maximumCount > 0 && minimumCount > maximumCount)
        {
            problems.append("\(subject) has a minimum count above its maximum count.")
        }
        guard let destination = entitiesByName[destinationName] else {
            problems.append("\(subject) leads to '\(destinationName)', which is not in the model.")
            return problems
        }
        guard let inverseName else { return problems }
        let candidates = destination.lineage(entitiesByName).flatMap(\.relationships)
        guard let inverse = candidates.first(where: { $0.name == inverseName }) else {
            problems.append(
                "The inverse of \(subject) is '\(destinationName).\(inverseName)', which is not in the "
                    + "model.")
            return problems
        }
        if inverse.inverseName != name {
            problems.append(
                "\(subject) names '\(destinationName).\(inverseName)' as its inverse, which names "
                    + (inverse.inverseName.map { "'\($0)'" } ?? "none") + ".")
        }
        if inverse.destinationName != entity.name {
            problems.append(
                "The inverse of \(subject), '\(destinationName).\(inverseName)', leads to "
                    + "'\(inverse.destinationName)' instead of '\(entity.name)'.")
        }
        if isOrdered, inverse.isOrdered {
            problems.append("\(subject) and its inverse cannot both be ordered.")
        }
        return problems
    }
}

extension String {
    /// Whether this can name an entity or property, in predicates as well as in code.
    package var isPropertyName: Bool {
        guard let first = unicodeScalars.first, first.properties.isAlphabetic else { return false }
        return unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_"
        }
    }
}
