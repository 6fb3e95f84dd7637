import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Classes with an index of their changes, and what is asked of it.
@Suite struct IndexedChangesTests {
    class Account: ManagedObject {
        @Attribute var balance: Decimal = 0
        @Attribute var name: String = ""

        override class var indexesChanges: Bool { true }
    }

    final class Savings: Account {
        @Attribute var rate: Double = 0
    }

    private let container: PersistentContainer

    init() throws {
        container = try TestContainer.make(inMemory: [Account.self, Savings.self])
    }

    private func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    @Test func `a class declares it once for its subclasses`() {
        let entities = container.persistentStoreCoordinator.managedObjectModel.entitiesByName

        #expect(entities["Account"]?.indexesChanges == true)
        #expect(entities["Savings"]?.indexesChanges == false)
    }

    @Test
    func `requests about changes use it, now, in the past, in children and beside what is pending`()
        throws
    {
        let fall = try inContext { context in
            let accounts = (0..<50).map { number in
                let account = Savings(context: context)
                account.balance = Decimal(number)
                return account
            }
            try context.save()
            accounts[7].balance = 3
            accounts[8].rate = 2
            return try #require(try context.save(author: "ada"))
        }
        let request = FetchRequest<Account>(where: (\Account.balance).decreased(by: "ada"))
        try inContext { context in
            #expect(try context.explain(request).contains("index of the changes of 'balance'"))
            let changes = try context.changes(for: request)
            #expect(changes.map(\.new) == [.decimal(3)])
            #expect(changes.map(\.sequence) == [fall])
            let account = try #require(try context.fetch(request).first)
            account.balance = 1
            #expect(try context.fetch(request) == [account], "What is pending is in no entry.")
            let child = ManagedObjectContext(parent: context)
            let inChild = try child.performAndWait { try child.count(request) }
            #expect(inChild == 1)
            let rates = FetchRequest<Savings>(where: (\Savings.rate).changed())
            #expect(try context.explain(rates).contains("index of the changes of 'rate'"))
            #expect(try context.count(rates) == 1)
            context.delete(account)
            try context.save()
            #expect(try context.count(request) == 0)
        }
        let past = try container.context(at: .sequence(fall))
        let (count, explanation) = try past.performAndWait {
            (try past.count(request), try past.explain(request))
        }
        #expect(count == 1)
        #expect(explanation.contains("index of the changes of 'balance'"))
        let before = try container.context(at: .sequence(SequenceNumber(fall.rawValue - 1)))
        let earlier = try before.performAndWait { try before.count(request) }
        #expect(earlier == 0)
    }
}
