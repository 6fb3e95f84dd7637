import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Entries that a program looks for, with an index of entries and without one.
@Suite struct IndexedEntriesTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    private func container(
        _ name: String, _ indexed: Set<IndexedAttribution>
    ) throws -> PersistentContainer {
        try TestContainer.make(
            folder.url.appendingPathComponent(name), model: FollowedStore.model,
            indexesEntries: indexed)
    }

    private func store(_ container: PersistentContainer) throws -> PersistentStore {
        try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    /// Saves an entry for each number: now and then by ada, with a request of a few, of one class or the other.
    private func fill(_ container: PersistentContainer, _ numbers: ClosedRange<Int>) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in numbers {
                if number % 4 == 0 {
                    Savings(context: context).owner = "\(number)"
                } else {
                    Deposit(context: context).owner = "\(number)"
                }
                try context.save(
                    author: number % 20 == 0 ? "ada" : "bob",
                    info: number % 25 == 0 ? ["request": "\(number % 3)"] : [:])
            }
        }
    }

    private static let filters: [EntryFilter] = [
        .all.by("ada"), .all.by("ada", "eve"), .all.having("request"),
        .all.having("request", "0", "1"), .all.by("ada").having("request", "1"),
        .all.by("ada").of(Savings.self), .all.by("ada").changing(\Savings.rate),
        .all.having("device"), .all.by("bob"), .all.notBy("bob"),
    ]

    @Test func `a filter has the entries that it has without an index`() throws {
        let indexed = try container("indexed.daybook", [.author, .info("request")])
        let plain = try container("plain.daybook", [])
        for container in [indexed, plain] { try fill(container, 1...200) }
        let (ours, theirs) = (try store(indexed), try store(plain))

        for (number, filter) in Self.filters.enumerated() {
            for limit in [nil, 0, 1, 4, 100] {
                for (first, last) in [(0, nil), (1, 50), (90, 180), (202, nil)]
                    as [(UInt64, UInt64?)]
                {
                    let found = try [ours, theirs].map { store in
                        try store.changes(
                            from: SequenceNumber(first), through: last.map { SequenceNumber($0) },
                            where: filter, limit: limit
                        ).map { "\($0.sequence) \($0.author ?? "") \($0.changes.count)" }
                    }
                    #expect(found[0] == found[1], "filter \(number) from \(first), \(limit ?? -1)")
                }
            }
        }
    }

    @Test func `the index is asked where few entries are looked for`() throws {
        let container = try container("indexed.daybook", [.author, .info("request")])
        try fill(container, 1...200)
        let store = try store(container)
        func access(_ filter: EntryFilter, from first: UInt64 = 1) throws -> EntryAccess {
            let wanted = try filter.resolved(in: store, store.graphModel())
            return try store.store.access(
                to: wanted.headers, from: SequenceNumber(first), through: store.store.head())
        }

        #expect(try access(.all.by("ada")) == .index(.author, about: 10))
        #expect(try access(.all.by("ada"), from: 102) == .index(.author, about: 5))
        #expect(try access(.all.having("request")) == .index(.info("request"), about: 8))
        #expect(try access(.all.by("ada").having("request")) == .index(.info("request"), about: 8))
        #expect(try access(.all.by("bob")) == .walk(201))
        #expect(try access(.all.notBy("ada")) == .walk(201))
        #expect(try access(.all.having("device")) == .walk(201))
        // So few entries are read as fast.
        #expect(try access(.all.by("ada"), from: 199) == .walk(3))
    }

    @Test func `the version of a plan says what entries are indexed by`() throws {
        enum First: VersionedSchema {
            static let models: [ManagedObject.Type] = FollowedStore.model
        }
        enum Second: VersionedSchema {
            static let models: [ManagedObject.Type] = FollowedStore.model
            static let indexesEntries: Set<IndexedAttribution> = [.author]
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [First.self, Second.self]
            static let stages: [MigrationStage] = [
                .lightweight(fromVersion: First.self, toVersion: Second.self)
            ]
        }
        let older = try container("planned.daybook", [])
        try fill(older, 1...40)

        let planned = try TestContainer.make(
            folder.url.appendingPathComponent("planned.daybook"), migrationPlan: Plan.self)

        #expect(
            planned.persistentStoreCoordinator.managedObjectModel.indexesEntries == [.author])
        var selection = HeaderSelection()
        selection.authors = ["ada"]
        for store in [try store(older), try store(planned)] {
            #expect(
                try store.store.access(
                    to: selection, from: SequenceNumber(1), through: SequenceNumber(42))
                    == .index(.author, about: 2))
        }
        #expect(try store(planned).store.verify().isSound)
    }
}
