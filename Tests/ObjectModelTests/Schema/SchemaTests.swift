import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

@Suite struct SchemaTests {
    @Test func `numbers do not depend on the order of declaration`() throws {
        var shuffled = Company.model
        shuffled.entities.reverse()
        for index in shuffled.entities.indices {
            shuffled.entities[index].attributes.reverse()
            shuffled.entities[index].relationships.reverse()
        }

        let schema = try Schema(Company.model)
        let other = try Schema(shuffled)

        #expect(schema.model == other.model)
        #expect(schema.model.canonicalBytes == shuffled.canonicalBytes)
        for (left, right) in zip(schema.entities, other.entities) {
            #expect(left.name == right.name)
            #expect(left.number == right.number)
            #expect(left.properties.map(\.name) == right.properties.map(\.name))
            #expect(left.properties.map(\.number) == right.properties.map(\.number))
            #expect(left.slots.map(\.name) == right.slots.map(\.name))
        }
    }

    @Test func `entities and properties are numbered from one by name`() throws {
        let schema = try Schema(Company.model)

        #expect(schema.entities.map(\.name) == ["Department", "Employee", "Manager", "Tag"])
        #expect(schema.entities.map(\.number.rawValue) == [1, 2, 3, 4])
        #expect(schema.entities[0].properties.map(\.name) == ["employees", "founded", "name"])
        #expect(schema.entities[0].properties.map(\.number.rawValue) == [1, 2, 3])
        #expect(schema.entities[1].properties.first?.number.rawValue == 4)
    }

    @Test func `a sub-entity has the inherited properties under the same numbers`() throws {
        let schema = try Schema(Company.model)
        let employee = try Company.entity("Employee", of: schema)
        let manager = try Company.entity("Manager", of: schema)

        #expect(manager.properties.map(\.number) == employee.properties.map(\.number))
        #expect(employee.family == [employee.number, manager.number])
        #expect(manager.isKind(of: employee))
        #expect(!employee.isKind(of: manager))
    }

    @Test func `a property is shown as in the entity that declares it`() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Animal",
                    superentityName: "Thing",
                    attributes: [AttributeDescription(name: "legs", type: .int16)]),
                EntityDescription(
                    name: "Thing", attributes: [AttributeDescription(name: "name", type: .string)]),
            ]))
        let thing = try Company.entity("Thing", of: schema)
        let name = try #require(thing.property(named: "name"))

        #expect(schema.property(name.number) === name)
        #expect(schema.property(name.number)?.slot == 0)
        #expect(schema.property(PropertyNumber(rawValue: 0)) == nil)
        #expect(schema.property(PropertyNumber(rawValue: 3)) == nil)
    }

    @Test func `an entity finds its properties and slots by number, and no others`() throws {
        var model = Company.model
        for index in model.entities.indices where model.entities[index].name == "Employee" {
            model.entities[index].attributes.append(
                AttributeDescription(name: "mood", type: .string, isTransient: true))
        }
        let schema = try Schema(model)

        for entity in schema.entities {
            let numbers = schema.entities.flatMap { $0.properties.map(\.number) }
            for number in numbers + [PropertyNumber(rawValue: 0), PropertyNumber(rawValue: .max)] {
                let own = entity.properties.first { $0.number == number }
                #expect(entity.property(number) === own)
                #expect(entity.slot(of: number) == own?.slot)
            }
        }
    }

    @Test func `one side of every relationship and its inverse is stored`() throws {
        let schema = try Schema(Company.model)

        for entity in schema.entities {
            for property in entity.properties {
                guard let end = property.end, let inverse = end.inverse, inverse != property.number
                else { continue }
                let other = try #require(schema.property(inverse)?.end)
                #expect(end.isStored != other.isStored, "\(entity.name).\(property.name)")
            }
        }
    }

    @Test func `the ordered side, the to-one side or the first by number is stored`() throws {
        func isStored(_ one: RelationshipDescription, _ other: RelationshipDescription) throws
            -> Bool?
        {
            let schema = try Schema(
                ManagedObjectModel(entities: [
                    EntityDescription(name: "A", relationships: [one]),
                    EntityDescription(name: "B", relationships: [other]),
                ]))
            return schema.entities[0].property(named: "b")?.end?.isStored
        }
        func b(_ isToMany: Bool, _ isOrdered: Bool = false) -> RelationshipDescription {
            RelationshipDescription(
                name: "b", destinationName: "B", inverseName: "a", isToMany: isToMany,
                isOrdered: isOrdered)
        }
        func a(_ isToMany: Bool, _ isOrdered: Bool = false) -> RelationshipDescription {
            RelationshipDescription(
                name: "a", destinationName: "A", inverseName: "b", isToMany: isToMany,
                isOrdered: isOrdered)
        }

        #expect(try isStored(b(true, true), a(false)) == true)
        #expect(try isStored(b(false), a(true, true)) == false)
        #expect(try isStored(b(false), a(true)) == true)
        #expect(try isStored(b(true), a(false)) == false)
        #expect(try isStored(b(true), a(true)) == true)
        #expect(try isStored(b(false), a(false)) == true)
    }

    @Test func `transient attributes have the last slots`() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "A",
                    attributes: [
                        AttributeDescription(name: "a", type: .string, isTransient: true),
                        AttributeDescription(name: "b", type: .int64, defaultValue: .int(7)),
                    ])
            ]))
        let entity = try Company.entity("A", of: schema)

        #expect(entity.slots.map(\.name) == ["b", "a"])
        #expect(entity.storedSlotCount == 1)
        #expect(entity.defaults == [.int(7), .null])
    }

    @Test func `objects are named and found by their names`() throws {
        let schema = try Schema(Company.model)
        let tag = try Company.entity("Tag", of: schema)
        let object = ObjectID(entity: tag.number, number: 17)

        #expect(schema.name(of: object) == "Tag/17")
        #expect(schema.object(named: "Tag/17") == object)
        for text in ["Tag", "Tag/", "Tag/0", "Tag/-1", "Tag/01", "Tag/1/2", "Tog/1", "/1", ""] {
            #expect(schema.object(named: text) == nil, "\(text)")
        }
    }

    @Test func `a model comes back from its canonical bytes`() throws {
        let bytes = Company.model.canonicalBytes

        let model = try ManagedObjectModel(canonicalBytes: bytes)

        #expect(model == Company.model.canonical)
        for count in 0..<bytes.count {
            #expect(throws: DecodingFailure.self) {
                try ManagedObjectModel(canonicalBytes: Array(bytes[..<count]))
            }
        }
        #expect(throws: DecodingFailure.self) {
            try ManagedObjectModel(canonicalBytes: bytes + [0])
        }
    }

    @Test func `default values that are kept in one form make one model`() {
        func model(_ value: Value) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "A",
                    attributes: [
                        AttributeDescription(name: "a", type: .double, defaultValue: value)
                    ])
            ])
        }

        #expect(model(.double(-0.0)).canonicalBytes == model(.double(0)).canonicalBytes)
    }

    @Test func `people know objects by what the model names, else by what is guessed`() throws {
        func text(_ name: String, unique: Bool = false, secret: Bool = false)
            -> AttributeDescription
        {
            AttributeDescription(
                name: name, type: .string, isUnique: unique, isConfidential: secret)
        }
        func display(_ attributes: [AttributeDescription], named name: String? = nil) throws
            -> String?
        {
            let info = name.map { [EntityDescription.displayPropertyKey: $0] } ?? [:]
            let schema = try Schema(
                ManagedObjectModel(entities: [
                    EntityDescription(name: "A", attributes: attributes, userInfo: info),
                    EntityDescription(name: "B", superentityName: "A"),
                ]))
            #expect(
                schema.entity(named: "A")?.displayProperty?.name
                    == schema.entity(named: "B")?.displayProperty?.name)
            return schema.entity(named: "A")?.displayProperty?.name
        }
        let number = AttributeDescription(name: "number", type: .int64)

        #expect(try display([text("a"), text("name"), text("code", unique: true)]) == "code")
        #expect(try display([text("a"), text("title"), text("name")]) == "name")
        #expect(try display([text("a"), text("title")]) == "title")
        #expect(try display([number, text("z"), text("b")]) == "b")
        #expect(try display([number, text("a", secret: true)]) == nil)
        #expect(try display([text("name", unique: true, secret: true), text("z")]) == "z")
        #expect(try display([number]) == nil)
        #expect(try display([number, text("name")], named: "number") == "number")
    }
}
