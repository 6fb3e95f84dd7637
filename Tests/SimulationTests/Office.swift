import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

final class Team: ManagedObject {
    @Attribute(.unique) var name: String?
    @Attribute var size: Int = 0
    @Relationship(inverse: \Person.team) var people: Set<Person>
    @Relationship(.cascade, inverse: \Room.team) var rooms: Set<Room>
    @Relationship(.deny, inverse: \Plan.sponsor) var plans: Set<Plan>
    @Relationship(.noAction, inverse: \Badge.team) var badges: Set<Badge>
}

final class Person: ManagedObject {
    @Attribute var first: String = ""
    @Attribute(.indexed) var last: String = ""
    @Attribute var age: Int?
    @Attribute(merge: .sum) var visits: Int = 0
    @Relationship var team: Team?
    @Relationship(inverse: \Room.occupant) var room: Room?
    @Relationship(inverse: \Plan.members) var plans: Set<Plan>
    @Relationship var mentor: Person?
}

final class Room: ManagedObject {
    @Attribute var label: String = ""
    @Relationship var team: Team?
    @Relationship var occupant: Person?
}

final class Plan: ManagedObject {
    @Attribute(.indexed) var title: String = ""
    @Relationship var members: Set<Person>
    @Relationship var sponsor: Team?
    @Relationship(.cascade, inverse: \Step.plan) var steps: [Step]
}

final class Step: ManagedObject {
    @Attribute var title: String = ""
    @Relationship var plan: Plan?
}

final class Badge: ManagedObject {
    @Attribute var label: String = ""
    @Relationship var team: Team?
}

/// The instance that another context has of an object.
func twin<Object: ManagedObject>(
    _ object: Object, in context: ManagedObjectContext
) throws -> Object {
    try #require(try context.existingObject(with: object.objectID) as? Object)
}

/// What the reference knows of a property: its name, what it holds, and what deleting does.
struct Field {
    enum Kind {
        case text
        case number
        /// A number of which the differences add up.
        case sum
        case toOne
        case toMany
        case list
    }

    let name: String
    let kind: Kind
    let destination: String
    let inverse: String?
    /// Whether the records of this side hold the relationship; the other side follows from it.
    let isStored: Bool
    let rule: DeleteRule

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
        destination = ""
        inverse = nil
        isStored = true
        rule = .nullify
    }

    init(
        _ name: String, _ kind: Kind, _ destination: String, _ inverse: String?,
        stored: Bool = false, _ rule: DeleteRule = .nullify
    ) {
        self.name = name
        self.kind = kind
        self.destination = destination
        self.inverse = inverse
        isStored = stored
        self.rule = rule
    }

    var isList: Bool { kind == .toMany || kind == .list }

    var isAttribute: Bool { destination.isEmpty }

    /// Whether the values are numbers.
    var isNumber: Bool { kind == .number || kind == .sum }

    /// Whether two sides that have come to the same value are in conflict.
    var collidesWhenEqual: Bool { [.text, .number, .toOne].contains(kind) }
}

/// The same model as the classes above, as plainly as it can be said.
enum Office {
    static let classes: [ManagedObject.Type] = [
        Team.self, Person.self, Room.self, Plan.self, Step.self, Badge.self,
    ]

    static let fields: [String: [Field]] = [
        "Team": [
            Field("name", .text), Field("size", .number),
            Field("people", .toMany, "Person", "team"),
            Field("rooms", .toMany, "Room", "team", .cascade),
            Field("plans", .toMany, "Plan", "sponsor", .deny),
            Field("badges", .toMany, "Badge", "team", .noAction),
        ],
        "Person": [
            Field("first", .text), Field("last", .text), Field("age", .number),
            Field("visits", .sum),
            Field("team", .toOne, "Team", "people", stored: true),
            Field("room", .toOne, "Room", "occupant", stored: true),
            Field("plans", .toMany, "Plan", "members", stored: true),
            Field("mentor", .toOne, "Person", nil, stored: true),
        ],
        "Room": [
            Field("label", .text), Field("team", .toOne, "Team", "rooms", stored: true),
            Field("occupant", .toOne, "Person", "room"),
        ],
        "Plan": [
            Field("title", .text), Field("members", .toMany, "Person", "plans"),
            Field("sponsor", .toOne, "Team", "plans", stored: true),
            Field("steps", .list, "Step", "plan", stored: true, .cascade),
        ],
        "Step": [Field("title", .text), Field("plan", .toOne, "Plan", "steps")],
        "Badge": [
            Field("label", .text), Field("team", .toOne, "Team", "badges", stored: true),
        ],
    ]

    static let entities = ["Team", "Person", "Room", "Plan", "Step", "Badge"]

    static func field(_ entity: String, _ name: String) -> Field {
        guard let field = fields[entity]?.first(where: { $0.name == name }) else {
            preconditionFailure("The office has no such property.")
        }
        return field
    }
}

/// A store of an office in a temporary folder.
final class OfficeStore: Sendable {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        container = try TestContainer.make(
            folder.url.appendingPathComponent("office.daybook"), model: Office.classes,
            options: options)
    }
}
