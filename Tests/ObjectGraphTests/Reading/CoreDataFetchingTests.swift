import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The results of fetches, with pending changes and every kind of condition.
@Suite struct CoreDataFetchingTests {
    typealias Employee = Company.Employee

    /// A context with changes pending: alpha's salary went from 22 to 5, bravo (25) is deleted,
    /// charlie's went from 10 to 21, delta (30) and echo (40) are new.
    private func withPendingChanges(
        _ body: (ManagedObjectContext) throws -> Void
    ) throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let saved = [("alpha", 22), ("bravo", 25), ("charlie", 10)].map {
                insert($0, $1, context)
            }
            try context.save()
            saved[0].salary = 5
            context.delete(saved[1])
            saved[2].salary = 21
            _ = insert("delta", 30, context)
            _ = insert("echo", 40, context)
            try body(context)
        }
    }

    private func insert(
        _ name: String, _ salary: Int, _ context: ManagedObjectContext
    ) -> Employee {
        let employee = Employee(context: context)
        employee.firstName = name
        employee.salary = Decimal(salary)
        return employee
    }

    private var wellPaid: FetchRequest<Employee> {
        var request = FetchRequest<Employee>(where: \Employee.salary > 20)
        request.order = [.ascending(\Employee.firstName)]
        return request
    }

    @Test func `F49 a fetch and a count are of the pending state`() throws {
        try withPendingChanges { (context) throws in
            let names = try context.fetch(wellPaid).map(\.firstName)

            #expect(names == ["charlie", "delta", "echo"])
            #expect(try context.count(wellPaid) == 3)
        }
    }

    @Test func `F50 without pending changes membership is the store's, values are those in memory`()
        throws
    {
        try withPendingChanges { (context) throws in
            var request = wellPaid
            request.includesPendingChanges = false

            let found = try context.fetch(request)

            #expect(found.map(\.firstName) == ["alpha", "bravo"])
            #expect(found.first?.salary == 5)
            #expect(try context.count(request) == 2)
        }
    }

    @Test func `F52 sort, offset and limit apply to the merged result`() throws {
        try withPendingChanges { (context) throws in
            var request = wellPaid
            request.order = [.descending(\Employee.salary)]
            request.offset = 1
            request.limit = 1
            #expect(try context.fetch(request).map(\.firstName) == ["delta"])
            request.limit = nil
            #expect(try context.fetch(request).map(\.firstName) == ["delta", "charlie"])
            request.offset = 3
            #expect(try context.fetch(request).isEmpty)
            request.offset = 10
            #expect(try context.fetch(request).isEmpty)
        }
    }

    /// Two departments with employees and one without, partly pending.
    private func withDepartments(_ body: (ManagedObjectContext) throws -> Void) throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let names = ["Engines", "Sales", "Attic"]
            let departments = names.map { name in
                let department = Company.Department(context: context)
                department.name = name
                return department
            }
            let staff = [("Ada", 10), ("Élodie", 20), ("Grace", 30)].map {
                insert($0, $1, context)
            }
            try context.save()
            staff[0].department = departments[0]
            staff[1].department = departments[0]
            staff[2].department = departments[1]
            try body(context)
        }
    }

    @Test(
        arguments: [
            ("firstName BEGINSWITH 'A'", ["Ada"]),
            ("firstName BEGINSWITH[cd] 'e'", ["Élodie"]),
            ("firstName ENDSWITH[c] 'CE'", ["Grace"]),
            ("firstName CONTAINS 'd'", ["Ada", "Élodie"]),
            ("firstName LIKE '?da'", ["Ada"]),
            ("firstName MATCHES 'G.+e'", ["Grace"]),
            ("salary BETWEEN {10, 20}", ["Ada", "Élodie"]),
            ("firstName IN {'Ada', 'Grace', 'Mary'}", ["Ada", "Grace"]),
            ("department.name == 'Engines' AND NOT salary > 10", ["Ada"]),
            ("department == nil", []),
            ("firstName == department.name", []),
            ("firstName > salary", []),
        ] as [(String, [String])])
    func `F57 the predicate language finds objects, pending ones included`(
        text: String, expected: [String]
    ) throws {
        try withDepartments { (context) throws in
            var request = FetchRequest<Employee>(where: Condition(text))
            request.order = [.ascending(\Employee.salary)]

            #expect(try context.fetch(request).map(\.firstName) == expected)
        }
    }

    @Test(
        arguments: [
            ("ANY employees.firstName == 'Ada'", ["Engines"]),
            ("ALL employees.salary < 25", ["Attic", "Engines"]),
            ("NONE employees.salary < 25", ["Attic", "Sales"]),
            ("employees.@count == 2", ["Engines"]),
            ("employees.@sum.salary == 30", ["Engines", "Sales"]),
            ("employees.@avg.salary == 15", ["Engines"]),
            ("employees.@min.salary == 10", ["Engines"]),
            ("employees.@max.salary == 30", ["Sales"]),
        ] as [(String, [String])])
    func `F57 quantifiers and collection operators look at members, pending ones included`(
        text: String, expected: [String]
    ) throws {
        try withDepartments { (context) throws in
            var request = FetchRequest<Company.Department>(where: Condition(text))
            request.order = [.ascending(\Company.Department.name)]

            #expect(try context.fetch(request).map(\.name) == expected)
        }
    }

    @Test func `F57 a relationship is compared with an object`() throws {
        try withDepartments { (context) throws in
            let engines = try #require(
                try context.fetch(
                    FetchRequest(where: \Company.Department.name == "Engines")
                ).first)

            let here = try context.fetch(FetchRequest(where: \Employee.department == engines))
            let elsewhere = try context.fetch(FetchRequest(where: \Employee.department != engines))

            #expect(Set(here.map(\.firstName)) == ["Ada", "Élodie"])
            #expect(elsewhere.map(\.firstName) == ["Grace"])
        }
    }

    @Test(arguments: [true, false])
    func `F58 objects without a value come first, last when descending`(isPending: Bool) throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            for (name, salary) in [("Grace", 30), ("Ada", 10)] { _ = insert(name, salary, context) }
            let unpaid = Employee(context: context)
            unpaid.firstName = "Mary"
            if !isPending { try context.save() }
            var request = FetchRequest<Employee>()

            request.order = [.ascending(\Employee.salary)]
            #expect(try context.fetch(request).map(\.firstName) == ["Mary", "Ada", "Grace"])
            request.order = [.descending(\Employee.salary)]
            #expect(try context.fetch(request).map(\.firstName) == ["Grace", "Ada", "Mary"])
        }
    }
}
