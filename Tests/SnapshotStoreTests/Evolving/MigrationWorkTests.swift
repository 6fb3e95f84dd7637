import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Migrations that look at every object: what they tell, how they are ended, and what others save meanwhile.
struct MigrationWorkTests {
    private static let newer = entity(
        "A",
        [
            attribute("x", required: true, indexed: true, default: .string("none")),
            attribute("u", unique: true),
        ])

    private func open(
        _ evolving: Evolving, _ entities: EntityDescription...,
        work: @escaping StoreOptions.WorkHandler
    ) throws -> Store {
        var options = StoreOptions.counting()
        options.migration = .automatic
        options.work = work
        return try TestStore.open(
            at: evolving.temporary.path, model: ManagedObjectModel(entities: entities),
            options: options)
    }

    private func filled() throws -> Evolving {
        let evolving = try Evolving(entity("A", [attribute("x"), attribute("u")]))
        let store = evolving.store
        let changes = try (1...3_000).map { number in
            store.insert(
                try store.newObject("A"),
                number % 2 == 0 ? ["u": .string("\(number)")] : ["x": .string("\(number)")])
        }
        try store.commit(SaveRequest(changes: changes))
        return evolving
    }

    @Test func `a migration tells how far it has come, to the end`() throws {
        let evolving = try filled()
        let reports = Reports()

        let store = try open(evolving, Self.newer) { reports.add($0, $1) }

        let all = reports.all
        #expect(all.count > 4)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.done <= $1.done && $0.total <= $1.total })
        #expect(all.allSatisfy { $0.done <= $0.total })
        #expect(all.last.map { $0.done == $0.total } == true)
        try store.expectSound()
        try store.close()
    }

    @Test func `a migration that needs no look at objects tells nothing`() throws {
        let evolving = try filled()
        let reports = Reports()

        let store = try open(
            evolving, entity("A", [attribute("x"), attribute("u"), attribute("y")])
        ) { reports.add($0, $1) }

        #expect(reports.all.isEmpty)
        try store.close()
    }

    @Test func `a migration that is ended at any point leaves the store as it was`() throws {
        let evolving = try filled()
        let (head, tables) = (try evolving.store.head(), try evolving.store.projectionDigest())
        var ended = 0

        while ended < 100 {
            let reports = Reports()
            do {
                let last = ended
                let store = try open(evolving, Self.newer) { done, total in
                    if reports.add(done, total) > last { throw StoreError(.cancelled, "Ended.") }
                }
                try store.close()
                break
            } catch let error as StoreError where error.code == .cancelled {
                #expect(try evolving.store.head() == head)
                #expect(try evolving.store.projectionDigest() == tables)
                ended += 1
            }
        }

        #expect((5..<100).contains(ended))
        #expect(try evolving.store.head() == head.next)
        #expect(try evolving.store.verify().isSound)
    }

    @Test func `what others save meanwhile gets the values that a migration gives`() throws {
        let evolving = try filled()
        let (old, reports) = (evolving.store, Reports())
        let first = try #require(try old.found("A", "x == '1'").first)
        let second = try #require(try old.found("A", "u == '2'").first)

        let store = try open(evolving, Self.newer) { done, total in
            guard reports.add(done, total) == 1 else { return }
            try Elsewhere.run {
                try old.set(first, "x", .null)
                try old.set(second, "x", .string("two"))
                try old.add("A")
            }
        }

        #expect(try store.value("x", of: first) == .string("none"))
        #expect(try store.value("x", of: second) == .string("two"))
        #expect(try store.found("A", "x == 'none'").count == 1_501)
        try store.expectSound()
        try store.close()
    }

    @Test(arguments: ["4", "new"], [1, 2])
    func `what others save meanwhile is refused like all that does not fit`(
        value: String, count: Int
    ) throws {
        let evolving = try filled()
        let (old, reports) = (evolving.store, Reports())
        let objects = try ["1", "3"].flatMap { try old.found("A", "x == '\($0)'") }

        let work: StoreOptions.WorkHandler = { done, total in
            guard reports.add(done, total) == 1 else { return }
            try Elsewhere.run {
                for object in objects.prefix(count) { try old.set(object, "u", .string(value)) }
            }
        }
        // One object may have a value that none had.
        let isRefused = value == "4" || count == 2
        if isRefused {
            let refusal = #expect(throws: StoreError.self) {
                try open(evolving, Self.newer, work: work)
            }
            #expect(refusal?.code == .validation)
            #expect(refusal?.message.contains("not migrated") == true)
        } else {
            let store = try open(evolving, Self.newer, work: work)
            #expect(try store.found("A", "u == 'new'") == objects.prefix(1).map(\.self))
            try store.expectSound()
            try store.close()
        }
    }

    @Test func `a value that another gave up meanwhile may be taken`() throws {
        let evolving = try filled()
        let (old, reports) = (evolving.store, Reports())
        let first = try #require(try old.found("A", "x == '1'").first)
        let second = try #require(try old.found("A", "u == '2'").first)

        let store = try open(evolving, Self.newer) { done, total in
            guard reports.add(done, total) == 1 else { return }
            try Elsewhere.run {
                try old.set(second, "u", .string("other"))
                try old.set(first, "u", .string("2"))
            }
        }

        #expect(try store.found("A", "u == '2'") == [first])
        try store.expectSound()
        try store.close()
    }

    @Test func `a partner that is taken meanwhile is not shared`() throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("b", "B", inverse: "as")]),
            entity("B", to: [relationship("as", "A", inverse: "b", many: true)]))
        let old = evolving.store
        let b = try old.add("B")
        try old.add("A", ["b": .object(b)])
        let reports = Reports()

        let refusal = #expect(throws: StoreError.self) {
            try open(
                evolving, entity("A", to: [relationship("b", "B", inverse: "as", required: true)]),
                entity("B", to: [relationship("as", "A", inverse: "b", many: true)])
            ) { done, total in
                guard reports.add(done, total) == 1 else { return }
                try Elsewhere.run { try old.add("A") }
            }
        }

        #expect(refusal?.code == .validation)
        #expect(reports.all.count >= 1)
    }
}

/// What a handler of long work was told.
final class Reports: Sendable {
    private let list = Mutex<[(done: Int64, total: Int64)]>([])

    var all: [(done: Int64, total: Int64)] { list.withLock { $0 } }

    /// - Returns: How often this was called.
    @discardableResult
    func add(_ done: Int64, _ total: Int64) -> Int {
        list.withLock {
            $0.append((done, total))
            return $0.count
        }
    }
}

/// Another thread: a write cannot begin on one that reads.
private enum Elsewhere {
    private final class Failure: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let failure = Failure()
        let isDone = DispatchSemaphore(value: 0)
        Thread {
            do {
                try body()
            } catch {
                failure.error.withLock { $0 = error }
            }
            isDone.signal()
        }.start()
        isDone.wait()
        if let error = failure.error.withLock({ $0 }) { throw error }
    }
}
