import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on projections.
@Suite struct ProjectionsExampleTests {
    // example
    final class Posting: ManagedObject {
        @Attribute var account: String = ""
        @Attribute var amount: Decimal = 0
    }
    // end of example

    private let temporary: TemporaryDirectory
    private let container: PersistentContainer
    private let store: PersistentStore

    init() throws {
        temporary = try TemporaryDirectory()
        container = try PersistentContainer(
            temporary.url.appendingPathComponent("books.daybook"), model: [Posting.self])
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    /// Saves postings as one entry.
    private func post(_ postings: (account: String, amount: Decimal)...) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            for (account, amount) in postings {
                let posting = Posting(context: context)
                (posting.account, posting.amount) = (account, amount)
            }
            try context.save()
        }
    }

    @Test func `balances are folded, read, kept up to date and built anew`() async throws {
        try post(("cash", 100), ("sales", -100))
        var told: [String] = []
        func print(_ text: String) { told.append(text) }

        // example
        let balances = try store.project(
            "balances", as: [String: Decimal].self, where: .all.of(Posting.self)
        ) { entry, state in
            for change in entry.changes where change.kind == .inserted {
                let account = change.new(\Posting.account) ?? "unknown"
                state[account, default: 0] += change.new(\Posting.amount) ?? 0
            }
        }
        try balances.catchUp()
        let (cash, at) = try balances.read { state, at in (try state["cash"] ?? 0, at) }
        print("cash is \(cash) after entry \(at)")
        // end of example

        #expect(told == ["cash is 100 after entry 2"])
        try post(("bank", 40), ("cash", -40))
        try balances.catchUp()
        // example
        let largest = try balances.read { state, _ in
            try state.records(from: "a", to: "n").max { $0.value < $1.value }
        }
        // end of example
        #expect(largest?.key == "cash")
        #expect(largest?.value == 60)
        try await keepUp(balances)
        try buildAnew()
        #expect(try store.projections().map(\.current.version) == [2])
    }

    private func keepUp(_ balances: JournalProjection<String, Decimal>) async throws {
        let (heard, hear) = AsyncStream.makeStream(of: String.self)
        let print: @Sendable (String) -> Void = { hear.yield($0) }
        let task = Task {
            // example
            for try await entry in balances.updates() {
                let cash = try balances.value(for: "cash") ?? 0
                print("cash is \(cash) after entry \(entry)")
            }
            // end of example
        }
        var told: [String] = []
        for await text in heard {
            told.append(text)
            if told.count == 2 { break }
            try post(("cash", 5))
        }
        task.cancel()
        try await task.value
        #expect(told == ["cash is 60 after entry 3", "cash is 65 after entry 4"])
    }

    private func buildAnew() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let sales = FetchRequest<Posting>(where: \Posting.account == "sales")
            context.delete(try #require(try context.fetch(sales).first))
            try context.save()
        }
        // example
        let balances = try store.project(
            "balances", version: 2, as: [String: Decimal].self, where: .all.of(Posting.self)
        ) { entry, state in
            for change in entry.changes where change.kind != .updated {
                let key = change.new(\Posting.account) ?? change.old(\Posting.account) ?? "unknown"
                state[key, default: 0] += change.new(\Posting.amount) ?? 0
                state[key, default: 0] -= change.old(\Posting.amount) ?? 0
            }
        }
        try balances.catchUp()
        // end of example
        #expect(try balances.value(for: "sales") == 0)
        #expect(try balances.value(for: "cash") == 65)
    }
}
