import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// What keys of a state can be, and their order.
@Suite struct ProjectionKeyTests {
    private enum Rank: String, ProjectionKey { case junior, senior }

    private let followed: FollowedStore
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
    }

    /// Keeps each key with its place in the list, and reads them back in the store's order.
    private func kept<Key: ProjectionKey>(_ keys: [Key]) throws -> [Key] {
        let projection = try store.project("\(Key.self)", as: [Key: Int].self) { _, state in
            for (place, key) in keys.enumerated() { state[key] = place }
        }
        try projection.catchUp()
        for (place, key) in keys.enumerated() {
            #expect(try projection.value(for: key) == place)
        }
        return try projection.read { state, _ in try state.records().map(\.key) }
    }

    @Test func `numbers are kept from the least to the greatest`() throws {
        #expect(try kept([5, .min, -1, .max, 0, 256]) == [.min, -1, 0, 5, 256, .max])
    }

    @Test func `dates are kept from the earliest to the latest`() throws {
        let seconds = [0, -0.5, 1e9, -1e9, 0.25, .infinity, -.infinity, .leastNonzeroMagnitude]
        let dates = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }

        #expect(try kept(dates) == dates.sorted())
    }

    @Test func `a date that is not a number is no key`() throws {
        let projection = try store.project("dates", as: [Date: Int].self) { _, state in
            state[Date(timeIntervalSinceReferenceDate: .nan)] = 1
        }

        let error = #expect(throws: StoreError.self) { try projection.catchUp() }

        #expect(error?.code == .foldFailed)
    }

    @Test func `bytes, identifiers and raw values are keys`() throws {
        let uuids = try (1...3).map {
            try #require(UUID(uuidString: "0000000\($0)-0000-4000-8000-000000000000"))
        }

        #expect(
            try kept([Data([1, 0]), Data(), Data([1])]) == [Data(), Data([1]), Data([1, 0])])
        #expect(try kept([uuids[2], uuids[0], uuids[1]]) == uuids)
        #expect(try kept([Rank.senior, .junior]) == [.junior, .senior])
    }

    @Test func `texts that are equal are one key`() throws {
        let projection = try store.project("texts", as: [String: Int].self) { _, state in
            state["caf\u{E9}"] = 1
            state["cafe\u{301}", default: 0] += 1
        }

        try projection.catchUp()

        #expect(try projection.read { state, _ in try state.records().map(\.value) } == [2])
        #expect(try projection.value(for: "cafe\u{301}") == 2)
    }

    @Test func `objects are keys, and those of another store are not`() throws {
        let ada = try followed.open("Ada", 10).account
        let bob = try followed.open("Bob", 20).account
        let stranger = try FollowedStore().open("Eve").account

        #expect(try kept([bob, ada]) == [ada, bob])
        let projection = try store.project("strangers", as: [ManagedObjectID: Int].self) {
            _, state in
            state[stranger] = 1
        }
        let error = #expect(throws: StoreError.self) { try projection.catchUp() }
        #expect(error?.code == .foldFailed)
        #expect(error?.message.contains("another store") == true)
        #expect(try projection.value(for: stranger) == nil)
    }
}
