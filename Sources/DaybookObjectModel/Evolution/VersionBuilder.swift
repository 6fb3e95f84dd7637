/// Makes the version of a model that follows another one.
///
/// Names are matched first, then what has no number gets the next one, then the layouts are extended.
struct VersionBuilder {
    private let old: ModelVersion
    private let oldSchema: Schema
    private let model: ManagedObjectModel
    private let entry: UInt64
    private let matching: ModelMatching
    private var numbered: [NumberedEntity]
    private var next: ModelVersion.NextNumbers
    private let oldNumbers: [String: EntityNumber]
    private var numbers: [String: EntityNumber] = [:]
    private let descriptions: [String: EntityDescription]
    /// Who inherits from whom in the new model.
    private var inheritance: SchemaCompiler?
    /// For a property that takes over the values of earlier ones, the earlier one by entity.
    private var predecessors: [PropertyNumber: [EntityNumber: PropertyNumber]] = [:]
    /// The relationships that need a new number, because their objects are stored in another way.
    private let replaced: Set<PropertyNumber>
    private var origins: [PropertyNumber: PropertyNumber]
    /// What cannot be inferred, a sentence each.
    private(set) var problems: [String] = []

    /// - Parameters:
    ///   - old: The version before; an empty one for none.
    ///   - model: The new model, as a version keeps it.
    ///   - entry: The number of the entry that sets the new version.
    ///   - matching: The names that differ in the old one.
    ///   - replaced: The relationships of the old one that need new numbers.
    init(
        from old: ModelVersion, to model: ManagedObjectModel, in entry: UInt64,
        matching: ModelMatching, replacing replaced: Set<PropertyNumber> = []
    ) {
        self.replaced = replaced
        origins = old.origins
        self.old = old
        oldSchema = Schema(old)
        oldNumbers = Dictionary(
            old.entities.filter { !$0.isRemoved }.map { ($0.name, $0.number) },
            uniquingKeysWith: { first, _ in first })
        self.model = model
        descriptions = model.entitiesByName
        self.entry = entry
        self.matching = matching
        numbered = old.entities
        next = old.next
        numberEntities()
        numberProperties()
        numberConstraints()
        numberIndexes()
        VersionLayout(
            from: old, oldSchema, to: SchemaCompiler(model, numbered), in: entry,
            takingOver: predecessors
        ).layOut(&numbered)
        refuseJoinedEnds()
    }

    /// The resulting version, if there are no ``problems``.
    var version: ModelVersion {
        ModelVersion(model, numbered, next, stages: old.stages, origins: origins)
    }

    // MARK: - Numbers

    private mutating func numberEntities() {
        for index in numbered.indices { numbered[index].isRemoved = true }
        var claims: [EntityNumber: String] = [:]
        for entity in model.entities {
            guard let number = earlier(entity.name) else { continue }
            if let other = claims.updateValue(entity.name, forKey: number) {
                problems.append(
                    "'\(other)' and '\(entity.name)' both say that they were called "
                        + "'\(numbered[index(number)].name)': only one of them can have its objects."
                )
                continue
            }
            numbers[entity.name] = number
        }
        for entity in model.entities {
            if let number = numbers[entity.name] {
                numbered[index(number)].name = entity.name
                numbered[index(number)].isRemoved = false
                continue
            }
            let number = EntityNumber(rawValue: next.entity)
            next.entity += 1
            numbers[entity.name] = number
            numbered.append(NumberedEntity(number: number, name: entity.name))
        }
        if !old.entities.isEmpty { inheritance = SchemaCompiler(model, numbered) }
    }

    /// The entity of the old version that an entity of the new one continues. A name that still
    /// exists means what it meant, whatever the earlier names say.
    private func earlier(_ name: String) -> EntityNumber? {
        if let same = oldNumbers[name] { return same }
        guard let before = matching.earlierName(of: name), descriptions[before] == nil else {
            return nil
        }
        return oldNumbers[before]
    }

    private mutating func numberProperties() {
        var taken: Set<PropertyNumber> = []
        var open: [(entity: EntityNumber, name: String, origin: PropertyNumber?)] = []
        for entity in model.entities {
            guard let number = number(of: entity.name) else { continue }
            let before = old.entity(number)?.properties ?? [:]
            var properties: [String: PropertyNumber] = [:]
            let names = entity.propertyNames
            for name in names {
                let earlier =
                    before[name]
                    ?? matching.earlierName(of: name, in: entity.name).flatMap {
                        names.contains($0) ? nil : before[$0]
                    }
                if let earlier, taken.contains(earlier) {
                    problems.append(
                        "'\(entity.name).\(name)' and another property both say that they were called "
                            + "'\(matching.earlierName(of: name, in: entity.name) ?? name)'.")
                } else if let earlier, keepsNumber(earlier, as: name, of: entity) {
                    properties[name] = earlier
                    taken.insert(earlier)
                } else {
                    let isReplaced = earlier.map(replaced.contains) ?? false
                    open.append((number, name, isReplaced ? earlier : nil))
                }
            }
            numbered[index(number)].properties = properties
        }
        for (entity, name, origin) in open {
            let moved = movedAttribute(name, to: entity, taken: taken)
            if let moved {
                taken.insert(moved)
                numbered[index(entity)].properties[name] = moved
                continue
            }
            let number = PropertyNumber(rawValue: next.property)
            next.property += 1
            numbered[index(entity)].properties[name] = number
            origins[number] = origin
            notePredecessors(of: number, name, in: entity)
        }
    }

    /// A constraint keeps its number if its attributes, inherited ones included, keep theirs,
    /// whatever they are called now: the records of the index hold their values.
    private mutating func numberConstraints() {
        let compiler = SchemaCompiler(model, numbered)
        for entity in model.entities {
            guard let number = number(of: entity.name) else { continue }
            let own = Set(numbered[index(number)].constraints.values)
            let before = (oldSchema.entity(number)?.constraints ?? []).filter {
                own.contains($0.number.rawValue)
            }
            let properties = compiler.properties(of: entity)
            var constraints: [[String]: UInt32] = [:]
            for names in entity.uniquenessConstraints {
                let numbers = Set(properties.filter { names.contains($0.1) }.map(\.0))
                let same = before.first { Set($0.properties.map(\.number)) == numbers }
                if let same {
                    constraints[names] = same.number.rawValue
                } else {
                    constraints[names] = next.constraint
                    next.constraint += 1
                }
            }
            numbered[index(number)].constraints = constraints
        }
    }

    /// An index over several properties keeps its number in the same way, if their directions stay as well.
    private mutating func numberIndexes() {
        let compiler = SchemaCompiler(model, numbered)
        for entity in model.entities {
            guard let number = number(of: entity.name) else { continue }
            let own = Set(numbered[index(number)].indexes.values)
            let before = (oldSchema.entity(number)?.indexes ?? []).filter {
                own.contains($0.number.rawValue)
            }
            let properties = Dictionary(
                compiler.properties(of: entity).map { ($0.1, $0.0) },
                uniquingKeysWith: { first, _ in first })
            var indexes: [IndexDescription: UInt32] = [:]
            for description in entity.indexes {
                let same = before.first { index in
                    index.elements.count == description.elements.count
                        && zip(index.elements, description.elements).allSatisfy { was, now in
                            was.property.number == properties[now.propertyName]
                                && was.isAscending == now.isAscending
                        }
                }
                indexes[description] = same?.number.rawValue ?? next.constraint
                if same == nil { next.constraint += 1 }
            }
            numbered[index(number)].indexes = indexes
        }
    }

    // MARK: - Matching

    /// Whether a property may keep its number: rows store it in the same form.
    private func keepsNumber(
        _ number: PropertyNumber, as name: String, of description: EntityDescription
    ) -> Bool {
        guard let before = oldSchema.property(number), !replaced.contains(number) else {
            return false
        }
        if let attribute = description.attributes.first(where: { $0.name == name }) {
            guard let was = before.attribute else { return false }
            return was.type.storage == attribute.type.storage
                && (was.derivation == nil) == (attribute.derivation == nil)
        }
        return before.relationship != nil
            && description.relationships.contains { $0.name == name }
    }

    /// The number of an attribute that an ancestor or one descendant declared and no longer does.
    private func movedAttribute(
        _ name: String, to entity: EntityNumber, taken: Set<PropertyNumber>
    ) -> PropertyNumber? {
        let candidates = earlierAttributes(name, around: entity)
        let numbers = Set(candidates.values)
        guard numbers.count == 1, let number = numbers.first, !taken.contains(number),
            let attribute = attribute(name, of: entity),
            let before = oldSchema.property(number)?.attribute,
            before.type.storage == attribute.type.storage,
            (before.derivation == nil) == (attribute.derivation == nil),
            !isDeclaredTwice(name, number)
        else { return nil }
        return number
    }

    /// Whether several entities of the new model declare what was one attribute.
    private func isDeclaredTwice(_ name: String, _ number: PropertyNumber) -> Bool {
        let declaring = model.entities.filter { entity in
            guard entity.attributes.contains(where: { $0.name == name }),
                let own = self.number(of: entity.name)
            else { return false }
            return earlierAttributes(name, around: own).values.contains(number)
        }
        return declaring.count > 1
    }

    /// Notes the attributes whose values an attribute with a new number takes over.
    private mutating func notePredecessors(
        of number: PropertyNumber, _ name: String, in entity: EntityNumber
    ) {
        guard let attribute = attribute(name, of: entity), attribute.derivation == nil else {
            return
        }
        predecessors[number] = earlierAttributes(name, around: entity)
    }

    /// For an entity and all that inherit from it, the attribute that each had under a name in the
    /// old version.
    private func earlierAttributes(
        _ name: String, around entity: EntityNumber
    ) -> [EntityNumber: PropertyNumber] {
        let owner = numbered[index(entity)].name
        let earlierName = matching.earlierName(of: name, in: owner)
        var found: [EntityNumber: PropertyNumber] = [:]
        for member in inheritance?.family(of: owner) ?? [] {
            guard let before = oldSchema.entity(member) else { continue }
            let property =
                before.property(named: name)
                ?? earlierName.flatMap { before.property(named: $0) }
            if let property, property.isAttribute, !property.isDerived {
                found[member] = property.number
            }
        }
        return found
    }

    private func attribute(_ name: String, of entity: EntityNumber) -> AttributeDescription? {
        descriptions[numbered[index(entity)].name]?.attributes.first { $0.name == name }
    }

    private func number(of name: String) -> EntityNumber? { numbers[name] }

    private func index(_ number: EntityNumber) -> Int { Int(number.rawValue) - 1 }

    // MARK: - Relationships

    /// The relationships with old numbers whose objects are stored in another way, and those that
    /// become their other ends.
    var reshaped: Set<PropertyNumber> {
        guard !old.entities.isEmpty else { return [] }
        let new = Schema(version)
        var found: Set<PropertyNumber> = []
        for number in new.entities.flatMap(\.numbers.properties.values) {
            guard let was = oldSchema.property(number), let now = new.property(number),
                was.relationship != nil, !was.isKept(as: now)
            else { continue }
            found.insert(number)
            if let other = now.end?.inverse, oldSchema.property(other) != nil {
                found.insert(other)
            }
        }
        return found
    }

    /// Refuses to join two relationships that both have objects.
    private mutating func refuseJoinedEnds() {
        guard !replaced.isEmpty else { return }
        let new = Schema(version)
        for entity in new.entities {
            for (name, number) in entity.numbers.properties.sorted(by: { $0.key < $1.key }) {
                guard let end = new.property(number)?.end, !end.isStored, let other = end.inverse,
                    let origin = origins[number], replaced.contains(origin),
                    let otherOrigin = origins[other], replaced.contains(otherOrigin),
                    oldSchema.property(origin)?.end?.inverse != otherOrigin
                else { continue }
                problems.append(
                    "'\(entity.name).\(name)' would be kept at its other end, where the objects that "
                        + "it has are not: declare another relationship with this inverse, and move "
                        + "them.")
            }
        }
    }
}

extension EntityDescription {
    /// The names of the properties declared here, sorted.
    var propertyNames: [String] {
        (attributes.map(\.name) + relationships.map(\.name)).sorted()
    }
}

extension SchemaProperty {
    /// Whether the objects of a relationship are stored in the same way as those of another.
    fileprivate func isKept(as other: SchemaProperty) -> Bool {
        relationship?.isToMany == other.relationship?.isToMany
            && relationship?.isOrdered == other.relationship?.isOrdered
            && end?.isStored == other.end?.isStored
    }
}
