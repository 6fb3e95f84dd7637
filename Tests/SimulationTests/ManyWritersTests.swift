import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

/// Threads of several processes that post to the same few accounts.
@Suite(.serialized)
struct ManyWritersTests {
    @Test(.ownStores("The other process does not have the server, which is in this one."))
    func `8 threads in each of 4 processes lose no update, with retries or with sums`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("ledger.daybook")
        let container = try Ledger.open(url)
        let setUp = container.newBackgroundContext()
        try setUp.performAndWait {
            for number in 0..<Ledger.accountCount {
                LedgerAccount(context: setUp).number = number
            }
            try setUp.save()
        }
        let path = url.path

        async let first = #expect(processExitsWith: .success) { [path = path as String] in
            try Ledger.post(to: path)
        }
        async let second = #expect(processExitsWith: .success) { [path = path as String] in
            try Ledger.post(to: path)
        }
        async let third = #expect(processExitsWith: .success) { [path = path as String] in
            try Ledger.post(to: path)
        }
        async let fourth = #expect(processExitsWith: .success) { [path = path as String] in
            try Ledger.post(to: path)
        }
        _ = await (first, second, third, fourth)

        let posts = 4 * Ledger.threads * Ledger.posts
        let reader = container.newBackgroundContext()
        try reader.performAndWait {
            let accounts = try reader.fetch(FetchRequest<LedgerAccount>())
            #expect(accounts.count == Ledger.accountCount)
            #expect(accounts.reduce(0) { $0 + $1.retried } == posts)
            #expect(accounts.reduce(0) { $0 + $1.summed } == posts)
        }
        // No post was dropped, and none was refused: each of both kinds has an entry of its own.
        let store = container.persistentStoreCoordinator.persistentStores[0]
        #expect(try store.head().rawValue == UInt64(2 + 2 * posts))
    }
}

final class LedgerAccount: ManagedObject {
    @Attribute(.unique) var number: Int
    /// Added to by `update`, which runs again after each conflict.
    @Attribute var retried: Int = 0
    /// Added to by plain saves, which never conflict.
    @Attribute(merge: .sum) var summed: Int = 0
}

/// What every process of the test does.
enum Ledger {
    static let accountCount = 2
    static let threads = 8
    static let posts = 6

    private struct Failures: Error, CustomStringConvertible {
        let description: String
    }

    static func open(_ url: URL) throws -> PersistentContainer {
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        return try TestContainer.make(url, model: [LedgerAccount.self], options: options)
    }

    static func post(to path: String) throws {
        let container = try open(URL(fileURLWithPath: path))
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let context = container.newBackgroundContext()
            context.performAndWait {
                do {
                    for post in 0..<posts { try self.post(thread + post, in: context) }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        let all = failures.withLock { $0 }
        if !all.isEmpty { throw Failures(description: all.joined(separator: "\n")) }
    }

    private static func post(_ number: Int, in context: ManagedObjectContext) throws {
        let request = FetchRequest<LedgerAccount>(
            where: \LedgerAccount.number == number % accountCount)
        try context.update(maxAttempts: 10_000) {
            for account in try context.fetch(request) { account.retried += 1 }
        }
        for account in try context.fetch(request) { account.summed += 1 }
        try context.save()
    }
}
