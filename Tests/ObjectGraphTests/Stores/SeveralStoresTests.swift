import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct SeveralStoresTests {
    @Test func `S82 F4 new objects go to the only writable store by themselves`() throws {
        let set = try StoreSet()
        let plain = try set.coordinator.addPersistentStore(at: set.url("plain"))
        try set.coordinator.remove(plain)
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        let archive = try set.coordinator.addPersistentStore(
            at: set.url("plain"), options: options)
        let current = try set.coordinator.addPersistentStore(at: set.url("current"))

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            #expect(ada.objectID.storeIdentifier == current.identifier)
            try context.save()
        }

        #expect(try current.head() == SequenceNumber(2))
        #expect(try archive.head() == SequenceNumber(1))
    }

    @Test func `S83 assigning decides between several writable stores`() throws {
        let set = try StoreSet("first", "second")
        let first = try #require(set.coordinator.persistentStore(for: set.url("first")))
        let second = try #require(set.coordinator.persistentStore(for: set.url("second")))

        let (byDefault, assigned) = try set.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Lovelace"
            let grace = Employee(context: context)
            grace.lastName = "Hopper"
            try context.assign(grace, to: second)
            try context.save()
            return (ada.objectID, grace.objectID)
        }

        #expect(byDefault.storeIdentifier == first.identifier)
        #expect(assigned.storeIdentifier == second.identifier)
        #expect(try StoreSet.lastNames(at: set.url("first")) == ["Lovelace"])
        #expect(try StoreSet.lastNames(at: set.url("second")) == ["Hopper"])
    }

    @Test func `S84 WE5 an employee assigned to the global store is in the global store only`()
        throws
    {
        let set = try StoreSet("local", "global")

        try set.inContext { (context) throws in
            let store = try #require(set.coordinator.persistentStore(for: set.url("global")))
            let employee = try #require(
                context.insertNewObject(forEntityName: "Employee") as? Employee)
            try context.assign(employee, to: store)
            employee.lastName = "Smith"
            try context.save()
        }

        #expect(try StoreSet.lastNames(at: set.url("global")) == ["Smith"])
        #expect(try StoreSet.lastNames(at: set.url("local")).isEmpty)
    }

    @Test func `S85 an assigned object is in no store before the save`() throws {
        let set = try StoreSet("first", "second")
        let second = set.coordinator.persistentStores[1]

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            try context.assign(ada, to: second)
            #expect(ada.isInserted)
            #expect(ada.objectID.isTemporaryID)
        }

        #expect(try second.head() == SequenceNumber(1))
        #expect(try StoreSet.lastNames(at: set.url("second")).isEmpty)
    }

    @Test func `S83 an assigned object keeps its edits and its steps of undo`() throws {
        let set = try StoreSet("first", "second")
        let second = set.coordinator.persistentStores[1]

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            context.processPendingChanges()
            ada.lastName = "Lovelace"
            context.processPendingChanges()
            try context.assign(ada, to: second)
            #expect(context.registeredObject(for: ada.objectID) === ada)
            context.undo()
            #expect(ada.lastName == "Byron")
            context.undo()
            #expect(context.insertedObjects.isEmpty)
            context.redo()
            context.redo()
            #expect(ada.lastName == "Lovelace")
            try context.save()
            #expect(ada.objectID.storeIdentifier == second.identifier)
        }

        #expect(try StoreSet.lastNames(at: set.url("second")) == ["Lovelace"])
        #expect(try StoreSet.lastNames(at: set.url("first")).isEmpty)
    }

    @Test func `S83 undo does not relate an assigned object to what it left behind`() throws {
        let set = try StoreSet("first", "second")
        let second = set.coordinator.persistentStores[1]

        try set.inContext { (context) throws in
            let ada = Employee(context: context)
            let research = Department(context: context)
            let grace = Employee(context: context)
            context.processPendingChanges()
            ada.department = research
            grace.mentor = ada
            context.processPendingChanges()
            ada.department = nil
            grace.mentor = nil
            context.processPendingChanges()
            try context.assign(ada, to: second)
            context.undo()
            context.undo()
            context.redo()
            #expect(ada.department == nil)
            #expect(grace.mentor == nil)
            #expect(research.employees.isEmpty)
            try context.save()
        }

        #expect(try StoreSet.lastNames(at: set.url("second")).count == 1)
    }

    @Test func `S83 what cannot be assigned stays where it is and says why`() throws {
        let set = try StoreSet("first", "second")
        let second = set.coordinator.persistentStores[1]
        let stranger = try StoreSet("other").coordinator.persistentStores[0]

        try set.inContext { (context) throws in
            let saved = Employee(context: context)
            try context.save()
            expect(.assignment) { try context.assign(saved, to: second) }

            let related = Employee(context: context)
            related.department = Department(context: context)
            expect(.assignment) { try context.assign(related, to: second) }

            let mentor = Employee(context: context)
            saved.mentor = mentor
            expect(.assignment) { try context.assign(mentor, to: second) }

            let ada = Employee(context: context)
            expect(.noSuchStore) { try context.assign(ada, to: stranger) }
            try context.save()
        }

        #expect(try StoreSet.lastNames(at: set.url("first")).count == 4)
    }

    @Test func `S83 an object of another context is not assigned`() async {
        await #expect(processExitsWith: .failure) {
            let set = try StoreSet("first", "second")
            let other = set.context()
            let ada = other.performAndWait { Employee(context: other) }
            try set.inContext { context in
                try context.assign(ada, to: set.coordinator.persistentStores[1])
            }
        }
    }

    // MARK: - Fetching

    @Test func `F6 a fetch finds and orders the objects of all stores`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.hire("Curie", "Adams", in: stores[0])
        try set.hire("Bohr", "Dirac", in: stores[1])

        try set.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            #expect(
                try context.fetch(request).map(\.lastName) == ["Curie", "Adams", "Bohr", "Dirac"])
            #expect(try context.count(request) == 4)
            request.order = [.descending(\Employee.lastName)]
            #expect(
                try context.fetch(request).map(\.lastName) == ["Dirac", "Curie", "Bohr", "Adams"])
            request.offset = 1
            request.limit = 2
            #expect(try context.fetch(request).map(\.lastName) == ["Curie", "Bohr"])
            #expect(try context.count(request) == 2)
            request.limit = .max
            #expect(try context.count(request) == 3)
            #expect(try context.fetch(request).count == 3)
        }
    }

    @Test func `F6 what is pending is found and ordered among the objects of all stores`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.hire("Adams", "Curie", in: stores[0])
        try set.hire("Bohr", in: stores[1])

        try set.inContext { (context) throws in
            let bohr = try #require(
                try context.fetch(FetchRequest<Employee>(where: \Employee.lastName == "Bohr")).first
            )
            bohr.lastName = "Zuse"
            let new = Employee(context: context)
            new.lastName = "Babbage"
            var request = FetchRequest<Employee>()
            request.order = [.ascending(\Employee.lastName)]
            #expect(
                try context.fetch(request).map(\.lastName) == ["Adams", "Babbage", "Curie", "Zuse"])
            #expect(try context.count(request) == 4)

            request.includesPendingChanges = false
            #expect(try context.fetch(request).map(\.lastName) == ["Adams", "Zuse", "Curie"])
            #expect(try context.count(request) == 3)
        }
    }

    @Test func `F6 affectedStores restricts a fetch and a count`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.hire("Adams", in: stores[0])
        try set.hire("Bohr", "Curie", in: stores[1])

        try set.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.affectedStores = [stores[1]]
            #expect(try context.fetch(request).map(\.lastName) == ["Bohr", "Curie"])
            #expect(try context.count(request) == 2)
            request.affectedStores = []
            #expect(try context.fetch(request).isEmpty)
            #expect(try context.count(request) == 0)
        }
    }

    @Test func `F6 a predicate in memory is asked of the objects of all stores`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.hire("Adams", in: stores[0])
        try set.hire("Bohr", in: stores[1])

        try set.inContext { (context) throws in
            let request = FetchRequest<Employee>(
                where: #Predicate { !$0.isDeleted && $0.lastName.count < 6 })
            #expect(try context.fetch(request).map(\.lastName) == ["Adams", "Bohr"])
            #expect(try context.count(request) == 2)
        }
    }

    @Test func `F6 a child fetches from all stores through its parent`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.hire("Curie", in: stores[0])
        try set.hire("Bohr", in: stores[1])
        let root = set.context()
        let child = ManagedObjectContext(parent: root)

        try child.performAndWait { () throws in
            var request = FetchRequest<Employee>()
            request.order = [.ascending(\Employee.lastName)]
            #expect(try child.fetch(request).map(\.lastName) == ["Bohr", "Curie"])
            #expect(try child.count(request) == 2)
        }
    }

    // MARK: - Saving and merging

    @Test func `F4 a save appends an entry to each store that has changes`() throws {
        let set = try StoreSet("first", "second", "third")
        let stores = set.coordinator.persistentStores

        try set.inContext { (context) throws in
            _ = Employee(context: context)
            try context.assign(Employee(context: context), to: stores[1])
            try context.save(author: "clerk")
        }

        #expect(try stores.map { try $0.head() } == [2, 2, 1].map { SequenceNumber($0) })
    }

    @Test func `F75 a context that follows takes in saves to a store that was added later`() throws
    {
        let set = try StoreSet("first")
        let follower = set.context()
        follower.performAndWait { follower.automaticallyMergesChangesFromParent = true }
        let late = try set.coordinator.addPersistentStore(at: set.url("late"))
        let id = try set.hire("Byron", in: late)[0]
        let name = try follower.performAndWait { () throws in
            try #require(try follower.existingObject(with: id) as? Employee)
        }
        follower.performAndWait { #expect(name.lastName == "Byron") }

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            try context.save()
        }

        follower.performAndWait { #expect(name.lastName == "Lovelace") }
    }

    @Test func `S97 a store added later is merged like the others`() throws {
        let set = try StoreSet("first")
        let context = set.context()
        let late = try set.coordinator.addPersistentStore(at: set.url("late"))
        let id = try set.hire("Byron", in: late)[0]
        let ada = try context.performAndWait { () throws in
            try #require(try context.existingObject(with: id) as? Employee)
        }
        try set.inContext { (other) throws in
            let ada = try #require(try other.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            try other.save()
        }

        try context.performAndWait { () throws in
            #expect(ada.lastName == "Byron")
            _ = try context.mergeChanges()
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `F10 a save refuses changes of objects in a read-only store`() throws {
        let set = try StoreSet("current")
        let current = set.coordinator.persistentStores[0]
        let archive = try set.coordinator.addPersistentStore(at: set.url("archive"))
        let id = try set.hire("Byron", in: archive)[0]
        try set.coordinator.remove(archive)
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        let reading = try set.coordinator.addPersistentStore(
            at: set.url("archive"), options: options)

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            let new = Employee(context: context)
            ada.lastName = "Lovelace"
            expect(.readOnly) { try context.save() }
            #expect(context.hasChanges && ada.isUpdated && new.isInserted)
            #expect(try current.head() == SequenceNumber(1))

            ada.lastName = "Byron"
            try context.save()
            expect(.readOnly) { try context.assign(Employee(context: context), to: reading) }
            expect(.readOnly) { try set.coordinator.setMetadata([:], for: reading) }
        }

        #expect(try current.head() == SequenceNumber(2))
        #expect(try reading.head() == SequenceNumber(2))
    }

    @Test func `F10 new objects have nowhere to go when all stores are read-only`() throws {
        let set = try StoreSet("archive")
        try set.coordinator.remove(set.coordinator.persistentStores[0])
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        try set.coordinator.addPersistentStore(at: set.url("archive"), options: options)

        try set.inContext { (context) throws in
            _ = Employee(context: context)
            expect(.readOnly) { try context.save() }
            #expect(context.insertedObjects.count == 1)
        }
    }

    @Test func `S112 stacks over one coordinator share its stores`() throws {
        let set = try StoreSet("first", "second")
        let second = set.coordinator.persistentStores[1]
        let sibling = set.context()
        let root = set.context()
        let child = ManagedObjectContext(parent: root)
        sibling.performAndWait { sibling.automaticallyMergesChangesFromParent = true }
        let request = FetchRequest<Employee>()

        try child.performAndWait { () throws in
            let ada = Employee(context: child)
            try child.assign(ada, to: second)
            ada.lastName = "Lovelace"
            try child.save()
        }
        #expect(try sibling.performAndWait { () throws in try sibling.count(request) } == 0)
        _ = try root.performAndWait { () throws in try root.save() }

        #expect(try sibling.performAndWait { () throws in try sibling.count(request) } == 1)
        #expect(try StoreSet.lastNames(at: set.url("second")) == ["Lovelace"])
    }
}

/// Expects a refusal with a code.
func expect<Result>(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
) {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
        _ = try body()
    }
    #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
}
