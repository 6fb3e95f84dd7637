import Daybook
import Foundation
import TestSupport
import Testing

/// The example of the README, with what it says checked.
@Suite struct ReadmeExampleTests {
    // example
    final class Department: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Employee.department) var employees: Set<Employee>
    }

    final class Employee: ManagedObject {
        @Attribute(.indexed) var lastName: String = ""
        @Attribute var salary: Decimal?
        @Relationship(.nullify) var department: Department?
    }
    // end of example

    @MainActor @Test func `the README's example does what it says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")

        // example, continued
        let container = try PersistentContainer(url, model: [Employee.self, Department.self])
        let context = container.viewContext  // belongs to the main queue

        let research = Department(context: context)
        research.name = "Research"
        let ada = Employee(context: context)
        ada.lastName = "Lovelace"
        ada.department = research  // research.employees now holds her
        let hired = try context.save(author: "grace", note: "Hired")  // one entry in the journal

        ada.salary = 5200
        try context.save(author: "grace", note: "First raise")
        context.undo()  // the raise is taken back here; saving appends its inverse
        try context.save(note: "A mistake")

        let lovelace = FetchRequest<Employee>(where: \Employee.lastName == "Lovelace")
        let payday = try container.context(at: .sequence(SequenceNumber(3)))  // read-only
        let paid = try payday.performAndWait { try payday.fetch(lovelace).first?.salary }
        // paid is 5200, and ada.salary is nil
        // end of example

        #expect(hired == SequenceNumber(2))
        #expect(research.employees == [ada])
        #expect(paid == 5200)
        #expect(ada.salary == nil)
        #expect(
            try container.persistentStoreCoordinator.persistentStores[0].head() == SequenceNumber(4)
        )
    }
}
