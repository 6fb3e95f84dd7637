import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page *Standing laws*.
@Suite struct LawsExampleTests {
    // example
    final class Invoice: ManagedObject {
        @Attribute var state: String = "draft"
        @Attribute var total: Decimal = 0

        override class var laws: [Law] {
            [
                Law("What was sent is kept", "NEVER DELETED WHERE state == 'sent'"),
                Law("Sent stays sent", "ONCE state == 'sent' ALWAYS UNLESS AUTHOR IN {'ada'}"),
                Law(
                    "Totals fall with a note", \Invoice.total, never: .decreased,
                    where: "state == 'sent'", unless: .note),
            ]
        }
    }
    // end of example

    final class Employee: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var salary: Decimal = 0
        @Attribute var hasLeft: Bool = false

        override class var laws: [Law] {
            [
                Law(
                    "Salaries fall with a note", \Employee.salary, never: .decreased, unless: .note),
                Law("Who has left stays away", "ONCE hasLeft == TRUE ALWAYS"),
            ]
        }
    }

    @MainActor @Test func `saves are held to laws as the page says`() throws {
        let container = try PersistentContainer(inMemory: [Invoice.self])
        let context = container.viewContext
        // example
        let invoice = Invoice(context: context)
        (invoice.state, invoice.total) = ("sent", 100)
        try context.save()
        invoice.total = 80
        do {
            try context.save()
        } catch let error as StoreError where error.code == .law {
            print(error.breaches[0])  // Invoice/1: total 100 → 80 breaks the law …
            try context.save(note: "Discount agreed by phone")
        }
        // end of example
        #expect(!context.hasChanges)
        #expect(invoice.total == 80)
        invoice.total = 70
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(
            error?.breaches[0].description.hasPrefix(
                "Invoice/1: total 80 → 70 breaks the law \"Totals fall with a note\": ") == true)
    }

    @MainActor @Test func `the past is asked as the page says`() throws {
        let container = try PersistentContainer(inMemory: [Invoice.self])
        let context = container.viewContext
        let invoice = Invoice(context: context)
        try context.save()
        invoice.total = 80
        try context.save()
        // example
        for found in try container.breaches() {
            print(found)  // entry 7 by 'bob' at …: Invoice/1: total 100 → 80 breaks the law …
        }
        let law = Law("Totals stay", \Invoice.total, never: .changed)
        let store = container.persistentStoreCoordinator.persistentStores[0]
        print(try store.breaches(of: law, by: Invoice.self).count)
        // end of example
        #expect(try container.breaches().isEmpty)
        #expect(try store.breaches(of: law, by: Invoice.self).map(\.breach.new) == [.decimal(80)])
    }

    @MainActor @Test func `laws of an employee hold as the reference says`() throws {
        let container = try PersistentContainer(inMemory: [Employee.self])
        let context = container.viewContext
        let ada = Employee(context: context)
        ada.hasLeft = true
        try context.save()
        let store = container.persistentStoreCoordinator.persistentStores[0]
        let law = Law("Names stay", \Employee.name, never: .changed)
        for breach in try store.breaches(of: law, by: Employee.self) { print(breach) }
        ada.hasLeft = false
        #expect(throws: StoreError.self) { try context.save(note: "Back") }
    }
}
