import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Copies of a store that is in use.
@Suite struct BackupTests {
    private let followed: FollowedStore
    private var copy: URL { followed.folder.url.appendingPathComponent("copy.daybook") }

    init() throws {
        followed = try FollowedStore()
        try followed.open("Ada", 10)
    }

    @Test(.ownStores("The backup of a shared store's copy is brought up, too."))
    func `a copy has the store as it was, with its identifier and digests`() throws {
        let digest = try followed.store.store.headDigest()

        try followed.container.backup(to: copy)
        try followed.open("Bea")

        let container = try TestContainer.make(copy, model: FollowedStore.model)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(store.identifier == followed.store.identifier)
        #expect(try store.store.headDigest() == digest)
        #expect(try store.changes(where: .all.of(Deposit.self)).count == 1)
    }

    @Test func `a store is copied while others save`() async throws {
        let other = try followed.another()
        async let saved: Void = {
            for number in 0..<40 { try followed.open("\(number)", in: other) }
        }()
        try followed.store.backup(to: copy)
        try await saved

        #expect(try Store.verify(path: copy.path).isSound)
        let head = try SequenceNumber(2)...followed.store.head()
        let container = try TestContainer.make(copy, model: FollowedStore.model)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(head.contains(try store.head()))
    }

    @Test func `an existing file is left as it is`() throws {
        try Data("mine".utf8).write(to: copy)

        let error = #expect(throws: StoreError.self) { try followed.container.backup(to: copy) }

        #expect(error?.code == .exists)
        #expect(try Data(contentsOf: copy) == Data("mine".utf8))
    }

    @Test func `a damaged store has no copy`() throws {
        try followed.open("Zanzibar")
        try followed.store.store.close()
        var bytes = try Data(contentsOf: followed.url)
        // In the journal and in the row.
        var count = 0
        while let range = bytes.range(of: Data("Zanzibar".utf8)) {
            bytes.replaceSubrange(range, with: Data("Zanzibat".utf8))
            count += 1
        }
        #expect(count > 1)
        try bytes.write(to: followed.url)
        let damaged = try followed.another()

        let error = #expect(throws: StoreError.self) { try damaged.backup(to: copy) }

        #expect(error?.code == .corrupt)
        #expect(error?.details.isEmpty == false)
        #expect(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test func `a container without a store or with two has none of its own`() throws {
        let empty = try TestContainer.make(model: FollowedStore.model, descriptions: [])
        #expect(throws: StoreError.self) { try empty.backup(to: copy) }
        let second = followed.folder.url.appendingPathComponent("second.daybook")
        try followed.container.persistentStoreCoordinator.addPersistentStore(at: second)
        let error = #expect(throws: StoreError.self) { try followed.container.backup(to: copy) }
        #expect(error?.code == .noSuchStore)
    }
}
