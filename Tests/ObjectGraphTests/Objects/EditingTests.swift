import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct EditingTests {
    @Test func `a saved object is read back by another context`() throws {
        let store = try StaffStore()
        let id = try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.firstName = "Ada"
            ada.lastName = "Lovelace"
            ada.salary = 12.50
            ada.grade = .senior
            try context.save(note: "Hired")
            return ada.objectID
        }

        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            #expect(ada.firstName == "Ada")
            #expect(ada.lastName == "Lovelace")
            #expect(ada.salary == 12.50)
            #expect(ada.grade == .senior)
            #expect(ada.fullName == "Ada Lovelace")
            #expect(!context.hasChanges)
        }
    }

    @Test func `an identifier is stable from birth and temporary until saved`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            let before = ada.objectID

            try context.save()

            #expect(before == ada.objectID)
            #expect(before.isTemporaryID)
            #expect(!ada.objectID.isTemporaryID)
        }
    }

    @Test func `both sides of a relationship follow each other`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            let sales = Department(context: context)
            sales.name = "Sales"
            let ada = Employee(context: context)

            ada.department = research
            #expect(research.employees == [ada])
            sales.employees.insert(ada)

            #expect(research.employees.isEmpty)
            #expect(ada.department === sales)
            try context.save()
            #expect(sales.employees == [ada])
        }
        try store.inContext { (context) throws in
            let sales = try context.fetch(
                FetchRequest<Department>(where: \Department.name == "Sales"))
            #expect(sales.first?.employees.count == 1)
            #expect(sales.first?.employees.first?.department === sales.first)
        }
    }

    @Test func `one-to-one moves leave no old owner behind`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            let grace = Employee(context: context)
            let desk = Desk(context: context)

            ada.desk = desk
            grace.desk = desk

            #expect(ada.desk == nil)
            #expect(desk.occupant === grace)
            try context.save()
            desk.occupant = ada
            #expect(grace.desk == nil)
            #expect(ada.desk === desk)
        }
    }

    @Test func `ordered members keep their order and many-to-many both sides`() throws {
        let store = try StaffStore()
        let id = try store.inContext { (context) throws in
            let project = Project(context: context)
            let tasks = (1...4).map { number in
                let task = Task(context: context)
                task.title = "\(number)"
                return task
            }
            project.tasks = tasks
            project.tasks.swapAt(0, 3)
            let ada = Employee(context: context)
            ada.projects = [project]
            #expect(project.members == [ada])
            try context.save()
            return project.objectID
        }
        try store.inContext { (context) throws in
            let project = try #require(try context.existingObject(with: id) as? Project)
            #expect(project.tasks.map(\.title) == ["4", "2", "3", "1"])
            #expect(project.tasks.first?.project === project)
            #expect(project.members.first?.projects == [project])
            project.tasks.remove(at: 1)
            try context.save()
        }
        try store.inContext { (context) throws in
            let project = try #require(try context.existingObject(with: id) as? Project)
            #expect(project.tasks.map(\.title) == ["4", "3", "1"])
        }
    }

    @Test func `a member that is given twice stands where it is given first`() throws {
        try StaffStore().inContext { (context) throws in
            let project = Project(context: context)
            let tasks = (1...3).map { _ in Task(context: context) }

            project.tasks = [tasks[0], tasks[1], tasks[0], tasks[2], tasks[1]]
            #expect(project.tasks == tasks)
            try context.save()
            project.tasks = [tasks[2], tasks[0], tasks[2], tasks[1]]

            #expect(project.tasks == [tasks[2], tasks[0], tasks[1]])
            try context.save()
            context.reset()
            let read = try #require(try context.fetch(FetchRequest<Project>()).first)
            #expect(read.tasks.map(\.objectID) == [tasks[2], tasks[0], tasks[1]].map(\.objectID))
        }
    }

    @Test func `an empty save and an edit there and back append nothing`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            let first = try context.save()

            #expect(try context.save() == nil)
            ada.lastName = "Lovelace"
            context.processPendingChanges()
            ada.lastName = "Byron"
            #expect(context.hasChanges)
            #expect(try context.save() == nil)
            #expect(!context.hasChanges)
            #expect(
                try store.container.persistentStoreCoordinator.persistentStores[0].head() == first)
        }
    }

    @Test func `S93 an object inserted and deleted without a save leaves no trace`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            context.processPendingChanges()
            context.delete(ada)
            context.processPendingChanges()

            #expect(context.deletedObjects.isEmpty)
            #expect(try context.save() == nil)
            #expect(ada.managedObjectContext == nil)
        }
    }
}

@Suite struct DeleteRuleTests {
    @Test func `nullify empties the other side, cascade deletes it`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let department = Department(context: context)
            let ada = Employee(context: context)
            let desk = Desk(context: context)
            ada.department = department
            desk.department = department
            try context.save()

            context.delete(department)
            try context.save()

            #expect(ada.department == nil)
            #expect(!ada.isDeleted)
            #expect(try context.count(FetchRequest<Desk>()) == 0)
            #expect(try context.count(FetchRequest<Department>()) == 0)
        }
    }

    @Test func `deny refuses the save until the other side is gone`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let department = Department(context: context)
            let project = Project(context: context)
            project.sponsor = department
            try context.save()
            context.delete(department)

            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validation)
            context.delete(project)
            try context.save()

            #expect(try context.count(FetchRequest<Department>()) == 0)
        }
    }
}

@Suite struct UndoTests {
    @Test func `undo and redo go through insert, update and delete`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            context.processPendingChanges()
            ada.lastName = "Lovelace"
            context.processPendingChanges()
            context.delete(ada)
            context.processPendingChanges()

            context.undo()
            #expect(!ada.isDeleted)
            #expect(ada.lastName == "Lovelace")
            context.undo()
            #expect(ada.lastName == "Byron")
            context.undo()
            #expect(ada.managedObjectContext == nil)
            #expect(!context.hasChanges)
            context.redo()
            context.redo()
            #expect(ada.managedObjectContext === context)
            #expect(ada.lastName == "Lovelace")
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect(
                try context.count(FetchRequest<Employee>(where: \Employee.lastName == "Lovelace"))
                    == 1)
        }
    }

    @Test func `undo of a delete restores both sides of its relationships`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let department = Department(context: context)
            let ada = Employee(context: context)
            let desk = Desk(context: context)
            ada.department = department
            desk.department = department
            try context.save()
            context.delete(department)
            context.processPendingChanges()
            #expect(desk.isDeleted)

            context.undo()

            #expect(ada.department === department)
            #expect(department.employees == [ada])
            #expect(department.desks == [desk])
            #expect(!desk.isDeleted)
            #expect(!context.hasChanges)
        }
    }

    @Test func `undo after a save is a new entry and the hire never happened`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Lovelace"
            let hired = try #require(try context.save(note: "Hired"))

            context.undo()
            #expect(context.deletedObjects == [] || context.hasChanges)
            let undone = try #require(try context.save(note: "Not hired"))

            #expect(undone > hired)
            #expect(try context.count(FetchRequest<Employee>()) == 0)
            context.redo()
            try context.save()
            #expect(try context.fetch(FetchRequest<Employee>()).map(\.lastName) == ["Lovelace"])
        }
    }

    @Test func `a saved entry is undone after a restart, and contexts merge that`() throws {
        let store = try StaffStore()
        let context = store.context()
        try context.performAndWait { () throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            try context.save()
            ada.lastName = "Lovelace"
            let married = try #require(try context.save(author: "ada"))
            let again = try TestContainer.make(store.url, model: staff)
            let saved = again.persistentStoreCoordinator.persistentStores[0]

            let error = #expect(throws: StoreError.self) { try saved.undo(SequenceNumber(2)) }
            #expect(error?.code == .undoBlocked)
            let undone = try #require(
                try saved.undo(married, author: "grace", note: "Too early").entry)
            _ = try context.mergeChanges()

            #expect(ada.lastName == "Byron")
            try saved.undo(undone)
            _ = try context.mergeChanges()
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `rollback goes back to the last save and empties undo`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            try context.save()
            ada.lastName = "Lovelace"
            let grace = Employee(context: context)
            grace.mentor = ada

            context.rollback()

            #expect(ada.lastName == "Byron")
            #expect(grace.managedObjectContext == nil)
            #expect(!context.hasChanges)
            #expect(context.undoManager?.canUndo == false)
        }
    }
}

@Suite struct MergingTests {
    @Test func `WE1 a fetch never changes what has been edited or read`() throws {
        let store = try StaffStore()
        let first = store.context("first")
        try first.performAndWait { () throws in
            let ada = Employee(context: first)
            ada.firstName = "Ada"
            ada.lastName = "Byron"
            try first.save()
            ada.lastName = "Lovelace"
            try store.inContext { (second) throws in
                let other = try #require(try second.fetch(FetchRequest<Employee>()).first)
                other.lastName = "King"
                other.firstName = "Augusta"
                try second.save()
            }

            let again = try first.fetch(FetchRequest<Employee>())

            #expect(again.first === ada)
            #expect(ada.lastName == "Lovelace")
            #expect(ada.firstName == "Ada")
        }
    }

    @Test func `edits of different properties both survive`() throws {
        let store = try StaffStore()
        let first = store.context("first")
        try first.performAndWait { () throws in
            let ada = Employee(context: first)
            ada.lastName = "Byron"
            try first.save()
            ada.lastName = "Lovelace"
            try store.inContext { (second) throws in
                let other = try #require(try second.fetch(FetchRequest<Employee>()).first)
                other.firstName = "Ada"
                try second.save()
            }

            try first.save()
            _ = try first.mergeChanges()

            #expect(ada.firstName == "Ada")
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "King"),
        (.mergeByPropertyObjectTrump, "Lovelace"), (.overwrite, "Lovelace"), (.rollback, "King"),
    ])
    func `a conflict is settled by the policy`(policy: MergePolicy, expected: String) throws {
        let store = try StaffStore()
        let first = store.context("first")
        try first.performAndWait { () throws in
            let ada = Employee(context: first)
            ada.lastName = "Byron"
            try first.save()
            ada.lastName = "Lovelace"
            try store.inContext { (second) throws in
                let other = try #require(try second.fetch(FetchRequest<Employee>()).first)
                other.lastName = "King"
                try second.save()
            }
            let error = #expect(throws: StoreError.self) { try first.save() }
            #expect(error?.conflicts.first?.base == .string("Byron"))
            #expect(error?.conflicts.first?.theirs == .string("King"))
            #expect(error?.conflicts.first?.ours == .string("Lovelace"))

            first.mergePolicy = policy
            try first.save()

            #expect(ada.lastName == expected)
            #expect(!first.hasChanges)
        }
        try store.inContext { (context) throws in
            #expect(try context.fetch(FetchRequest<Employee>()).first?.lastName == expected)
        }
    }

    @Test func `a sibling's save is merged under what is pending`() throws {
        let store = try StaffStore()
        let first = store.context("first")
        try first.performAndWait { () throws in
            let department = Department(context: first)
            let ada = Employee(context: first)
            ada.firstName = "Ada"
            ada.lastName = "Byron"
            try first.save()
            ada.lastName = "Lovelace"
            #expect(department.employees.isEmpty)
            try store.inContext { (second) throws in
                let other = try #require(try second.fetch(FetchRequest<Employee>()).first)
                other.firstName = "Augusta"
                other.lastName = "King"
                other.department = try second.fetch(FetchRequest<Department>()).first
                try second.save()
            }

            let conflicts = try first.mergeChanges()

            #expect(conflicts.map(\.theirs) == [.string("King")])
            #expect(ada.firstName == "Augusta")
            #expect(ada.lastName == "Lovelace")
            #expect(department.employees == [ada])
            #expect(try first.mergeChanges().isEmpty)
            first.undo()
            #expect(ada.lastName == "King")
            first.redo()
            try first.save()
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `an object deleted elsewhere reads as empty and the error names the entry`() throws {
        let store = try StaffStore()
        let first = store.context("first")
        try first.performAndWait { () throws in
            let ada = Employee(context: first)
            ada.lastName = "Byron"
            try first.save()
            first.refresh(ada, mergeChanges: false)
            try store.inContext { (second) throws in
                second.delete(try #require(try second.fetch(FetchRequest<Employee>()).first))
                try second.save(author: "grace")
            }
            var reason: (any Error)?
            first.inaccessibleFaultHandler = { _, error in reason = error }

            #expect(ada.lastName == "")
            #expect(ada.isDeleted)
            #expect((reason as? StoreError)?.code == .objectDeleted)
            #expect((reason as? StoreError)?.message.contains("'grace'") == true)
        }
    }

    @Test func `a merging refresh of an object deleted elsewhere leaves nothing to save`() throws {
        let store = try StaffStore()
        let first = store.context("first")
        try first.performAndWait { () throws in
            let ada = Employee(context: first)
            ada.lastName = "Byron"
            try first.save()
            ada.lastName = "Lovelace"
            try store.inContext { (second) throws in
                second.delete(try #require(try second.fetch(FetchRequest<Employee>()).first))
                try second.save()
            }

            first.refresh(ada, mergeChanges: true)

            #expect(ada.isDeleted)
            #expect(!first.hasChanges)
            #expect(try first.save() == nil)
        }
    }

    @Test func `a pinned context reads the past`() throws {
        let store = try StaffStore()
        let (id, then) = try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            let then = try #require(try context.save())
            ada.lastName = "Lovelace"
            try context.save()
            return (ada.objectID, then)
        }
        let past = try store.container.context(at: .sequence(then))
        try past.performAndWait { () throws in
            let ada = try #require(try past.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "Byron")
            ada.lastName = "King"
            let error = #expect(throws: StoreError.self) { try past.save() }
            #expect(error?.code == .readOnly)
        }
    }
}
