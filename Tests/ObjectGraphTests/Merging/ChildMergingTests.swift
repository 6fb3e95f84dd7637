import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A child's save and merge after its parent has changed.
@Suite struct ChildMergingTests {
    private let store: StaffStore
    private let root: ManagedObjectContext
    private let child: ManagedObjectContext

    init() throws {
        store = try StaffStore()
        root = store.context("root")
        child = ManagedObjectContext(parent: root)
    }

    private func made<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        try root.performAndWait { () throws in
            let object = Object(entity: root.entity(for: type), insertInto: root)
            try root.save()
            return object
        }
    }

    private func local<Object: ManagedObject>(_ object: Object) throws -> Object {
        try local(object, in: child)
    }

    private func local<Object: ManagedObject>(
        _ object: Object, in context: ManagedObjectContext
    ) throws -> Object {
        try context.performAndWait { () throws in
            try #require(try context.existingObject(with: object.objectID) as? Object)
        }
    }

    @Test func `F72 a child takes in that its parent has deleted what it has read`() throws {
        let ada = try made(Employee.self)
        let local = try local(ada)
        root.performAndWait { root.delete(ada) }

        try child.performAndWait { () throws in
            _ = try child.mergeChanges()
            #expect(local.isDeleted)
            #expect(!child.hasChanges)
        }
    }

    @Test(arguments: [false, true])
    func `what a child has found deleted stays deleted for its own child, read before or not`(
        isRead: Bool
    ) throws {
        let grandchild = ManagedObjectContext(parent: child)
        let ada = try made(Employee.self)
        let id = root.performAndWait { ada.objectID }
        let middle = try child.performAndWait { () throws in
            let object = try #require(child.object(with: id) as? Employee)
            if isRead { _ = object.lastName }
            return object
        }
        root.performAndWait { root.delete(ada) }
        try child.performAndWait { () throws in
            _ = try child.mergeChanges()
            #expect(middle.isDeleted)
        }
        root.performAndWait { root.rollback() }

        grandchild.performAndWait {
            _ = #expect(throws: StoreError.self) { try grandchild.existingObject(with: id) }
        }

        // A merge looks for it again.
        try child.performAndWait { () throws in
            _ = try child.mergeChanges()
            #expect(!middle.isDeleted)
        }
        _ = try local(ada, in: grandchild)
    }

    @Test func `S66 an object that a child brings back in its parent is one instance`() throws {
        let local = try child.performAndWait { () throws in
            let ada = Employee(context: child)
            try child.save()
            return ada
        }
        let id = child.performAndWait { local.objectID }
        try root.performAndWait { () throws in
            root.delete(try #require(root.registeredObject(for: id)))
            root.processPendingChanges()
        }

        try child.performAndWait { () throws in
            local.lastName = "Back"
            child.mergePolicy = .overwrite
            try child.save()
        }

        try root.performAndWait { () throws in
            let registered = try #require(root.registeredObject(for: id) as? Employee)
            #expect(root.insertedObjects == [registered])
            #expect(registered.lastName == "Back")
            try root.save()
            #expect(try root.count(FetchRequest<Employee>()) == 1)
        }
    }

    @Test func `F87 what a grandchild brought back stays pending when its parent merges`() throws {
        let grandchild = ManagedObjectContext(parent: child)
        let ada = try child.performAndWait { () throws in
            let ada = Employee(context: child)
            try child.save()
            return ada
        }
        let lowest = try local(ada, in: grandchild)
        let id = child.performAndWait { ada.objectID }
        try root.performAndWait { () throws in
            root.delete(try #require(root.registeredObject(for: id)))
        }
        try child.performAndWait { () throws in
            _ = try child.mergeChanges()
            #expect(ada.isDeleted)
        }
        try grandchild.performAndWait { () throws in
            lowest.lastName = "Back"
            grandchild.mergePolicy = .mergeByPropertyObjectTrump
            try grandchild.save()
        }

        try child.performAndWait { () throws in
            _ = try child.mergeChanges()
            #expect(child.insertedObjects.map(\.objectID) == [id])
            try child.save()
        }
        root.performAndWait {
            #expect((root.registeredObject(for: id) as? Employee)?.lastName == "Back")
        }
    }

    @Test func `S101 after its save a child has the members that its parent has`() throws {
        let project = try made(Project.self)
        let (ada, bob) = (try made(Employee.self), try made(Employee.self))
        let (mine, added) = (try local(project), try local(bob))
        child.performAndWait { mine.members = [added] }
        root.performAndWait { project.members = [ada] }

        try child.performAndWait { () throws in
            try child.save()
            #expect(Set(mine.members.map(\.objectID)) == [ada.objectID, bob.objectID])
            #expect(!child.hasChanges)
        }
        root.performAndWait { #expect(project.members == [ada, bob]) }
    }

    @Test(arguments: [
        MergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump,
    ])
    func `S102 what only one may hold is a conflict where the parent gave it away`(
        policy: MergePolicy
    ) throws {
        let (desk, other) = (try made(Desk.self), try made(Desk.self))
        let ada = try made(Employee.self)
        let (mine, person) = (try local(desk), try local(ada))
        child.performAndWait { mine.occupant = person }
        let bob = try made(Employee.self)
        root.performAndWait {
            bob.desk = desk
            ada.desk = other
        }

        try child.performAndWait { () throws in
            child.mergePolicy = policy
            guard policy == .error else {
                try child.save()
                return
            }
            let error = #expect(throws: StoreError.self) { try child.save() }
            #expect(error?.code == .conflict)
        }

        try root.performAndWait { () throws in
            #expect(desk.occupant === (policy == .mergeByPropertyObjectTrump ? ada : bob))
            #expect(ada.desk === (policy == .mergeByPropertyObjectTrump ? desk : other))
            #expect(bob.desk === (policy == .mergeByPropertyObjectTrump ? nil : desk))
            try root.save()
        }
    }

    @Test func `S88 a cascade takes along members that joined in the same event`() throws {
        let task = try made(Task.self)
        let project = try made(Project.self)

        try root.performAndWait { () throws in
            project.tasks = [task]
            root.delete(project)
            root.processPendingChanges()
            #expect(task.isDeleted)
            root.undo()
            #expect(!task.isDeleted)
            #expect(task.project == nil)
            root.redo()
            try root.save()
            #expect(try root.count(FetchRequest<Task>()) == 0)
        }
    }

    @Test func `F42 rollback takes back what a child has brought back`() throws {
        let ada = try made(Employee.self)
        let id = ada.objectID
        let mine = try local(ada)
        let sibling = store.context("sibling")
        let theirs = try local(ada, in: sibling)
        child.performAndWait { mine.lastName = "Mine" }
        try sibling.performAndWait { () throws in
            sibling.delete(theirs)
            try sibling.save()
        }
        try root.performAndWait { _ = try root.mergeChanges() }
        try child.performAndWait { () throws in
            child.mergePolicy = .overwrite
            try child.save()
        }
        try sibling.performAndWait { () throws in
            sibling.undo()
            try sibling.save()
        }
        try root.performAndWait { () throws in
            _ = try root.mergeChanges()
            root.rollback()
            let again = try #require(try root.existingObject(with: id) as? Employee)
            #expect(again.lastName == "")
            #expect(!root.hasChanges)
        }
    }

    @Test func `S37 a member that others added too is no longer pending after a refresh`() throws {
        let (project, ada) = (try made(Project.self), try made(Employee.self))
        root.performAndWait {
            project.members = [ada]
            root.processPendingChanges()
        }
        let sibling = store.context("sibling")
        let (theirs, person) = (try local(project, in: sibling), try local(ada, in: sibling))
        try sibling.performAndWait { () throws in
            theirs.members = [person]
            try sibling.save()
        }

        try root.performAndWait { () throws in
            root.refresh(ada, mergeChanges: true)
            #expect(project.members == [ada])
            project.members = []
            #expect(try root.save() != nil)
        }

        try store.inContext { (context) throws in
            let stored = try #require(context.object(with: project.objectID) as? Project)
            #expect(stored.members.isEmpty)
        }
    }
}
