// A version of a model in bytes:
//
// | field | bytes |
// |---|---|
// | past | only where there is any: 0, then stages and origins |
// | model | count of its bytes, then the model in its canonical form |
// | next | the next entity, property and constraint number, variable length each |
// | entities | count, then each, from number 1 |
// | indexes | the number of each index over several properties, in the order of entities and of the model |
//
// Stages: a count, then the entry and the name of each. Origins: a count, then, for each
// relationship that replaces another one, its number and the number of the one replaced, by the
// former.
//
// An entity:
//
// | field | bytes |
// |---|---|
// | removed | 1: 1 for an entity that is not in the model any more, else 0 |
// | name | text |
// | properties | count, then name and number of each, in the order of the names |
// | constraints | count, then each in the order of its names: their count, the names, the number |
// | slots | count, then of each: property, since, kind (1), fill |
// | members | count, then property and since of each |
//
// The kind of a slot is 0 while the property is in the model; else 1, plus 2 when the index has records
// of it, 4 when also for objects without a value, 8 for a reference. A fill is 0 and a value, or 1, the
// property whose values are converted, and the type as text.

extension ModelVersion {
    /// Canonical bytes.
    package var canonicalBytes: [UInt8] {
        var writer = ByteWriter(capacity: 2048)
        let model = model.canonicalBytes
        if !stages.isEmpty || !origins.isEmpty { writer.append(stages, origins) }
        writer.append(variable: UInt64(model.count))
        writer.append(raw: model)
        writer.append(variable: UInt64(next.entity))
        writer.append(variable: UInt64(next.property))
        writer.append(variable: UInt64(next.constraint))
        writer.append(variable: UInt64(entities.count))
        for entity in entities { writer.append(entity) }
        let descriptions = self.model.entitiesByName
        for entity in entities where !entity.isRemoved {
            for index in descriptions[entity.name]?.indexes ?? [] {
                writer.append(variable: UInt64(entity.indexes[index] ?? 0))
            }
        }
        return writer.bytes
    }

    /// Reads canonical bytes.
    ///
    /// - Throws: ``DecodingFailure`` when the bytes are not those of a consistent version.
    package init(canonicalBytes bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        var offset = 0
        self = try span.readModelVersion(at: &offset)
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the model")
        }
    }
}

extension ByteWriter {
    fileprivate mutating func append(
        _ stages: [CustomStage], _ origins: [PropertyNumber: PropertyNumber]
    ) {
        // No model has 0 bytes.
        append(variable: 0)
        append(variable: UInt64(stages.count))
        for stage in stages {
            append(variable: stage.entry)
            append(stage.name)
        }
        append(variable: UInt64(origins.count))
        for (later, earlier) in origins.sorted(by: { $0.key < $1.key }) {
            append(variable: UInt64(later.rawValue))
            append(variable: UInt64(earlier.rawValue))
        }
    }

    fileprivate mutating func append(_ entity: NumberedEntity) {
        append(UInt8(entity.isRemoved ? 1 : 0))
        append(entity.name)
        append(variable: UInt64(entity.properties.count))
        for (name, number) in entity.properties.sorted(by: { $0.key < $1.key }) {
            append(name)
            append(variable: UInt64(number.rawValue))
        }
        append(variable: UInt64(entity.constraints.count))
        let constraints = entity.constraints.sorted {
            $0.key.lexicographicallyPrecedes($1.key)
        }
        for (names, number) in constraints {
            append(variable: UInt64(names.count))
            for name in names { append(name) }
            append(variable: UInt64(number))
        }
        append(variable: UInt64(entity.slots.count))
        for slot in entity.slots { append(slot) }
        append(variable: UInt64(entity.members.count))
        for members in entity.members {
            append(variable: UInt64(members.property.rawValue))
            append(variable: members.since)
        }
    }

    private mutating func append(_ slot: NumberedSlot) {
        append(variable: UInt64(slot.property.rawValue))
        append(variable: slot.since)
        append(slot.removed?.byte ?? 0)
        switch slot.fill {
        case .value(let value):
            append(UInt8(0))
            append(value)
        case .converted(let property, let type):
            append(UInt8(1))
            append(variable: UInt64(property.rawValue))
            append(type.rawValue)
        }
    }
}

extension RemovedSlot {
    fileprivate var byte: UInt8 {
        1 | (isIndexed ? 2 : 0) | (indexHoldsNulls ? 4 : 0) | (isReference ? 8 : 0)
    }

    fileprivate init(byte: UInt8) {
        self.init(
            isIndexed: byte & 2 != 0, indexHoldsNulls: byte & 4 != 0, isReference: byte & 8 != 0)
    }
}

extension RawSpan {
    /// Reads a version of a model and checks that it is consistent.
    package func readModelVersion(
        at offset: inout Int
    ) throws(DecodingFailure) -> ModelVersion {
        let start = offset
        var count = try readCount(at: &offset)
        var stages: [CustomStage] = []
        var origins: [PropertyNumber: PropertyNumber] = [:]
        if count == 0 {
            stages = try readStages(at: &offset)
            origins = try readOrigins(at: &offset)
            guard !stages.isEmpty || !origins.isEmpty else {
                throw DecodingFailure(at: start, expected: "a custom stage or an origin")
            }
            count = try readCount(at: &offset)
        }
        let model = try ManagedObjectModel(canonicalBytes: try readBytes(count, at: &offset))
        var next = ModelVersion.NextNumbers()
        next.entity = try readNumber(at: &offset)
        next.property = try readNumber(at: &offset)
        next.constraint = try readNumber(at: &offset)
        var entities: [NumberedEntity] = []
        for index in 0..<(try readCount(at: &offset)) {
            entities.append(
                try readEntity(EntityNumber(rawValue: UInt32(index + 1)), at: &offset))
        }
        let descriptions = model.entitiesByName
        for position in entities.indices where !entities[position].isRemoved {
            for index in descriptions[entities[position].name]?.indexes ?? [] {
                entities[position].indexes[index] = try readNumber(at: &offset)
            }
        }
        let version = ModelVersion(model, entities, next, stages: stages, origins: origins)
        guard version.holdsTogether else {
            throw DecodingFailure(at: start, expected: "a model whose numbers are those it has")
        }
        return version
    }

    private func readStages(at offset: inout Int) throws(DecodingFailure) -> [CustomStage] {
        let start = offset
        var stages: [CustomStage] = []
        for _ in 0..<(try readCount(at: &offset)) {
            let entry = try readVariable(at: &offset)
            guard entry > stages.last?.entry ?? ModelVersion.firstEntry else {
                throw DecodingFailure(at: start, expected: "custom stages in the order of entries")
            }
            stages.append(CustomStage(entry: entry, name: try readText(at: &offset)))
        }
        return stages
    }

    private func readOrigins(
        at offset: inout Int
    ) throws(DecodingFailure) -> [PropertyNumber: PropertyNumber] {
        let start = offset
        var origins: [PropertyNumber: PropertyNumber] = [:]
        var last = PropertyNumber(rawValue: 0)
        for _ in 0..<(try readCount(at: &offset)) {
            let later = PropertyNumber(rawValue: try readNumber(at: &offset))
            let earlier = PropertyNumber(rawValue: try readNumber(at: &offset))
            guard later > last, earlier.rawValue > 0, earlier < later else {
                throw DecodingFailure(at: start, expected: "origins in the order of their numbers")
            }
            origins[later] = earlier
            last = later
        }
        return origins
    }

    private func readNumber(at offset: inout Int) throws(DecodingFailure) -> UInt32 {
        let start = offset
        guard let number = UInt32(exactly: try readVariable(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "a number of four bytes")
        }
        return number
    }

    private func readEntity(
        _ number: EntityNumber, at offset: inout Int
    ) throws(DecodingFailure) -> NumberedEntity {
        let start = offset
        let mark = try readByte(at: &offset)
        guard mark <= 1 else { throw DecodingFailure(at: start, expected: "0 or 1") }
        var entity = NumberedEntity(number: number, name: try readText(at: &offset))
        entity.isRemoved = mark == 1
        for _ in 0..<(try readCount(at: &offset)) {
            let name = try readText(at: &offset)
            entity.properties[name] = PropertyNumber(rawValue: try readNumber(at: &offset))
        }
        for _ in 0..<(try readCount(at: &offset)) {
            var names: [String] = []
            for _ in 0..<(try readCount(at: &offset)) { names.append(try readText(at: &offset)) }
            entity.constraints[names] = try readNumber(at: &offset)
        }
        for _ in 0..<(try readCount(at: &offset)) {
            entity.slots.append(try readSlot(at: &offset))
        }
        for _ in 0..<(try readCount(at: &offset)) {
            let property = PropertyNumber(rawValue: try readNumber(at: &offset))
            entity.members.append(
                NumberedMembers(property: property, since: try readVariable(at: &offset)))
        }
        return entity
    }

    private func readSlot(at offset: inout Int) throws(DecodingFailure) -> NumberedSlot {
        let property = PropertyNumber(rawValue: try readNumber(at: &offset))
        var slot = NumberedSlot(property: property, since: try readVariable(at: &offset))
        let kindStart = offset
        let kind = try readByte(at: &offset)
        guard kind == 0 || (kind & 1 == 1 && kind < 16) else {
            throw DecodingFailure(at: kindStart, expected: "the kind of a field")
        }
        if kind != 0 { slot.removed = RemovedSlot(byte: kind) }
        let fillStart = offset
        switch try readByte(at: &offset) {
        case 0: slot.fill = .value(try readValue(at: &offset))
        case 1:
            let source = PropertyNumber(rawValue: try readNumber(at: &offset))
            let typeStart = offset
            guard let type = AttributeType(rawValue: try readText(at: &offset)) else {
                throw DecodingFailure(at: typeStart, expected: "an attribute type")
            }
            slot.fill = .converted(from: source, to: type)
        default: throw DecodingFailure(at: fillStart, expected: "what older rows have")
        }
        return slot
    }
}

extension ModelVersion {
    /// Whether numbers and model fit together: everything in the model has a number below the next
    /// one, no number is used twice, and the layouts have exactly the properties that need a field.
    fileprivate var holdsTogether: Bool {
        guard !model.isAnyInvalid, model.versioned == model,
            next.entity == UInt32(clamping: entities.count + 1), next.property > 0,
            next.property <= Schema.transientNumberMinimum,
            next.constraint >= SchemaConstraint.compoundNumberMinimum,
            next.constraint <= Schema.entriesNumber,
            origins.keys.allSatisfy({ $0.rawValue < next.property })
        else { return false }
        let live = entities.filter { !$0.isRemoved }
        guard live.map(\.name).sorted() == model.entities.map(\.name) else { return false }
        var numbers: Set<PropertyNumber> = []
        var constraints: Set<UInt32> = []
        let liveByName = Dictionary(
            live.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for description in model.entities {
            guard let entity = liveByName[description.name] else { return false }
            let names = description.attributes.map(\.name) + description.relationships.map(\.name)
            guard Set(names) == Set(entity.properties.keys),
                Set(description.uniquenessConstraints) == Set(entity.constraints.keys),
                Set(description.indexes) == Set(entity.indexes.keys)
            else { return false }
            for number in entity.properties.values {
                guard (1..<next.property).contains(number.rawValue), numbers.insert(number).inserted
                else { return false }
            }
            for number in Array(entity.constraints.values) + entity.indexes.values {
                guard number >= SchemaConstraint.compoundNumberMinimum, number < next.constraint,
                    constraints.insert(number).inserted
                else { return false }
            }
        }
        return hasSoundLayouts
    }

    private var hasSoundLayouts: Bool {
        let compiler = SchemaCompiler(model, entities)
        for entity in entities {
            guard Set(entity.slots.map(\.property)).count == entity.slots.count,
                Set(entity.members.map(\.property)).count == entity.members.count,
                entity.slots.count <= EntityDescription.propertiesMaximum
            else { return false }
            var earlier: Set<PropertyNumber> = []
            for slot in entity.slots {
                // From an earlier field only, so that there is no cycle.
                if case .converted(let source, _) = slot.fill, !earlier.contains(source) {
                    return false
                }
                earlier.insert(slot.property)
            }
            if entity.isRemoved {
                guard entity.properties.isEmpty, entity.constraints.isEmpty,
                    entity.slots.allSatisfy({ $0.removed != nil })
                else { return false }
                continue
            }
            guard let description = compiler.entitiesByName[entity.name] else { return false }
            let properties = compiler.properties(of: description)
            let fields = Set(properties.filter { $0.2.hasSlot }.map(\.0))
            let lists = Set(properties.filter { $0.2.isStoredToMany }.map(\.0))
            guard fields == Set(entity.slots.filter { $0.removed == nil }.map(\.property)),
                lists.isSubset(of: Set(entity.members.map(\.property)))
            else { return false }
        }
        return true
    }
}

extension SchemaProperty.Kind {
    /// Whether this is a to-many relationship whose members are in changes.
    fileprivate var isStoredToMany: Bool {
        guard case .relationship(let relationship, let end) = self else { return false }
        return relationship.isToMany && end.isStored
    }
}

extension ManagedObjectModel {
    fileprivate var isAnyInvalid: Bool {
        do {
            try validate()
            return false
        } catch {
            return true
        }
    }
}
