import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page *Writing many, and writing on condition*, and those of the requests.
@Suite struct WritingManyExampleTests {
    final class Department: ManagedObject {
        @Attribute var name: String = ""
        @Relationship(inverse: \Employee.department) var employees: Set<Employee>
    }

    final class Employee: ManagedObject {
        @Attribute var isActive: Bool = true
        @Attribute var salary: Int = 0
        @Attribute var previousSalary: Int?
        @Attribute var bonus: Int = 0
        @Attribute var total: Int = 0
        @Attribute var grade: String = "junior"
        @Attribute var reviewed: Bool = false
        @Relationship var department: Department?
    }

    final class LogLine: ManagedObject {
        @Attribute var level: Int = 0
    }

    final class Doctor: ManagedObject {
        @Attribute var isOnCall: Bool = true
    }

    final class Booking: ManagedObject {
        @Attribute var room: String = ""
        @Attribute var day: Int = 0
    }

    @MainActor private func withContext(
        _ body: (ManagedObjectContext, PersistentStore) throws -> Void
    ) throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("staff.daybook"),
            model: [Department.self, Employee.self, LogLine.self, Doctor.self, Booking.self])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        try body(container.viewContext, store)
        withExtendedLifetime(folder) {}
    }

    @MainActor private func hire(_ context: ManagedObjectContext) throws -> Employee {
        let employee = Employee(context: context)
        (employee.salary, employee.bonus, employee.total) = (100, 5, 1)
        try context.save()
        return employee
    }

    @MainActor @Test func `many are updated and deleted as the page says`() throws {
        try withContext { context, _ in
            let employee = try hire(context)
            do {
                // example
                let raise = BatchUpdateRequest<Employee>(
                    where: \.isActive == true,
                    assigning: [.set(\.previousSalary, to: \.salary), .multiply(\.salary, by: 2)])
                let preview = try context.preview(raise)
                print("\(preview.count) objects would change")
                let result = try context.execute(raise, author: "payroll", note: "Doubled")
                // end of example
                #expect(result.count == 1)
            }
            _ = try context.mergeChanges()
            #expect(employee.salary == 200 && employee.previousSalary == 100)
            employee.isActive = false
            try context.save()
            do {
                // example
                let request = BatchDeleteRequest<Employee>(where: \.isActive == false)
                let result = try context.execute(request, author: "archive")
                // end of example
                #expect(result.count == 1)
            }
            #expect(try context.count(FetchRequest<Employee>()) == 0)
        }
    }

    @MainActor @Test func `requests go as their documentation says`() throws {
        try withContext { context, _ in
            let employee = try hire(context)
            let research = Department(context: context)
            employee.department = research
            LogLine(context: context).level = 1
            try context.save()
            do {
                // example
                let raise = BatchUpdateRequest<Employee>(
                    where: \.isActive == true,
                    assigning: [
                        .set(\.previousSalary, to: \.salary), .multiply(\.salary, by: 2),
                        .add(\.bonus, to: \.total), .set("grade", to: .string("senior")),
                    ])
                // end of example
                try context.execute(raise)
            }
            do {
                // example
                let request = BatchUpdateRequest<Employee>(
                    where: \.department == research,
                    assigning: [.multiply(\.salary, by: 2), .set(\.reviewed, to: true)])
                print(try context.preview(request).count)
                let result = try context.execute(request, author: "payroll", note: "Doubled")
                // end of example
                #expect(result.count == 1)
            }
            _ = try context.mergeChanges()
            #expect(employee.salary == 400 && employee.total == 6 && employee.grade == "senior")
            #expect(employee.reviewed)
            do {
                // example
                let request = BatchDeleteRequest<LogLine>(where: \.level < 2)
                let result = try context.execute(
                    request, author: "janitor", note: "Only what matters stays")
                // end of example
                #expect(result.count == 1)
            }
        }
    }

    @MainActor @Test func `a save on condition goes as the page says`() throws {
        try withContext { context, store in
            let doctor = Doctor(context: context)
            _ = Doctor(context: context)
            try context.save()
            // example
            let seen = try store.head()
            let onCall = FetchRequest<Doctor>(where: \.isOnCall == true)
            if try context.fetch(onCall).count > 1 {
                doctor.isOnCall = false
                try context.save(ifUnchanged: onCall, since: seen)
            }
            // end of example
            #expect(try context.count(onCall) == 1)

            let day = 3
            let booking = Booking(context: context)
            (booking.room, booking.day) = ("Aula", day)
            // example
            try context.save(ifNone: FetchRequest<Booking>(where: \.room == "Aula" && \.day == day))
            // end of example
            #expect(!context.hasChanges)
        }
    }
}
