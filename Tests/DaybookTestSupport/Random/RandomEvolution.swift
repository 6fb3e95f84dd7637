package import DaybookObjectModel
internal import Foundation

/// Changes models at random, and makes values for them.
package struct RandomEvolution {
    private var generator: SeededGenerator
    private var lastIdentity = 0
    private var lastName = 0
    /// The names that were in use and are not any more.
    private var freeNames: [String] = []

    package init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// A number from a range.
    package mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    /// Whether something happens that happens one time in `count`.
    package mutating func oneIn(_ count: Int) -> Bool { number(1...count) == 1 }

    package mutating func pick<C: Collection>(_ elements: C) -> C.Element? {
        elements.randomElement(using: &generator)
    }

    mutating func identity() -> Int {
        lastIdentity += 1
        return lastIdentity
    }

    /// A name that is not in use; now and then one that was.
    ///
    /// A derived attribute ("d") has a prefix of its own: it cannot be an element.
    mutating func name(_ prefix: String, _ taken: Set<String>) -> String {
        let reusable = freeNames.filter { $0.hasPrefix(prefix) && !taken.contains($0) }
        if oneIn(3), let name = pick(reusable) { return name }
        lastName += 1
        // Every third attribute is the element of a composite attribute.
        let isElement = prefix == "a" && lastName.isMultiple(of: 3)
        return "\(prefix)\(lastName)\(isElement ? ".x" : "")"
    }

    // MARK: - Models

    /// A model of two to four entities.
    package mutating func firstModel() -> PlannedModel {
        var plan = PlannedModel()
        for _ in 0..<number(2...4) { addEntity(to: &plan, [], below: plan.entities.keys.sorted()) }
        for _ in 0..<number(1...4) { addRelationship(to: &plan, []) }
        return plan
    }

    /// The model after one change or several.
    package mutating func next(after before: PlannedModel) -> PlannedModel {
        var plan = before
        for _ in 0..<(oneIn(2) ? 1 : number(2...4)) { change(&plan, since: before) }
        plan.countMoves(since: before)
        freeNames += before.names.subtracting(plan.names).sorted()
        return plan
    }

    private mutating func change(_ plan: inout PlannedModel, since before: PlannedModel) {
        let taken = before.names
        switch number(0...16) {
        case 0: addEntity(to: &plan, taken, below: oneIn(2) ? plan.entities.keys.sorted() : [])
        case 1: removeEntity(from: &plan)
        case 2: changeEntity(&plan, taken)
        case 3: changeSuperentity(&plan, since: before)
        case 4, 5:
            if let owner = pick(plan.entities.keys.sorted()) {
                addAttribute(to: &plan, owner, taken, isNew: before.entities[owner] == nil)
            }
        case 6: removeAttribute(from: &plan)
        case 7...10: changeAttribute(&plan, taken, since: before)
        case 11: addRelationship(to: &plan, taken)
        case 12:
            if oneIn(2) {
                changeRelationship(&plan, taken)
            } else {
                changeKind(&plan, taken, since: before)
            }
        case 13: changeConstraints(&plan, since: before)
        case 14: moveAttribute(&plan, since: before)
        default: changeDerived(&plan, taken)
        }
    }

    // MARK: - Entities

    private mutating func addEntity(
        to plan: inout PlannedModel, _ taken: Set<String>, below parents: [Int]
    ) {
        var entity = PlannedModel.Entity(name: name("E", taken.union(plan.names)))
        entity.parent = pick(parents)
        entity.isAbstract = oneIn(5)
        let id = identity()
        plan.entities[id] = entity
        for _ in 0..<number(1...4) { addAttribute(to: &plan, id, taken, isNew: true) }
    }

    /// Removes an entity that nothing inherits from, if no relationship may lead to its objects by way
    /// of an entity that stays.
    private mutating func removeEntity(from plan: inout PlannedModel) {
        let ids = plan.entities.keys.filter { id in
            let above = plan.lineage(of: id).dropFirst()
            return plan.family(of: id).count == 1
                && !plan.relationships.values.contains { above.contains($0.destination) }
        }
        guard plan.entities.count > 2, let id = pick(ids.sorted()) else { return }
        let ends = plan.relationships.filter { $0.value.owner == id || $0.value.destination == id }
        for end in ends.keys { removeRelationship(end, from: &plan) }
        for attribute in plan.attributes.filter({ $0.value.owner == id }).keys {
            plan.attributes[attribute] = nil
        }
        plan.entities[id] = nil
    }

    private mutating func changeEntity(_ plan: inout PlannedModel, _ taken: Set<String>) {
        guard let id = pick(plan.entities.keys.sorted()) else { return }
        switch number(0...3) {
        case 0: plan.entities[id]?.isAbstract.toggle()
        case 1: plan.entities[id]?.note += 1
        default:
            let name = name("E", taken.union(plan.names))
            plan.entities[id]?.name = name
        }
    }

    /// Gives an entity a superentity, or takes it away, where no relationship leads to one and no index
    /// has its values.
    private mutating func changeSuperentity(
        _ plan: inout PlannedModel, since before: PlannedModel
    ) {
        guard let id = pick(plan.entities.keys.sorted()), let entity = plan.entities[id] else {
            return
        }
        if let parent = entity.parent {
            let above = plan.lineage(of: parent)
            let isReached = plan.relationships.values.contains { above.contains($0.destination) }
            let inherited = Set(plan.attributes(of: parent))
            let isConstrained = plan.family(of: id).contains { member in
                plan.entities[member]?.constraints.values.contains {
                    !inherited.isDisjoint(with: $0)
                } ?? false
            }
            let isIndexed = inherited.contains { id in
                [before, plan].contains {
                    $0.attributes[id]?.isIndexed == true || $0.attributes[id]?.isUnique == true
                }
            }
            if isReached || isConstrained || isIndexed { return }
            plan.entities[id]?.parent = nil
            return
        }
        let family = plan.family(of: id)
        let parents = plan.entities.keys.filter { candidate in
            !family.contains(candidate)
                && plan.attributes(of: candidate).allSatisfy {
                    guard let attribute = plan.attributes[$0] else { return false }
                    return (attribute.isOptional || !attribute.defaultValue.isNull)
                        && !attribute.isUnique
                } && plan.constraints(of: candidate).isEmpty
        }
        if let parent = pick(parents.sorted()) { plan.entities[id]?.parent = parent }
    }

    // MARK: - Attributes

    private mutating func addAttribute(
        to plan: inout PlannedModel, _ owner: Int, _ taken: Set<String>, isNew: Bool
    ) {
        guard let type = pick(AttributeType.allCases) else { return }
        var attribute = PlannedModel.Attribute(
            owner: owner, name: name("a", taken.union(plan.names)), type: type)
        attribute.isOptional = !oneIn(3)
        attribute.isIndexed = type != .codable && oneIn(2)
        attribute.isUnique = type != .codable && type != .bool && oneIn(6)
        if !attribute.isUnique, oneIn(2) || (!attribute.isOptional && !oneIn(4)) {
            attribute.defaultValue = value(of: type)
        }
        plan.attributes[identity()] = attribute
    }

    private mutating func removeAttribute(from plan: inout PlannedModel) {
        guard let id = pick(plan.attributes.keys.sorted()) else { return }
        for dependent in plan.dependents(of: id) { plan.attributes[dependent] = nil }
        plan.attributes[id] = nil
        for entity in plan.entities.keys {
            for (constraint, names) in plan.entities[entity]?.constraints ?? [:]
            where names.contains(id) { plan.entities[entity]?.constraints[constraint] = nil }
        }
    }

    private mutating func changeAttribute(
        _ plan: inout PlannedModel, _ taken: Set<String>, since before: PlannedModel
    ) {
        guard let id = pick(plan.attributes.keys.sorted()), var attribute = plan.attributes[id]
        else { return }
        let isConstrained = plan.entities.contains { entity, description in
            description.constraints.values.contains { $0.contains(id) }
                && entity != attribute.owner
        }
        if attribute.source != nil {
            switch number(0...2) {
            case 0: attribute.name = name("d", taken.union(plan.names))
            case 1: attribute.isIndexed.toggle()
            default: attribute.note += 1
            }
            plan.attributes[id] = attribute
            return
        }
        switch number(0...10) {
        case 0: attribute.name = name("a", taken.union(plan.names))
        case 1: attribute.isIndexed = attribute.type != .codable && !attribute.isIndexed
        case 2, 3: attribute.isOptional.toggle()
        case 4:
            attribute.isUnique =
                attribute.type != .codable && attribute.defaultValue.isNull
                && attribute.merge == nil && !attribute.isUnique
        case 5:
            if !attribute.isUnique {
                attribute.defaultValue = oneIn(4) ? .null : value(of: attribute.type)
            }
        case 6:
            if attribute.type.isInteger {
                attribute.minimum = oneIn(3) ? nil : Int64(number(-12...1))
            }
        case 7: attribute.isConfidential.toggle()
        case 8: attribute.note += 1
        case 9:
            if attribute.type.isInteger, !attribute.isUnique, !plan.isConstrained(id) {
                attribute.merge = attribute.merge == nil ? .sum : nil
            }
        default:
            // One conversion in a step: there and back is none.
            let was = before.attributes[id]
            guard !isConstrained, attribute.merge == nil, plan.dependents(of: id).isEmpty,
                was == nil || was?.type == attribute.type,
                let type = pick(attribute.type.successors)
            else { return }
            if !type.isLike(attribute.type), was != nil { attribute.generation += 1 }
            attribute.type = type
            attribute.isUnique = attribute.isUnique && type != .bool
            if !type.isInteger { attribute.minimum = nil }
            attribute.defaultValue = .null
        }
        plan.attributes[id] = attribute
    }

    /// Lets the superentity of its entity, or one below it, declare an attribute.
    private mutating func moveAttribute(_ plan: inout PlannedModel, since before: PlannedModel) {
        let movable = plan.attributes.filter { id, attribute in
            let was = before.attributes[id]
            return was?.name == attribute.name && was?.generation == attribute.generation
                && was?.owner == attribute.owner && !attribute.hasMoved
                && attribute.source == nil && plan.dependents(of: id).isEmpty
                && !attribute.isUnique && !plan.isConstrained(id)
        }
        guard let id = pick(movable.keys.sorted()), let attribute = plan.attributes[id] else {
            return
        }
        let owner = attribute.owner
        let below = plan.entities.keys.filter { plan.entities[$0]?.parent == owner }
        let places = (below + [plan.entities[owner]?.parent].compactMap { $0 }).filter {
            let (now, then) = (plan.entities[$0]?.parent, before.entities[$0])
            return then != nil && then?.parent == now
        }
        guard before.entities[owner]?.parent == plan.entities[owner]?.parent,
            let place = pick(places.sorted())
        else { return }
        plan.attributes[id]?.owner = place
        plan.attributes[id]?.hasMoved = true
    }

    // MARK: - Values

    /// A value that fits a type.
    package mutating func value(of type: AttributeType) -> Value {
        let number = number(-9...9)
        switch type {
        case .bool: return .bool(number > 0)
        case .int16: return .int(Int64(number))
        case .int32, .int64: return .int(oneIn(8) ? 40_000 : Int64(number))
        case .float, .double: return .double(oneIn(4) ? Double(number) / 8 : Double(abs(number)))
        case .decimal:
            return .decimal(
                Decimal(sign: .plus, exponent: -2, significand: Decimal(abs(number) + 1)))
        case .string, .url: return .string(oneIn(6) ? "w\(abs(number))" : "\(number)")
        case .data, .codable: return .data(Data("\(number)".utf8))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number) / 4))
        case .uuid:
            let byte = UInt8(truncatingIfNeeded: number)
            return .uuid(UUID(uuid: (byte, 1, 2, 3, 4, 5, 0x40, 7, 0x80, 9, 1, 1, 1, 1, 1, byte)))
        }
    }
}

extension AttributeType {
    var isInteger: Bool { self == .int16 || self == .int32 || self == .int64 }

    /// The types to which ``RandomEvolution`` changes an attribute of this one.
    fileprivate var successors: [AttributeType] {
        switch self {
        case .bool: [.int64, .string]
        case .int16: [.int32, .int64, .string, .double, .decimal, .bool]
        case .int32: [.int16, .int64, .string, .double, .decimal]
        case .int64: [.int16, .int32, .string, .double, .decimal, .bool]
        case .float: [.double]
        case .double: [.float, .int64]
        case .string: [.int64, .data]
        case .data: [.string]
        case .uuid: [.string]
        case .decimal, .date, .url, .codable: []
        }
    }
}
