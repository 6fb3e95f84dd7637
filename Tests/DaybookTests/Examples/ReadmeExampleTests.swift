import Daybook
import Foundation
import Testing

/// The README's first program, with its output checked. `Tools/check-readme` builds it unchanged,
/// in its own package; here its imports are those of the file.
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

    @MainActor @Test func `the README's first program does what it says`() throws {
        var printed: [String] = []
        func print(_ item: Any) { printed.append("\(item)") }

        // example, continued
        let url = URL.temporaryDirectory.appending(path: "\(UUID()).daybook")
        let container = try PersistentContainer(url, model: [Employee.self, Department.self])
        let context = container.viewContext  // belongs to the main queue

        let research = Department(context: context)
        research.name = "Research"
        let ada = Employee(context: context)
        ada.lastName = "Lovelace"
        ada.department = research  // research.employees now holds her
        try context.save(author: "grace", note: "Hired")  // one entry in the journal

        ada.salary = 5200
        try context.save(author: "grace", note: "First raise")
        try container.setTag("payday")  // names the newest entry
        context.undo()  // the raise is taken back here; saving appends its inverse
        try context.save(author: "grace", note: "A mistake")

        let lovelace = FetchRequest<Employee>(where: \Employee.lastName == "Lovelace")
        let payday = try container.context(at: .tag("payday"))  // as it was then, read-only
        let paid = try payday.performAndWait { try payday.fetch(lovelace).first?.salary }
        print("On payday she earned \(paid ?? 0), and \(ada.salary ?? 0) after the correction.")
        for revision in try context.history(of: ada.objectID) { print(revision) }
        // end of example

        defer { Self.remove(url) }
        #expect(research.employees == [ada])
        #expect(paid == 5200)
        #expect(ada.salary == nil)
        #expect(printed.first == "On payday she earned 5200, and 0 after the correction.")
        #expect(
            printed.dropFirst().map { String($0.prefix(20)) } == [
                "inserted by entry 2 ", "updated by entry 3 b", "updated by entry 4 b",
            ])
        #expect(
            try container.persistentStoreCoordinator.persistentStores[0].head() == SequenceNumber(4)
        )
    }

    @MainActor @Test func `the README's sums, streams and snapshots go as it says`() async throws {
        let container = try PersistentContainer(
            inMemory: [Employee.self, Department.self])
        let context = container.viewContext
        for (index, name) in ["Research", "Sales"].enumerated() {
            let department = Department(context: context)
            department.name = name
            for salary in [600, nil, 600 - 300 * Decimal(index)] as [Decimal?] {
                let employee = Employee(context: context)
                employee.lastName = name
                employee.salary = salary
                employee.department = department
            }
        }
        try context.save()

        // example
        struct Payroll: Decodable {
            let department: String?
            let total: Decimal
            enum CodingKeys: String, CodingKey { case department = "department.name", total }
        }

        let sums = FetchRequest<Employee>()
            .select(\.department?.name, .sum(\.salary).named("total"))
            .having("total > 1000")
        let payroll = try context.fetch(sums, as: Payroll.self)
        var cards: [ObjectSnapshot<Employee>] = []
        for try await employee in context.stream(FetchRequest<Employee>()) {
            if employee.salary != nil { cards.append(try employee.snapshot()) }
        }
        // end of example

        #expect(payroll.map(\.department) == ["Research"])
        #expect(payroll.map(\.total) == [1200])
        #expect(cards.map(\.lastName) == ["Research", "Research", "Sales", "Sales"])
        #expect(cards.last?.salary == 300)
    }

    private static func remove(_ url: URL) {
        for file in [url, URL(filePath: url.path + "-lock")] {
            do {
                try FileManager.default.removeItem(at: file)
            } catch {
                Issue.record("\(file.lastPathComponent) is left behind: \(error)")
            }
        }
    }
}
