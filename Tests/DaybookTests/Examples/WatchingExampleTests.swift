import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on watching, and the README's.
@Suite struct WatchingExampleTests {
    // example
    final class Customer: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var city: String?
        @Relationship var invoices: Set<Invoice>
    }

    final class Invoice: ManagedObject {
        @Attribute var number: Int = 0
        @Attribute var amount: Decimal = 0
        @Attribute(.indexed) var isPaid: Bool = false
        @Relationship(inverse: \Customer.invoices) var customer: Customer?
    }
    // end of example

    // example
    final class Table: FetchedResultsControllerDelegate {
        var lines: [String] = []

        func controller(
            _ controller: FetchedResultsController<Invoice>, didChange invoice: Invoice,
            at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            lines.append("\(type) \(invoice.number)")
        }
    }
    // end of example

    private let folder: TemporaryDirectory
    private let container: PersistentContainer

    /// Two open invoices, of customers in Bonn and nowhere.
    init() throws {
        folder = try TemporaryDirectory()
        container = try PersistentContainer(
            folder.url.appendingPathComponent("invoices.daybook"),
            model: [Customer.self, Invoice.self])
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            for (number, city) in [(1, "Bonn"), (2, nil)] {
                let customer = Customer(context: context)
                customer.city = city
                let invoice = Invoice(context: context)
                invoice.number = number
                invoice.amount = Decimal(10 * number)
                invoice.customer = customer
            }
            try context.save()
        }
    }

    @Test func `a sectioned list is printed, and its differences are read by a task`() async throws
    {
        let context = container.newBackgroundContext()
        let (lines, printer) = AsyncStream<String>.makeStream()
        @Sendable func print(_ item: Any) { printer.yield("\(item)") }

        let differences = try await context.perform {
            // example
            var open = FetchRequest<Invoice>(where: \.isPaid == false)
            open.order = [.ascending(\.customer?.city), .ascending(\.number)]
            let list = try ResultsObserver(open, sectionedBy: \.customer?.city, in: context)
            for section in list.sections {
                print("\(section.name): \(section.objects.map(\.number))")
            }
            // end of example
            return list
        }
        let list = differences
        let read = try await context.perform {
            // example
            let differences = list.differences
            let reader = Task {
                for await difference in differences {
                    for change in difference.changes { print(change) }
                    for entry in difference.entries {
                        print("by entry \(entry.sequence) of \(entry.author ?? "nobody")")
                    }
                }
            }
            // end of example
            return reader
        }
        let id = try await context.perform {
            let first = list[0]
            context.delete(first)
            return first.objectID
        }

        var seen = lines.makeAsyncIterator()
        #expect(await seen.next() == ": [2]")
        #expect(await seen.next() == "Bonn: [1]")
        #expect(await seen.next() == "delete(\(id), from: 0)")
        read.cancel()
        await read.value
    }

    @Test func `a sum and a count are followed`() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            var printed: [String] = []
            func print(_ item: Any) { printed.append("\(item)") }

            // example
            let due = try ValueObserver(
                .sum(\Invoice.amount), of: FetchRequest(where: \.isPaid == false), in: context)
            let number = try ValueObserver(countOf: FetchRequest<Invoice>(), in: context)
            print("\(due.value) of \(number.value) invoices")
            // end of example
            #expect(printed == ["30 of 2 invoices"])

            try #require(context.fetch(FetchRequest<Invoice>(where: \.number == 2)).first)
                .isPaid = true
            context.processPendingChanges()
            #expect(due.value == 10)
            #expect(number.value == 2)
        }
    }

    @Test func `a table hears of changes`() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let open = FetchRequest<Invoice>(where: \.isPaid == false)
            let table = Table()

            // example
            let controller = FetchedResultsController(
                fetchRequest: open, managedObjectContext: context,
                sectionNameKeyPath: \.customer?.city)
            controller.delegate = table
            try controller.performFetch()
            // end of example

            try #require(controller.fetchedObjects?.last).number = 7
            context.processPendingChanges()
            #expect(table.lines == ["update 7"])
        }
    }

    @Test func `the README's list stays right`() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            var printed: [String] = []
            func print(_ item: Any) { printed.append("\(item)") }

            // example
            let open = FetchRequest<Invoice>(where: \.isPaid == false)
            let list = try ResultsObserver(open, in: context)
            let due = try ValueObserver(.sum(\Invoice.amount), of: open, in: context)
            list.objects.last?.isPaid = true
            context.processPendingChanges()  // the event ends
            print("\(list.count) open, \(due.value) due")
            // end of example

            #expect(printed == ["1 open, 10 due"])
        }
    }
}
