import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@Suite struct ConditionArgumentTests {
    /// Ada and Bob in Research, Cyd in Sales, Dot in none.
    private func withStaff(
        _ body: (ManagedObjectContext, _ research: Department, _ staff: [String: Employee]) throws
            -> Void
    ) throws {
        try StaffStore().inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            let sales = Department(context: context)
            sales.name = "Sales"
            var staff: [String: Employee] = [:]
            for (name, department) in [
                ("Ada", research), ("Bob", research), ("Cyd", sales), ("Dot", nil),
            ] {
                let employee = Employee(context: context)
                employee.firstName = name
                employee.department = department
                staff[name] = employee
            }
            try body(context, research, staff)
            try context.save()
            try body(context, research, staff)
        }
    }

    private func names(
        _ condition: Condition<Employee>, _ context: ManagedObjectContext
    ) throws -> [String] {
        try context.fetch(FetchRequest(where: condition)).map(\.firstName).sorted()
    }

    @Test func `a list is an argument behind IN and BETWEEN, written out or made at run time`()
        throws
    {
        try withStaff { (context, _, staff) throws in
            #expect(
                try names(Condition("firstName IN %@", ["Ada", "Cyd"]), context) == ["Ada", "Cyd"])
            let list: [Any] = [["Bob"], Grade.junior]
            #expect(
                try names(Condition("firstName IN %@ AND grade == %@", arguments: list), context)
                    == ["Bob"])
            #expect(try names(Condition("firstName IN %@", Set(["Dot"])), context) == ["Dot"])
            #expect(try names(Condition("firstName IN %@", [String]()), context) == [])
            #expect(
                try names(Condition("firstName IN %@", ["Ada", nil]), context) == ["Ada"])
            #expect(
                try names(Condition("firstName BETWEEN %@", ["B", "D"]), context) == ["Bob", "Cyd"])
            #expect(try names(Condition("salary == %@", nil), context).count == 4)
            let nothing: String? = nil
            #expect(try names(Condition("fullName == %@", nothing), context).count == 4)
            _ = staff
        }
    }

    @Test func `objects and identifiers are arguments of predicate text`() throws {
        try withStaff { (context, research, staff) throws in
            let ada = try #require(staff["Ada"])
            let id = research.objectID
            for argument in [research as Any, id as Any] {
                #expect(
                    try names(Condition("department == %@", argument), context) == ["Ada", "Bob"])
                #expect(
                    try names(Condition("department IN %@", [argument]), context) == ["Ada", "Bob"])
            }
            #expect(try names(Condition("department IN %@", [id]), context) == ["Ada", "Bob"])
            #expect(try names(Condition("SELF == %@", ada), context) == ["Ada"])
            #expect(
                try names(
                    Condition("SELF IN %@", Set(staff.values.map(\.objectID))), context
                ).count == 4)
            let departments = try context.fetch(
                FetchRequest<Department>(where: Condition("employees CONTAINS %@", ada)))
            #expect(departments == [research])
        }
    }

    @Test func `objects and identifiers are arguments of key path conditions`() throws {
        try withStaff { (context, research, staff) throws in
            let ada = try #require(staff["Ada"])
            let id = research.objectID
            #expect(try names(\Employee.department == research, context) == ["Ada", "Bob"])
            #expect(try names(\Employee.department == id, context) == ["Ada", "Bob"])
            #expect(try names(\Employee.department != id, context) == ["Cyd", "Dot"])
            #expect(try names(\Employee.department?.objectID == id, context) == ["Ada", "Bob"])
            #expect(try names(\Employee.department == nil, context) == ["Dot"])
            #expect(try names(\Employee.objectID == ada.objectID, context) == ["Ada"])
            #expect(
                try names(\Employee.objectID != ada.objectID, context) == ["Bob", "Cyd", "Dot"])
            #expect(
                try names((\Employee.objectID).isIn([ada.objectID]), context) == ["Ada"])
            #expect(try names((\Employee.department).isIn([research]), context) == ["Ada", "Bob"])
            #expect(try names((\Employee.department).isIn([id]), context) == ["Ada", "Bob"])
            func departments(_ condition: Condition<Department>) throws -> [Department] {
                try context.fetch(FetchRequest(where: condition))
            }
            #expect(try departments((\Department.employees).contains(ada)) == [research])
            #expect(try departments((\Department.employees).contains(ada.objectID)) == [research])
        }
    }

    @Test func `objects and identifiers are arguments of a #Predicate, which becomes a filter`()
        throws
    {
        try withStaff { (context, research, staff) throws in
            let ada = try #require(staff["Ada"])
            let id = research.objectID
            let ids = [ada.objectID]
            let cases: [(Predicate<Employee>, [String])] = [
                (#Predicate { $0.department?.objectID == id }, ["Ada", "Bob"]),
                (#Predicate { ids.contains($0.objectID) }, ["Ada"]),
                (#Predicate { $0.firstName == "Ada" && $0.objectID != id }, ["Ada"]),
            ]
            let holding: Predicate<Department> = #Predicate { department in
                department.employees.contains { ids.contains($0.objectID) }
            }
            #expect(try context.fetch(FetchRequest(where: holding)) == [research])
            for (predicate, expected) in cases {
                #expect(try names(Condition(predicate), context) == expected)
                #expect(
                    !(try context.explain(FetchRequest(where: predicate)).contains("in memory")))
            }
        }
    }

    @Test func `an identifier is coded and read back, and one of no model leads nowhere`() throws {
        try withStaff { (context, research, _) throws in
            guard !research.objectID.isTemporaryID else { return }
            let coded = try JSONEncoder().encode(research.objectID)
            let read = try JSONDecoder().decode(ManagedObjectID.self, from: coded)
            #expect(read == research.objectID)
            #expect(try context.existingObject(with: read) === research)

            let text = String(decoding: coded, as: UTF8.self)
            let forged = text.replacing(/"entityNumber":\d+/, with: "\"entityNumber\":4294967295")
            let wrong = try JSONDecoder().decode(ManagedObjectID.self, from: Data(forged.utf8))
            #expect(throws: StoreError.self) { try context.existingObject(with: wrong) }
        }
    }

    @Test func `an argument of a type that no property has is named`() throws {
        struct Odd {}
        try StaffStore().inContext { (context) throws in
            let error = try #require(throws: QueryError.self) {
                try context.fetch(
                    FetchRequest<Employee>(
                        where: Condition("firstName == %@ OR lastName == %@", "x", Odd())))
            }

            #expect("\(error)".contains("Argument 2 is of type 'Odd'"))
        }
    }

    @Test func `a date is compared as it is kept, however the condition is spelled`() throws {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("days.daybook"), model: [Occasion.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            // So near the reference date, a number has more digits than are kept.
            let day = Date(timeIntervalSinceReferenceDate: 0.1)
            Occasion(context: context).day = day
            try context.save()

            let conditions: [Condition<Occasion>] = [
                \.day == day, Condition("day == %@", day), (\Occasion.day).isIn([day]),
                \.day <= day, \.day >= day,
            ]
            for condition in conditions {
                #expect(try context.count(FetchRequest<Occasion>(where: condition)) == 1)
            }
        }
    }
}

private final class Occasion: ManagedObject {
    @Attribute var day: Date = .distantPast
}
