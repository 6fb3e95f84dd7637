import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Stores whose digests stand apart, as up to format 2, brought up to date.
struct UpgradeTests {
    /// A history long enough for the root of a tile.
    private static func makeHistory(seed: UInt64) throws -> RandomHistory {
        let history = try RandomHistory(seed: seed, entries: 270)
        #expect(try history.store.head() > SequenceNumber(256), "seed \(seed)")
        return history
    }

    /// Writes the journal of a store as format 2 had it, and tables that are not those of today.
    private static func copy(_ store: Store, asFormerFormatTo path: String) throws {
        let names = StoreLayout.tableNames + StoreLayout.formerTableNames(of: 2)
        let copy = try Environment.open(
            at: path, options: EnvironmentOptions(tables: names, durability: .relaxed))
        let digests = try copy.table(Journal.formerDigestsName)
        for name in StoreLayout.tableNames where name != "times" {
            let records = try records(name, store)
            let table = try copy.table(name)
            try copy.write { transaction in
                for record in records {
                    let isMoved = name == "journal" && record.key.count != 12
                    try transaction.put(
                        isMoved ? digests : table, record.key.span.bytes, record.value.span.bytes,
                        .append)
                }
            }
        }
        let meta = try copy.table(StoreLayout.metaName)
        try copy.write { try StoreMetadata.setFormat(2, meta, in: $0) }
    }

    private static func records(_ name: String, _ store: Store) throws -> [StoreRecord] {
        let table = try store.openEnvironment().table(name)
        return try store.reading { transaction in
            var records: [StoreRecord] = []
            let start: [UInt8] = []
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                records.append(StoreRecord(key: $0.array, value: $1.array))
                return .proceed
            }
            return records
        }
    }

    @Test(arguments: [51, 52] as [UInt64])
    func `a store with digests apart becomes what is written today`(seed: UInt64) throws {
        let history = try Self.makeHistory(seed: seed)
        let path = history.temporary.folder.appending(path: "former.daybook").path
        try Self.copy(history.store, asFormerFormatTo: path)

        let store = try Store.open(at: path)

        for name in StoreLayout.tableNames {
            let records = try Self.records(name, store)
            let expected = try Self.records(name, history.store)
            #expect(records.map(\.key) == expected.map(\.key), "seed \(seed), \(name)")
            #expect(records.map(\.value) == expected.map(\.value), "seed \(seed), \(name)")
        }
        #expect(try Self.records(Journal.formerDigestsName, store).isEmpty)
        try store.close()
        #expect(try Store.verify(path: path).isSound)
        let again = try Store.open(at: path)
        #expect(try again.headDigest() == history.store.headDigest())
        let skill = try again.newObject("Skill")
        try again.commit(SaveRequest(changes: [again.insert(skill, ["title": .string("Rowing")])]))
        #expect(try again.verify().isSound)
        try again.close()
    }

    @Test func `a store with digests apart that is damaged stays as it is`() throws {
        let history = try Self.makeHistory(seed: 53)
        let path = history.temporary.folder.appending(path: "former.daybook").path
        try Self.copy(history.store, asFormerFormatTo: path)
        let tables = ["journal", Journal.formerDigestsName]
        func read() throws -> [Int] {
            let file = try Environment.open(
                at: path, options: EnvironmentOptions(tables: tables, create: false))
            let tables = try tables.map { try file.table($0) }
            return try file.read { transaction in try tables.map { try transaction.count($0) } }
        }
        do {
            let file = try Environment.open(
                at: path, options: EnvironmentOptions(tables: tables, create: false))
            let digests = try file.table(Journal.formerDigestsName)
            let key = StoreKey.sequence(SequenceNumber(200))
            let other = Digest.of([1]).bytes
            try file.write {
                try $0.put(digests, key.span.bytes, other.span.bytes, .upsert)
            }
        }
        let before = try read()

        let error = #expect(throws: StoreError.self) { try Store.open(at: path) }

        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("Entry 200 cannot be read") == true)
        #expect(try read() == before)
    }
}
