import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// How objects are made and saved, after "Creating and Deleting Managed Objects" of the seeds.
@Suite struct CoreDataCreatingTests {
    @Test func `S71 insertNewObject makes an instance of the entity's class with its defaults`()
        throws
    {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let object = context.insertNewObject(forEntityName: "Department")

            let department = try #require(object as? Company.Department)
            #expect(department.isInserted)
            #expect(department.managedObjectContext === context)
            #expect(context.registeredObjects == [department])
            #expect(context.insertedObjects == [department])
            #expect(department.name == "Unnamed")
            #expect(department.employees.isEmpty)
        }
    }

    @Test func `S72 the designated initializer sets entity and context, as conveniences do`()
        throws
    {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let model = context.coordinator.managedObjectModel
            let entity = try #require(model.entitiesByName["Employee"])

            let designated = Company.Employee(entity: entity, insertInto: context)
            let convenience = Company.Employee(context: context)
            let byName = context.insertNewObject(forEntityName: "Employee")

            for employee in [designated, convenience, byName] {
                #expect(employee.entity == entity)
                #expect(employee.managedObjectContext === context)
                #expect(employee.isInserted)
                #expect(employee is Company.Employee)
            }
            #expect(context.insertedObjects.count == 3)
        }
    }

    @Test func `S73 S74 the generic class represents several entities, each with its properties`()
        throws
    {
        let atlas = try AtlasFile()
        let container = try atlas.open(classes: [Town.self])
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let town = context.insertNewObject(forEntityName: "City")
            let river = context.insertNewObject(forEntityName: "River")
            let lake = context.insertNewObject(forEntityName: "Lake")

            #expect(type(of: town) == Town.self)
            #expect(type(of: river) == ManagedObject.self)
            #expect(type(of: lake) == ManagedObject.self)
            #expect(river.entity.name == "River")
            #expect(lake.entity.name == "Lake")
            #expect(river.value(forKey: "length") as? Int64 == 0)
            #expect(lake.value(forKey: "depth") as? Int64 == 0)
            #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "River")) == [river])
            #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Lake")) == [lake])
        }
    }

    @Test func `S74 a property of another entity of the same class stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let context = try AtlasFile().open().newBackgroundContext()
            context.performAndWait {
                let river = context.insertNewObject(forEntityName: "River")
                river.setValue(Int64(10), forKey: "depth")
            }
        }
    }

    @Test func `S75 the way from context to coordinator to model ends at the object's entity`()
        throws
    {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let employee = Company.Employee(context: context)

            let entities = context.coordinator.managedObjectModel.entitiesByName

            #expect(entities["Employee"] == employee.entity)
            #expect(entities["Nobody"] == nil)
        }
    }

    @Test func `S76 F23 a dynamic default is set by a hook, once and not when fetched`() throws {
        let store = try CompanyStore()
        let id = try store.inContext { (context) throws in
            let employee = Company.Employee(context: context)
            #expect(employee.hired == Company.openingDay)
            #expect(employee.calls.awakeFromInsert == 1)
            try context.save()
            #expect(employee.calls.awakeFromInsert == 1)
            return employee.objectID
        }
        try store.inContext { (context) throws in
            let employee = try context.employee(id)
            #expect(employee.hired == Company.openingDay)
            #expect(employee.calls.awakeFromInsert == 0)
        }
    }

    @Test func `S77 S78 what is made and changed stays in its context until saved`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        let before = try store.head
        let (first, second) = (store.context(), store.context())
        try first.performAndWait { () throws in
            let made = Company.Employee(context: first)
            made.firstName = "Grace"
            try first.employee(id).lastName = "Lovelace"

            #expect(try store.head == before)
            try second.performAndWait { () throws in
                let seen = try second.fetch(FetchRequest<Company.Employee>())
                #expect(seen.map(\.lastName) == ["Byron"])
                #expect(!second.hasChanges)
            }

            try first.save()
        }
        #expect(try store.head != before)
        try store.inContext { (third) throws in
            let seen = try third.fetch(FetchRequest<Company.Employee>())
            #expect(Set(seen.map(\.lastName)) == ["Lovelace", ""])
        }
    }

    @Test func `S79 S80 a save with an invalid object saves nothing, and the entity decides`()
        throws
    {
        let file = try AtlasFile()
        defer { withExtendedLifetime(file) {} }
        let container = try file.open()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let before = try store.head()
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let valid = context.insertNewObject(forEntityName: "City")
            valid.setValue("Ghent", forKey: "name")
            let invalid = context.insertNewObject(forEntityName: "City")

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .validation)
            #expect(try store.head() == before)
            #expect(context.insertedObjects == [valid, invalid])
            invalid.setValue("Kazanlak", forKey: "name")
            try context.save()
            #expect(!context.hasChanges)
        }
        let other = container.newBackgroundContext()
        try other.performAndWait { () throws in
            let cities = try other.fetch(FetchRequest<ManagedObject>(entityName: "City"))
            #expect(cities.map { $0.value(forKey: "name") as? String } == ["Ghent", "Kazanlak"])
        }
    }

    @Test func `S81 the class of an entity may be written later, and be renamed`() throws {
        let atlas = try AtlasFile()
        let context = try atlas.open().newBackgroundContext()
        try context.performAndWait { () throws in
            let city = context.insertNewObject(forEntityName: "City")
            city.setValue("Ghent", forKey: "name")
            try context.save()
        }

        let first = try atlas.open(classes: [Town.self]).newBackgroundContext()
        let second = try atlas.open(classes: [Municipality.self]).newBackgroundContext()

        try first.performAndWait { () throws in
            #expect(try first.fetch(FetchRequest<Town>()).first?.name == "Ghent")
        }
        try second.performAndWait { () throws in
            #expect(try second.fetch(FetchRequest<Municipality>()).first?.name == "Ghent")
            #expect(second.insertNewObject(forEntityName: "City") is Municipality)
        }
    }
}

/// The class for the entity 'City' at first.
private final class Town: ManagedObject {
    @Attribute var name: String?
    @Attribute var inhabitants: Int = 1000

    override class var entityName: String { "City" }
}

/// The class for the entity 'City' later.
private final class Municipality: ManagedObject {
    @Attribute var name: String?
    @Attribute var inhabitants: Int = 1000

    override class var entityName: String { "City" }
}

/// A folder for a store whose model is built at run time: cities, rivers and lakes.
private final class AtlasFile: Sendable {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    func open(classes: [ManagedObject.Type] = []) throws -> PersistentContainer {
        let number = AttributeType.int64
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "City",
                attributes: [
                    AttributeDescription(name: "name", type: .string, isOptional: false),
                    AttributeDescription(
                        name: "inhabitants", type: number, isOptional: false,
                        defaultValue: .int(1000)),
                ]),
            EntityDescription(
                name: "River",
                attributes: [
                    AttributeDescription(name: "length", type: number, defaultValue: .int(0))
                ]),
            EntityDescription(
                name: "Lake",
                attributes: [
                    AttributeDescription(name: "depth", type: number, defaultValue: .int(0))
                ]),
        ])
        return try TestContainer.make(
            folder.url.appendingPathComponent("atlas.daybook"), managedObjectModel: model,
            classes: classes)
    }
}
