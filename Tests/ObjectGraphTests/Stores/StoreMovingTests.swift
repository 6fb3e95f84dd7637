import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

@Suite struct StoreMovingTests {
    /// The notifications of a coordinator while this is alive.
    private final class Posted {
        struct Note: Sendable, Equatable {
            let isBefore: Bool
            let added: [UUID]
            let removed: [UUID]

            init(isBefore: Bool, added: [UUID] = [], removed: [UUID] = []) {
                self.isBefore = isBefore
                self.added = added
                self.removed = removed
            }

            init(_ notification: Notification) {
                func identifiers(_ key: String) -> [UUID] {
                    let stores = notification.userInfo?[key] as? [PersistentStore]
                    return (stores ?? []).map(\.identifier)
                }
                self.init(
                    isBefore: notification.name == .persistentStoreCoordinatorStoresWillChange,
                    added: identifiers(PersistentStoreCoordinator.addedPersistentStoresKey),
                    removed: identifiers(PersistentStoreCoordinator.removedPersistentStoresKey))
            }
        }

        private final class Notes: Sendable {
            let list = Mutex<[Note]>([])
        }

        private let notes = Notes()
        private var observers: [any NSObjectProtocol] = []

        init(_ coordinator: PersistentStoreCoordinator) {
            let names: [Notification.Name] = [
                .persistentStoreCoordinatorStoresWillChange,
                .persistentStoreCoordinatorStoresDidChange,
            ]
            observers = names.map { name in
                NotificationCenter.default.addObserver(
                    forName: name, object: coordinator, queue: nil
                ) { [notes] notification in
                    let note = Note(notification)
                    notes.list.withLock { $0.append(note) }
                }
            }
        }

        deinit {
            for observer in observers { NotificationCenter.default.removeObserver(observer) }
        }

        var all: [Note] { notes.list.withLock { $0 } }
    }

    // MARK: - Removing

    @Test func `F7 removing a store makes its objects inaccessible and tells before and after`()
        throws
    {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        let id = try set.hire("Lovelace", in: stores[1])[0]
        let context = set.context()
        let posted = Posted(set.coordinator)
        let ada = try context.performAndWait { () throws in
            try #require(try context.existingObject(with: id) as? Employee)
        }
        let failures = Mutex<[StoreError.Code?]>([])
        context.performAndWait {
            context.inaccessibleFaultHandler = { _, error in
                failures.withLock { $0.append((error as? StoreError)?.code) }
            }
        }

        try set.coordinator.remove(stores[1])

        let identifier = stores[1].identifier
        #expect(
            posted.all == [
                Posted.Note(isBefore: true, removed: [identifier]),
                Posted.Note(isBefore: false, removed: [identifier]),
            ])
        try context.performAndWait { () throws in
            #expect(ada.isFault)
            #expect(ada.lastName == "")
            #expect(failures.withLock { $0 } == [.noSuchStore])
            #expect(ada.objectID == id)
            #expect(context.object(with: id) == nil)
            #expect(
                set.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil
            )
            #expect(try context.fetch(FetchRequest<Employee>()).isEmpty)
            expect(.noSuchObject) { try context.existingObject(with: id) }
            #expect(try context.save() == nil)
        }
        expect(.closed) { try stores[1].head() }
        expect(.noSuchStore) { try set.coordinator.remove(stores[1]) }
    }

    @Test func `F7 what is pending for a removed store is refused until it is rolled back`() throws
    {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        let id = try set.hire("Byron", in: stores[1])[0]

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            let new = Employee(context: context)
            try set.coordinator.remove(stores[1])
            let lost = Employee(context: context)

            expect(.noSuchStore) { try context.save() }
            #expect(ada.lastName == "Lovelace")
            #expect(new.isInserted && lost.isInserted)
            #expect(try stores[0].head() == SequenceNumber(1))

            context.rollback()
            #expect(!context.hasChanges)
            _ = Employee(context: context)
            #expect(try context.save() == SequenceNumber(2))
        }
    }

    @Test func `F7 undo, merging and refreshing pass over objects of a removed store`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        let id = try set.hire("Byron", in: stores[1])[0]

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            try context.save()
            try set.coordinator.remove(stores[1])

            context.undo()
            #expect(!context.hasChanges)
            context.refresh(ada, mergeChanges: true)
            context.refreshAllObjects()
            _ = try context.mergeChanges()
            ada.lastName = "King"
            context.delete(ada)
            #expect(!context.hasChanges)
            context.reset()
        }
    }

    @Test func `F7 a store that is added again has its objects back`() throws {
        let set = try StoreSet("first", "second")
        let id = try set.hire("Lovelace", in: set.coordinator.persistentStores[1])[0]

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            try set.coordinator.remove(set.coordinator.persistentStores[1])
            #expect(ada.lastName == "")

            try set.coordinator.addPersistentStore(at: set.url("second"))

            #expect(ada.lastName == "Lovelace")
            #expect(context.object(with: id) === ada)
            ada.lastName = "King"
            try context.save()
        }

        #expect(try StoreSet.lastNames(at: set.url("second")) == ["King"])
    }

    // MARK: - Moving

    @Test func `F7 saving as continues with a copy that has the journal and the pending changes`()
        throws
    {
        let set = try StoreSet("draft")
        let store = set.coordinator.persistentStores[0]
        let id = try set.hire("Byron", in: store)[0]
        try set.coordinator.setMetadata(["edition": .int(2)], for: store)
        let posted = Posted(set.coordinator)

        try set.inContext { (context) throws in
            context.automaticallyMergesChangesFromParent = true
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            ada.firstName = "Ada"

            let moved = try set.coordinator.migratePersistentStore(store, to: set.url("final"))

            #expect(set.coordinator.persistentStores.map(\.url) == [set.url("final")])
            #expect(moved.identifier == store.identifier)
            #expect(try context.save() == SequenceNumber(3))
            #expect(!ada.isFault && ada.objectID == id)
            #expect(try moved.store.entry(SequenceNumber(2)).changes.count == 1)
            expect(.closed) { try store.head() }
            expect(.noSuchStore) { try set.coordinator.remove(store) }
        }

        #expect(
            posted.all == [
                Posted.Note(isBefore: true, removed: [store.identifier]),
                Posted.Note(
                    isBefore: false, added: [store.identifier], removed: [store.identifier]),
            ])
        let old = try PersistentStoreCoordinator.metadata(at: set.url("draft"))
        let new = try PersistentStoreCoordinator.metadata(at: set.url("final"))
        #expect(old.values.isEmpty && new.values == ["edition": .int(2)])
        #expect(try TestStore.open(at: set.url("draft").path).head() == SequenceNumber(2))
    }

    @Test func `F7 a context that follows a store follows it to its new location`() throws {
        let set = try StoreSet("draft")
        let store = set.coordinator.persistentStores[0]
        let id = try set.hire("Byron", in: store)[0]
        let follower = set.context()
        let ada = try follower.performAndWait { () throws in
            follower.automaticallyMergesChangesFromParent = true
            let ada = try #require(try follower.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "Byron")
            return ada
        }

        try set.coordinator.migratePersistentStore(store, to: set.url("final"))
        follower.performAndWait {}
        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            try context.save()
        }

        follower.performAndWait { #expect(ada.lastName == "Lovelace") }
    }

    @Test func `F7 no save is lost while a store is moved again and again`() async throws {
        let set = try StoreSet()
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        try set.coordinator.addPersistentStore(at: set.url("0"), options: options)
        let count = 60

        async let clerk: Void = {
            let context = set.context()
            for number in 1...count {
                try context.performAndWait { () throws in
                    Employee(context: context).lastName = String(number)
                }
                while try Self.isBusy({
                    _ = try context.performAndWait { () throws in try context.save() }
                }) { await _Concurrency.Task.yield() }
            }
        }()
        for number in 1...5 {
            while try Self.isBusy({
                let store = set.coordinator.persistentStores[0]
                try set.coordinator.migratePersistentStore(store, to: set.url("\(number)"))
            }) { await _Concurrency.Task.yield() }
        }
        _ = try await clerk

        let store = set.coordinator.persistentStores[0]
        #expect(store.url == set.url("5"))
        #expect(try store.head() == SequenceNumber(UInt64(count + 1)))
        try set.coordinator.remove(store)
        let names = try StoreSet.lastNames(at: set.url("5"))
        let expected = (1...count).map { "\($0)" }
        #expect(Set(names) == Set(expected))
        #expect(try Store.verify(path: set.url("5").path).findings.isEmpty)
    }

    /// Whether another process used it, so that the attempt has to be repeated.
    private static func isBusy(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch let error as StoreError where error.code == .busy {
            return true
        }
    }

    @Test func `F7 saving as replaces nothing and leaves the store where it is`() throws {
        let set = try StoreSet("draft")
        let store = set.coordinator.persistentStores[0]
        let taken = set.url("taken")
        try Data("A letter.".utf8).write(to: taken)

        expect(.exists) { try set.coordinator.migratePersistentStore(store, to: taken) }

        #expect(try Data(contentsOf: taken) == Data("A letter.".utf8))
        #expect(set.coordinator.persistentStores.map(\.url) == [set.url("draft")])
        try set.hire("Lovelace", in: store)
    }

    // MARK: - Files

    @Test func `F7 destroying a store removes its files, but not while somebody uses it`() throws {
        let set = try StoreSet("staff")
        let store = set.coordinator.persistentStores[0]
        let other = try StoreSet("other")

        expect(.busy) { try other.coordinator.destroyPersistentStore(at: store.url) }
        try set.hire("Lovelace", in: store)
        try set.coordinator.remove(store)
        try other.coordinator.destroyPersistentStore(at: store.url)

        #expect(try FileManager.default.contentsOfDirectory(atPath: set.folder.url.path).isEmpty)
        try other.coordinator.destroyPersistentStore(at: store.url)
    }

    @Test func `F7 a store that another process uses is neither destroyed nor replaced`()
        async throws
    {
        let set = try StoreSet("staff", "other")
        let path = set.url("staff").path
        let source = set.url("other").path
        try set.hire("Lovelace", in: set.coordinator.persistentStores[0])

        await #expect(processExitsWith: .success) {
            [path = path as String, source = source as String] in
            expect(.busy) { try Store.remove(at: path) }
            let other = try TestStore.open(at: source, options: StoreOptions(isReadOnly: true))
            expect(.busy) { try Store.replace(at: path, withCopyOf: other) }
        }

        #expect(try StoreSet.lastNames(at: set.url("staff")) == ["Lovelace"])
    }

    @Test func `F7 destroying spares a file that is no store`() throws {
        let set = try StoreSet("staff")
        let letter = set.url("letter")
        try Data("A letter.".utf8).write(to: letter)

        expect(.notAStore) { try set.coordinator.destroyPersistentStore(at: letter) }

        #expect(try Data(contentsOf: letter) == Data("A letter.".utf8))
    }

    @Test func `F7 replacing puts a copy where a store was that nobody uses`() throws {
        let set = try StoreSet("old", "new")
        let stores = set.coordinator.persistentStores
        try set.hire("Byron", in: stores[0])
        try set.hire("Lovelace", "King", in: stores[1])

        func replace(_ name: String) throws {
            try set.coordinator.replacePersistentStore(
                at: set.url(name), withPersistentStoreFrom: set.url("new"))
        }
        expect(.busy) { try replace("old") }
        #expect(try StoreSet.lastNames(at: set.url("old")) == ["Byron"])
        try set.coordinator.remove(stores[0])
        try replace("old")
        try replace("fresh")

        for name in ["old", "fresh"] {
            #expect(try StoreSet.lastNames(at: set.url(name)) == ["Lovelace", "King"])
            #expect(try Store.verify(path: set.url(name).path).findings.isEmpty)
        }
        #expect(try stores[1].head() == SequenceNumber(2))
        expect(.missing) {
            try set.coordinator.replacePersistentStore(
                at: set.url("old"), withPersistentStoreFrom: set.url("none"))
        }
        #expect(try StoreSet.lastNames(at: set.url("old")) == ["Lovelace", "King"])
    }

    @Test func `a store that a backup has replaced is followed as if nothing came after it`()
        throws
    {
        let set = try StoreSet("staff")
        let store = set.coordinator.persistentStores[0]
        let id = try set.hire("Byron", in: store)[0]
        try set.coordinator.replacePersistentStore(
            at: set.url("backup"), withPersistentStoreFrom: set.url("staff"))
        try set.hire("Hopper", "King", in: store)
        try set.hire("Curie", in: store)
        try set.coordinator.remove(store)
        try set.coordinator.replacePersistentStore(
            at: set.url("staff"), withPersistentStoreFrom: set.url("backup"))
        try set.coordinator.addPersistentStore(at: set.url("staff"))
        let holder = set.context()
        let held = try holder.performAndWait { () throws in
            let ada = try #require(try holder.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "Byron")
            return ada
        }
        let elsewhere = try PersistentStoreCoordinator(classes: staff)
        try elsewhere.addPersistentStore(at: set.url("staff"))
        let other = ManagedObjectContext(coordinator: elsewhere)
        try other.performAndWait { () throws in
            let ada = try #require(try other.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"
            try other.save()
        }

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            #expect(ada.lastName == "Lovelace")
        }
        holder.performAndWait { #expect(held.lastName == "Byron") }
    }
}
