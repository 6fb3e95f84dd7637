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
    /// For a property that takes over the values of earlier ones: in which entity it follows which.
    private var predecessors: [PropertyNumber: [EntityNumber: PropertyNumber]] = [:]
    /// What cannot be done without being told how.
    private(set) var problems: [String] = []

    /// - Parameters:
    ///   - old: The version before; an empty one for none.
    ///   - model: The new model, as a version keeps it.
    ///   - entry: The number of the entry that sets the new version.
    ///   - matching: What is called by another name in the old one.
    init(
        from old: ModelVersion, to model: ManagedObjectModel, in entry: UInt64,
        matching: ModelMatching
    ) {
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
        layOut()
        refuseMovedSides()
    }

    /// The version that comes out, if there are no ``problems``.
    var version: ModelVersion { ModelVersion(model, numbered, next, stages: old.stages) }

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

    /// The entity of the old version that one of the new version was. A name that is still there means
    /// what it meant, whatever else is said.
    private func earlier(_ name: String) -> EntityNumber? {
        if let same = oldNumbers[name] { return same }
        guard let before = matching.earlierName(of: name), descriptions[before] == nil else {
            return nil
        }
        return oldNumbers[before]
    }

    private mutating func numberProperties() {
        var taken: Set<PropertyNumber> = []
        var open: [(EntityNumber, String)] = []
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
                } else if let earlier, keepsNumber(earlier, in: number, as: name, of: entity) {
                    properties[name] = earlier
                    taken.insert(earlier)
                } else {
                    open.append((number, name))
                }
            }
            numbered[index(number)].properties = properties
        }
        for (entity, name) in open {
            let moved = movedAttribute(name, to: entity, taken: taken)
            if let moved {
                taken.insert(moved)
                numbered[index(entity)].properties[name] = moved
                continue
            }
            let number = PropertyNumber(rawValue: next.property)
            next.property += 1
            numbered[index(entity)].properties[name] = number
            notePredecessors(of: number, name, in: entity)
        }
    }

    private mutating func numberConstraints() {
        let compiler = SchemaCompiler(model, numbered)
        for entity in model.entities {
            guard let number = number(of: entity.name) else { continue }
            let before = numbered[index(number)].constraints
            let earlierNames = (matching.properties[entity.name] ?? [:])
            var constraints: [[String]: UInt32] = [:]
            for names in entity.uniquenessConstraints {
                let earlier = names.map { earlierNames[$0] ?? $0 }.sorted()
                if let same = before[names] ?? before[earlier],
                    keepsAttributes(names, of: number, compiler)
                {
                    constraints[names] = same
                } else {
                    constraints[names] = next.constraint
                    next.constraint += 1
                }
            }
            numbered[index(number)].constraints = constraints
        }
    }

    /// Whether the attributes of a constraint, inherited ones included, have the numbers that they had;
    /// records of the index are of their values.
    private func keepsAttributes(
        _ names: [String], of entity: EntityNumber, _ compiler: SchemaCompiler
    ) -> Bool {
        guard let description = descriptions[numbered[index(entity)].name] else { return false }
        let now = compiler.properties(of: description)
        let before = Set(oldSchema.entity(entity)?.properties.map(\.number) ?? [])
        return names.allSatisfy { name in
            now.first { $0.1 == name }.map { before.contains($0.0) } ?? false
        }
    }

    // MARK: - Matching

    /// Whether a property may keep its number: what rows have of it is what they would have.
    private mutating func keepsNumber(
        _ number: PropertyNumber, in entity: EntityNumber, as name: String,
        of description: EntityDescription
    ) -> Bool {
        guard let before = oldSchema.property(number) else { return false }
        let title = "'\(description.name).\(name)'"
        if let attribute = description.attributes.first(where: { $0.name == name }) {
            guard let was = before.attribute else { return false }
            return was.type.storage == attribute.type.storage
                && (was.derivation == nil) == (attribute.derivation == nil)
        }
        guard let relationship = description.relationships.first(where: { $0.name == name }),
            let was = before.relationship
        else { return false }
        if was.isToMany != relationship.isToMany || was.isOrdered != relationship.isOrdered {
            problems.append(
                "\(title) becomes \(relationship.kindText), which needs to be told what becomes of "
                    + "the objects at the other end: declare another relationship, and move them in "
                    + "a custom stage.")
        }
        return true
    }

    /// The number of an attribute that was declared by an ancestor or one descendant, and is declared
    /// there no more.
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

    /// For an attribute that is new under its number, the attributes whose values it takes over.
    private mutating func notePredecessors(
        of number: PropertyNumber, _ name: String, in entity: EntityNumber
    ) {
        guard let attribute = attribute(name, of: entity), attribute.derivation == nil else {
            return
        }
        predecessors[number] = earlierAttributes(name, around: entity)
    }

    /// For an entity and all that inherit from it, the attribute that each had under a name, if it was
    /// there before.
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

    /// Refuses to store at one end what is stored at the other: its objects would be lost.
    private mutating func refuseMovedSides() {
        guard !old.entities.isEmpty else { return }
        let new = Schema(version)
        for entity in new.entities {
            for (name, number) in entity.numbers.properties.sorted(by: { $0.key < $1.key }) {
                guard let was = oldSchema.property(number)?.end,
                    let now = new.property(number)?.end, was.isStored != now.isStored
                else { continue }
                problems.append(
                    "'\(entity.name).\(name)' would be kept at its other end, where the objects that "
                        + "it has are not: declare another relationship with this inverse, and move "
                        + "them.")
            }
        }
    }

    // MARK: - Layout

    /// Appends what is new to the layouts, and marks what is not there any more.
    private mutating func layOut() {
        let compiler = SchemaCompiler(model, numbered)
        let declared = Set(
            numbered.lazy.filter { !$0.isRemoved }.flatMap(\.properties.values))
        for position in numbered.indices {
            if numbered[position].isRemoved {
                numbered[position].properties = [:]
                numbered[position].constraints = [:]
                remove(from: position, except: [], declared)
                continue
            }
            guard let description = compiler.entitiesByName[numbered[position].name] else {
                continue
            }
            let properties = compiler.properties(of: description).sorted { $0.0 < $1.0 }
            remove(from: position, except: Set(properties.map(\.0)), declared)
            append(properties, to: position)
        }
    }

    /// - Parameters:
    ///   - position: Where the numbers of the entity are.
    ///   - live: The properties that it has.
    ///   - declared: The properties that any entity has.
    private mutating func remove(
        from position: Int, except live: Set<PropertyNumber>, _ declared: Set<PropertyNumber>
    ) {
        let before = oldSchema.entity(numbered[position].number)
        for slot in numbered[position].slots.indices {
            let number = numbered[position].slots[slot].property
            if live.contains(number) {
                numbered[position].slots[slot].removed = nil
            } else if numbered[position].slots[slot].removed == nil {
                var removed = RemovedSlot(before?.property(number))
                // Other entities go on with the property, and their index must not find these objects.
                if declared.contains(number) { removed.isIndexed = false }
                numbered[position].slots[slot].removed = removed
            }
        }
    }

    private mutating func append(
        _ properties: [(PropertyNumber, String, SchemaProperty.Kind)], to position: Int
    ) {
        let entity = numbered[position].number
        let slots = Set(numbered[position].slots.map(\.property))
        let members = Set(numbered[position].members.map(\.property))
        let live = Set(properties.map(\.0))
        for (number, name, kind) in properties {
            if case .relationship(let relationship, let end) = kind, end.isStored,
                relationship.isToMany, !members.contains(number)
            {
                numbered[position].members.append(
                    NumberedMembers(property: number, since: entry))
            }
            guard kind.hasSlot, !slots.contains(number) else { continue }
            var slot = NumberedSlot(property: number, since: entry)
            if case .attribute(let attribute) = kind, !old.entities.isEmpty {
                // Under an entity with an attribute of that name an own one gives way to it.
                let own = oldSchema.entity(entity)?.property(named: name)
                let replaced = own.flatMap {
                    $0.isAttribute && !$0.isDerived && !live.contains($0.number)
                        ? $0.number : nil
                }
                let source =
                    attribute.derivation == nil ? predecessors[number]?[entity] ?? replaced : nil
                slot.fill =
                    source.map { .converted(from: $0, to: attribute.type) }
                    ?? .value(attribute.defaultValue)
            }
            numbered[position].slots.append(slot)
        }
    }
}

extension EntityDescription {
    /// The names of the properties that are declared here, in their order.
    var propertyNames: [String] {
        (attributes.map(\.name) + relationships.map(\.name)).sorted()
    }
}

extension RelationshipDescription {
    /// To one or to many, in words.
    fileprivate var kindText: String {
        isToMany
            ? (isOrdered ? "an ordered to-many relationship" : "a to-many relationship") : "to-one"
    }
}

extension AttributeType {
    /// What values of a type are in a row. Types of one kind need no conversion.
    package enum Storage: Sendable, Hashable {
        case bool, integer, double, decimal, text, data, date, uuid
    }

    /// What values of this type are in a row.
    package var storage: Storage {
        switch self {
        case .bool: .bool
        case .int16, .int32, .int64: .integer
        case .float, .double: .double
        case .decimal: .decimal
        case .string, .url: .text
        case .data, .codable: .data
        case .date: .date
        case .uuid: .uuid
        }
    }
}
