import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// A save that the first of two stores has taken and the second has refused.
@Suite struct PartialSaveTests {
    private let set: StoreSet
    private let context: ManagedObjectContext
    private let ada: Employee
    private let bob: Employee

    /// Ada is in the first store and Bob in the second. Both are given other names at once, and
    /// somebody else has given Bob another one.
    init() throws {
        set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        let (adaID, bobID) = (
            try set.hire("Ada", in: stores[0])[0], try set.hire("Bob", in: stores[1])[0]
        )
        let context = set.context()
        self.context = context
        (ada, bob) = try context.performAndWait { () throws in
            let ada = try #require(try context.existingObject(with: adaID) as? Employee)
            let bob = try #require(try context.existingObject(with: bobID) as? Employee)
            #expect(ada.lastName == "Ada" && bob.lastName == "Bob")
            return (ada, bob)
        }
        try rename(bobID, "Robert")
    }

    private func rename(_ id: ManagedObjectID, _ name: String) throws {
        try set.inContext { (other) throws in
            let employee = try #require(try other.existingObject(with: id) as? Employee)
            employee.lastName = name
            try other.save()
        }
    }

    /// Renames both in one step, which the second store refuses to save.
    private func saveInPart() {
        ada.lastName = "Adele"
        bob.lastName = "Bobby"
        expect(.conflict) { try context.save() }
    }

    /// Makes the second store take what is pending.
    private func saveTheRest() throws {
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
    }

    /// The last entry of a store.
    private func last(_ store: Int) throws -> EntryHeader {
        let store = set.coordinator.persistentStores[store].store
        return try store.entry(store.head()).header
    }

    private func heads() throws -> [SequenceNumber] {
        try set.coordinator.persistentStores.map { try $0.head() }
    }

    @Test func `only what was refused is pending`() throws {
        try context.performAndWait { () throws in
            saveInPart()

            #expect(context.hasChanges)
            #expect(context.updatedObjects == [bob])
            #expect(try heads() == [3, 3].map { SequenceNumber($0) })
        }
    }

    @Test func `an undo takes back what was saved, and its entry says so`() throws {
        try context.performAndWait { () throws in
            saveInPart()
            context.undo()
            #expect(ada.lastName == "Ada" && bob.lastName == "Bob")
            #expect(context.updatedObjects == [ada])
            try context.save()

            #expect(!context.hasChanges)
            #expect(try heads() == [4, 3].map { SequenceNumber($0) })
            #expect(try last(0).undoes == SequenceNumber(3)...SequenceNumber(3))
        }
        #expect(try StoreSet.lastNames(at: set.url("first")) == ["Ada"])
    }

    @Test func `after an undo and a redo only what was refused is pending`() throws {
        try context.performAndWait { () throws in
            saveInPart()
            context.undo()
            context.redo()

            #expect(context.updatedObjects == [bob])
            try saveTheRest()
            #expect(!context.hasChanges)
            #expect(try heads() == [3, 4].map { SequenceNumber($0) })
        }
        #expect(try StoreSet.lastNames(at: set.url("second")) == ["Bobby"])
    }

    @Test func `a second save appends nothing to the first store, and undo knows both entries`()
        throws
    {
        try context.performAndWait { () throws in
            saveInPart()
            try saveTheRest()
            #expect(try heads() == [3, 4].map { SequenceNumber($0) })

            context.undo()
            #expect(ada.lastName == "Ada" && bob.lastName != "Bobby")
            try context.save()
            #expect(try heads() == [4, 5].map { SequenceNumber($0) })
            #expect(try last(0).undoes == SequenceNumber(3)...SequenceNumber(3))
        }
    }

    @Test func `what is undone and saved in the first store alone can be redone`() throws {
        try context.performAndWait { () throws in
            saveInPart()
            context.undo()
            try context.save()
            context.redo()
            #expect(ada.lastName == "Adele" && bob.lastName == "Bobby")
            expect(.conflict) { try context.save() }

            #expect(context.updatedObjects == [bob])
            #expect(try heads() == [5, 3].map { SequenceNumber($0) })
            #expect(try last(0).undoes == SequenceNumber(4)...SequenceNumber(4))
        }
    }

    @Test func `a rollback leaves what the first store has`() throws {
        try context.performAndWait { () throws in
            saveInPart()
            context.rollback()

            #expect(ada.lastName == "Adele" && bob.lastName == "Bob")
            #expect(!context.hasChanges)
            try context.save()
            #expect(try heads() == [3, 3].map { SequenceNumber($0) })
        }
    }

    @Test func `what others have saved since is not overwritten by a redo`() throws {
        try context.performAndWait { () throws in saveInPart() }
        try rename(ada.objectID, "Augusta")

        try context.performAndWait { () throws in
            _ = try context.mergeChanges()
            #expect(ada.lastName == "Augusta")
            context.undo()
            #expect(ada.lastName == "Augusta")
            context.redo()
            #expect(ada.lastName == "Augusta")
            #expect(!context.updatedObjects.contains(ada))
        }
    }

    @Test func `edits that a refresh drops leave what was saved before them undoable`() throws {
        try context.performAndWait { () throws in
            saveInPart()
            ada.lastName = "Adelaide"
            context.refresh(ada, mergeChanges: false)
            #expect(ada.lastName == "Adele")
            context.undo()

            #expect(ada.lastName == "Ada")
        }
    }

    @Test func `a new edit forgets what can be redone, and the undone save is still pending`()
        throws
    {
        try context.performAndWait { () throws in
            saveInPart()
            context.undo()
            bob.lastName = "Rob"
            context.processPendingChanges()
            #expect(context.undoManager?.redoCount == 0)
            #expect(context.updatedObjects == [ada, bob])
            ada.lastName = "Adele"
            context.processPendingChanges()
            context.undo()

            #expect(ada.lastName == "Ada")
            #expect(context.updatedObjects == [ada, bob])
        }
    }

    @Test func `a failed update leaves a step that takes back what the first store has`() throws {
        try context.performAndWait { () throws in
            expect(.conflict) {
                try context.update(maxAttempts: 1) {
                    ada.lastName = "Adele"
                    bob.firstName = "Bob"
                    try rename(bob.objectID, "Robin")
                    bob.lastName = "Bobby"
                }
            }
            #expect(ada.lastName == "Adele" && bob.firstName.isEmpty)
            #expect(!context.hasChanges)

            context.undo()
            #expect(ada.lastName == "Ada")
            try context.save()
            #expect(try last(0).undoes == SequenceNumber(3)...SequenceNumber(3))
        }
    }

    @Test func `an object is watched until its own store is saved`() throws {
        try context.performAndWait { () throws in
            context.detectConflicts(for: ada)
            saveInPart()
        }
        try rename(ada.objectID, "Augusta")

        try context.performAndWait { () throws in
            context.refresh(bob, mergeChanges: false)
            ada.firstName = "Countess"
            try context.save()
            #expect(ada.lastName == "Augusta")
        }
    }

    @Test func `who has saved into the context is credited once`() throws {
        let child = ManagedObjectContext(parent: context)
        let id = ada.objectID
        try child.performAndWait { () throws in
            let ada = try #require(try child.existingObject(with: id) as? Employee)
            ada.lastName = "Adele"
            try child.save(author: "clerk")
        }

        try context.performAndWait { () throws in
            bob.lastName = "Bobby"
            expect(.conflict) { try context.save() }
            #expect(try last(0).author == "clerk")
            ada.firstName = "Countess"
            expect(.conflict) { try context.save() }
            #expect(try last(0).author == nil)
        }
    }
}
