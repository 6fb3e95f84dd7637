extension ManagedObjectModel {
    /// The differences from another model, a sentence each; empty when both mean the same.
    ///
    /// Transient attributes do not count, because they are not stored; neither do the order of
    /// declaration and the configurations, which only assign entities to stores, nor
    /// confidentiality and default values, which do not affect stored data.
    package func differences(from stored: ManagedObjectModel) -> [String] {
        let ours = entitiesByName
        let theirs = stored.entitiesByName
        var found: [String] = []
        for name in Set(ours.keys).union(theirs.keys).sorted() {
            switch (ours[name], theirs[name]) {
            case (let ours?, let theirs?): found += ours.differences(from: theirs)
            case (_?, nil): found.append("Entity '\(name)' is not in the store.")
            default: found.append("Entity '\(name)' of the store is missing.")
            }
        }
        for attribution in indexesEntries.subtracting(stored.indexesEntries).ordered {
            found.append("Entries are indexed by \(attribution.noun), but not in the store.")
        }
        for attribution in stored.indexesEntries.subtracting(indexesEntries).ordered {
            found.append("Entries are not indexed by \(attribution.noun), but are in the store.")
        }
        return found
    }
}

extension EntityDescription {
    fileprivate func differences(from stored: EntityDescription) -> [String] {
        var found: [String] = []
        func compare(_ what: String, _ ours: String, _ theirs: String) {
            guard ours != theirs else { return }
            found.append("'\(name)\(what)' is \(ours), but \(theirs) in the store.")
        }
        compare(
            "", isAbstract ? "abstract" : "concrete", stored.isAbstract ? "abstract" : "concrete")
        compare(
            "", superentityName.map { "a kind of '\($0)'" } ?? "without a superentity",
            stored.superentityName.map { "a kind of '\($0)'" } ?? "without a superentity")
        compare("", constraintsText, stored.constraintsText)
        compare("", lawsText, stored.lawsText)
        compare("", indexesText, stored.indexesText)
        compare("", changesText, stored.changesText)
        let ours = traits
        let theirs = stored.traits
        for property in Set(ours.keys).union(theirs.keys).sorted() {
            switch (ours[property], theirs[property]) {
            case (let ours?, let theirs?):
                for (one, other) in zip(ours, theirs) { compare(".\(property)", one, other) }
            case (_?, nil): found.append("'\(name).\(property)' is not in the store.")
            default: found.append("'\(name).\(property)' of the store is missing.")
            }
        }
        return found
    }

    /// The uniqueness constraints, in words.
    private var constraintsText: String {
        guard !uniquenessConstraints.isEmpty else { return "without a uniqueness constraint" }
        let texts = uniquenessConstraints.map { "(" + $0.sorted().joined(separator: ", ") + ")" }
        return "unique by " + texts.sorted().joined(separator: " and ")
    }

    /// The laws, in words.
    private var lawsText: String {
        guard !laws.isEmpty else { return "without a law" }
        let texts = laws.map { "\(ReadableText.quoted($0.name)): \($0.rule)" }
        return "under the \(texts.count == 1 ? "law" : "laws") "
            + texts.sorted().joined(separator: " and ")
    }

    /// The indexes over several properties, in words.
    private var indexesText: String {
        guard !indexes.isEmpty else { return "without an index over several properties" }
        return "indexed by " + indexes.map { "(\($0.text))" }.sorted().joined(separator: " and ")
    }

    /// Whether there is an index of changes, in words.
    private var changesText: String { "with\(indexesChanges ? "" : "out") an index of changes" }

    /// The relevant traits of each persistent property, in words.
    private var traits: [String: [String]] {
        var traits: [String: [String]] = [:]
        for attribute in attributes where !attribute.isTransient {
            traits[attribute.name] = [
                "of type \(attribute.type.rawValue)",
                attribute.isOptional ? "optional" : "mandatory",
                attribute.isUnique ? "unique" : "not unique",
                attribute.isIndexed ? "indexed" : "not indexed",
                attribute.merge.map { "merged by \($0.rawValue)" } ?? "without a merge strategy",
                attribute.isSet ? "a set" : "not a set",
                attribute.derivation.map { "derived from '\($0)'" } ?? "not derived",
            ]
            traits[attribute.name]? += attribute.rules.traits
        }
        for relationship in relationships {
            traits[relationship.name] = [
                "a relationship to '\(relationship.destinationName)'",
                relationship.isToMany ? "to many" : "to one",
                relationship.isOrdered ? "ordered" : "not ordered",
                relationship.isOptional ? "optional" : "mandatory",
                relationship.inverseName.map { "the inverse of '\($0)'" } ?? "without an inverse",
                "under the delete rule \(relationship.deleteRule.rawValue)",
                "of at least \(relationship.minimumCount) objects",
                relationship.maximumCount == 0
                    ? "without a greatest count"
                    : "of at most \(relationship.maximumCount) objects",
            ]
        }
        return traits
    }
}

extension AttributeRules {
    /// The rules, in words.
    fileprivate var traits: [String] {
        [
            minimum.isNull ? "without a minimum" : "of at least \(minimum)",
            maximum.isNull ? "without a maximum" : "of at most \(maximum)",
            minimumLength == 0 ? "of any least length" : "at least \(minimumLength) long",
            maximumLength == 0 ? "of any greatest length" : "at most \(maximumLength) long",
            pattern.map { "described by the pattern '\($0)'" } ?? "without a pattern",
        ]
    }
}
