import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// A coordinator that is told at once what others save.
@Suite struct RemoteNoticeTests {
    private let followed: FollowedStore
    private let other: PersistentContainer

    init() throws {
        var options = PersistentStoreOptions()
        options.remoteChanges = .immediate
        followed = try FollowedStore(options: options)
        other = try followed.another()
    }

    @Test func `what another coordinator saves is announced by itself`() async throws {
        let coordinator = followed.container.persistentStoreCoordinator
        let (heard, announce) = AsyncStream.makeStream(of: SequenceNumber.self)
        let observer = NotificationCenter.default.addObserver(
            forName: .persistentStoreRemoteChange, object: coordinator, queue: nil
        ) { notification in
            let entry = notification.userInfo?[PersistentStore.historyTokenKey]
            if let entry = entry as? SequenceNumber { announce.yield(entry) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }

        let saved = try followed.open("Ada", in: other).entry

        for await entry in heard where entry >= saved { break }
    }

    @Test func `an observed list shows what another coordinator saves`() async throws {
        let context = followed.container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = true
        let list = try await context.perform {
            try ResultsObserver(FetchRequest<Deposit>(), in: context)
        }
        let differences = try await context.perform { list.differences }

        let saved = try followed.open("Ada", in: other).entry

        for await difference in differences {
            #expect(difference.entries.map(\.sequence) == [saved])
            break
        }
        let owners = try await context.perform { list.objects.map(\.owner) }
        #expect(owners == ["Ada"])
    }

    @Test func `by default nothing is announced before it is checked`() throws {
        #expect(PersistentStoreOptions().remoteChanges == .whenChecked)
        let url = followed.folder.url.appendingPathComponent("described.daybook")
        var description = PersistentStoreDescription(url: url)
        #expect(description.options.remoteChanges == .whenChecked)
        description.remoteChanges = .immediate
        #expect(description.options.remoteChanges == .immediate)
    }

    @Test func `a store that is removed is watched no more`() throws {
        let coordinator = followed.container.persistentStoreCoordinator
        let store = followed.store.store
        #expect(store.news.isListenedTo)

        try coordinator.remove(coordinator.persistentStores[0])

        #expect(!store.news.isListenedTo)
        try followed.open("Ada", in: other)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test func `what was announced before a store moved is not announced again`() throws {
        let coordinator = followed.container.persistentStoreCoordinator
        for name in ["Ada", "Bea"] { try followed.open(name) }
        let heard = Mutex<[SequenceNumber]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .persistentStoreRemoteChange, object: coordinator, queue: nil
        ) { notification in
            let entry = notification.userInfo?[PersistentStore.historyTokenKey]
            if let entry = entry as? SequenceNumber { heard.withLock { $0.append(entry) } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }

        let moved = try coordinator.migratePersistentStore(
            followed.store, to: followed.folder.url.appendingPathComponent("moved.daybook"))

        #expect(heard.withLock { $0 } == [])
        #expect(moved.store.news.isListenedTo)
    }
}
