import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Dispatch
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct ChildTests {
    @Test
    func `S94 WE6 basic stack: a child's save stays in memory until the root saves`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let head = try store.head()
        let id = try child.performAndWait { () throws in
            let ada = Employee(context: child)
            ada.lastName = "Lovelace"
            #expect(try child.save() == nil)
            #expect(!child.hasChanges)
            return ada.objectID
        }
        #expect(try store.head() == head)

        try root.performAndWait { () throws in
            #expect(root.hasChanges)
            let ada = try #require(root.registeredObject(for: id) as? Employee)
            #expect(ada.isInserted)
            #expect(ada.lastName == "Lovelace")
            #expect(try root.save() != nil)
        }

        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test
    func `S95 the root saves on its own queue while the child works on`() async throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let id = try child.performAndWait { () throws in
            let ada = Employee(context: child)
            try child.save()
            return ada.objectID
        }

        async let saved: SequenceNumber? = root.perform { try root.save() }
        try child.performAndWait { () throws in
            let ada = try #require(child.registeredObject(for: id) as? Employee)
            ada.lastName = "Byron"
            try child.save()
        }

        #expect(try await saved != nil)
        try root.performAndWait { () throws in
            try root.save()
            let ada = try #require(try root.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "Byron")
        }
    }

    @Test
    func `F11 F13 an identifier is temporary until the root has saved, and never changes`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let ada = child.performAndWait { Employee(context: child) }
        let id = child.performAndWait { ada.objectID }
        #expect(id.isTemporaryID)

        _ = try child.performAndWait { try child.save() }

        child.performAndWait { #expect(ada.objectID.isTemporaryID) }
        try root.performAndWait { () throws in
            #expect(root.registeredObject(for: id)?.objectID.isTemporaryID == true)
            try root.save()
            #expect(root.object(with: id)?.objectID.isTemporaryID == false)
        }
        child.performAndWait {
            #expect(ada.objectID == id)
            #expect(!ada.objectID.isTemporaryID)
        }
    }

    @Test
    func `F82 S103 a child reads what is pending in its parent, over what the store has`() throws {
        let store = try StaffStore()
        let (stored, edited, removed) = try store.inContext { (context) throws in
            let people = ["Ada", "Bob", "Cleo"].map { name in
                let person = Employee(context: context)
                person.lastName = name
                return person
            }
            try context.save()
            return (people[0].objectID, people[1].objectID, people[2].objectID)
        }
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let born = try root.performAndWait { () throws in
            let bob = try #require(try root.existingObject(with: edited) as? Employee)
            bob.lastName = "Rob"
            root.delete(try root.existingObject(with: removed))
            let dora = Employee(context: root)
            dora.lastName = "Dora"
            return dora.objectID
        }

        try child.performAndWait { () throws in
            let eve = Employee(context: child)
            eve.lastName = "Eve"
            var request = FetchRequest<Employee>()
            request.order = [.ascending(\Employee.lastName)]
            let found = try child.fetch(request)
            #expect(found.map(\.lastName) == ["Ada", "Dora", "Eve", "Rob"])
            #expect(found.prefix(2).map(\.objectID) == [stored, born])
            #expect(try child.count(request) == 4)
            let named = FetchRequest<Employee>(where: \Employee.lastName == "Rob")
            #expect(try child.fetch(named).map(\.objectID) == [edited])
            #expect(throws: StoreError.self) { try child.existingObject(with: removed) }
        }
    }

    @Test func `F82 relationships are read through the parent`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let (department, ada) = root.performAndWait {
            let department = Department(context: root)
            let ada = Employee(context: root)
            ada.department = department
            return (department.objectID, ada.objectID)
        }

        try child.performAndWait { () throws in
            let local = try #require(child.object(with: department) as? Department)
            let localAda = try #require(child.object(with: ada) as? Employee)
            #expect(local.employees == [localAda])
            #expect(localAda.department === local)
            let bob = Employee(context: child)
            bob.department = local
            try child.save()
        }

        try root.performAndWait { () throws in
            let local = try #require(root.object(with: department) as? Department)
            #expect(local.employees.count == 2)
            try root.save()
        }
        try store.inContext { (context) throws in
            let stored = try #require(context.object(with: department) as? Department)
            #expect(stored.employees.count == 2)
        }
    }

    @Test func `F84 a child's rollback is its own`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let id = root.performAndWait {
            let ada = Employee(context: root)
            ada.lastName = "Lovelace"
            return ada.objectID
        }

        try child.performAndWait { () throws in
            let ada = try #require(child.object(with: id) as? Employee)
            ada.lastName = "Byron"
            child.rollback()
            #expect(ada.lastName == "Lovelace")
            #expect(!child.hasChanges)
        }

        try root.performAndWait { () throws in
            let ada = try #require(root.registeredObject(for: id) as? Employee)
            #expect(ada.lastName == "Lovelace")
            #expect(ada.isInserted)
        }
    }

    @Test func `F86 a child deletes what its parent has, saved or not`() throws {
        let store = try StaffStore()
        let saved = try store.inContext { (context) throws in
            let ada = Employee(context: context)
            try context.save()
            return ada.objectID
        }
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let unsaved = root.performAndWait { Employee(context: root).objectID }

        try child.performAndWait { () throws in
            for id in [saved, unsaved] { child.delete(try child.existingObject(with: id)) }
            try child.save()
        }

        try root.performAndWait { () throws in
            #expect(root.deletedObjects.map(\.objectID) == [saved])
            #expect(root.insertedObjects.isEmpty)
            try root.save()
            #expect(try root.count(FetchRequest<Employee>()) == 0)
        }
    }

    @Test func `F87 grandchildren save one level at a time`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let grandchild = ManagedObjectContext(parent: child)
        let id = try grandchild.performAndWait { () throws in
            let ada = Employee(context: grandchild)
            try grandchild.save()
            return ada.objectID
        }
        root.performAndWait { #expect(!root.hasChanges) }
        child.performAndWait { #expect(child.insertedObjects.map(\.objectID) == [id]) }

        _ = try child.performAndWait { try child.save() }
        try root.performAndWait { () throws in
            #expect(root.insertedObjects.map(\.objectID) == [id])
            try root.save()
        }

        try grandchild.performAndWait { () throws in
            #expect(try grandchild.count(FetchRequest<Employee>()) == 1)
        }
    }

    @Test func `F87 a parent's reset leaves its child alive`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let (lost, kept) = try root.performAndWait { () throws in
            let kept = Employee(context: root)
            kept.lastName = "Kept"
            try root.save()
            return (Employee(context: root).objectID, kept.objectID)
        }
        try child.performAndWait { () throws in
            let local = try #require(try child.existingObject(with: lost) as? Employee)
            local.lastName = "Edited"
            let other = try #require(try child.existingObject(with: kept) as? Employee)
            other.firstName = "Also"
        }

        root.performAndWait { root.reset() }

        try child.performAndWait { () throws in
            let error = #expect(throws: StoreError.self) { try child.save() }
            #expect(error?.code == .conflict)
            child.mergePolicy = .mergeByPropertyStoreTrump
            try child.save()
        }
        try root.performAndWait { () throws in
            #expect(root.updatedObjects.map(\.objectID) == [kept])
            try root.save()
        }
    }

    @Test func `S101 a child's save is in its parent without a merge`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let ada = root.performAndWait { Employee(context: root) }
        let id = root.performAndWait { ada.objectID }

        try child.performAndWait { () throws in
            let local = try #require(child.object(with: id) as? Employee)
            local.lastName = "Byron"
            try child.save()
        }

        root.performAndWait {
            #expect(ada.lastName == "Byron")
            root.undo()
            #expect(ada.lastName == "")
            #expect(ada.isInserted)
        }
    }

    @Test func `S102 a child's save fails where its parent has moved on, and loses nothing`() throws
    {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let ada = root.performAndWait { Employee(context: root) }
        let id = root.performAndWait { ada.objectID }
        let local = try child.performAndWait { () throws in
            let local = try #require(try child.existingObject(with: id) as? Employee)
            local.lastName = "Child"
            local.firstName = "Ada"
            return local
        }
        root.performAndWait { ada.lastName = "Parent" }

        child.performAndWait {
            let error = #expect(throws: StoreError.self) { try child.save() }
            #expect(error?.code == .conflict)
            #expect(error?.conflicts.map(\.ours) == [.string("Child")])
            #expect(local.lastName == "Child")
            #expect(child.hasChanges)
        }
        root.performAndWait {
            #expect(ada.lastName == "Parent")
            #expect(ada.firstName == "")
        }

        try child.performAndWait { () throws in
            child.mergePolicy = .mergeByPropertyStoreTrump
            try child.save()
            #expect(local.lastName == "Parent")
        }
        root.performAndWait { #expect(ada.firstName == "Ada") }
    }

    @Test
    func `S108 S109 S110 a child keeps what it has read until it is refreshed or reset`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let ada = root.performAndWait { Employee(context: root) }
        let id = root.performAndWait { ada.objectID }
        let local = try child.performAndWait { () throws in
            try #require(try child.existingObject(with: id) as? Employee)
        }

        root.performAndWait { ada.lastName = "New" }

        try child.performAndWait { () throws in
            #expect(local.lastName == "")
            local.firstName = "Mine"
            child.refresh(local, mergeChanges: true)
            #expect(local.lastName == "New")
            #expect(local.firstName == "Mine")
        }
        root.performAndWait { ada.lastName = "Newer" }
        try child.performAndWait { () throws in
            child.reset()
            let again = try #require(try child.existingObject(with: id) as? Employee)
            #expect(again.lastName == "Newer")
            #expect(again.firstName == "")
        }
    }

    @Test func `F83 transient values go up with a child's save`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let local = child.performAndWait {
            let ada = Employee(context: child)
            ada.fullName = "Ada Lovelace"
            return ada
        }

        _ = try child.performAndWait { try child.save() }

        try root.performAndWait { () throws in
            let id = local.objectID
            let ada = try #require(root.registeredObject(for: id) as? Employee)
            #expect(ada.fullName == "Ada Lovelace")
        }
    }

    @Test func `J9 the root's entry credits the children that saved into it`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        child.name = "import"
        try child.performAndWait { () throws in
            _ = Employee(context: child)
            try child.save(author: "Grace", note: "Nightly")
        }

        let sequence = try #require(try root.performAndWait { try root.save() })

        let entry = try store.container.persistentStoreCoordinator.persistentStores[0].store
            .entry(sequence)
        #expect(entry.header.author == "Grace")
        #expect(entry.header.note == "Nightly")
        #expect(entry.header.context == "import")
    }

    @Test func `F75 F85 a child that follows takes in what a sibling saves, and nothing before`()
        throws
    {
        let store = try StaffStore()
        let root = store.context()
        let writer = ManagedObjectContext(parent: root)
        let follower = ManagedObjectContext(parent: root)
        let stale = ManagedObjectContext(parent: root)
        let id = root.performAndWait { Employee(context: root).objectID }
        follower.performAndWait { follower.automaticallyMergesChangesFromParent = true }
        func read(_ context: ManagedObjectContext) throws -> Employee {
            try context.performAndWait { () throws in
                try #require(try context.existingObject(with: id) as? Employee)
            }
        }
        let (followed, unfollowed, written) = (
            try read(follower), try read(stale), try read(writer)
        )

        writer.performAndWait { written.lastName = "Unsaved" }
        follower.performAndWait { #expect(followed.lastName == "") }
        _ = try writer.performAndWait { () throws in try writer.save() }

        follower.performAndWait { #expect(followed.lastName == "Unsaved") }
        stale.performAndWait { #expect(unfollowed.lastName == "") }
    }

    @Test func `F81 a context held to a generation sees nothing until it asks`() throws {
        let store = try StaffStore()
        let context = store.context()
        let id = try store.inContext { (other) throws in
            let ada = Employee(context: other)
            ada.lastName = "First"
            try other.save()
            return ada.objectID
        }
        try context.performAndWait { () throws in
            try context.setQueryGeneration(from: .current)
            #expect(try context.count(FetchRequest<Employee>()) == 1)
        }
        try store.inContext { (other) throws in
            let ada = try #require(try other.existingObject(with: id) as? Employee)
            ada.lastName = "Second"
            _ = Employee(context: other)
            try other.save()
        }

        try context.performAndWait { () throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "First")
            #expect(try context.count(FetchRequest<Employee>()) == 1)
            let token = try #require(context.queryGenerationToken)
            try context.setQueryGeneration(from: nil)
            context.refreshAllObjects()
            #expect(ada.lastName == "Second")
            try context.setQueryGeneration(from: token)
            #expect(try context.count(FetchRequest<Employee>()) == 1)
            _ = try context.mergeChanges()
            #expect(try context.count(FetchRequest<Employee>()) == 2)
        }
    }

    @Test func `F81 a child has no generation of its own`() throws {
        let store = try StaffStore()
        let child = ManagedObjectContext(parent: store.context())

        child.performAndWait {
            let error = #expect(throws: StoreError.self) {
                try child.setQueryGeneration(from: .current)
            }
            #expect(error?.code == .generation)
            #expect(child.queryGenerationToken == nil)
        }
    }

    @Test
    func `F107 a parent may wait for its child while the child reads through the parent`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let id = root.performAndWait { Employee(context: root).objectID }
        let rounds = 200
        let done = DispatchGroup()
        for _ in 0..<rounds {
            DispatchQueue.global().async(group: done) {
                root.performAndWait {
                    child.performAndWait { _ = child.object(with: id)?.entity }
                }
            }
            DispatchQueue.global().async(group: done) {
                child.performAndWait {
                    child.refreshAllObjects()
                    #expect(throws: Never.self) { try child.existingObject(with: id) }
                    root.performAndWait { root.processPendingChanges() }
                }
            }
        }

        #expect(done.wait(timeout: .now() + 1_200) == .success)
    }

    @Test @MainActor
    func `F107 a main context and its private child wait for each other`() throws {
        let store = try StaffStore()
        let main = store.container.viewContext
        let child = ManagedObjectContext(parent: main)
        let ada = Employee(context: main)
        let id = ada.objectID
        let reading = DispatchGroup()
        for round in 0..<50 {
            child.perform {
                child.refreshAllObjects()
                let local = child.object(with: id) as? Employee
                local?.lastName = "Round \(round)"
                #expect(throws: Never.self) { try child.save() }
            }
            DispatchQueue.global().async(group: reading) {
                child.performAndWait { main.performAndWait { _ = main.hasChanges } }
            }
        }

        child.performAndWait { child.refreshAllObjects() }

        #expect(ada.lastName == "Round 49")
    }
}

extension StaffStore {
    fileprivate func head() throws -> SequenceNumber {
        try container.persistentStoreCoordinator.persistentStores[0].head()
    }
}
