import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

private final class Payment: ManagedObject {
    @Attribute var amount: Int = 0
}

private final class Total: ManagedObject {
    @Attribute var amount: Int = 0
    @Attribute var payments: Int = 0
}

/// A program that adds up payments as it follows the store, and keeps the total there.
private struct Adder {
    let context: ManagedObjectContext
    let store: PersistentStore
    let cursor: JournalCursor

    init(_ path: String) throws {
        let container = try PersistentContainer(
            URL(fileURLWithPath: path), model: [Payment.self, Total.self])
        context = container.newBackgroundContext()
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        cursor = try store.cursor(named: "adder")
    }

    /// Saves payments, each as an entry.
    func pay(_ amounts: [Int]) throws {
        for amount in amounts {
            try context.performAndWait { () throws in
                Payment(context: context).amount = amount
                try context.save()
            }
        }
    }

    /// Adds up what is new. Calls `step` before and after each entry is saved, with how often it has been called.
    func add(_ step: (Int) -> Void) throws {
        var count = 0
        for entry in try store.changes(
            from: cursor.position.next, where: .all.of(Payment.self).notBy("adder"))
        {
            try context.performAndWait { () throws in
                let found = try context.fetch(FetchRequest<Total>()).first
                let total = found ?? Total(context: context)
                for change in entry.changes {
                    total.amount += change.new(\Payment.amount) ?? 0
                    total.payments += 1
                }
                step(count)
                try context.save(moving: cursor, to: entry.sequence, author: "adder")
                step(count + 1)
            }
            count += 2
        }
    }

    func totals() throws -> [[Int]] {
        try context.performAndWait {
            try context.fetch(FetchRequest<Total>()).map { [$0.amount, $0.payments] }
        }
    }
}

/// A program that is killed between and in the middle of saves that move its cursor.
@Suite(.serialized)
struct CursorCrashTests {
    @Test func `killed at any moment, work is done exactly once`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("payments.daybook")
        var random = SeededGenerator(seed: TestSeed.value)
        var paid: [Int] = []

        for round in 0..<10 {
            let amounts = (0..<8).map { _ in Int.random(in: 1...1_000, using: &random) }
            paid += amounts
            try Adder(path).pay(amounts)
            // Every other time the signal comes from another thread, whatever the save is doing.
            let step = Int.random(in: 0..<12, using: &random)
            let isBeside = round % 2 == 1
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, step = step as Int, isBeside = isBeside as Bool] in
                try Adder(path).add { reached in
                    guard reached == step else { return }
                    guard isBeside else { return _ = kill(getpid(), SIGKILL) }
                    Thread { _ = kill(getpid(), SIGKILL) }.start()
                }
                // The thread may be late. A child that nobody kills ends with a code of its own.
                let end = ContinuousClock.now.advanced(by: .seconds(60))
                while isBeside, ContinuousClock.now < end { sched_yield() }
                exit(3)
            }
            let totals = try Adder(path).totals().first ?? [0, 0]
            #expect(totals[1] <= paid.count, "seed \(TestSeed.value), round \(round)")
            let done = paid.prefix(totals[1]).reduce(0, +)
            #expect(totals[0] == done, "seed \(TestSeed.value), round \(round)")
        }
        try Adder(path).add { _ in }

        let totals = try Adder(path).totals()
        #expect(totals == [[paid.reduce(0, +), paid.count]], "seed \(TestSeed.value)")
        #expect(try Store.verify(path: path).findings.isEmpty)
    }
}
