import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// The account with which `verify` quickly checks that the tables follow from the journal.
struct AccountTests {
    /// Changes to records behind the store's back.
    enum Forgery: CaseIterable, Sendable {
        case changeValue, changeKey, remove, addCopy, swapValues
    }

    private func account(_ store: Store) throws -> ProjectionAccount? {
        try store.reading { transaction in
            let account = ProjectionAccount(store.parts, PendingIndexes())
            var findings: [JournalFinding] = []
            try store.parts.journal.verify(
                in: transaction, { findings.append($0) },
                follow: { try account.follow($0, in: transaction) })
            #expect(findings.isEmpty)
            return try account.comesOutEven(in: transaction) ? account : nil
        }
    }

    private func records(_ table: Table, _ store: Store) throws -> [StoreRecord] {
        try store.reading { transaction in
            var records: [StoreRecord] = []
            let start: [UInt8] = []
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                records.append(StoreRecord(key: $0.array, value: $1.array))
                return .proceed
            }
            return records
        }
    }

    private func put(_ table: Table, _ key: [UInt8], _ value: [UInt8]?, _ store: Store) throws {
        try store.writing { transaction in
            if let value {
                try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
            } else {
                _ = try transaction.delete(table, key.span.bytes)
            }
        }
    }

    @Test(arguments: [3, 1_000] as [UInt64])
    func `a row that says it is of a later entry is damage, not a crash`(since: UInt64) throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("a")])]))
        let rows = store.parts.tables.rows
        let row = try #require(try records(rows, store).first)
        let forged = StoreKey.sequence(SequenceNumber(since)) + row.value.dropFirst(8)
        try put(rows, row.key, forged, store)
        let edit = store.update(skill, "title", from: .string("a"), to: .string("b"))

        for change in [edit, try store.delete(skill)] {
            let error = #expect(throws: StoreError.self) {
                try store.commit(SaveRequest(changes: [change]))
            }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("entry \(since), which cannot be before") == true)
        }
        #expect(try store.head() == SequenceNumber(2))
    }

    @Test(arguments: UInt64(1)...8)
    func `the account of a random history closes and counts every record`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed, entries: 90)
        let tables = history.store.parts.tables.projection

        let account = try account(history.store)

        let count = try tables.map { try records($0, history.store).count }.reduce(0, +)
        #expect(account?.count == count, "seed \(seed)")
        #expect(count > 100, "seed \(seed)")
    }

    @Test(arguments: StoreLayout.projectionNames, Forgery.allCases)
    func `an account with anything changed in a table does not close`(
        name: String, forgery: Forgery
    ) throws {
        let history = try RandomHistory(seed: 71, entries: 90)
        let store = history.store
        let table = try #require(store.parts.tables.projection.first { $0.name == name })
        let all = try records(table, store)
        let record = try #require(all.dropFirst(all.count / 2).first)
        var key = record.key
        key[key.count - 1] ^= 1
        switch forgery {
        case .changeValue:
            var value = record.value.isEmpty ? [0] : record.value
            value[value.count - 1] ^= 1
            try put(table, record.key, value, store)
        case .changeKey:
            try put(table, record.key, nil, store)
            try put(table, key, record.value, store)
        case .remove: try put(table, record.key, nil, store)
        case .addCopy:
            while all.contains(where: { $0.key == key }) { key.append(0) }
            try put(table, key, record.value, store)
        case .swapValues:
            guard let other = all.first(where: { $0.value != record.value }) else { return }
            try put(table, record.key, other.value, store)
            try put(table, other.key, record.value, store)
        }

        #expect(try account(store) == nil)
    }

    @Test func `swapped versions do not close the account`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("A")])]))
        for (old, new) in [("A", "B"), ("B", "A"), ("A", "C")] {
            try store.commit(
                SaveRequest(changes: [
                    store.update(skill, "title", from: .string(old), to: .string(new))
                ]))
        }
        #expect(try account(store) != nil)
        let table = store.parts.tables.versions
        let versions = try records(table, store)

        // The first and the third are the same except for their age.
        try put(table, versions[0].key, versions[2].value, store)
        try put(table, versions[2].key, versions[0].value, store)

        #expect(versions.count == 3)
        #expect(try account(store) == nil)
    }

    @Test(arguments: [[2, 0, 0], [2, 0, 9], [9], []] as [[UInt8]])
    func `a version that is another row, or none, does not close the account`(
        ending: [UInt8]
    ) throws {
        let temporary = try TemporaryStore(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Town",
                    attributes: [
                        AttributeDescription(name: "name", type: .string),
                        AttributeDescription(name: "country", type: .string),
                    ],
                    uniquenessConstraints: [["name", "country"]])
            ]))
        let store = temporary.store
        let town = try store.newObject("Town")
        try store.commit(
            SaveRequest(changes: [
                store.insert(town, ["name": .string("Paris"), "country": .string("FR")])
            ]))
        try store.commit(
            SaveRequest(changes: [store.update(town, "name", from: .string("Paris"), to: .null)]))
        #expect(try account(store) != nil)
        let table = store.parts.tables.versions
        let version = try #require(try records(table, store).first)

        try put(table, version.key, Array(version.value.prefix(8)) + ending, store)

        #expect(try account(store) == nil)
        let report = try store.verify()
        #expect(report.findings.map(\.kind) == [.projection])
    }
}
