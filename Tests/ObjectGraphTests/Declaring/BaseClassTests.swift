import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// A value with something to begin with.
protocol Measure: EmptyAttributeValue, Equatable, Sendable {
    static var start: Self { get }
}

extension Double: Measure {
    static var start: Double { 1.5 }
}

extension String: Measure {
    static var start: String { "new" }
}

/// Generic, and no entity: each subclass has its properties.
class Instrument<Unit: Measure>: ManagedObject {
    @Attribute(.required) var value: Unit
    @Attribute var target: Unit?
    @Attribute var first: Unit = .start
    @Attribute(default: .start) var usual: Unit
    @Attribute([.indexed, .userInfo(["shown": "yes"])]) var room = ""
    @Transient var draft: Unit?
    @Relationship var site: Site?

    /// What code that knows no more than the base class does.
    func measure(_ value: Unit) {
        self.value = value
        target = value
        draft = value
    }
}

final class Thermometer: Instrument<Double> {
    @Attribute var isFrost = false
}

final class Sign: Instrument<String> {}

/// Has as many relationships to gauges as there are kinds.
final class Site: ManagedObject {
    @Relationship(inverse: \Thermometer.site) var thermometers: Set<Thermometer>
    @Relationship(inverse: \Sign.site) var signs: [Sign]
}

/// An abstract superentity.
class Named: ManagedObject {
    @Attribute(.unique) var name: String
    @Attribute var note = "-"

    override class var isAbstractEntity: Bool { self == Named.self }
}

/// A generic class between an abstract entity and its sub-entities, which is no entity.
class Owning<Kind: ManagedObject>: Named {
    @Relationship var things: Set<Kind>
}

final class Stable: Owning<Horse> {}

final class Horse: Named {
    @Relationship(inverse: \Stable.things) var stable: Stable?
}

/// A generic class that is an abstract entity.
class Packet<Weight: Measure>: ManagedObject {
    @Attribute var weight: Weight = .start

    override class var entityName: String {
        self == Packet<Weight>.self ? "PacketOf\(Weight.self)" : super.entityName
    }
    override class var isAbstractEntity: Bool { self == Packet<Weight>.self }
}

final class Carton: Packet<Double> {
    @Attribute var isOpen: Bool = false
}

final class Tube: Packet<Double> {}

@Suite struct BaseClassTests {
    private static let gauges: [ManagedObject.Type] = [
        Thermometer.self, Sign.self, Site.self,
    ]

    @Test func `properties of a generic base class are in the model of each subclass`() throws {
        let model = try PersistentStoreCoordinator(classes: Self.gauges).managedObjectModel

        for (name, type, start) in [
            ("Thermometer", AttributeType.double, Value.double(1.5)),
            ("Sign", .string, .string("new")),
        ] {
            let entity = try #require(model.entitiesByName[name])
            func attribute(_ name: String) throws -> AttributeDescription {
                try #require(entity.attributes.first { $0.name == name })
            }
            #expect(entity.superentityName == nil)
            #expect(try attribute("value").type == type)
            #expect(try !attribute("value").isOptional)
            #expect(try attribute("target").isOptional)
            #expect(try attribute("first").defaultValue == start)
            #expect(try attribute("usual").defaultValue == start)
            #expect(try attribute("room").isIndexed)
            #expect(try attribute("room").userInfo == ["shown": "yes"])
            #expect(try attribute("draft").isTransient)
            #expect(entity.relationships.map(\.destinationName) == ["Site"])
        }
        #expect(
            model.entitiesByName["Site"]?.relationships.map(\.inverseName) == ["site", "site"])
    }

    @Test func `a generic base class reads, sets, finds and merges like the class itself`() throws {
        try ClassStore(Self.gauges).inContext { context in
            let site = Site(context: context)
            let cold = Thermometer(context: context)
            #expect(cold.first == 1.5)
            #expect(cold.usual == 1.5)
            #expect(cold.room == "")
            cold.measure(-4)
            cold.isFrost = true
            cold.room = "cellar"
            cold.site = site
            let sign = Sign(context: context)
            sign.measure("out")
            sign.site = site
            try context.save()
            #expect(cold.draft == -4)
            context.reset()

            let read = try #require(
                try context.fetch(FetchRequest<Thermometer>(where: \Thermometer.value < 0)).first)
            #expect(read.target == -4)
            #expect(read.isFrost)
            #expect(read.site?.signs.map(\.value) == ["out"])
            #expect(read.site?.thermometers == [read])
            #expect(try context.count(FetchRequest<Sign>(where: \Sign.first == "new")) == 1)
            func count<Unit, Kind: Instrument<Unit>>(_ kind: Kind.Type, _ unit: Unit) throws -> Int
            {
                try context.count(FetchRequest<Kind>(where: \Kind.value == unit))
            }
            #expect(try count(Thermometer.self, -4.0) == 1)
            #expect(try count(Sign.self, "in") == 0)
            read.measure(7)
            #expect(read.changedValues().keys.sorted() == ["draft", "target", "value"])
            context.undo()
            #expect(read.value == -4)
        }
    }

    @Test func `a mandatory attribute of a generic base class is missed at save`() throws {
        try ClassStore(Self.gauges).inContext { context in
            _ = Sign(context: context)
            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.failures.map(\.property) == ["value"])
        }
    }

    @Test func `an abstract superentity is fetched, and unique, over its sub-entities`() throws {
        let classes: [ManagedObject.Type] = [Named.self, Stable.self, Horse.self]
        try ClassStore(classes).inContext { context in
            let stable = Stable(context: context)
            stable.name = "North"
            let horse = Horse(context: context)
            horse.name = "Bess"
            horse.stable = stable
            #expect(horse.note == "-")
            try context.save()
            context.reset()

            var request = FetchRequest<Named>(where: \Named.name > "A")
            request.order = [.ascending(\.name)]
            let found = try context.fetch(request)
            #expect(found.map(\.name) == ["Bess", "North"])
            #expect(found[0] is Horse)
            #expect((found[1] as? Stable)?.things.map(\.name) == ["Bess"])
            #expect(
                try context.count(FetchRequest<Named>(where: #Predicate { $0.note == "-" })) == 2)
            found[0].name = "North"
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .duplicate)
        }
    }

    @Test func `an abstract class that is no entity gives its properties to its subclasses`() throws
    {
        let classes: [ManagedObject.Type] = [Stable.self, Horse.self]
        try ClassStore(classes).inContext { context in
            Stable(context: context).name = "North"
            Horse(context: context).name = "North"
            try context.save()

            #expect(try context.count(FetchRequest<Horse>(where: \Horse.name == "North")) == 1)
            #expect(throws: (any Error).self) { try context.count(FetchRequest<Named>()) }
        }
    }

    @Test func `a generic class may be an abstract entity under a name of its own`() throws {
        try ClassStore([Packet<Double>.self, Carton.self, Tube.self]).inContext { context in
            Carton(context: context).weight = 4
            let tube = Tube(context: context)
            try context.save()
            context.reset()

            var request = FetchRequest<Packet<Double>>(where: \Packet<Double>.weight > 1)
            request.order = [.descending(\.weight)]
            let found = try context.fetch(request)
            #expect(found.map(\.weight) == [4, 1.5])
            #expect(found.last?.objectID == tube.objectID)
            #expect(found.first?.entity.superentityName == "PacketOfDouble")
        }
    }

    @Test func `a generic class without a name that an entity can have is refused with a remedy`()
        throws
    {
        let error = try #require(
            throws: ModelError.self,
            performing: {
                try PersistentStoreCoordinator(classes: [Instrument<Double>.self, Thermometer.self])
            })

        #expect(
            error.description.contains(
                "'Instrument<Double>' is a generic class, whose name no entity can have. Leave it out"
            ))
    }

    @Test func `a subclass that inherits the name of its superentity is refused with a remedy`()
        throws
    {
        class Tool: ManagedObject {
            @Attribute var name: String = ""
            override class var entityName: String { "Implement" }
        }
        final class Hammer: Tool {}
        let error = try #require(
            throws: ModelError.self,
            performing: { try PersistentStoreCoordinator(classes: [Tool.self, Hammer.self]) })

        #expect(
            error.description.contains("'Hammer' inherits the name of the entity 'Implement'"))
        #expect(
            error.description.contains("'self == Tool.self ? \"Implement\" : super.entityName'"))
    }
}
