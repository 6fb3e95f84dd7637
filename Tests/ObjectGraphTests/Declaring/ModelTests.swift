import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

class Vehicle: ManagedObject {
    @Attribute(.unique) var plate: String
    @Relationship var keeper: Keeper?

    override class var isAbstractEntity: Bool { self == Vehicle.self }
}

final class Car: Vehicle {
    @Attribute var doors: Int = 4
}

final class Lorry: Vehicle {
    @Attribute var load: Double?
    @Attribute var axles: [Axle] = []
}

struct Axle: CodableAttributeValue, Equatable {
    var wheels: Int
}

final class Keeper: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var flag: Bool = false
    @Attribute var small: Int16 = 0
    @Attribute var medium: Int32 = 0
    @Attribute var long: Int64 = 0
    @Attribute var single: Float = 0
    @Attribute var blob: Data?
    @Attribute var born: Date?
    @Attribute var token: UUID?
    @Attribute var page: URL?
    @Relationship(inverse: \Vehicle.keeper) var vehicles: Set<Vehicle>
}

@Suite struct ModelTests {
    private func makeContainer(_ folder: TemporaryDirectory) throws -> PersistentContainer {
        try TestContainer.make(
            folder.url.appendingPathComponent("vehicles.daybook"),
            model: [Vehicle.self, Car.self, Lorry.self, Keeper.self])
    }

    @Test func `a model read off classes has their properties, kinds and inverses`() throws {
        let model = try GraphModel(classes: [Vehicle.self, Car.self, Lorry.self, Keeper.self])
        let entities = model.schema.model.entitiesByName

        #expect(entities["Vehicle"]?.isAbstract == true)
        #expect(entities["Car"]?.superentityName == "Vehicle")
        #expect(entities["Car"]?.attributes.map(\.name) == ["doors"])
        #expect(entities["Car"]?.attributes.first?.defaultValue == .int(4))
        #expect(entities["Vehicle"]?.attributes.first?.isUnique == true)
        #expect(entities["Vehicle"]?.relationships.first?.inverseName == "vehicles")
        #expect(entities["Keeper"]?.relationships.first?.inverseName == "keeper")
        #expect(entities["Keeper"]?.attributes.first { $0.name == "born" }?.isOptional == true)
        #expect(entities["Lorry"]?.attributes.first { $0.name == "axles" }?.type == .codable)
    }

    @Test func `every attribute type comes back as it was saved`() throws {
        let folder = try TemporaryDirectory()
        let container = try makeContainer(folder)
        let context = container.newBackgroundContext()
        let token = UUID()
        let born = Date(timeIntervalSinceReferenceDate: 123_456_789.123_456_7)
        try context.performAndWait { () throws in
            let keeper = Keeper(context: context)
            keeper.name = "Zoë\u{0301} \u{0}"
            keeper.flag = true
            keeper.small = -32_768
            keeper.medium = .max
            keeper.long = .min
            keeper.single = 0.1
            keeper.blob = Data([0, 255, 1])
            keeper.born = born
            keeper.token = token
            keeper.page = URL(string: "https://example.org/a%20b?c=d")
            let lorry = Lorry(context: context)
            lorry.plate = "AB 1"
            lorry.axles = [Axle(wheels: 2), Axle(wheels: 4)]
            lorry.keeper = keeper
            try context.save()
            context.reset()

            let read = try #require(try context.fetch(FetchRequest<Keeper>()).first)

            #expect(Array(read.name.utf8) == Array("Zoë\u{0301} \u{0}".utf8))
            #expect(read.flag)
            #expect(read.small == -32_768)
            #expect(read.medium == .max)
            #expect(read.long == .min)
            #expect(read.single == 0.1)
            #expect(read.blob == Data([0, 255, 1]))
            #expect(read.born == born)
            #expect(read.token == token)
            #expect(read.page?.absoluteString == "https://example.org/a%20b?c=d")
            let vehicle = try #require(read.vehicles.first as? Lorry)
            #expect(vehicle.axles == [Axle(wheels: 2), Axle(wheels: 4)])
            #expect(vehicle.load == nil)
        }
    }

    @Test func `attributes read the same from a record and after an edit of another`() throws {
        let folder = try TemporaryDirectory()
        let container = try makeContainer(folder)
        let context = container.newBackgroundContext()
        func seen(_ keeper: Keeper) -> [String] {
            [
                "\(keeper.name)", "\(keeper.small)", "\(keeper.medium)", "\(keeper.long)",
                "\(keeper.single)", "\(String(describing: keeper.blob))",
                "\(String(describing: keeper.born))", "\(String(describing: keeper.token))",
                "\(String(describing: keeper.page))",
            ]
        }
        try context.performAndWait { () throws in
            for index in 0..<2 {
                let keeper = Keeper(context: context)
                keeper.name = "\(index)"
                guard index == 1 else { continue }
                keeper.small = -1
                keeper.medium = 70_000
                keeper.long = 1 << 40
                keeper.single = 2.5
                keeper.blob = Data([1, 2])
                keeper.born = Date(timeIntervalSinceReferenceDate: -0.5)
                keeper.token = UUID()
                keeper.page = URL(string: "https://example.org")
            }
            try context.save()
            context.reset()

            for keeper in try context.fetch(FetchRequest<Keeper>()) {
                let read = seen(keeper)
                keeper.flag = true

                #expect(seen(keeper) == read)
                #expect(keeper.born == nil || keeper.name == "1")
                #expect((keeper.blob == nil) == (keeper.name == "0"))
                #expect(keeper.long == (keeper.name == "0" ? 0 : 1 << 40))
            }
        }
    }

    @Test func `sub-entities are fetched with their superentity and unique with it`() throws {
        let folder = try TemporaryDirectory()
        let container = try makeContainer(folder)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let car = Car(context: context)
            car.plate = "A 1"
            let lorry = Lorry(context: context)
            lorry.plate = "B 2"
            try context.save()

            let vehicles = try context.fetch(FetchRequest<Vehicle>(where: \Vehicle.plate < "C"))
            #expect(Set(vehicles) == [car, lorry])
            var ownOnly = FetchRequest<Vehicle>()
            ownOnly.includesSubentities = false
            #expect(try context.count(ownOnly) == 0)
            lorry.plate = "A 1"
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .duplicate)
        }
    }

    @Test func `a store written with another model lists the differences`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("vehicles.daybook")
        _ = try makeContainer(folder)

        let error = #expect(throws: StoreError.self) {
            try TestContainer.make(
                url, model: [Department.self, Desk.self, Employee.self, Project.self, Task.self])
        }

        #expect(error?.code == .modelMismatch)
        #expect(error?.details.contains("remove entity 'Car'") == true)
    }

    @Test func `transient attributes are not part of the store's model`() throws {
        let store = try StaffStore()
        let id = try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.firstName = "Ada"
            ada.fullName = "Ada Lovelace"
            try context.save()
            return ada.objectID
        }
        var model = try GraphModel(classes: staff).schema.model
        for index in model.entities.indices {
            model.entities[index].attributes.removeAll(where: \.isTransient)
        }

        let generic = try TestContainer.make(store.url, managedObjectModel: model)

        let context = generic.newBackgroundContext()
        try context.performAndWait { () throws in
            let ada = try context.existingObject(with: id)
            #expect(ada.value(forKey: "firstName") as? String == "Ada")
        }
    }

    @Test func `a model built at run time is served by generic objects`() throws {
        let folder = try TemporaryDirectory()
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "City",
                attributes: [
                    AttributeDescription(name: "name", type: .string, isOptional: false),
                    AttributeDescription(name: "inhabitants", type: .int64),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "twins", destinationName: "City", inverseName: "twins",
                        isToMany: true)
                ])
        ])
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("cities.daybook"), managedObjectModel: model)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let ghent = context.insertNewObject(forEntityName: "City")
            ghent.setValue("Ghent", forKey: "name")
            ghent.setValue(265_086, forKey: "inhabitants")
            let kazanlak = context.insertNewObject(forEntityName: "City")
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validation)
            kazanlak.setValue("Kazanlak", forKey: "name")
            ghent.setValue([kazanlak], forKey: "twins")
            try context.save()

            #expect(kazanlak.relatedObjects(forKey: "twins") == [ghent])
            context.delete(kazanlak)
            context.processPendingChanges()
            #expect(ghent.relatedObjects(forKey: "twins").isEmpty)
            context.undo()
            #expect(ghent.relatedObjects(forKey: "twins") == [kazanlak])
            #expect(!context.hasChanges)
            let big = try context.fetch(
                FetchRequest<ManagedObject>(
                    entityName: "City", where: Condition("inhabitants > %@", 1000)))
            #expect(big == [ghent])
            #expect(big.first?.value(forKey: "name") as? String == "Ghent")
        }
    }

    @Test func `inserting an abstract entity stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let folder = try TemporaryDirectory()
            let container = try TestContainer.make(
                folder.url.appendingPathComponent("vehicles.daybook"),
                model: [Vehicle.self, Car.self, Lorry.self, Keeper.self])
            let context = container.newBackgroundContext()
            context.performAndWait { _ = Vehicle(context: context) }
        }
    }
}
