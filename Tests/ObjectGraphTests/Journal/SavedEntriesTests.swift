import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Saved entries taken back: by the container, in a context, and by a resumed undo stack.
@Suite struct SavedEntriesTests {
    // MARK: - The container

    @Test func `contexts follow an undo, a redo and their previews from the container`() throws {
        let staff = try StaffStore()
        let context = staff.context()
        try context.performAndWait { () throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            try context.save()
            ada.lastName = "Lovelace"
            let last = try #require(try context.save())
            let run = last.previous...last

            let preview = try staff.container.previewUndo(of: run)
            #expect(preview.entry == nil)
            #expect(preview.updatedObjectIDs == [ada.objectID])
            #expect(try staff.journal().head() == last)

            let undone = try staff.container.undo(run, author: "eve", note: "Both")
            _ = try context.mergeChanges()
            #expect(ada.lastName == "Byron")
            #expect(undone.entry == last.next)
            #expect(undone.undoes == run)
            #expect(try staff.entry(undone).header.author == "eve")

            #expect(try staff.container.previewRedo(of: run).updatedObjectIDs == [ada.objectID])
            try staff.container.redo(run)
            _ = try context.mergeChanges()
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `an undo by policy says what it has left out`() throws {
        let staff = try StaffStore()
        let context = staff.context()
        try context.performAndWait { () throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            ada.firstName = "Ada"
            let both = try #require(try context.save())
            ada.lastName = "Lovelace"
            try context.save(author: "grace")

            let error = #expect(throws: StoreError.self) { try staff.container.undo(both) }
            let outcome = try staff.container.undo(both, policy: .keepLater)
            _ = try context.mergeChanges()

            #expect(error?.code == .undoBlocked)
            #expect(error?.obstacles.map(\.propertyName) == ["lastName"])
            #expect(error?.obstacles.map(\.author) == ["grace"])
            #expect(outcome.leftOut == error?.obstacles)
            #expect(ada.lastName == "Lovelace")
            #expect(ada.firstName == "")
        }
    }

    @Test func `a deleted object is restored with what went with it`() throws {
        let staff = try StaffStore()
        let context = staff.context()
        try context.performAndWait { () throws in
            let department = Department(context: context)
            department.name = "R&D"
            let desk = Desk(context: context)
            desk.department = department
            let ada = Employee(context: context)
            ada.department = department
            try context.save()
            let (id, deskID) = (department.objectID, desk.objectID)
            context.delete(department)
            let deletion = try #require(try context.save())

            let preview = try staff.container.previewRestore(of: id)
            let outcome = try staff.container.restore(id)
            _ = try context.mergeChanges()

            #expect(preview.entry == nil)
            #expect(Set(outcome.insertedObjectIDs) == [id, deskID])
            #expect(outcome.undoes == deletion...deletion)
            let again = try #require(try context.existingObject(with: id) as? Department)
            #expect(again.name == "R&D")
            #expect(again.employees == [ada])
            #expect(again.desks.map(\.objectID) == [deskID])
        }
    }

    @Test func `an object is set back to what it was`() throws {
        let staff = try StaffStore()
        let context = staff.context()
        try context.performAndWait { () throws in
            let ada = try Employee(named: "Byron", in: context)
            let first = try staff.journal().head()
            ada.lastName = "King"
            try context.save()

            try staff.container.restore(ada.objectID, at: .sequence(first))
            _ = try context.mergeChanges()

            #expect(ada.lastName == "Byron")
            #expect(throws: StoreError.self) { try staff.container.restore(ada.objectID) }
        }
    }

    // MARK: - Saves that take back saves

    @Test func `J4 saving an undone save says which entry it undoes, and so does its redo`() throws
    {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            context.processPendingChanges()
            ada.firstName = "Ada"
            let married = try #require(try context.save())

            context.undo()
            context.undo()
            let undo = try #require(try context.save())
            context.redo()
            context.redo()
            let redo = try #require(try context.save())

            #expect(try staff.header(undo).undoes == married...married)
            #expect(try staff.header(undo).kind == .undo)
            #expect(try staff.header(redo).undoes == undo...undo)
            #expect(ada.lastName == "King")
        }
    }

    @Test func `J4 several saves undone together are one run`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            let first = try #require(try context.save())
            ada.lastName = "Lovelace"
            let second = try #require(try context.save())

            context.undo()
            context.undo()
            let undo = try #require(try context.save())

            #expect(try staff.header(undo).undoes == first...second)
            #expect(ada.lastName == "Byron")
        }
    }

    @Test func `J4 a save that does more or less than taking back is a plain one`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            context.processPendingChanges()
            ada.firstName = "Ada"
            try context.save()

            context.undo()
            let half = try #require(try context.save())
            ada.lastName = "Noel"
            context.processPendingChanges()
            context.undo()
            context.undo()
            context.undoManager?.disableUndoRegistration()
            ada.firstName = "A."
            context.undoManager?.enableUndoRegistration()
            let more = try #require(try context.save())

            #expect(try staff.header(half).undoes == nil)
            #expect(try staff.header(half).kind == .save)
            #expect(try staff.header(more).undoes == nil)
        }
    }

    @Test func `J4 an undone delete with its consequences is linked as well`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let department = Department(context: context)
            let desk = Desk(context: context)
            desk.department = department
            let ada = Employee(context: context)
            ada.department = department
            ada.mentor = ada
            try context.save()
            context.delete(department)
            let deletion = try #require(try context.save())

            context.undo()
            let undo = try #require(try context.save())

            #expect(try staff.header(undo).undoes == deletion...deletion)
            #expect(ada.department === department)
        }
    }

    // MARK: - In a context

    @Test(arguments: [true, false])
    func `an entry undone in a context is a step, and its save names the entry`(
        hasUndoManager: Bool
    ) throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            if !hasUndoManager { context.undoManager = nil }
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            let married = try #require(try context.save())
            context.undoManager?.removeAllActions()

            let leftOut = try context.undo(entry: married)
            #expect(ada.lastName == "Byron")
            #expect(context.hasChanges)
            #expect(leftOut.isEmpty)
            if hasUndoManager {
                context.undo()
                #expect(ada.lastName == "King")
                #expect(!context.hasChanges)
                context.redo()
            }
            let undo = try #require(try context.save())
            #expect(try staff.header(undo).undoes == married...married)
            try context.redo(entries: married...married)
            let redo = try #require(try context.save())

            #expect(try staff.header(redo).undoes == undo...undo)
            #expect(ada.lastName == "King")
        }
    }

    @Test func `a delete undone in a context brings the objects back there`() throws {
        let staff = try StaffStore()
        let (id, deletion) = try staff.inContext { (context) throws in
            let department = Department(context: context)
            department.name = "R&D"
            let ada = Employee(context: context)
            ada.department = department
            try context.save()
            let id = department.objectID
            context.delete(department)
            return (id, try #require(try context.save()))
        }

        try staff.inContext { (context) throws in
            try context.undo(entry: deletion)

            let back = try #require(context.object(with: id) as? Department)
            #expect(back.isInserted)
            #expect(back.name == "R&D")
            #expect(back.employees.count == 1)
            let undo = try #require(try context.save())
            #expect(try staff.header(undo).undoes == deletion...deletion)
        }
    }

    @Test func `an entry that later ones build on is not undone in a context either`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            let first = try #require(try context.save())
            ada.lastName = "Lovelace"
            try context.save()

            let error = #expect(throws: StoreError.self) { try context.undo(entry: first) }

            #expect(error?.code == .undoBlocked)
            #expect(!context.hasChanges)
            try context.undo(entry: first, policy: .overwrite)
            #expect(ada.lastName == "Byron")
        }
    }

    @Test func `a child does not undo saved entries`() async {
        await #expect(processExitsWith: .failure) {
            let staff = try StaffStore()
            let parent = staff.context()
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                _ = try child.undo(entry: SequenceNumber(2))
            }
        }
    }

    @Test func `undo does not go on with fewer steps than none`() async {
        await #expect(processExitsWith: .failure) {
            let staff = try StaffStore()
            try staff.inContext { (context) throws in
                _ = try context.continueUndo(savesBy: .author("ada"), limit: -1)
            }
        }
    }

    // MARK: - Resuming

    @Test func `undo continues after a restart with the last saves of an author`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            for name in ["King", "Noel", "Lovelace"] {
                ada.lastName = name
                try context.save(author: "ada", note: "Now \(name)")
            }
            ada.firstName = "Ada"
            try context.save(author: "bob")
        }

        let again = try StaffStore(staff)
        try again.inContext { (context) throws in
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            #expect(try context.continueUndo(savesBy: .author("ada"), limit: 2) == 2)
            #expect(context.undoManager?.undoActionName == "Now Lovelace")

            context.undo()
            #expect(ada.lastName == "Noel")
            let undo = try #require(try context.save(author: "ada"))
            context.undo()
            #expect(ada.lastName == "King")
            try context.save(author: "ada")

            #expect(context.undoManager?.canUndo == false)
            #expect(ada.firstName == "Ada")
            #expect(try again.header(undo).undoes == SequenceNumber(5)...SequenceNumber(5))
        }
        // An undone save is no longer among the last saves.
        try StaffStore(staff).inContext { (context) throws in
            #expect(try context.continueUndo(savesBy: .author("ada")) == 1)
            context.undo()
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            #expect(ada.lastName == "Byron")
        }
    }

    @Test func `undo continues with the saves of contexts of a name, below the steps made here`()
        throws
    {
        let staff = try StaffStore()
        let editor = staff.context("editor")
        try editor.performAndWait { () throws in
            let ada = try Employee(named: "Byron", in: editor)
            ada.lastName = "King"
            try editor.save()
        }

        let again = try StaffStore(staff)
        try again.inContext { (context) throws in
            context.name = "editor"
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            ada.firstName = "Ada"
            try context.save()

            #expect(try context.continueUndo(savesBy: .context("editor")) == 2)
            #expect(try context.continueUndo(savesBy: .context("editor")) == 0)

            context.undo()
            #expect(ada.firstName == "")
            context.undo()
            #expect(ada.lastName == "Byron")
            context.undo()
            #expect(ada.isDeleted)
            context.redo()
            #expect(!ada.isDeleted)
        }
    }

    @Test func `a step of the past that others build on is reported and dropped`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            try context.save(author: "ada")
            ada.lastName = "Lovelace"
            try context.save(author: "bob")
        }

        try StaffStore(staff).inContext { (context) throws in
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            try context.continueUndo(savesBy: .author("ada"))
            var told: [StoreError] = []
            context.undoFailureHandler = { error in
                if let error = error as? StoreError { told.append(error) }
            }

            context.undo()

            #expect(told.map(\.code) == [.undoBlocked])
            #expect(told.first?.obstacles.map(\.author) == ["bob"])
            #expect(told.first?.obstacles.map(\.propertyName) == ["lastName"])
            #expect(ada.lastName == "Lovelace")
            #expect(!context.hasChanges)
            #expect(context.undoManager?.canUndo == false)
        }
    }

    @Test func `a blocked step that was not reported is thrown by the next save, once`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = try Employee(named: "Byron", in: context)
            ada.lastName = "King"
            try context.save(author: "ada")
            ada.lastName = "Lovelace"
            try context.save(author: "bob")
        }

        try StaffStore(staff).inContext { (context) throws in
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            try context.continueUndo(savesBy: .author("ada"))
            context.undo()
            ada.firstName = "Ada"

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .undoBlocked)
            #expect(try context.save() != nil)
            #expect(ada.firstName == "Ada")
        }
    }

    @Test func `a delete of an earlier run is taken back with all that it did`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let department = Department(context: context)
            department.name = "R&D"
            let desk = Desk(context: context)
            desk.department = department
            let ada = try Employee(named: "Byron", in: context)
            ada.department = department
            try context.save()
            context.delete(department)
            try context.save(author: "ada")
        }

        try StaffStore(staff).inContext { (context) throws in
            try context.continueUndo(savesBy: .author("ada"))
            context.undo()
            try context.save()

            let department = try #require(try context.fetch(FetchRequest<Department>()).first)
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            #expect(department.employees == [ada])
            #expect(department.desks.count == 1)
        }
    }

    @Test func `a step keeps nothing of a save that is larger than the step`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { context in
            let manager = try #require(context.undoManager)
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.firstName = "Augusta"
            try context.save()
            let small = try #require(context.journal.list.last)
            manager.disableUndoRegistration()
            for number in 0..<3 { Employee(context: context).firstName = "New \(number)" }
            context.processPendingChanges()
            manager.enableUndoRegistration()
            ada.firstName = "Ada"
            try context.save()
            let large = try #require(context.journal.list.last)

            #expect(small.origins.values.map { $0.saved?.count } == [1])
            #expect(large.origins.values.map { $0.saved?.count } == [nil])
            context.undo()
            #expect(ada.firstName == "Augusta")
        }
    }
}

extension StaffStore {
    fileprivate func journal() throws -> PersistentStore {
        try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    fileprivate func header(_ sequence: SequenceNumber) throws -> EntryHeader {
        try journal().store.entry(sequence).header
    }

    fileprivate func entry(_ outcome: UndoOutcome) throws -> Entry {
        try journal().store.entry(try #require(outcome.entry))
    }
}

extension Employee {
    /// A saved employee.
    fileprivate convenience init(named name: String, in context: ManagedObjectContext) throws {
        self.init(context: context)
        lastName = name
        try context.save()
    }
}
