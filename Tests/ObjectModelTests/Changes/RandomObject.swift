import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

/// Random states of one object that has every kind of property, the same for the same seed.
struct RandomObject {
    let entity: SchemaEntity
    let schema: Schema
    let object: ObjectID
    var random: SeededGenerator

    init(seed: UInt64) throws {
        schema = try Schema(Self.model)
        entity = try #require(schema.entity(named: "Player"))
        object = ObjectID(entity: entity.number, number: 100)
        random = SeededGenerator(seed: seed)
    }

    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Player",
            attributes: [
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "shirt", type: .int32),
                // Two sides that clear a number do not change each other's result.
                AttributeDescription(
                    name: "goals", type: .int64, isOptional: false, defaultValue: .int(0),
                    merge: .sum),
            ],
            relationships: [
                RelationshipDescription(
                    name: "club", destinationName: "Club", inverseName: "players"),
                RelationshipDescription(
                    name: "locker", destinationName: "Locker", inverseName: "player"),
                RelationshipDescription(
                    name: "partner", destinationName: "Player", inverseName: "partner"),
                RelationshipDescription(
                    name: "friends", destinationName: "Player", inverseName: "friends",
                    isToMany: true),
                RelationshipDescription(name: "idol", destinationName: "Player"),
                RelationshipDescription(
                    name: "rivals", destinationName: "Player", isToMany: true, isOrdered: true),
                RelationshipDescription(
                    name: "trophies", destinationName: "Trophy", inverseName: "winner",
                    isToMany: true, isOrdered: true, minimumCount: 1, maximumCount: 9),
                RelationshipDescription(
                    name: "lineups", destinationName: "Lineup", inverseName: "players",
                    isToMany: true),
            ]),
        EntityDescription(
            name: "Club",
            relationships: [
                RelationshipDescription(
                    name: "players", destinationName: "Player", inverseName: "club",
                    isToMany: true, maximumCount: 9)
            ]),
        EntityDescription(
            name: "Locker",
            relationships: [
                RelationshipDescription(
                    name: "player", destinationName: "Player", inverseName: "locker")
            ]),
        EntityDescription(
            name: "Trophy",
            relationships: [
                RelationshipDescription(
                    name: "winner", destinationName: "Player", inverseName: "trophies",
                    deleteRule: .noAction)
            ]),
        EntityDescription(
            name: "Lineup",
            relationships: [
                RelationshipDescription(
                    name: "players", destinationName: "Player", inverseName: "lineups",
                    isToMany: true, isOrdered: true)
            ]),
    ])

    /// A state, or sometimes nil for no object.
    mutating func stateOrNone() -> ObjectState? {
        Int.random(in: 0..<6, using: &random) == 0 ? nil : state()
    }

    mutating func state() -> ObjectState {
        var state = ObjectState(values: [])
        for property in entity.slots { state.values.append(value(of: property)) }
        for property in entity.storedToMany {
            var members: [ObjectID: Double] = [:]
            for number in 1...4 as ClosedRange<UInt64>
            where Bool.random(using: &random) {
                let isOrdered = property.relationship?.isOrdered == true
                members[destination(property, number)] =
                    isOrdered ? Double(Int.random(in: 1...2, using: &random)) : 0
            }
            if !members.isEmpty { state.members[property.number] = members }
        }
        return state
    }

    private mutating func value(of property: SchemaProperty) -> Value {
        let choice = Int.random(in: 0..<3, using: &random)
        guard choice > 0 else { return property.attribute?.defaultValue ?? .null }
        switch property.attribute?.type {
        case .string: return .string("\(choice)")
        case nil: return .object(destination(property, UInt64(choice)))
        default: return .int(Int64(choice))
        }
    }

    private func destination(_ property: SchemaProperty, _ number: UInt64) -> ObjectID {
        ObjectID(entity: property.end?.destination ?? entity.number, number: number)
    }

    /// The change from one state to another; nil when they are the same.
    func change(from old: ObjectState?, to new: ObjectState?) -> Change? {
        Change(of: object, from: old, to: new, entity)
    }
}
