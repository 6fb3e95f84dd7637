import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Siblings over one coordinator, contexts that come and go, and following.
@Suite struct StackTests {
    /// Two siblings that have read the same employee.
    private struct Siblings {
        let store: StaffStore
        let main: ManagedObjectContext
        let other: ManagedObjectContext
        let ours: Employee
        let theirs: Employee

        init() throws {
            let store = try StaffStore()
            let id = try store.inContext { (context) throws in
                let ada = Employee(context: context)
                ada.lastName = "Byron"
                try context.save()
                return ada.objectID
            }
            let main = store.context("main")
            let other = store.context("other")
            ours = try main.read(id)
            theirs = try other.read(id)
            self.store = store
            self.main = main
            self.other = other
        }

        /// Saves an edit in the other context and returns the notification of the save.
        func saveThere(_ edit: (Employee) -> Void) throws -> Notification {
            let inbox = Inbox(.managedObjectContextDidSave, of: other)
            try other.performAndWait { () throws in
                edit(theirs)
                try other.save()
            }
            return try #require(inbox.notifications.last)
        }
    }

    @Test func `S78 S96 S99 siblings see nothing of each other, saved or not, before a merge`()
        throws
    {
        let siblings = try Siblings()
        let (main, other) = (siblings.main, siblings.other)

        other.performAndWait { siblings.theirs.lastName = "Lovelace" }
        main.performAndWait { #expect(siblings.ours.lastName == "Byron") }
        try other.performAndWait { _ = try other.save() }
        main.performAndWait {
            #expect(siblings.ours.lastName == "Byron")
            siblings.ours.firstName = "Ada"
        }

        other.performAndWait { #expect(siblings.theirs.firstName == "") }
    }

    @Test func `S97 merging a sibling's notification makes its save visible`() throws {
        let siblings = try Siblings()
        let notification = try siblings.saveThere { $0.lastName = "Lovelace" }

        try siblings.main.performAndWait { () throws in
            _ = try siblings.main.mergeChanges(fromContextDidSave: notification)
            #expect(siblings.ours.lastName == "Lovelace")
            #expect(!siblings.main.hasChanges)
        }
    }

    @Test func `S98 a notification from another stack changes nothing`() throws {
        let siblings = try Siblings()
        let stranger = try Siblings()
        let foreign = try stranger.saveThere { $0.lastName = "Stranger" }

        try siblings.main.performAndWait { () throws in
            siblings.ours.firstName = "Ada"
            #expect(try siblings.main.mergeChanges(fromContextDidSave: foreign).isEmpty)
            let empty = Notification(name: .managedObjectContextDidSave)
            #expect(try siblings.main.mergeChanges(fromContextDidSave: empty).isEmpty)
            #expect(siblings.ours.lastName == "Byron")
            #expect(siblings.ours.firstName == "Ada")
            #expect(siblings.main.updatedObjects == [siblings.ours])
        }
    }

    @Test func `S98 a child ignores a notification from another stack`() throws {
        let siblings = try Siblings()
        let child = ManagedObjectContext(parent: siblings.main)
        let local = try child.read(siblings.ours.objectID)
        let foreign = try Siblings().saveThere { $0.lastName = "Stranger" }

        try child.performAndWait { () throws in
            #expect(try child.mergeChanges(fromContextDidSave: foreign).isEmpty)
            #expect(local.lastName == "Byron")
        }
    }

    @Test func `S97 F71 a child merges a sibling's notification from what its parent has`() throws {
        let siblings = try Siblings()
        let writer = ManagedObjectContext(parent: siblings.main)
        let reader = ManagedObjectContext(parent: siblings.main)
        let id = siblings.ours.objectID
        let (written, read) = (try writer.read(id), try reader.read(id))
        let inbox = Inbox(.managedObjectContextDidSave, of: writer)
        try writer.performAndWait { () throws in
            written.lastName = "Lovelace"
            try writer.save()
        }
        let notification = try #require(inbox.notifications.last)

        try reader.performAndWait { () throws in
            read.firstName = "Ada"
            _ = try reader.mergeChanges(fromContextDidSave: notification)
            #expect(read.lastName == "Lovelace")
            #expect(read.firstName == "Ada")
        }
    }

    @Test func `F75 a context that follows takes in a sibling's save as it comes`() throws {
        let siblings = try Siblings()
        siblings.main.performAndWait {
            siblings.main.automaticallyMergesChangesFromParent = true
        }

        _ = try siblings.saveThere { $0.lastName = "Lovelace" }

        siblings.main.performAndWait {
            #expect(siblings.ours.lastName == "Lovelace")
            siblings.main.automaticallyMergesChangesFromParent = false
        }
        _ = try siblings.saveThere { $0.lastName = "Byron" }
        siblings.main.performAndWait { #expect(siblings.ours.lastName == "Lovelace") }
    }

    @Test func `F75 F85 what main saves reaches a following child of a following parent`() throws {
        let siblings = try Siblings()
        let child = ManagedObjectContext(parent: siblings.main)
        let local = try child.read(siblings.ours.objectID)
        siblings.main.performAndWait {
            siblings.main.automaticallyMergesChangesFromParent = true
        }
        child.performAndWait { child.automaticallyMergesChangesFromParent = true }

        _ = try siblings.saveThere { $0.lastName = "Lovelace" }
        siblings.main.performAndWait {}

        child.performAndWait { #expect(local.lastName == "Lovelace") }
        try siblings.main.performAndWait { () throws in
            siblings.ours.firstName = "Ada"
            #expect(child.performAndWait { local.firstName } == "")
            try siblings.main.save()
        }
        child.performAndWait { #expect(local.firstName == "Ada") }
    }

    @Test func `F75 F81 a context that is held to a generation does not follow`() throws {
        let siblings = try Siblings()
        try siblings.main.performAndWait { () throws in
            try siblings.main.setQueryGeneration(from: .current)
            _ = try siblings.main.count(FetchRequest<Employee>())
            siblings.main.automaticallyMergesChangesFromParent = true
        }

        _ = try siblings.saveThere { $0.lastName = "Lovelace" }

        siblings.main.performAndWait {
            #expect(siblings.ours.lastName == "Byron")
            siblings.main.refresh(siblings.ours, mergeChanges: false)
            #expect(siblings.ours.lastName == "Byron")
        }
    }

    @Test func `S104 F86 what a child deletes is gone from its siblings when they save`() throws {
        let siblings = try Siblings()
        let (deleter, editor) = (
            ManagedObjectContext(parent: siblings.main), ManagedObjectContext(parent: siblings.main)
        )
        let id = siblings.ours.objectID
        let (doomed, edited) = (try deleter.read(id), try editor.read(id))
        try deleter.performAndWait { () throws in
            deleter.delete(doomed)
            try deleter.save()
        }

        editor.performAndWait {
            edited.lastName = "Too late"
            let error = #expect(throws: StoreError.self) { try editor.save() }
            #expect(error?.code == .conflict)
            #expect(error?.conflicts.map(\.kind) == [.deletedByThem])
        }
        try editor.performAndWait { () throws in
            editor.mergePolicy = .rollback
            try editor.save()
            #expect(edited.isDeleted)
        }

        try siblings.main.performAndWait { _ = try siblings.main.save() }
        try siblings.store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Employee>()) == 0)
        }
    }

    @Test func `S105 both operations in one context are safe`() throws {
        let siblings = try Siblings()
        let worker = siblings.store.context("worker")
        let id = siblings.ours.objectID

        let failures = try worker.performAndWait { () throws in
            let ada = try #require(try worker.existingObject(with: id) as? Employee)
            worker.delete(ada)
            try worker.save()
            ada.lastName = "Late"
            return try worker.save()
        }

        #expect(failures == nil)
    }

    @Test func `S108 references of a child to what its parent has deleted do not stop it`() throws {
        let store = try StaffStore()
        let root = store.context()
        let child = ManagedObjectContext(parent: root)
        let (ada, sales) = root.performAndWait { () in
            (Employee(context: root), Department(context: root))
        }
        let (adaID, salesID) = root.performAndWait { (ada.objectID, sales.objectID) }
        let local = try child.read(adaID)
        let department = try child.performAndWait { () throws in
            try #require(try child.existingObject(with: salesID) as? Department)
        }
        root.performAndWait { root.delete(sales) }

        child.performAndWait {
            local.department = department
            let error = #expect(throws: StoreError.self) { try child.save() }
            #expect(error?.conflicts.map(\.kind) == [.reference])
        }
        try child.performAndWait { () throws in
            child.mergePolicy = .mergeByPropertyObjectTrump
            try child.save()
            #expect(local.department == nil)
        }
        try root.performAndWait { () throws in
            #expect(ada.department == nil)
            try root.save()
        }
    }

    @Test func `S111 a context made on demand leaves nothing behind`() throws {
        let siblings = try Siblings()
        weak var weakChild: ManagedObjectContext?
        weak var weakObject: ManagedObject?
        do {
            let child = ManagedObjectContext(parent: siblings.main)
            child.performAndWait { child.automaticallyMergesChangesFromParent = true }
            weakChild = child
            try child.performAndWait { () throws in
                let ada = try #require(
                    child.object(with: siblings.ours.objectID) as? Employee)
                ada.lastName = "Lovelace"
                weakObject = ada
                try child.save()
            }
        }

        #expect(weakChild == nil)
        #expect(weakObject == nil)
        siblings.main.performAndWait { #expect(siblings.ours.lastName == "Lovelace") }
    }

    @Test func `S112 stacks of every kind work side by side over one coordinator`() throws {
        let siblings = try Siblings()
        let container = siblings.store.container
        let root = siblings.store.context()
        let child = ManagedObjectContext(parent: root)
        let past = try container.context(at: .sequence(SequenceNumber(2)))
        let id = siblings.ours.objectID
        try child.performAndWait { () throws in
            let ada = try #require(try child.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            try child.save()
        }
        try root.performAndWait { _ = try root.save() }

        #expect(try past.performAndWait { () throws in try past.read(id).lastName } == "Byron")
        siblings.main.performAndWait { #expect(siblings.ours.lastName == "Byron") }
        try siblings.main.performAndWait { () throws in
            _ = try siblings.main.mergeChanges()
            #expect(siblings.ours.lastName == "Lovelace")
        }
    }
}

extension ManagedObjectContext {
    /// An employee, realized in the context.
    fileprivate func read(_ id: ManagedObjectID) throws -> Employee {
        try performAndWait { () throws in
            try #require(try existingObject(with: id) as? Employee)
        }
    }
}
