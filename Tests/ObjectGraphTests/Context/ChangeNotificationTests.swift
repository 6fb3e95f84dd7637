import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

private typealias Context = ManagedObjectContext

@Suite struct ChangeNotificationTests {
    @Test func `F88 S92 every event tells what was inserted, updated and deleted`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let grace = try #require(try context.existingObject(with: ids[1]) as? Employee)
            #expect(recorder.heard.isEmpty)

            ada.lastName = "Lovelace"
            context.delete(grace)
            let new = Project(context: context)
            context.processPendingChanges()

            #expect(recorder.heard.count == 1)
            #expect(recorder.objects(Context.insertedObjectsKey) == [new])
            #expect(recorder.objects(Context.updatedObjectsKey) == [ada])
            #expect(recorder.objects(Context.deletedObjectsKey) == [grace])
            #expect(
                recorder.keys == [
                    Context.insertedObjectsKey, Context.updatedObjectsKey,
                    Context.deletedObjectsKey,
                ])
            context.processPendingChanges()
            #expect(recorder.heard.count == 1)
        }
    }

    @Test func `F88 undo, redo and rollback tell what they did`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let grace = try #require(try context.existingObject(with: ids[1]) as? Employee)
            ada.lastName = "Lovelace"
            context.delete(grace)
            let new = Project(context: context)
            context.processPendingChanges()
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)

            context.undo()

            #expect(recorder.heard.count == 1)
            #expect(recorder.objects(Context.insertedObjectsKey) == [grace])
            #expect(recorder.objects(Context.updatedObjectsKey) == [ada])
            #expect(recorder.objects(Context.deletedObjectsKey) == [new])

            context.redo()

            #expect(recorder.heard.count == 2)
            #expect(recorder.objects(Context.insertedObjectsKey) == [new])
            #expect(recorder.objects(Context.deletedObjectsKey) == [grace])

            context.rollback()

            #expect(recorder.heard.count == 3)
            #expect(recorder.objects(Context.deletedObjectsKey) == [new])
            #expect(recorder.objects(Context.refreshedObjectsKey) == [ada, grace])
        }
    }

    @Test func `F88 refreshes tell what was refreshed and a reset that all is invalid`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try context.existingObject(with: ids[0])
            let grace = try context.existingObject(with: ids[1])
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)

            context.refresh(ada, mergeChanges: true)
            #expect(recorder.objects(Context.refreshedObjectsKey) == [ada])
            context.refresh(grace, mergeChanges: false)
            #expect(recorder.objects(Context.refreshedObjectsKey) == [grace])
            context.refreshAllObjects()
            #expect(recorder.objects(Context.refreshedObjectsKey) == [ada, grace])
            #expect(recorder.heard.count == 3)
            context.reset()

            #expect(recorder.heard.count == 4)
            #expect(recorder.keys == [Context.invalidatedAllObjectsKey])
            #expect(recorder.identifiers(Context.invalidatedAllObjectsKey) == Set(ids))
        }
    }

    @Test func `F88 a save tells its objects and their identifiers`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let objects = Recorder(.managedObjectContextDidSave, from: context)
            let identifiers = Recorder(
                .managedObjectContextDidSaveObjectIDs, from: context)
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let grace = try context.existingObject(with: ids[1])
            ada.lastName = "Lovelace"
            context.delete(grace)
            let new = Project(context: context)

            let sequence = try #require(try context.save())

            #expect(objects.heard.count == 1)
            #expect(objects.objects(Context.insertedObjectsKey) == [new])
            #expect(objects.objects(Context.updatedObjectsKey) == [ada])
            #expect(objects.objects(Context.deletedObjectsKey) == [grace])
            #expect(identifiers.heard.count == 1)
            #expect(identifiers.identifiers(Context.insertedObjectIDsKey) == [new.objectID])
            #expect(identifiers.identifiers(Context.updatedObjectIDsKey) == [ids[0]])
            #expect(identifiers.identifiers(Context.deletedObjectIDsKey) == [ids[1]])
            #expect(!new.objectID.isTemporaryID)
            let token = objects.heard[0].userInfo?[Context.historyTokenKey]
            let expected = [ids[0].storeIdentifier: sequence]
            #expect(token as? [UUID: SequenceNumber] == expected)
        }
    }

    @Test func `F90 a save of nothing tells nothing`() throws {
        let store = try StaffStore()
        try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let recorder = Recorder(.managedObjectContextDidSave, from: context)
            _ = try context.fetch(FetchRequest<Employee>())

            #expect(try context.save() == nil)

            #expect(recorder.heard.isEmpty)
        }
    }

    @Test func `F91 the notifications of a held context carry its generation`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let recorder = Recorder(.managedObjectContextDidSave, from: context)
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.lastName = "Byron"
            try context.save()
            #expect(!recorder.keys.contains(Context.queryGenerationTokenKey))
            try context.setQueryGeneration(from: .current)
            #expect(try context.count(FetchRequest<Employee>()) == 1)
            ada.lastName = "Lovelace"

            let sequence = try context.save()

            let value = recorder.heard.last?.userInfo?[Context.queryGenerationTokenKey]
            let token = try #require(value as? QueryGenerationToken)
            #expect(token.sequence(inStore: ids[0].storeIdentifier) == sequence)
        }
    }

    @Test func `F91 a child's save reaches no store and carries no history token`() throws {
        let store = try StaffStore()
        try store.inContext { (parent) throws in
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                let recorder = Recorder(.managedObjectContextDidSave, from: child)
                let new = Project(context: child)

                try child.save()

                #expect(recorder.objects(Context.insertedObjectsKey) == [new])
                #expect(!recorder.keys.contains(Context.historyTokenKey))
            }
        }
    }
}

@Suite struct MergeNotificationTests {
    /// Ada and Grace are known to a context; another renames Ada, fires Grace and hires Edsger.
    private func saveElsewhere(
        _ store: StaffStore, _ ids: [ManagedObjectID]
    ) throws -> Notification {
        try store.inContext { (context) throws in
            let recorder = Recorder(.managedObjectContextDidSave, from: context)
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.lastName = "Lovelace"
            context.delete(try context.existingObject(with: ids[1]))
            let edsger = Employee(context: context)
            edsger.firstName = "Edsger"
            try context.save()
            return try #require(recorder.heard.last)
        }
    }

    @Test func `F71 F90 merging an insert, an update and a delete has the payload of each`()
        throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let ada = try #require(try main.existingObject(with: ids[0]) as? Employee)
            let grace = try #require(try main.existingObject(with: ids[1]) as? Employee)
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: main)
            let saves = Recorder(.managedObjectContextDidSave, from: main)
            let notification = try saveElsewhere(store, ids)

            _ = try main.mergeChanges(fromContextDidSave: notification)

            #expect(main.insertedObjects.isEmpty)
            #expect(main.updatedObjects.isEmpty)
            #expect(main.deletedObjects == [grace])
            #expect(main.hasChanges)
            #expect(recorder.heard.count == 1)
            let inserted = recorder.objects(Context.insertedObjectsKey)
            #expect(inserted.count == 1)
            #expect((inserted.first as? Employee)?.firstName == "Edsger")
            #expect(recorder.objects(Context.refreshedObjectsKey) == [ada])
            #expect(recorder.objects(Context.deletedObjectsKey) == [grace])
            #expect(recorder.objects(Context.updatedObjectsKey).isEmpty)
            #expect(ada.lastName == "Lovelace")

            #expect(try main.save() == nil)

            #expect(saves.heard.count == 1)
            #expect(saves.objects(Context.insertedObjectsKey).isEmpty)
            #expect(saves.objects(Context.updatedObjectsKey).isEmpty)
            #expect(saves.objects(Context.deletedObjectsKey).isEmpty)
            #expect(!main.hasChanges)
            #expect(main.deletedObjects.isEmpty)
            #expect(try main.save() == nil)
            #expect(saves.heard.count == 1)
        }
    }

    @Test func `F71 a merged insert appears as a fault`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: main)
            let notification = try saveElsewhere(store, ids)

            _ = try main.mergeChanges(fromContextDidSave: notification)

            let inserted = recorder.objects(Context.insertedObjectsKey)
            #expect(inserted.count == 1)
            #expect(inserted.allSatisfy { $0.isFault && !$0.isInserted })
            #expect(recorder.keys == [Context.insertedObjectsKey])
        }
    }

    @Test func `F72 an object whose deletion is merged stays readable and is not fetched`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let grace = try #require(try main.existingObject(with: ids[1]) as? Employee)
            let notification = try saveElsewhere(store, ids)

            _ = try main.mergeChanges(fromContextDidSave: notification)

            #expect(main.registeredObjects.contains(grace))
            #expect(main.registeredObject(for: ids[1]) === grace)
            #expect(!grace.isFault && grace.isDeleted)
            #expect(grace.firstName == "Grace")
            let fetched = try main.fetch(FetchRequest<Employee>())
            #expect(!fetched.contains(grace))
        }
    }

    @Test func `F71 a merged deletion is not a change of an object that nobody keeps`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let notification: Notification
            do {
                let grace = try main.existingObject(with: ids[1])
                notification = try saveElsewhere(store, ids)
                _ = try main.mergeChanges(fromContextDidSave: notification)
                #expect(main.deletedObjects == [grace])
            }

            #expect(!main.hasChanges)
            #expect(main.deletedObjects.isEmpty)
        }
    }

    @Test func `F74 merging leaves faults alone and tells nothing of them`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let ada = try #require(main.object(with: ids[0]) as? Employee)
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: main)
            let merges = Recorder(.managedObjectContextDidMergeChangesObjectIDs, from: main)
            try store.rename(ids[0], "Lovelace")

            _ = try main.mergeChanges()

            #expect(ada.isFault)
            #expect(recorder.heard.isEmpty)
            #expect(merges.identifiers(Context.updatedObjectIDsKey) == [ids[0]])
        }
    }

    @Test func `F74 a deletion of an object in use is posted, whether it is a fault or not`() throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let ada = try #require(main.object(with: ids[0]))
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: main)
            try store.delete(ids[0])
            try store.delete(ids[1])

            _ = try main.mergeChanges()

            #expect(recorder.heard.count == 1)
            #expect(recorder.objects(Context.deletedObjectsKey) == [ada])
            #expect(recorder.keys == [Context.deletedObjectsKey])
        }
    }

    @Test func `F88 a merge tells the identifiers of what it merged`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (main) throws in
            let recorder = Recorder(.managedObjectContextDidMergeChangesObjectIDs, from: main)
            let notification = try saveElsewhere(store, ids)
            let saved = notification.userInfo?[Context.insertedObjectsKey]
            let edsger = try #require((saved as? Set<ManagedObject>)?.first).objectID

            _ = try main.mergeChanges(fromContextDidSave: notification)
            _ = try main.mergeChanges(fromContextDidSave: notification)

            #expect(recorder.heard.count == 1)
            #expect(recorder.identifiers(Context.insertedObjectIDsKey) == [edsger])
            #expect(recorder.identifiers(Context.updatedObjectIDsKey) == [ids[0]])
            #expect(recorder.identifiers(Context.deletedObjectIDsKey) == [ids[1]])
        }
    }

    @Test func `F71 a child that merges its parent's save hears the same`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (parent) throws in
            let child = ManagedObjectContext(parent: parent)
            let ada = try #require(try parent.existingObject(with: ids[0]) as? Employee)
            let saves = Recorder(.managedObjectContextDidSave, from: parent)
            let twins = try child.performAndWait { () throws in
                try ids.map { try child.existingObject(with: $0) }
            }
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: child)
            ada.lastName = "Lovelace"
            parent.delete(try parent.existingObject(with: ids[1]))
            let project = Project(context: parent)
            try parent.save()
            let notification = try #require(saves.heard.last)

            try child.performAndWait { () throws in
                _ = try child.mergeChanges(fromContextDidSave: notification)

                #expect(recorder.heard.count == 1)
                #expect(recorder.objects(Context.refreshedObjectsKey) == [twins[0]])
                #expect(recorder.objects(Context.deletedObjectsKey) == [twins[1]])
                let inserted = recorder.objects(Context.insertedObjectsKey)
                #expect(inserted.map(\.objectID) == [project.objectID])
                #expect(child.deletedObjects == [twins[1]])
            }
        }
    }
}

@Suite struct RemoteMergeTests {
    @Test func `F73 a save known by identifiers is merged into several contexts`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        let contexts = [store.context("first"), store.context("second")]
        let known = try contexts.map { context in
            try context.performAndWait { () throws in
                try ids.map { try #require(try context.existingObject(with: $0) as? Employee) }
            }
        }
        let recorders = contexts.map {
            Recorder(.managedObjectContextObjectsDidChange, from: $0)
        }
        try store.rename(ids[0], "Lovelace")
        try store.delete(ids[1])
        let new = try store.hire(["Edsger"], by: "Research")

        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                Context.insertedObjectIDsKey: new, Context.updatedObjectIDsKey: [ids[0]],
                Context.deletedObjectIDsKey: [ids[1]],
            ], into: contexts)

        for ((context, employees), recorder) in zip(zip(contexts, known), recorders) {
            context.performAndWait {
                #expect(employees[0].lastName == "Lovelace")
                #expect(employees[1].isDeleted)
                #expect(recorder.heard.count == 1)
                #expect(recorder.objects(Context.refreshedObjectsKey) == [employees[0]])
                #expect(recorder.objects(Context.deletedObjectsKey) == [employees[1]])
                #expect(
                    recorder.objects(Context.insertedObjectsKey).map(\.objectID) == new)
            }
        }
    }

    @Test func `F73 lists of related objects are right after such a merge`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        let other = try store.hire(["Edsger"], by: "Research")
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let edsger = try #require(try context.existingObject(with: other[0]) as? Employee)
            let marketing = try #require(ada.department)
            let research = try #require(edsger.department)
            #expect(marketing.employees.count == 2 && research.employees == [edsger])
            try store.inContext { (elsewhere) throws in
                let twin = try #require(try elsewhere.existingObject(with: ids[0]) as? Employee)
                let far = try #require(try elsewhere.existingObject(with: other[0]) as? Employee)
                twin.department = far.department
                try elsewhere.save()
            }

            ManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [Context.updatedObjectIDsKey: [ids[0]]], into: [context])

            #expect(ada.department === research)
            #expect(marketing.employees.map(\.objectID) == [ids[1]])
            #expect(research.employees == [ada, edsger])
        }
    }

    @Test func `F73 F77 pending edits stay on top of what such a merge brings`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.firstName = "Augusta"
            let new = Employee(context: context)
            new.department = ada.department
            try store.rename(ids[0], "Lovelace")

            ManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [Context.updatedObjectsKey: [ids[0]]], into: [context])

            #expect(ada.firstName == "Augusta")
            #expect(ada.lastName == "Lovelace")
            #expect(ada.department?.employees == [ada, new])
            try context.save()
        }
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            #expect(ada.fullName == "Augusta Lovelace")
        }
    }
}

@Suite struct RemoteChangeTests {
    @Test func `F89 every entry of a store is posted with the URL and its number`() throws {
        let store = try StaffStore()
        let persistentStore = store.container.persistentStoreCoordinator.persistentStores[0]
        let coordinator = store.container.persistentStoreCoordinator
        let recorder = Recorder(.persistentStoreRemoteChange, from: coordinator)

        try store.hire(["Ada"])

        #expect(recorder.heard.count == 1)
        let information = try #require(recorder.heard.last?.userInfo)
        #expect(information[PersistentStore.storeKey] as? PersistentStore === persistentStore)
        #expect(information[PersistentStore.storeUUIDKey] as? UUID == persistentStore.identifier)
        #expect(information[PersistentStore.urlKey] as? URL == store.url)
        #expect(
            information[PersistentStore.historyTokenKey] as? SequenceNumber
                == (try persistentStore.head()))
        try store.inContext { (context) throws in
            #expect(try context.save() == nil)
        }
        #expect(recorder.heard.count == 1)
    }

    @Test func `F89 what others save is found by checking and posted once`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let coordinator = store.container.persistentStoreCoordinator
        let recorder = Recorder(.persistentStoreRemoteChange, from: coordinator)
        let other = try TestContainer.make(store.url, model: staff).newBackgroundContext()
        for name in ["Byron", "Lovelace"] {
            try other.performAndWait { () throws in
                let ada = try #require(try other.existingObject(with: ids[0]) as? Employee)
                ada.lastName = name
                try other.save()
            }
        }
        #expect(recorder.heard.isEmpty)

        #expect(try coordinator.checkForRemoteChanges())
        #expect(try !coordinator.checkForRemoteChanges())

        #expect(recorder.heard.count == 1)
        let token = recorder.heard.last?.userInfo?[PersistentStore.historyTokenKey]
        #expect(token as? SequenceNumber == (try coordinator.persistentStores[0].head()))
    }

    @Test func `F89 a context that merges automatically takes in what others saved`() async throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let coordinator = store.container.persistentStoreCoordinator
        let context = store.context()
        try await context.perform {
            context.automaticallyMergesChangesFromParent = true
            context.retainsRegisteredObjects = true
            _ = try context.existingObject(with: ids[0])
        }
        let other = try TestContainer.make(store.url, model: staff).newBackgroundContext()
        try await other.perform {
            let ada = try #require(try other.existingObject(with: ids[0]) as? Employee)
            ada.lastName = "Lovelace"
            try other.save()
        }

        try coordinator.checkForRemoteChanges()

        try await context.perform {
            let ada = try #require(context.registeredObject(for: ids[0]) as? Employee)
            #expect(ada.lastName == "Lovelace")
        }
    }
}
