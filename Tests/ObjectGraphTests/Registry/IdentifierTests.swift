import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct IdentifierTests {
    // MARK: - As text

    @Test func `F8 an identifier goes through its text and back`() throws {
        let set = try StoreSet("first", "second")
        let store = set.coordinator.persistentStores[1]
        let id = try set.hire("Lovelace", in: store)[0]

        let url = id.uriRepresentation()

        let number = id.object.number
        #expect(
            url.absoluteString
                == "x-daybook://\(store.identifier.uuidString)/Employee/p\(number)")
        let read = try #require(set.coordinator.managedObjectID(forURIRepresentation: url))
        #expect(read == id)
        #expect(!read.isTemporaryID)
        #expect(read.entityName == "Employee")
        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: read) as? Employee)
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `F8 a temporary identifier says so and names the same object after saving`() throws {
        let set = try StoreSet("staff")

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            let temporary = ada.objectID.uriRepresentation()
            #expect(temporary.lastPathComponent == "t\(ada.objectID.object.number)")
            try context.save()
            #expect(ada.objectID.uriRepresentation().lastPathComponent.hasPrefix("p"))
            let read = try #require(
                set.coordinator.managedObjectID(forURIRepresentation: temporary))
            #expect(read.isTemporaryID)
            #expect(context.object(with: read) === ada)
        }
    }

    @Test(arguments: [
        "x-daybook://STORE/Employee/p0", "x-daybook://STORE/Employee/p01",
        "x-daybook://STORE/Employee/p+1", "x-daybook://STORE/Employee/p-1",
        "x-daybook://STORE/Employee/p", "x-daybook://STORE/Employee/1",
        "x-daybook://STORE/Employee/q1", "x-daybook://STORE/Employee/p1/2",
        "x-daybook://STORE/Employee/p99999999999999999999", "x-daybook://STORE/Employee",
        "x-daybook://STORE/Employee/p281474976710656",
        "x-daybook://STORE/Robot/p1", "x-daybook://STORE//p1", "x-daybook:STORE/Employee/p1",
        "x-coredata://STORE/Employee/p1", "x-daybook://not-a-store/Employee/p1",
        "x-daybook://00000000-0000-0000-0000-000000000000/Employee/p1", "x-daybook://", "p1",
        "x-daybook://STORE/Employee/p1?x", "x-daybook://STORE/Employee/p1#x",
    ])
    func `F8 other text, another store and an unknown entity name nothing`(text: String) throws {
        let set = try StoreSet("staff")
        let identifier = set.coordinator.persistentStores[0].identifier.uuidString
        let url = try #require(
            URL(string: text.replacingOccurrences(of: "STORE", with: identifier)))

        #expect(set.coordinator.managedObjectID(forURIRepresentation: url) == nil)
    }

    // MARK: - As values

    @Test func `an identifier takes two words`() {
        #expect(MemoryLayout<ManagedObjectID>.stride == 16)
    }

    @Test
    func `identifiers of one object are equal, wherever they come from, and have equal hashes`()
        throws
    {
        let set = try StoreSet("first", "second")
        let first = set.coordinator.persistentStores[0]
        let id = try set.hire("Lovelace", in: first)[0]
        let other = try set.hire("Hopper", in: set.coordinator.persistentStores[1])[0]

        try set.inContext { (context) throws in
            let same = try context.existingObject(with: id).objectID
            let alike = ManagedObjectID(
                storeIdentifier: first.identifier, object: id.object, entityName: "Employee",
                isTemporaryID: true)
            #expect(same == id && alike == id)
            #expect(Set([id, same, alike, other]).count == 2)
            #expect(other != id)
            #expect(
                ManagedObjectID(
                    storeIdentifier: other.storeIdentifier, object: id.object,
                    entityName: "Employee", isTemporaryID: false) != id)
        }
    }

    @Test func `an object knows its identifier when its context has gone`() throws {
        let set = try StoreSet("staff")
        let id = try set.hire("Lovelace", in: set.coordinator.persistentStores[0])[0]
        var ada: ManagedObject?
        do {
            let context = set.context()
            ada = try context.performAndWait { () throws in
                try context.existingObject(with: id)
            }
        }

        #expect(ada?.managedObjectContext == nil)
        #expect(ada?.objectID == id)
    }

    @Test func `an object that no store can take has one identifier all the same`() throws {
        let set = try StoreSet()
        try set.inContext { context in
            let (ada, grace) = (Employee(context: context), Employee(context: context))

            #expect(ada.objectID == ada.objectID)
            #expect(ada.objectID != grace.objectID)
            #expect(ada.objectID.isTemporaryID)
        }
    }

    // MARK: - Temporary and permanent

    @Test func `F11 the identifier of a new object is temporary until it is saved`() throws {
        let set = try StoreSet("staff")

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            let before = ada.objectID
            #expect(before.isTemporaryID)
            try context.save()
            #expect(!ada.objectID.isTemporaryID)
            #expect(ada.objectID == before)
        }
    }

    @Test func `F12 a permanent identifier can be had before saving`() throws {
        let set = try StoreSet("staff")

        try set.inContext { (context) throws in
            let saved = Employee(context: context)
            try context.save()
            let ada = Employee(context: context)
            let grace = Employee(context: context)
            try context.obtainPermanentIDs(for: [ada, saved])

            let obtained = ada.objectID
            #expect(!obtained.isTemporaryID)
            #expect(obtained.uriRepresentation().lastPathComponent.hasPrefix("p"))
            #expect(ada.isInserted && !saved.isInserted)
            #expect(grace.objectID.isTemporaryID)
            try context.obtainPermanentIDs(for: [ada])
            try context.save()
            #expect(ada.objectID == obtained && !ada.objectID.isTemporaryID)
        }
    }

    @Test func `F12 an object that had no store is assigned by the rules of a save`() throws {
        let set = try StoreSet()

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            let grace = Employee(context: context)
            grace.mentor = ada
            expect(.noSuchStore) { try context.obtainPermanentIDs(for: [ada]) }
            #expect(ada.objectID.isTemporaryID)

            let store = try set.coordinator.addPersistentStore(at: set.url("staff"))
            expect(.assignment) { try context.obtainPermanentIDs(for: [ada]) }
            grace.mentor = nil
            try context.obtainPermanentIDs(for: [ada, grace])
            #expect(ada.objectID.storeIdentifier == store.identifier)
            #expect(context.registeredObject(for: ada.objectID) === ada)
            grace.mentor = ada
            try context.save()
        }

        #expect(try StoreSet.lastNames(at: set.url("staff")).count == 2)
    }

    @Test func `F12 a context that reads the past gives no permanent identifiers`() throws {
        let store = try StaffStore()
        let past = try store.container.context(at: .sequence(SequenceNumber(1)))

        past.performAndWait {
            let ada = Employee(context: past)
            expect(.readOnly) { try past.obtainPermanentIDs(for: [ada]) }
            #expect(ada.objectID.isTemporaryID)
        }
    }

    @Test func `F12 obtaining identifiers for objects of another context stops the program`() async
    {
        await #expect(processExitsWith: .failure) {
            let set = try StoreSet("staff")
            let other = set.context()
            let ada = other.performAndWait { Employee(context: other) }
            try set.inContext { context in try context.obtainPermanentIDs(for: [ada]) }
        }
    }

    @Test func `F13 identifiers are the same from birth through children, parent and store`() throws
    {
        let set = try StoreSet("first", "second")
        let root = set.context()
        let child = ManagedObjectContext(parent: root)

        let id = try child.performAndWait { () throws in
            let ada = Employee(context: child)
            try child.assign(ada, to: set.coordinator.persistentStores[1])
            let id = ada.objectID
            try child.save()
            #expect(ada.objectID == id)
            return id
        }
        try root.performAndWait { () throws in
            #expect(root.registeredObject(for: id)?.objectID.isTemporaryID == true)
            try root.save()
            #expect(root.registeredObject(for: id) != nil)
        }

        child.performAndWait { #expect(child.object(with: id)?.objectID.isTemporaryID == false) }
    }

    // MARK: - Context, coordinator and model

    @Test func `S75 a context leads to its coordinator, its model and an entity`() throws {
        let set = try StoreSet("staff")

        try set.inContext { (context) throws in
            let byModel = context.coordinator.managedObjectModel.entitiesByName["Employee"]
            let byName = EntityDescription.entity(forEntityName: "Employee", in: context)
            #expect(byModel != nil && byModel == byName)
            #expect(Employee(context: context).entity == byName)
            #expect(EntityDescription.entity(forEntityName: "Robot", in: context) == nil)
        }
    }

    @Test func `S19 a context that nobody holds is released, and its coordinator lives on`() throws
    {
        let set = try StoreSet("staff")
        weak var gone: ManagedObjectContext?
        do {
            let context = set.context()
            gone = context
            context.performAndWait {
                context.automaticallyMergesChangesFromParent = true
                _ = Employee(context: context)
            }
            #expect(gone != nil)
        }

        #expect(gone == nil)
        try set.hire("Lovelace", in: set.coordinator.persistentStores[0])
    }

    @Test func `S20 a context keeps its coordinator`() throws {
        let set = try StoreSet("staff")
        let other = try StoreSet("other")

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            expect(.coordinator) { try context.setPersistentStoreCoordinator(nil) }
            expect(.coordinator) { try context.setPersistentStoreCoordinator(other.coordinator) }
            try context.setPersistentStoreCoordinator(set.coordinator)
            #expect(context.coordinator === set.coordinator)
            #expect(ada.isInserted)
            try context.save()
        }
    }

    @Test func `S18 an array of objects keeps those objects and lets their relations go`() throws {
        let set = try StoreSet("staff")
        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.department = Department(context: context)
            Employee(context: context).lastName = "Hopper"
            try context.save()
        }

        try set.inContext { (context) throws in
            context.undoManager = nil
            var kept = try context.fetch(FetchRequest<Employee>(where: \Employee.lastName == ""))
            #expect(kept.first?.department != nil)
            weak let department = kept.first?.department
            #expect(try context.fetch(FetchRequest<Employee>()).count == 2)
            #expect(context.registeredObjects.count == 2)
            #expect(department != nil)

            kept.first.map { context.refresh($0, mergeChanges: false) }
            #expect(department == nil)
            #expect(context.registeredObjects == Set(kept))
            kept = []
            #expect(context.registeredObjects.isEmpty)
        }
    }

    // MARK: - The past of several stores

    @Test func `S112 a context at a moment sees every store as it was then`() throws {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            model: staff,
            descriptions: ["first", "second"].map {
                PersistentStoreDescription(url: folder.url.appendingPathComponent("\($0).daybook"))
            })
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let stores = container.persistentStoreCoordinator.persistentStores
        func hire(_ name: String, in store: PersistentStore, at time: Double) throws {
            let context = container.newBackgroundContext()
            try context.performAndWait { () throws in
                let employee = Employee(context: context)
                try context.assign(employee, to: store)
                employee.lastName = name
                try context.save(at: Date(timeIntervalSince1970: time))
            }
        }
        let start = Date().timeIntervalSince1970 + 10
        try hire("Byron", in: stores[1], at: start)
        try hire("Lovelace", in: stores[0], at: start + 10)
        try hire("King", in: stores[1], at: start + 20)

        func names(at moment: Moment) throws -> [String] {
            let past = try container.context(at: moment)
            return try past.performAndWait { () throws in
                try past.fetch(FetchRequest<Employee>()).map(\.lastName)
            }
        }
        #expect(try names(at: .date(Date(timeIntervalSince1970: start + 5))) == ["Byron"])
        #expect(try names(at: .sequence(SequenceNumber(2))) == ["Lovelace", "Byron"])
        let end = Date(timeIntervalSince1970: start + 30)
        #expect(try names(at: .date(end)) == ["Lovelace", "Byron", "King"])
        #expect(try names(at: .sequence(.zero)).isEmpty)
        let empty = try TestContainer.make(model: staff, descriptions: [])
        expect(.noSuchStore) { try empty.context(at: .date(end)) }
    }
}
