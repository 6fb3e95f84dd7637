import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

private class Machine: ManagedObject {
    @Attribute([.unique, .renamed("number"), .userInfo(["label": "No.", "width": "8"])])
    var serial: String
    @Attribute([.userInfo(["a": "1", "b": "1"]), .userInfo(["b": "2"])]) var weight: Double?
    @Attribute(.versionHashModifier("in kilograms")) var load: Double = 0
    @Relationship(
        [.cascade, .renamed("bits"), .userInfo(["shown": "last"])], inverse: \Part.machine)
    var parts: Set<Part>
    @Relationship(.deny, inverse: .itself) var twin: Machine?

    override class var isAbstractEntity: Bool { self == Machine.self }
    override class var renamingIdentifier: String? { "Engine" }
    override class var versionHashModifier: String? { "2" }
    override class var userInfo: [String: String] { ["icon": "gear"] }
}

private final class Press: Machine {
    override class var userInfo: [String: String] {
        super.userInfo.merging(["size": "big"]) { _, own in own }
    }
}

private final class Lathe: Machine {
    override class var renamingIdentifier: String? { "Turner" }
}

private final class Part: ManagedObject {
    @Relationship(.versionHashModifier("2")) var machine: Machine?
}

@Suite struct DeclarationOptionTests {
    private static let classes = [Machine.self, Press.self, Lathe.self, Part.self]

    private func entity(_ name: String) throws -> EntityDescription {
        let model = try PersistentStoreCoordinator(classes: Self.classes).managedObjectModel
        return try #require(model.entitiesByName[name])
    }

    @Test func `options of an attribute stand in its description`() throws {
        let attributes = try entity("Machine").attributes
        let serial = try #require(attributes.first { $0.name == "serial" })
        let weight = try #require(attributes.first { $0.name == "weight" })

        #expect(serial.isUnique)
        #expect(!serial.isIndexed)
        #expect(serial.renamingIdentifier == "number")
        #expect(serial.userInfo == ["label": "No.", "width": "8"])
        #expect(weight.userInfo == ["a": "1", "b": "2"])
        #expect(weight.renamingIdentifier == nil)
        #expect(
            attributes.first { $0.name == "load" }?.versionHashModifier == "in kilograms")
    }

    @Test func `options of a relationship stand in its description`() throws {
        let relationships = try entity("Machine").relationships
        let parts = try #require(relationships.first { $0.name == "parts" })
        let twin = try #require(relationships.first { $0.name == "twin" })

        #expect(parts.deleteRule == .cascade)
        #expect(parts.renamingIdentifier == "bits")
        #expect(parts.userInfo == ["shown": "last"])
        #expect(parts.inverseName == "machine")
        #expect(twin.deleteRule == .deny)
        #expect(twin.inverseName == "twin")
        #expect(try entity("Part").relationships.map(\.versionHashModifier) == ["2"])
        #expect(try entity("Part").relationships.map(\.deleteRule) == [.nullify])
    }

    @Test func `a class tells its entity's earlier name, its modifier and its user info`() throws {
        let machine = try entity("Machine")
        #expect(machine.renamingIdentifier == "Engine")
        #expect(machine.versionHashModifier == "2")
        #expect(machine.userInfo == ["icon": "gear"])
        #expect(try entity("Press").userInfo == ["icon": "gear", "size": "big"])
        #expect(try entity("Lathe").userInfo == ["icon": "gear"])
        #expect(try entity("Part").userInfo.isEmpty)
    }

    @Test func `an earlier name is the entity's own and not that of its sub-entities`() throws {
        #expect(try entity("Press").renamingIdentifier == nil)
        #expect(try entity("Lathe").renamingIdentifier == "Turner")
    }

    @Test func `user info is read from an object's entity while the program runs`() throws {
        try ClassStore(Self.classes).inContext { context in
            let press = Press(context: context)

            #expect(press.entity.userInfo["size"] == "big")
            let model = context.coordinator.managedObjectModel
            let attributes = model.entitiesByName["Machine"]?.attributes ?? []
            #expect(attributes.first { $0.name == "serial" }?.userInfo["width"] == "8")
        }
    }

    @Test func `a relationship that is its own inverse follows on both sides`() throws {
        final class Person: ManagedObject {
            @Attribute var name: String = ""
            @Relationship(inverse: .itself) var friends: Set<Person>
            @Relationship(inverse: .itself) var spouse: Person?
        }
        try ClassStore([Person.self]).inContext { context in
            let people = (0..<3).map { _ in Person(context: context) }
            people[0].friends = [people[1], people[2]]
            people[0].spouse = people[1]
            #expect(people[1].friends == [people[0]])
            #expect(people[1].spouse == people[0])
            try context.save()
            people[2].spouse = people[1]
            #expect(people[0].spouse == nil)
            context.delete(people[0])
            try context.save()
            #expect(people[1].friends.isEmpty)
            context.undo()
            #expect(people[1].friends == [people[0]])
        }
    }

    @Test func `a relationship to another entity cannot be its own inverse`() throws {
        final class Country: ManagedObject {
            @Attribute var name: String = ""
        }
        final class City: ManagedObject {
            @Relationship(inverse: .itself) var country: Country?
        }
        let error = try #require(
            throws: ModelError.self,
            performing: { try PersistentStoreCoordinator(classes: [Country.self, City.self]) })

        #expect(
            error.description.contains(
                "'City.country' says that it is its own inverse, and leads to 'Country'."))
    }
}
