extension ManagedObjectModel {
    /// The first byte of a model. Each model has only one form.
    private enum Form {
        /// A model without optional parts.
        static let plain: UInt8 = 1
        /// A model with optional parts, which flags announce: the uniqueness constraints of several
        /// attributes at the end of each entity, the configurations at the end of all, then the
        /// annotations of every entity, attribute and relationship, then the derivation of every
        /// attribute, in their order, then what every entry is required to say, then the laws of every
        /// entity, in their order, then the indexes over several properties of every entity, and at last
        /// whether each has an index of changes.
        static let extended: UInt8 = 2
        /// The same, with flags that may announce nothing, and at the very end what entries are indexed by.
        static let findable: UInt8 = 3
    }

    /// Canonical bytes: the same for two models that differ only in the order of declaration.
    package var canonicalBytes: [UInt8] {
        var writer = ByteWriter(capacity: 1024)
        let canonical = canonical
        let isConstrained = canonical.entities.contains { !$0.uniquenessConstraints.isEmpty }
        let isConfigured = !canonical.configurations.isEmpty
        let isAnnotated = canonical.annotations.contains { !$0.isEmpty }
        let derivations = canonical.entities.flatMap { $0.attributes.map(\.derivation) }
        let isDerived = derivations.contains { $0 != nil }
        let isDemanding = !canonical.requires.isEmpty
        let isRuled = canonical.entities.contains { !$0.laws.isEmpty }
        let isIndexed = canonical.entities.contains { !$0.indexes.isEmpty }
        let isTraced = canonical.entities.contains(where: \.indexesChanges)
        let parts = [
            isConstrained, isConfigured, isAnnotated, isDerived, isDemanding, isRuled, isIndexed,
            isTraced,
        ]
        let isFindable = !canonical.indexesEntries.isEmpty
        if isFindable || parts.contains(true) {
            writer.append(isFindable ? Form.findable : Form.extended)
            writer.append(flags: parts)
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
        if isConfigured { writer.append(canonical.configurations) }
        if isAnnotated {
            for annotation in canonical.annotations { writer.append(annotation) }
        }
        if isDerived {
            for derivation in derivations { writer.append(optional: derivation?.description) }
        }
        if isDemanding { writer.append(canonical.requires) }
        if isRuled {
            for entity in canonical.entities { writer.append(entity.laws) }
        }
        if isIndexed {
            for entity in canonical.entities { writer.append(entity.indexes) }
        }
        if isTraced {
            for entity in canonical.entities { writer.append(flags: [entity.indexesChanges]) }
        }
        if isFindable { writer.append(canonical.indexesEntries) }
        return writer.bytes
    }

    /// Reads canonical bytes.
    package init(canonicalBytes bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        var offset = 0
        let form = try span.readByte(at: &offset)
        guard (Form.plain...Form.findable).contains(form) else {
            throw DecodingFailure(
                at: 0, expected: "a model of form \(Form.plain) to \(Form.findable)")
        }
        let parts =
            form == Form.plain
            ? Array(repeating: false, count: 8) : try span.readFlags(8, at: &offset)
        let (isConstrained, isConfigured, isAnnotated) = (parts[0], parts[1], parts[2])
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
        let configurations =
            isConfigured ? try span.readConfigurations(at: &offset) : [:]
        if isAnnotated { try span.readAnnotations(of: &entities, at: &offset) }
        if parts[3] { try span.readDerivations(of: &entities, at: &offset) }
        let requires = parts[4] ? try span.readRequirements(at: &offset) : []
        if parts[5] { try span.readLaws(of: &entities, at: &offset) }
        if parts[6] {
            for index in entities.indices {
                entities[index].indexes = try span.readIndexes(at: &offset)
            }
        }
        if parts[7] { try span.readIndexesOfChanges(of: &entities, at: &offset) }
        let indexesEntries =
            form == Form.findable ? try span.readIndexedAttribution(at: &offset) : []
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the model")
        }
        self.init(
            entities: entities, configurations: configurations, requires: requires,
            indexesEntries: indexesEntries)
    }
}

/// What any description may have and a store ignores.
struct ModelAnnotation {
    var versionHashModifier: String?
    var userInfo: [String: String]

    var isEmpty: Bool { versionHashModifier == nil && userInfo.isEmpty }
}

extension ManagedObjectModel {
    /// The annotations of each entity, then of its attributes, then of its relationships.
    private var annotations: [ModelAnnotation] {
        entities.flatMap { entity in
            [
                ModelAnnotation(
                    versionHashModifier: entity.versionHashModifier, userInfo: entity.userInfo)
            ]
                + entity.attributes.map {
                    ModelAnnotation(
                        versionHashModifier: $0.versionHashModifier, userInfo: $0.userInfo)
                }
                + entity.relationships.map {
                    ModelAnnotation(
                        versionHashModifier: $0.versionHashModifier, userInfo: $0.userInfo)
                }
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(_ configurations: [String: [String]]) {
        append(variable: UInt64(configurations.count))
        for (name, entities) in configurations.sorted(by: { $0.key < $1.key }) {
            append(name)
            append(variable: UInt64(entities.count))
            for entity in entities { append(entity) }
        }
    }

    /// A count, then 0 for an author, 1 for a note, and 2 and the key for information.
    fileprivate mutating func append(_ requirements: Set<AttributionRequirement>) {
        append(variable: UInt64(requirements.count))
        for requirement in requirements.ordered {
            switch requirement {
            case .author: append(UInt8(0))
            case .note: append(UInt8(1))
            case .info(let key):
                append(UInt8(2))
                append(key)
            }
        }
    }

    /// A count, then 0 for the author, and 1 and the key for information.
    fileprivate mutating func append(_ indexed: Set<IndexedAttribution>) {
        append(variable: UInt64(indexed.count))
        for attribution in indexed.ordered {
            switch attribution {
            case .author: append(UInt8(0))
            case .info(let key):
                append(UInt8(1))
                append(key)
            }
        }
    }

    /// A count, then the name and the rule of each.
    fileprivate mutating func append(_ laws: [LawDescription]) {
        append(variable: UInt64(laws.count))
        for law in laws {
            append(law.name)
            append(law.rule)
        }
    }

    fileprivate mutating func append(_ annotation: ModelAnnotation) {
        append(optional: annotation.versionHashModifier)
        append(variable: UInt64(annotation.userInfo.count))
        for (name, text) in annotation.userInfo.sorted(by: { $0.key < $1.key }) {
            append(name)
            append(text)
        }
    }

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

    /// A count, then for each index the count of its elements, and of each the name and whether it descends.
    fileprivate mutating func append(_ indexes: [IndexDescription]) {
        append(variable: UInt64(indexes.count))
        for index in indexes {
            append(variable: UInt64(index.elements.count))
            for element in index.elements {
                append(element.propertyName)
                append(flags: [!element.isAscending])
            }
        }
    }

    fileprivate mutating func append(_ attribute: AttributeDescription) {
        append(attribute.name)
        append(attribute.type.rawValue)
        append(flags: [
            attribute.isOptional, attribute.isTransient, attribute.isIndexed, attribute.isUnique,
            !attribute.rules.isEmpty, attribute.isConfidential, attribute.merge != nil,
            attribute.isSet,
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
