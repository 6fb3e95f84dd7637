import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct CreatingTests {
    @Test func `S71 a new object has the class of its entity, its context and its defaults`() throws
    {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let object = context.insertNewObject(forEntityName: "Truck")

            let truck = try #require(object as? Truck)
            #expect(truck.managedObjectContext === context)
            #expect(context.registeredObjects.contains(truck))
            #expect(context.insertedObjects == [truck])
            #expect(truck.seats == 4)
            #expect(truck.plate == "AB 1")
            #expect(truck.price == nil)
        }
    }

    @Test func `S72 the designated initializer sets entity and context, and so does the short one`()
        throws
    {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let entity = context.entity(for: Employee.self)

            let long = Employee(entity: entity, insertInto: context)
            let short = Employee(context: context)

            for employee in [long, short] {
                #expect(employee.entity.name == "Employee")
                #expect(employee.managedObjectContext === context)
                #expect(employee.isInserted)
            }
        }
    }

    @Test func `S73 an entity without a class gives generic objects`() throws {
        let folder = try TemporaryDirectory()
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note", attributes: [AttributeDescription(name: "text", type: .string)])
        ])
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("notes.daybook"), managedObjectModel: model)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let note = context.insertNewObject(forEntityName: "Note")

            #expect(type(of: note) == ManagedObject.self)
            note.setValue("Hello", forKey: "text")
            #expect(note.value(forKey: "text") as? String == "Hello")
        }
    }

    @Test func `S74 one class represents several entities, whose properties differ`() throws {
        let folder = try TemporaryDirectory()
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note", attributes: [AttributeDescription(name: "text", type: .string)]),
            EntityDescription(
                name: "Sum", attributes: [AttributeDescription(name: "amount", type: .int64)]),
        ])
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("notes.daybook"), managedObjectModel: model)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let note = context.insertNewObject(forEntityName: "Note")
            let sum = context.insertNewObject(forEntityName: "Sum")

            #expect(type(of: note) == type(of: sum))
            #expect(note.entity.attributes.map(\.name) == ["text"])
            #expect(sum.entity.attributes.map(\.name) == ["amount"])
            #expect(sum.committedValues().keys.sorted() == ["amount"])
        }
    }

    @Test func `S75 the entity of an object is the one in the coordinator's model`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)

            let entities = context.coordinator.managedObjectModel.entitiesByName

            #expect(entities["Employee"] == ada.entity)
            #expect(entities["Nobody"] == nil)
        }
    }

    @Test func `S77 S78 creating saves nothing and no other context sees it before the save`()
        throws
    {
        let store = try ClassStore(diaries)
        let other = store.container.newBackgroundContext()
        try store.inContext { (context) throws in
            let head = try store.store.head()
            let diary = Diary(context: context)
            context.processPendingChanges()

            #expect(try store.store.head() == head)
            try other.performAndWait { () throws in
                #expect(try other.count(FetchRequest<Diary>()) == 0)
                #expect(other.registeredObject(for: diary.objectID) == nil)
            }
            try context.save()
            try other.performAndWait { () throws in
                #expect(try other.count(FetchRequest<Diary>()) == 1)
            }
        }
    }
}
