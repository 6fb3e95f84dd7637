extension ManagedObjectModel {
    /// The first byte of a model. Each model has only one form.
    private enum Form {
        /// A model without optional parts.
        static let plain: UInt8 = 1
        /// A model with optional parts, which flags announce: the uniqueness constraints of several
        /// attributes at the end of each entity, and the configurations at the end of all.
        static let extended: UInt8 = 2
    }

    /// Canonical bytes: the same for two models that differ only in the order of declaration.
    package var canonicalBytes: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        let canonical = canonical
        let isConstrained = canonical.entities.contains { !$0.uniquenessConstraints.isEmpty }
        let isConfigured = !canonical.configurations.isEmpty
        if isConstrained || isConfigured {
            writer.append(Form.extended)
            writer.append(flags: [isConstrained, isConfigured])
        } else {
            writer.append(Form.plain)
        }
        writer.append(variable: UInt64(canonical.entities.count))
        for entity in canonical.entities {
            writer.append(entity.name)
            writer.append(optional: entity.superentityName)
            writer.append(flags: [entity.isAbstract])
            writer.append(variable: UInt64(entity.attributes.count))
            for attribute in entity.attributes { writer.append(attribute) }
            writer.append(variable: UInt64(entity.relationships.count))
            for relationship in entity.relationships { writer.append(relationship) }
            if isConstrained { writer.append(entity.uniquenessConstraints) }
        }
        guard isConfigured else { return writer.bytes }
        writer.append(variable: UInt64(canonical.configurations.count))
        for (name, entities) in canonical.configurations.sorted(by: { $0.key < $1.key }) {
            writer.append(name)
            writer.append(variable: UInt64(entities.count))
            for entity in entities { writer.append(entity) }
        }
        return writer.bytes
    }

    /// Reads canonical bytes.
    package init(canonicalBytes bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        var offset = 0
        let form = try span.readByte(at: &offset)
        guard form == Form.plain || form == Form.extended else {
            throw DecodingFailure(
                at: 0, expected: "a model of form \(Form.plain) or \(Form.extended)")
        }
        let parts = form == Form.extended ? try span.readFlags(2, at: &offset) : [false, false]
        let (isConstrained, isConfigured) = (parts[0], parts[1])
        var entities: [EntityDescription] = []
        for _ in 0..<(try span.readCount(at: &offset)) {
            var entity = EntityDescription(name: try span.readText(at: &offset))
            entity.superentityName = try span.readOptionalText(at: &offset)
            entity.isAbstract = try span.readFlags(1, at: &offset)[0]
            for _ in 0..<(try span.readCount(at: &offset)) {
                entity.attributes.append(try span.readAttribute(at: &offset))
            }
            for _ in 0..<(try span.readCount(at: &offset)) {
                entity.relationships.append(try span.readRelationship(at: &offset))
            }
            if isConstrained {
                entity.uniquenessConstraints = try span.readConstraints(at: &offset)
            }
            entities.append(entity)
        }
        var configurations: [String: [String]] = [:]
        if isConfigured {
            for _ in 0..<(try span.readCount(at: &offset)) {
                let name = try span.readText(at: &offset)
                var entities: [String] = []
                for _ in 0..<(try span.readCount(at: &offset)) {
                    entities.append(try span.readText(at: &offset))
                }
                configurations[name] = entities
            }
        }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the model")
        }
        self.init(entities: entities, configurations: configurations)
    }
}

extension ByteWriter {
    fileprivate mutating func append(flags: [Bool]) {
        append(flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << $1.offset : 0) })
    }

    fileprivate mutating func append(_ constraints: [[String]]) {
        append(variable: UInt64(constraints.count))
        for names in constraints {
            append(variable: UInt64(names.count))
            for name in names { append(name) }
        }
    }

    fileprivate mutating func append(_ attribute: AttributeDescription) {
        append(attribute.name)
        append(attribute.type.rawValue)
        append(flags: [
            attribute.isOptional, attribute.isTransient, attribute.isIndexed, attribute.isUnique,
            !attribute.rules.isEmpty, attribute.isConfidential, attribute.merge != nil,
        ])
        append(attribute.defaultValue)
        if !attribute.rules.isEmpty { append(attribute.rules) }
        if let merge = attribute.merge { append(merge.rawValue) }
    }

    private mutating func append(_ rules: AttributeRules) {
        append(rules.minimum)
        append(rules.maximum)
        append(variable: UInt64(rules.minimumLength))
        append(variable: UInt64(rules.maximumLength))
        append(optional: rules.pattern)
    }

    fileprivate mutating func append(_ relationship: RelationshipDescription) {
        append(relationship.name)
        append(relationship.destinationName)
        append(optional: relationship.inverseName)
        append(flags: [relationship.isToMany, relationship.isOrdered, relationship.isOptional])
        append(relationship.deleteRule.rawValue)
        append(variable: UInt64(relationship.minimumCount))
        append(variable: UInt64(relationship.maximumCount))
    }
}

extension RawSpan {
    fileprivate func readFlags(
        _ count: Int, at offset: inout Int
    ) throws(DecodingFailure) -> [Bool] {
        let start = offset
        let bits = try readByte(at: &offset)
        guard bits >> UInt8(count) == 0 else {
            throw DecodingFailure(at: start, expected: "\(count) flags")
        }
        return (0..<count).map { bits & (1 << $0) != 0 }
    }

    fileprivate func readConstraints(at offset: inout Int) throws(DecodingFailure) -> [[String]] {
        var constraints: [[String]] = []
        for _ in 0..<(try readCount(at: &offset)) {
            var names: [String] = []
            for _ in 0..<(try readCount(at: &offset)) { names.append(try readText(at: &offset)) }
            constraints.append(names)
        }
        return constraints
    }

    fileprivate func readAttribute(
        at offset: inout Int
    ) throws(DecodingFailure) -> AttributeDescription {
        let name = try readText(at: &offset)
        let start = offset
        guard let type = AttributeType(rawValue: try readText(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "an attribute type")
        }
        let flags = try readFlags(7, at: &offset)
        return AttributeDescription(
            name: name, type: type, isOptional: flags[0], isTransient: flags[1],
            isIndexed: flags[2], isUnique: flags[3], isConfidential: flags[5],
            defaultValue: try readValue(at: &offset),
            rules: flags[4] ? try readRules(at: &offset) : AttributeRules(),
            merge: flags[6] ? try readMerge(at: &offset) : nil)
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

    fileprivate func readRelationship(
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
