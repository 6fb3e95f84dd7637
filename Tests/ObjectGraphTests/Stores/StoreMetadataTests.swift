import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct StoreMetadataTests {
    private static let values: [String: Value] = [
        "owner": .string("registry"), "edition": .int(3),
        "printed": .date(Date(timeIntervalSinceReferenceDate: 1)), "empty": .null,
    ]

    @Test func `F3 metadata tells identifier, time and entities of a store`() throws {
        let before = Date(timeIntervalSinceNow: -1)
        let set = try StoreSet("staff")
        let store = set.coordinator.persistentStores[0]

        let metadata = try set.coordinator.metadata(for: store)

        #expect(metadata.identifier == store.identifier)
        #expect(metadata.createdAt > before && metadata.createdAt <= Date())
        #expect(
            Set(metadata.entityDigests.keys)
                == ["Department", "Desk", "Employee", "Project", "Task"])
        #expect(Set(metadata.entityDigests.values).count == 5)
        #expect(metadata.values.isEmpty)
        #expect(try PersistentStoreCoordinator.metadata(at: store.url) == metadata)
    }

    @Test func `F3 the digest of an entity tells whether two models agree on it`() throws {
        let folder = try TemporaryDirectory()
        var model = try PersistentStoreCoordinator(classes: staff).managedObjectModel
        let old = folder.url.appendingPathComponent("old.daybook")
        let new = folder.url.appendingPathComponent("new.daybook")
        try PersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(at: old)
        let index = try #require(model.entities.firstIndex { $0.name == "Desk" })
        model.entities[index].attributes[0].isIndexed = true
        try PersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(at: new)

        let left = try PersistentStoreCoordinator.metadata(at: old).entityDigests
        let right = try PersistentStoreCoordinator.metadata(at: new).entityDigests

        #expect(left.keys.filter { left[$0] != right[$0] } == ["Desk"])
    }

    @Test func `F3 values that are set are written by the next save and not before`() throws {
        let set = try StoreSet("staff")
        let store = set.coordinator.persistentStores[0]

        try set.coordinator.setMetadata(Self.values, for: store)
        #expect(try set.coordinator.metadata(for: store).values == Self.values)
        #expect(try PersistentStoreCoordinator.metadata(at: store.url).values.isEmpty)

        try set.hire("Lovelace", in: store)
        #expect(try PersistentStoreCoordinator.metadata(at: store.url).values == Self.values)
    }

    @Test func `F3 a save without changes writes values and appends no entry`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        try set.coordinator.setMetadata(Self.values, for: stores[1])

        try set.inContext { (context) throws in #expect(try context.save() == nil) }
        try set.coordinator.setMetadata(["edition": .int(4)], for: stores[1])
        try set.hire("Lovelace", in: stores[0])

        #expect(
            try PersistentStoreCoordinator.metadata(at: stores[1].url).values == [
                "edition": .int(4)
            ])
        #expect(try stores[1].head() == SequenceNumber(1))
    }

    @Test func `F3 values wait while a save is refused`() throws {
        let set = try StoreSet("staff")
        let store = set.coordinator.persistentStores[0]
        try set.inContext { (context) throws in
            Department(context: context).name = "Research"
            try context.save()
            try set.coordinator.setMetadata(Self.values, for: store)
            let double = Department(context: context)
            double.name = "Research"

            expect(.duplicate) { try context.save() }
            #expect(try PersistentStoreCoordinator.metadata(at: store.url).values.isEmpty)

            double.name = "Sales"
            try context.save()
            #expect(try PersistentStoreCoordinator.metadata(at: store.url).values == Self.values)
        }
    }

    @Test func `F3 values are not part of the journal, of replay or of a verification`() throws {
        let set = try StoreSet("plain", "kept")
        let stores = set.coordinator.persistentStores
        for store in stores { try set.hire("Lovelace", in: store) }
        try set.coordinator.setMetadata(Self.values, for: stores[1])
        try set.inContext { (context) throws in _ = try context.save() }
        let digests = try stores[1].store.projectionDigest()

        try stores[1].store.rebuild()

        #expect(try stores[1].store.projectionDigest() == digests)
        #expect(try stores[1].store.userValues() == Self.values)
        try set.coordinator.remove(stores[1])
        let report = try Store.verify(path: stores[1].url.path)
        #expect(report.findings.isEmpty)
        #expect(report.head == SequenceNumber(2))
    }

    @Test func `F3 a store of another coordinator has no metadata here`() throws {
        let set = try StoreSet("staff")
        let other = try StoreSet("other")
        let stranger = other.coordinator.persistentStores[0]

        expect(.noSuchStore) { try set.coordinator.metadata(for: stranger) }
        expect(.noSuchStore) { try set.coordinator.setMetadata([:], for: stranger) }
    }

    @Test func `F3 a copy of a store has its identifier and cannot be added beside it`() throws {
        let set = try StoreSet("staff")
        let store = set.coordinator.persistentStores[0]
        try store.store.copy(to: set.url("copy").path)

        let copied = try PersistentStoreCoordinator.metadata(at: set.url("copy"))
        #expect(copied.identifier == store.identifier)
        let error = #expect(throws: StoreError.self) {
            try set.coordinator.addPersistentStore(at: set.url("copy"))
        }
        #expect(error?.code == .exists)
        #expect(
            error?.message == "'copy.daybook' is a copy of 'staff.daybook', which has been added "
                + "already. Add one of them.")
    }
}
