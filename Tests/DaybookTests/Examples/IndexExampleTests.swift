import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The example of the page on declaring, of indexes over several properties.
@Suite struct IndexExampleTests {
    // example
    final class Customer: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Purchase.customer) var purchases: Set<Purchase>
    }

    final class Purchase: ManagedObject {
        @Attribute var placedOn: Date = .distantPast
        @Attribute var status: String = "open"
        @Attribute var amount: Decimal?
        @Relationship var customer: Customer?

        override class var indexes: [IndexDescription] {
            [["customer", .descending("placedOn")], ["status", "amount"]]
        }
    }
    // end of example

    @MainActor private func shop() throws -> (TemporaryDirectory, PersistentContainer, Customer) {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("shop.daybook"),
            model: [Customer.self, Purchase.self])
        let context = container.viewContext
        let ada = Customer(context: context)
        ada.name = "Ada"
        let bob = Customer(context: context)
        bob.name = "Bob"
        for number in 0..<120 {
            let purchase = Purchase(context: context)
            purchase.customer = number % 3 == 0 ? bob : ada
            purchase.placedOn = Date(timeIntervalSinceReferenceDate: Double(number) * 3_600)
            purchase.status = number % 4 == 0 ? "open" : "paid"
            purchase.amount = number % 10 == 0 ? nil : Decimal(number)
        }
        try context.save()
        return (folder, container, ada)
    }

    @MainActor @Test func `the latest of one customer come by the records of an index`() throws {
        let (folder, container, ada) = try shop()
        let context = container.viewContext
        let start = Date(timeIntervalSinceReferenceDate: 0)
        var explanation = ""
        func print(_ text: String) { explanation = text }

        // example
        var latest = FetchRequest<Purchase>(where: \.customer == ada && \.placedOn > start)
        latest.order = [.descending(\.placedOn)]
        latest.limit = 50
        print(try context.explain(latest))
        // index of 'customer', 'placedOn' (descending) in its order, 1 range, until 50 objects are found,
        // by its records alone
        // end of example

        #expect(
            explanation
                == "index of 'customer', 'placedOn' (descending) in its order, 1 range, until 50 objects "
                + "are found, by its records alone")
        let found = try context.fetch(latest)
        #expect(found.count == 50)
        #expect(found.first?.placedOn == Date(timeIntervalSinceReferenceDate: 119 * 3_600))
        #expect(found.map(\.placedOn) == found.map(\.placedOn).sorted(by: >))
        #expect(found.allSatisfy { $0.customer === ada })
        withExtendedLifetime(folder) {}
    }

    @MainActor @Test func `what is pending counts beside the index, and a moment has its own`()
        throws
    {
        let (folder, container, ada) = try shop()
        let context = container.viewContext
        let before = try #require(
            container.persistentStoreCoordinator.persistentStores.first
        ).head()
        let request = FetchRequest<Purchase>(
            where: Condition("status == 'open' AND amount >= 100"))
        #expect(try context.count(request) == 4)  // 104, 108, 112, 116

        let purchase = Purchase(context: context)
        purchase.amount = 500
        purchase.customer = ada
        let dearest = try context.fetch(request).first { $0.amount == 104 }
        dearest?.status = "paid"

        #expect(try context.count(request) == 4)
        #expect(Set(try context.fetch(request).map(\.amount)) == [108, 112, 116, 500])
        try context.save()
        #expect(try context.count(request) == 4)
        let past = try container.context(at: .sequence(before))
        let (amounts, explanation) = try past.performAndWait {
            (Set(try past.fetch(request).map(\.amount)), try past.explain(request))
        }
        #expect(amounts == [104, 108, 112, 116])
        #expect(explanation.contains("index of 'status', 'amount', 1 range"))
        withExtendedLifetime(folder) {}
    }

    class Paper: ManagedObject {
        @Attribute var title: String = ""
        @Attribute var year: Int = 0
        override class var indexes: [IndexDescription] { [["title", .descending("year")]] }
    }

    final class Thesis: Paper {
        @Attribute var grade: Int = 0
        override class var indexes: [IndexDescription] {
            super.indexes + [["year", "grade"]]
        }
    }

    @MainActor @Test func `a class hands its indexes on, and declares each once`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("papers.daybook"),
            model: [Paper.self, Thesis.self])
        let model = container.persistentStoreCoordinator.managedObjectModel

        #expect(model.entitiesByName["Paper"]?.indexes == [["title", .descending("year")]])
        #expect(model.entitiesByName["Thesis"]?.indexes == [["year", "grade"]])
    }
}
