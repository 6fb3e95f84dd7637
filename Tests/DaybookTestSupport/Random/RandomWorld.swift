package import DaybookObjectModel

/// Changes objects of the sample model at random, always within the rules.
package struct RandomWorld {
    private var generator: SeededGenerator
    private let schema: Schema

    /// Starts at a seed.
    package init(seed: UInt64, _ schema: Schema) {
        generator = SeededGenerator(seed: seed)
        self.schema = schema
    }

    /// A number from a range.
    package mutating func number(in range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    /// A few random steps from a world.
    package mutating func step(
        from world: ReferenceModel.World, newNumber: () throws -> UInt64
    ) rethrows -> ReferenceModel.World {
        var next = world
        for _ in 0..<number(in: 1...6) {
            switch number(in: 0...9) {
            case 0...3: try insert(into: &next, newNumber: newNumber)
            case 4...7: change(&next)
            case 8: changeMembers(&next)
            default: delete(from: &next)
            }
        }
        return next
    }

    // MARK: - Steps

    private mutating func insert(
        into world: inout ReferenceModel.World, newNumber: () throws -> UInt64
    ) rethrows {
        let name = ["Person", "Company", "Skill"].randomElement(using: &generator) ?? "Person"
        guard let entity = schema.entity(named: name) else { return }
        let object = ObjectID(entity: entity.number, number: try newNumber())
        world[object] = ObjectState(
            values: Array(entity.defaults.prefix(entity.storedSlotCount)))
        for property in entity.slots { set(property, of: object, in: &world) }
    }

    private mutating func change(_ world: inout ReferenceModel.World) {
        guard let object = world.keys.sorted().randomElement(using: &generator),
            let property = schema.entity(object.entity)?.slots.randomElement(using: &generator)
        else { return }
        set(property, of: object, in: &world)
    }

    private mutating func changeMembers(_ world: inout ReferenceModel.World) {
        let owners = world.keys.filter {
            schema.entity($0.entity)?.storedToMany.isEmpty == false
        }
        guard let owner = owners.sorted().randomElement(using: &generator),
            let property = schema.entity(owner.entity)?.storedToMany
                .randomElement(using: &generator),
            let destination = property.end?.destination,
            let member = objects(of: destination, in: world).randomElement(using: &generator)
        else { return }
        var members = world[owner]?.members[property.number] ?? [:]
        let isOrdered = property.relationship?.isOrdered == true
        let order = isOrdered ? Double(number(in: 0...9)) : 0
        if members[member] == nil || (isOrdered && number(in: 0...1) == 0) {
            members[member] = order
        } else {
            members[member] = nil
        }
        world[owner]?.members[property.number] = members.isEmpty ? nil : members
    }

    private mutating func delete(from world: inout ReferenceModel.World) {
        guard let object = world.keys.sorted().randomElement(using: &generator) else { return }
        world = world.without(object)
    }

    // MARK: - Values

    private mutating func set(
        _ property: SchemaProperty, of object: ObjectID, in world: inout ReferenceModel.World
    ) {
        guard let slot = property.slot else { return }
        let value: Value
        switch property.name {
        case "code":
            let code = Value.string("c\(number(in: 0...40))")
            let isTaken = world.values.contains { $0.values.contains(code) }
            value = isTaken ? .null : code
        case "name", "title":
            value = .string(
                String(repeating: "n", count: number(in: 0...3)) + "\(number(in: 0...9))")
        case "age": value = number(in: 0...3) == 0 ? .null : .int(Int64(number(in: -9...9)))
        case "score": value = .double(Double(number(in: -99...99)) / 8)
        case "founded": value = .null
        default:
            let candidates = property.end.map { objects(of: $0.destination, in: world) } ?? []
            value = candidates.randomElement(using: &generator).map { .object($0) } ?? .null
        }
        world[object]?.values[slot] = value
    }

    private func objects(
        of entity: EntityNumber, in world: ReferenceModel.World
    ) -> [ObjectID] {
        let family = schema.entity(entity)?.family ?? []
        return world.keys.filter { family.contains($0.entity) }.sorted()
    }
}
