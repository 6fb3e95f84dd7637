import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Notifications of a following context about objects it already knew.
@Suite struct FollowingTests {
    private let store: StaffStore

    init() throws {
        store = try StaffStore()
    }

    /// Saves an employee in a context of its own.
    @discardableResult
    private func hire(_ name: String) throws -> ManagedObjectID {
        try store.inContext { (context) throws in
            let employee = Employee(context: context)
            employee.lastName = name
            try context.save()
            return employee.objectID
        }
    }

    @Test(arguments: [true, false])
    func `a context that begins to follow does not tell known objects as inserted`(
        isRead: Bool
    ) throws {
        let context = store.context()
        try context.performAndWait { () throws in
            try hire("Byron")
            let known = try context.fetch(FetchRequest<Employee>())
            #expect(known.count == 1)
            if isRead { #expect(known.map(\.lastName) == ["Byron"]) }
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)

            context.automaticallyMergesChangesFromParent = true
            let new = try hire("Turing")
            _ = try context.mergeChanges()

            let told = recorder.heard.flatMap { notification in
                notification.userInfo?[ManagedObjectContext.insertedObjectsKey]
                    as? Set<ManagedObject> ?? []
            }
            #expect(told.map(\.objectID) == [new])
            #expect(known.count == 1)
        }
    }

    @Test func `a merge by notification tells only objects that were not known as inserted`() throws
    {
        let context = store.context()
        try context.performAndWait { () throws in
            let saver = store.context()
            let recorder = Recorder(.managedObjectContextDidSave, from: saver)
            let id = try saver.performAndWait { () throws in
                let ada = Employee(context: saver)
                try saver.save()
                return ada.objectID
            }
            let known = try context.existingObject(with: id)
            let changes = Recorder(.managedObjectContextObjectsDidChange, from: context)

            _ = try context.mergeChanges(
                fromContextDidSave: try #require(recorder.heard.first))

            #expect(changes.heard.isEmpty)
            #expect(!known.hasChanges)
        }
    }

    @Test func `a child that follows is not told of its own objects when its parent saves`() throws
    {
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)
        let (ada, changes) = try child.performAndWait { () throws in
            child.automaticallyMergesChangesFromParent = true
            let ada = Employee(context: child)
            try child.save()
            return (ada, Recorder(.managedObjectContextObjectsDidChange, from: child))
        }

        try parent.performAndWait { () throws in _ = try parent.save() }

        // Runs after the blocks that the parent's save has queued on the child.
        child.performAndWait {
            let told = changes.heard.flatMap { Array(($0.userInfo ?? [:]).keys) }
            #expect(!told.contains(ManagedObjectContext.insertedObjectsKey))
            #expect(ada.managedObjectContext === child)
        }
    }
}
