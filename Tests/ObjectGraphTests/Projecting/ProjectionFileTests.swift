import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// What copies, rebuilds and checks of a store make of its projections.
@Suite struct ProjectionFileTests {
    private let followed: FollowedStore
    private let accounts: FoldedAccounts.Projection
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
        for (owner, balance) in [("Ada", 10), ("Bob", 20), ("Cleo", 30)] {
            try followed.open(owner, Decimal(balance), by: owner)
        }
        accounts = try FoldedAccounts.projection(in: followed.container)
        try accounts.catchUp()
    }

    private func verify() throws -> [VerifyFinding] {
        try Store.verify(path: followed.url.path).findings
    }

    /// Changes the file behind the back of the store.
    private func write(
        _ body: @escaping @Sendable (Table, Table, borrowing WriteTransaction) throws -> Void
    ) throws {
        let states = try #require(try store.store.stateTable())
        try store.store.writing { [meta = store.store.parts.tables.meta] transaction in
            try body(states, meta, transaction)
        }
    }

    @Test func `a backup and a compact copy have the state`() throws {
        let state = try accounts.contents().state
        #expect(state.count == 6)
        let backup = followed.folder.url.appendingPathComponent("backup.daybook")
        let compact = followed.folder.path("compact.daybook")

        try followed.container.backup(to: backup)
        try store.store.copy(to: compact)

        for path in [backup.path, compact] {
            let container = try TestContainer.make(
                URL(fileURLWithPath: path), model: FollowedStore.model)
            let copy = try FoldedAccounts.projection(in: container)
            #expect(try copy.contents().state == state)
            #expect(try copy.contents().at == store.head())
            #expect(try Store.verify(path: path).findings.isEmpty)
        }
    }

    @Test func `a rebuild of the store's own tables leaves the state alone`() throws {
        let before = try accounts.contents()

        try store.store.rebuild()

        let after = try accounts.contents()
        #expect(after.state == before.state)
        #expect(after.at == before.at)
        #expect(try verify().isEmpty)
    }

    @Test func `what is loaded from an export has no projections`() throws {
        let path = followed.folder.path("loaded.daybook")
        var entries: [Entry] = []
        try store.store.entries {
            entries.append($0)
            return .proceed
        }
        let loaded = try TestStore.create(at: path, loading: try #require(entries.first))

        for entry in entries.dropFirst() { try loaded.append(exported: entry) }

        #expect(try loaded.headDigest() == store.store.headDigest())
        #expect(try loaded.states().isEmpty)
        #expect(try loaded.stateTable() == nil)
    }

    @Test func `statistics count the records of states`() throws {
        let tables = try store.store.statistics().tables

        #expect(tables.first { $0.name == "states" }?.records == 6)
        let other = try FollowedStore()
        #expect(
            try other.store.store.statistics().tables.allSatisfy { $0.name != "states" })
    }

    @Test func `a sound state is found sound, also one that is behind`() throws {
        try followed.open("Dan", 40)

        #expect(try verify().isEmpty)
    }

    @Test func `a record that was changed is not handed out, and verify finds it`() throws {
        try write { states, _, transaction in
            let key = StateTable.prefix(1) + Array("author/Ada".utf8)
            let value = Array("{\"balance\":11}xxxx".utf8)
            try transaction.put(states.unchecked, key.span.bytes, value.span.bytes, .upsert)
        }

        let read = #expect(throws: StoreError.self) { try accounts.value(for: "author/Ada") }
        let findings = try verify()

        #expect(read?.code == .corrupt)
        #expect(findings.contains { $0.kind == .state && $0.message.contains("check") })
        let folded = #expect(throws: StoreError.self) {
            try followed.open("Eve", 1, by: "Ada")
            try accounts.catchUp()
        }
        #expect(folded?.code == .corrupt)
    }

    @Test func `verify finds records too few, too many and of nobody`() throws {
        try write { states, _, transaction in
            let gone = StateTable.prefix(1) + Array("author/Ada".utf8)
            #expect(try transaction.delete(states, gone.span.bytes))
            let stray = StateTable.prefix(77) + [1]
            try transaction.put(states, stray.span.bytes, stray.span.bytes, .upsert)
        }

        let messages = try verify().map(\.message)

        #expect(
            messages.contains("1 records of the table 'states' belong to no projection."))
        #expect(
            messages.contains { $0.hasPrefix("The projection 'accounts' has 5 keys and ") })
        #expect(messages.count == 2)
    }

    @Test func `verify finds a state behind an entry that is another one`() throws {
        try write { _, meta, transaction in
            var list = try StoreMetadata.states(meta, in: transaction)
            var current = try #require(list.state(named: "accounts")).current
            current.place = JournalPlace(current.place.sequence, .zero)
            list.move(current, of: "accounts", head: current.place.sequence)
            try StoreMetadata.setStates(list, meta, in: transaction)
        }

        let findings = try verify()
        try followed.open("Dan", 40)
        let error = #expect(throws: StoreError.self) { try accounts.catchUp() }
        try accounts.rebuild()

        #expect(findings.map(\.kind) == [.state])
        #expect(findings.first?.message.contains("stands after an entry 4 ") == true)
        #expect(error?.code == .generation)
        #expect(try accounts.contents().state == FoldedAccounts.expected(from: store))
        #expect(try verify().isEmpty)
    }

    @Test func `verify finds a list that cannot be read`() throws {
        try write { _, meta, transaction in
            try StoreMetadata.put("states", [1, 0xff], meta, in: transaction)
        }

        let findings = try verify()

        #expect(findings.map(\.kind) == [.metadata])
        #expect(findings.map(\.place) == ["meta, 'states'"])
        #expect(throws: StoreError.self) { try accounts.value(for: "all") }
    }
}
