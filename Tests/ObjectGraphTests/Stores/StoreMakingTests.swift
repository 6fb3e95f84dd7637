import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Stores that are made when they are added.
@Suite struct StoreMakingTests {
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
