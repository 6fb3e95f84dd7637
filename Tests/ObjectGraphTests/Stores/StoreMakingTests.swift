import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Stores that are made when they are added.
@Suite struct StoreMakingTests {
    @Test func `the check of a file from elsewhere counts its pages at the first save`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            Employee(context: context).lastName = "Lovelace"
            try context.save()
        }
        var description = PersistentStoreDescription(url: store.url)
        description.isUntrusted = true
        let progress = Progress(totalUnitCount: 0)
        description.checkProgress = progress
        let container = try TestContainer.make(model: staff, descriptions: [description])
        container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(progress.completedUnitCount == 0)

        try container.viewContext.performAndWait { () throws in
            Employee(context: container.viewContext).lastName = "Hopper"
            try container.viewContext.save()
        }

        // A store has some pages for each of its tables.
        #expect(progress.totalUnitCount > 10)
        #expect(progress.completedUnitCount == progress.totalUnitCount)
    }

    @Test func `coordinators that make a store at the same time and path share one store`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "store")

        let identifiers = try await withThrowingTaskGroup(of: UUID.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let coordinator = try PersistentStoreCoordinator(managedObjectModel: .sample)
                    return try coordinator.addPersistentStore(at: url).identifier
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(identifiers.count == 16)
        #expect(Set(identifiers).count == 1)
        #expect(try Store.verify(path: url.path).isSound)
    }
}
