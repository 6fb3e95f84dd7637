import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Edits of an object after it was deleted: the delete wins, and the journal records the stored
/// values of the object.
@Suite struct DeletedEditingTests {
    private let store: StaffStore
    private let context: ManagedObjectContext

    init() throws {
        store = try StaffStore()
        context = store.context()
    }

    /// A saved employee of the context.
    private func hired() throws -> Employee {
        let ada = Employee(context: context)
        ada.firstName = "Ada"
        ada.lastName = "Byron"
        ada.salary = 10
        try context.save()
        return ada
    }

    private func savedDiary(in store: ClassStore) throws -> ManagedObjectID {
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            return diary.objectID
        }
    }

    private func storedCount() throws -> Int {
        try store.inContext { try $0.count(FetchRequest<Employee>()) }
    }

    @Test(arguments: [
        MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
        .rollback,
    ])
    func `an edit after the delete in the same event does not keep the object from being deleted`(
        policy: MergePolicy
    ) throws {
        try context.performAndWait { () throws in
            let ada = try hired()
            context.mergePolicy = policy

            context.delete(ada)
            ada.lastName = "Lovelace"
            ada.salary = nil
            try context.save()

            #expect(!context.hasChanges)
        }
        #expect(try storedCount() == 0)
    }

    @Test func `rollback after delete and edit brings the stored values back`() throws {
        try context.performAndWait { () throws in
            let ada = try hired()
            context.delete(ada)
            ada.lastName = "Lovelace"

            context.rollback()

            #expect(!ada.isDeleted && !ada.hasChanges)
            #expect(ada.lastName == "Byron")
            #expect(ada.committedValues(forKeys: ["lastName"])["lastName"] as? String == "Byron")
            ada.lastName = "King"
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect(try context.fetch(FetchRequest<Employee>()).map(\.lastName) == ["King"])
        }
    }

    @Test(arguments: [true, false])
    func `undo of a delete brings the stored values back, redo deletes again`(
        isSaved: Bool
    ) throws {
        try context.performAndWait { () throws in
            let ada = try hired()
            context.delete(ada)
            ada.lastName = "Lovelace"
            if isSaved { try context.save() }

            context.undo()
            #expect(ada.lastName == "Byron")
            #expect(context.hasChanges == isSaved)
            try context.save()
            context.redo()
            try context.save()
        }
        #expect(try storedCount() == 0)
    }

    @Test func `an edit before the delete and one after it leave the stored value behind`() throws {
        try context.performAndWait { () throws in
            let ada = try hired()
            ada.lastName = "Lovelace"
            context.delete(ada)
            ada.lastName = "King"
            ada.firstName = "Augusta"
            context.processPendingChanges()

            context.undo()

            #expect(ada.lastName == "Byron")
            #expect(ada.firstName == "Ada")
            #expect(!context.hasChanges)
        }
    }

    @Test func `an edit in an event after the delete is not a change either`() throws {
        try context.performAndWait { () throws in
            let ada = try hired()
            ada.salary = 20
            context.processPendingChanges()
            context.delete(ada)
            context.processPendingChanges()
            ada.lastName = "Lovelace"

            let sequence = try #require(try context.save())

            let entry = try #require(
                try store.container.persistentStoreCoordinator.persistentStores.first?.store
                    .entry(sequence))
            guard case .delete(let values, _)? = entry.changes.first?.kind else {
                Issue.record("The entry deletes.")
                return
            }
            #expect(values.contains(.string("Byron")))
            #expect(values.contains(.decimal(10)))
            #expect(!values.contains(.string("Lovelace")))
        }
    }

    @Test func `a new object that is deleted and edited comes back by undo as it was`() throws {
        try context.performAndWait { () throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            context.processPendingChanges()
            context.delete(ada)
            ada.lastName = "Lovelace"
            context.processPendingChanges()

            context.undo()

            #expect(ada.lastName == "Byron")
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect(try context.fetch(FetchRequest<Employee>()).map(\.lastName) == ["Byron"])
        }
    }

    @Test(arguments: [MergePolicy.error, .mergeByPropertyStoreTrump])
    func `a child that deletes and edits deletes in its parent and in the store`(
        policy: MergePolicy
    ) throws {
        let id = try context.performAndWait { () throws in try hired().objectID }
        let child = ManagedObjectContext(parent: context)
        child.mergePolicy = policy
        child.conflictGranularity = .row
        try child.performAndWait { () throws in
            let ada = try #require(try child.existingObject(with: id) as? Employee)
            child.delete(ada)
            ada.lastName = "Lovelace"
            child.processPendingChanges()
            ada.firstName = "Augusta"
            try child.save()
        }
        try context.performAndWait { () throws in
            #expect(context.deletedObjects.count == 1)
            context.rollback()
            #expect((try context.existingObject(with: id) as? Employee)?.lastName == "Byron")
        }
    }

    @Test func `a hook that edits what is being deleted does not stop the delete`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            diary.onHook = { hook, diary in
                if hook == "willSave" { diary.title = "burnt" }
            }
            context.delete(diary)
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Diary>()) == 0)
        }
    }

    @Test(arguments: [true, false])
    func `what a hook or a primitive value has set is not taken for what the store has`(
        isPrimitive: Bool
    ) throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(context.object(with: id) as? Diary)
            diary.onHook = { hook, diary in
                if hook == "awakeFromFetch", !isPrimitive { diary.owner = "hook" }
            }
            #expect(diary.owner == (isPrimitive ? "nobody" : "hook"))
            if isPrimitive { diary.setPrimitiveValue(.string("hook"), forKey: "owner") }

            context.delete(diary)
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Diary>()) == 0)
        }
    }

    @Test func `an edit after a primitive value starts from what the store has`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            diary.setPrimitiveValue(.string("nobody else"), forKey: "owner")
            diary.owner = "Pepys"
            try context.save()
            diary.owner = "Evelyn"
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect((try context.existingObject(with: id) as? Diary)?.owner == "Evelyn")
        }
    }
}
