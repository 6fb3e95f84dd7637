import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Projections that keep up by themselves.
@Suite struct ProjectionUpdatesTests {
    private let followed: FollowedStore
    private let accounts: FoldedAccounts.Projection
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
        accounts = try FoldedAccounts.projection(in: followed.container)
    }

    @Test func `what is there is folded first, and then what anybody saves`() async throws {
        let first = try followed.open("Ada", 10).entry
        let other = try followed.another()
        var updates = accounts.updates().makeAsyncIterator()

        let there = try await updates.next()
        let here = try followed.open("Bob", 20).entry
        let told = try await updates.next()
        let elsewhere = try followed.open("Cleo", 30, in: other).entry
        let woken = try await updates.next()

        #expect([there, told, woken] == [first, here, elsewhere])
        #expect(try accounts.contents().state == FoldedAccounts.expected(from: store))
    }

    @Test func `the loop ends when its task is cancelled`() async throws {
        let reached = try followed.open("Ada", 10).entry
        let (heard, hear) = AsyncStream.makeStream(of: SequenceNumber.self)
        let task = _Concurrency.Task { [accounts] in
            for try await entry in accounts.updates() { hear.yield(entry) }
            hear.finish()
        }

        for await entry in heard where entry == reached { task.cancel() }

        try await task.value
    }

    @Test func `a state that another moves is told as well`() async throws {
        try followed.open("Ada", 10)
        let container = try followed.another()
        let other = try FoldedAccounts.projection(in: container)
        var updates = accounts.updates().makeAsyncIterator()
        _ = try await updates.next()
        let entry = try followed.open("Bob", 20).entry
        try other.catchUp()

        #expect(try await updates.next() == entry)
    }

    @Test func `the loop throws what ends the fold, and is over then`() async throws {
        let bad = try followed.open("Ada", 10).entry
        let failing = try store.project("failing", as: [String: Int].self) { entry, state in
            state["a"] = 1
            if entry.sequence == bad { throw CancellationError() }
        }
        var updates = failing.updates().makeAsyncIterator()

        do {
            _ = try await updates.next()
            Issue.record("The fold has thrown.")
        } catch {
            #expect(error.code == .foldFailed)
        }

        #expect(try await updates.next() == nil)
    }

    @Test func `a loop and catching up end with an error when the file is replaced`() async throws {
        try followed.open("Ada", 10)
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        let loop = _Concurrency.Task { [accounts] () -> StoreError.Code? in
            do {
                for try await _ in accounts.updates() { signal.yield() }
            } catch let error as StoreError {
                return error.code
            }
            return nil
        }
        for await _ in reached { break }
        let copy = followed.folder.url.appendingPathComponent("copy.daybook")
        try followed.container.backup(to: copy)

        #expect(rename(copy.path, followed.url.path) == 0)

        #expect(try await loop.value == .replaced)
        let error = #expect(throws: StoreError.self) { try accounts.catchUp() }
        #expect(error?.code == .replaced)
    }

    @Test func `a newer version of many pages is told when it is read, though nobody saves`()
        async throws
    {
        let note = String(repeating: "long ", count: 60_000)
        for _ in 0..<4 { try followed.save(note: note) { _ = Deposit(context: $0) } }
        let entry = try followed.save(note: note) { _ = Deposit(context: $0) }
        let sums = try Self.sums(in: store, version: 1)
        try sums.catchUp()
        let newer = try Self.sums(in: store, version: 2)
        var updates = newer.updates().makeAsyncIterator()

        #expect(try await updates.next() == entry)
        #expect(try store.projections().map(\.current.version) == [2])
        #expect(try newer.value(for: "entries") == Int(entry.rawValue))
    }

    private static func sums(
        in store: PersistentStore, version: Int
    ) throws -> JournalProjection<String, Int> {
        try store.project("entries", version: version, as: [String: Int].self) { _, state in
            state["entries", default: 0] += 1
        }
    }

    @Test func `a newer version is built by the loop, and told once it is read`() async throws {
        let entry = try followed.open("Ada", 10).entry
        try accounts.catchUp()
        let newer = try FoldedAccounts.projection(in: followed.container, version: 2)
        var updates = newer.updates().makeAsyncIterator()

        #expect(try await updates.next() == entry)
        #expect(try store.projections().map(\.current.version) == [2])
    }
}
