extension AttributeDescription {
    /// The mistakes in the derivation of a derived attribute, a sentence each.
    package func derivationProblems(
        in entity: EntityDescription, _ entitiesByName: [String: EntityDescription]
    ) -> [String] {
        guard let derivation else { return [] }
        let subject = "'\(entity.name).\(name)'"
        return (ownDerivationProblems + sourceProblems(derivation, in: entity, entitiesByName))
            .map { "\(subject) \($0)" }
    }

    /// The mistakes of a derived attribute that do not depend on its source.
    private var ownDerivationProblems: [String] {
        var problems: [String] = []
        if isTransient { problems.append("is derived and so cannot be transient.") }
        if isUnique { problems.append("is derived and so cannot be unique.") }
        if merge != nil { problems.append("is derived and so has nothing to merge.") }
        if !rules.isEmpty { problems.append("is derived and so cannot have rules.") }
        if !isOptional, defaultValue.isNull {
            problems.append(
                "is derived and mandatory, and needs a default value, which new objects have until "
                    + "they are saved.")
        }
        return problems
    }

    private func sourceProblems(
        _ derivation: Derivation, in entity: EntityDescription,
        _ entitiesByName: [String: EntityDescription]
    ) -> [String] {
        switch derivation {
        case .text(_, let sourceName):
            return problems(
                ofSource: sourceName, in: entity, entitiesByName,
                { $0 == .string && $1 == .string },
                wants: "text from text", isAlwaysThere: true)
        case .count(let relationshipName):
            if let problem = problem(ofRelationship: relationshipName, in: entity, entitiesByName) {
                return [problem]
            }
            guard type.storage != .integer else { return [] }
            return ["counts objects and so must be of an integer type."]
        case .aggregate(let aggregate, let sourceName, let relationshipName):
            if let problem = problem(ofRelationship: relationshipName, in: entity, entitiesByName) {
                return [problem]
            }
            let name = entity.lineage(entitiesByName).flatMap(\.relationships)
                .first { $0.name == relationshipName }?.destinationName
            guard let destination = name.flatMap({ entitiesByName[$0] }) else { return [] }
            return problems(
                ofSource: sourceName, in: destination, entitiesByName,
                { aggregate.gives($1, of: $0) },
                wants: aggregate == .sum
                    ? "a sum from numbers of its own kind" : "a value from values of its own kind",
                isAlwaysThere: aggregate == .sum)
        }
    }

    private func problem(
        ofRelationship name: String, in entity: EntityDescription,
        _ entitiesByName: [String: EntityDescription]
    ) -> String? {
        let relationships = entity.lineage(entitiesByName).flatMap(\.relationships)
        guard let relationship = relationships.first(where: { $0.name == name }) else {
            return "is derived from '\(name)', which is not a relationship of '\(entity.name)'."
        }
        return relationship.isToMany
            ? nil : "is derived from '\(name)', which is not a to-many relationship."
    }

    /// - Parameters:
    ///   - sourceName: The attribute that this one comes from.
    ///   - owner: Its entity.
    ///   - entitiesByName: The model.
    ///   - fits: Whether values of one type give values of another.
    ///   - wants: What is possible.
    ///   - isAlwaysThere: Whether there is a value if every source has one.
    /// - Returns: The rest of a sentence for each mistake.
    private func problems(
        ofSource sourceName: String, in owner: EntityDescription,
        _ entitiesByName: [String: EntityDescription],
        _ fits: (AttributeType, AttributeType) -> Bool, wants: String, isAlwaysThere: Bool
    ) -> [String] {
        let attributes = owner.lineage(entitiesByName).flatMap(\.attributes)
        guard let source = attributes.first(where: { $0.name == sourceName }), !source.isTransient,
            source.derivation == nil
        else {
            return [
                "is derived from '\(sourceName)', which is not an attribute of '\(owner.name)' that is "
                    + "stored and not derived itself."
            ]
        }
        var problems: [String] = []
        if !fits(source.type, type) {
            problems.append(
                "of type '\(type.rawValue)' cannot be derived from '\(sourceName)' of type "
                    + "'\(source.type.rawValue)': there is \(wants).")
        }
        if source.isConfidential, !isConfidential {
            problems.append(
                "is derived from '\(sourceName)', which is confidential, and so must be confidential."
            )
        }
        let isSum = if case .aggregate(.sum, _, _) = derivation { true } else { false }
        if !isOptional, !isAlwaysThere || source.isOptional && !isSum {
            problems.append("must be optional, because there may be nothing to derive it from.")
        }
        return problems
    }
}

extension Derivation.Aggregate {
    /// Whether values of one type give an aggregate of another.
    fileprivate func gives(_ type: AttributeType, of source: AttributeType) -> Bool {
        guard type.storage == source.storage else { return false }
        switch source.storage {
        case .integer, .double, .decimal: return true
        case .date, .text: return self != .sum
        case .bool, .data, .uuid: return false
        }
    }
}
