// How the parts of a model's canonical bytes are read, each as `ManagedObjectModel+Coding` writes it.

extension RawSpan {
    func readConfigurations(
        at offset: inout Int
    ) throws(DecodingFailure) -> [String: [String]] {
        var configurations: [String: [String]] = [:]
        for _ in 0..<(try readCount(at: &offset)) {
            let name = try readText(at: &offset)
            var entities: [String] = []
            for _ in 0..<(try readCount(at: &offset)) {
                entities.append(try readText(at: &offset))
            }
            configurations[name] = entities
        }
        return configurations
    }

    func readRequirements(
        at offset: inout Int
    ) throws(DecodingFailure) -> Set<AttributionRequirement> {
        let start = offset
        var requirements: [AttributionRequirement] = []
        for _ in 0..<(try readCount(at: &offset)) {
            switch try readByte(at: &offset) {
            case 0: requirements.append(.author)
            case 1: requirements.append(.note)
            case 2: requirements.append(.info(try readText(at: &offset)))
            default: throw DecodingFailure(at: start, expected: "what entries are to say")
            }
        }
        let distinct = Set(requirements)
        guard !requirements.isEmpty, distinct.ordered == requirements else {
            throw DecodingFailure(at: start, expected: "what entries are to say, once and in order")
        }
        return distinct
    }

    func readIndexedAttribution(
        at offset: inout Int
    ) throws(DecodingFailure) -> Set<IndexedAttribution> {
        let start = offset
        var indexed: [IndexedAttribution] = []
        for _ in 0..<(try readCount(at: &offset)) {
            switch try readByte(at: &offset) {
            case 0: indexed.append(.author)
            case 1: indexed.append(.info(try readText(at: &offset)))
            default: throw DecodingFailure(at: start, expected: "what entries are indexed by")
            }
        }
        let distinct = Set(indexed)
        guard !indexed.isEmpty, distinct.ordered == indexed else {
            throw DecodingFailure(
                at: start, expected: "what entries are indexed by, once and in order")
        }
        return distinct
    }

    func readAnnotations(
        of entities: inout [EntityDescription], at offset: inout Int
    ) throws(DecodingFailure) {
        for index in entities.indices {
            let own = try readAnnotation(at: &offset)
            entities[index].versionHashModifier = own.versionHashModifier
            entities[index].userInfo = own.userInfo
            for attribute in entities[index].attributes.indices {
                let read = try readAnnotation(at: &offset)
                entities[index].attributes[attribute].versionHashModifier =
                    read.versionHashModifier
                entities[index].attributes[attribute].userInfo = read.userInfo
            }
            for relationship in entities[index].relationships.indices {
                let read = try readAnnotation(at: &offset)
                entities[index].relationships[relationship].versionHashModifier =
                    read.versionHashModifier
                entities[index].relationships[relationship].userInfo = read.userInfo
            }
        }
    }

    func readDerivations(
        of entities: inout [EntityDescription], at offset: inout Int
    ) throws(DecodingFailure) {
        for index in entities.indices {
            for attribute in entities[index].attributes.indices {
                let start = offset
                guard let text = try readOptionalText(at: &offset) else { continue }
                guard let derivation = Derivation(text), derivation.description == text else {
                    throw DecodingFailure(at: start, expected: "a derivation")
                }
                entities[index].attributes[attribute].derivation = derivation
            }
        }
    }

    func readLaws(
        of entities: inout [EntityDescription], at offset: inout Int
    ) throws(DecodingFailure) {
        let start = offset
        for index in entities.indices {
            for _ in 0..<(try readCount(at: &offset)) {
                let name = try readText(at: &offset)
                let rule = try readText(at: &offset)
                if let last = entities[index].laws.last, last.name >= name {
                    throw DecodingFailure(at: start, expected: "laws in the order of their names")
                }
                entities[index].laws.append(LawDescription(name, rule))
            }
        }
        guard entities.contains(where: { !$0.laws.isEmpty }) else {
            throw DecodingFailure(at: start, expected: "at least one law")
        }
    }

    func readIndexesOfChanges(
        of entities: inout [EntityDescription], at offset: inout Int
    ) throws(DecodingFailure) {
        let start = offset
        for index in entities.indices {
            entities[index].indexesChanges = try readFlags(1, at: &offset)[0]
        }
        guard entities.contains(where: \.indexesChanges) else {
            throw DecodingFailure(at: start, expected: "at least one index of changes")
        }
    }

    private func readAnnotation(at offset: inout Int) throws(DecodingFailure) -> ModelAnnotation {
        let modifier = try readOptionalText(at: &offset)
        var info: [String: String] = [:]
        for _ in 0..<(try readCount(at: &offset)) {
            let name = try readText(at: &offset)
            info[name] = try readText(at: &offset)
        }
        return ModelAnnotation(versionHashModifier: modifier, userInfo: info)
    }

    func readFlags(
        _ count: Int, at offset: inout Int
    ) throws(DecodingFailure) -> [Bool] {
        let start = offset
        let bits = try readByte(at: &offset)
        guard bits >> UInt8(count) == 0 else {
            throw DecodingFailure(at: start, expected: "\(count) flags")
        }
        return (0..<count).map { bits & (1 << $0) != 0 }
    }

    func readConstraints(at offset: inout Int) throws(DecodingFailure) -> [[String]] {
        var constraints: [[String]] = []
        for _ in 0..<(try readCount(at: &offset)) {
            var names: [String] = []
            for _ in 0..<(try readCount(at: &offset)) { names.append(try readText(at: &offset)) }
            constraints.append(names)
        }
        return constraints
    }

    func readIndexes(
        at offset: inout Int
    ) throws(DecodingFailure) -> [IndexDescription] {
        var indexes: [IndexDescription] = []
        for _ in 0..<(try readCount(at: &offset)) {
            var elements: [IndexDescription.Element] = []
            for _ in 0..<(try readCount(at: &offset)) {
                let name = try readText(at: &offset)
                let isDescending = try readFlags(1, at: &offset)[0]
                elements.append(IndexDescription.Element(name, isAscending: !isDescending))
            }
            indexes.append(IndexDescription(elements))
        }
        return indexes
    }

    func readAttribute(
        at offset: inout Int
    ) throws(DecodingFailure) -> AttributeDescription {
        let name = try readText(at: &offset)
        let start = offset
        guard let type = AttributeType(rawValue: try readText(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "an attribute type")
        }
        let flags = try readFlags(8, at: &offset)
        return AttributeDescription(
            name: name, type: type, isOptional: flags[0], isTransient: flags[1],
            isIndexed: flags[2], isUnique: flags[3], isConfidential: flags[5],
            defaultValue: try readValue(at: &offset),
            rules: flags[4] ? try readRules(at: &offset) : AttributeRules(),
            merge: flags[6] ? try readMerge(at: &offset) : nil, isSet: flags[7])
    }

    private func readMerge(at offset: inout Int) throws(DecodingFailure) -> MergeStrategy {
        let start = offset
        guard let merge = MergeStrategy(rawValue: try readText(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "a merge strategy")
        }
        return merge
    }

    private func readRules(at offset: inout Int) throws(DecodingFailure) -> AttributeRules {
        let start = offset
        let rules = AttributeRules(
            minimum: try readValue(at: &offset), maximum: try readValue(at: &offset),
            minimumLength: Int(clamping: try readVariable(at: &offset)),
            maximumLength: Int(clamping: try readVariable(at: &offset)),
            pattern: try readOptionalText(at: &offset))
        guard !rules.isEmpty else { throw DecodingFailure(at: start, expected: "a rule") }
        return rules
    }

    func readRelationship(
        at offset: inout Int
    ) throws(DecodingFailure) -> RelationshipDescription {
        let name = try readText(at: &offset)
        let destinationName = try readText(at: &offset)
        let inverseName = try readOptionalText(at: &offset)
        let flags = try readFlags(3, at: &offset)
        let start = offset
        guard let deleteRule = DeleteRule(rawValue: try readText(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "a delete rule")
        }
        return RelationshipDescription(
            name: name, destinationName: destinationName, inverseName: inverseName,
            isToMany: flags[0], isOrdered: flags[1], isOptional: flags[2], deleteRule: deleteRule,
            minimumCount: Int(clamping: try readVariable(at: &offset)),
            maximumCount: Int(clamping: try readVariable(at: &offset)))
    }
}
