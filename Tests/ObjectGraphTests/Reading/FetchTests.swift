import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

@Suite struct FetchTests {
    @Test func `a fetch that throws leaves the faults that it met as they were`() throws {
        let store = try StaffStore()
        let ids = try store.hire((1...100).map { "Employee \($0)" })
        let rows = store.container.persistentStoreCoordinator.persistentStores[0].store
        let key = StoreKey.object(ids[99].object)
        try rows.writing { [table = rows.parts.tables.rows] transaction in
            let damaged: [UInt8] = [1]
            try transaction.put(table, key.span.bytes, damaged.span.bytes, .upsert)
        }
        try store.inContext { (context) throws in
            let faults = ids.compactMap { context.object(with: $0) as? Employee }
            var request = FetchRequest<Employee>()
            request.returnsObjectsAsFaults = false

            #expect(throws: StoreError.self) { try context.fetch(request) }

            #expect(faults.allSatisfy { $0.isFault && !$0.hasValues && $0.rowPage == nil })
            #expect(faults[0].firstName == "Employee 1")
            #expect(faults[0].fullName == "Employee 1 of Marketing")
        }
    }

    /// Ada (R&D, 10), Bob (R&D, none) and Cyd (no department, 30), saved.
    private func makeStaff(_ context: ManagedObjectContext) throws -> [Employee] {
        let research = Department(context: context)
        research.name = "R&D"
        let employees = ["Ada", "Bob", "Cyd"].map { name in
            let employee = Employee(context: context)
            employee.firstName = name
            employee.lastName = "\(name)son"
            return employee
        }
        employees[0].department = research
        employees[1].department = research
        employees[0].salary = 10
        employees[2].salary = 30
        try context.save()
        return employees
    }

    private func names(_ employees: [Employee]) -> [String] {
        employees.map(\.firstName).sorted()
    }

    @Test func `key paths, text and Foundation predicates select the same objects`() throws {
        try StaffStore().inContext { (context) throws in
            _ = try makeStaff(context)
            let prefix = "B"
            let cases: [([String], [Condition<Employee>])] = [
                (
                    ["Ada"],
                    [
                        \Employee.lastName == "Adason", Condition("lastName == 'Adason'"),
                        Condition(#Predicate { $0.lastName == "Adason" }),
                    ]
                ),
                (
                    ["Ada", "Bob"],
                    [
                        \Employee.department?.name == "R&D",
                        Condition("department.name = %@", "R&D"),
                        Condition(#Predicate { $0.department?.name == "R&D" }),
                    ]
                ),
                (
                    ["Cyd"],
                    [
                        !(\Employee.firstName < "C") && \Employee.salary > 10,
                        Condition("NOT firstName < 'C' AND salary > 10"),
                    ]
                ),
                (
                    ["Bob", "Cyd"],
                    [
                        (\Employee.lastName).beginsWith("B") || \Employee.department == nil,
                        Condition("lastName BEGINSWITH 'B' OR department == nil"),
                        Condition(
                            #Predicate { $0.lastName.starts(with: prefix) || $0.department == nil }),
                    ]
                ),
                (
                    ["Ada", "Cyd"],
                    [
                        (\Employee.firstName).isIn(["Ada", "Cyd"]),
                        Condition("firstName IN {'Ada', 'Cyd'}"),
                        Condition(#Predicate { ["Ada", "Cyd"].contains($0.firstName) }),
                    ]
                ),
                (
                    ["Ada", "Bob", "Cyd"],
                    [
                        (\Employee.lastName).contains("son"), Condition("lastName CONTAINS 'son'"),
                        Condition(#Predicate { $0.lastName.contains("son") }),
                    ]
                ),
            ]
            for (expected, conditions) in cases {
                for condition in conditions {
                    let found = try context.fetch(FetchRequest(where: condition))
                    #expect(names(found) == expected, "\(condition)")
                }
            }
        }
    }

    @Test func `predicates reach through to-many relationships`() throws {
        try StaffStore().inContext { (context) throws in
            _ = try makeStaff(context)
            let anyNamed = FetchRequest<Department>(
                where: #Predicate { $0.employees.contains { $0.firstName == "Bob" } })
            let allNamed = FetchRequest<Department>(
                where: #Predicate { $0.employees.allSatisfy { $0.lastName.contains("son") } })
            let counted = FetchRequest<Department>(where: #Predicate { $0.employees.count == 2 })
            let none = FetchRequest<Department>(where: #Predicate { $0.employees.count > 2 })

            #expect(try context.count(anyNamed) == 1)
            #expect(try context.count(allNamed) == 1)
            #expect(try context.count(counted) == 1)
            #expect(try context.count(none) == 0)
            let empty = FetchRequest<Department>(where: #Predicate { !$0.employees.isEmpty })
            #expect(try context.count(empty) == 1)
            #expect(!(try context.explain(counted)).contains("in memory"))
        }
    }

    @Test func `a predicate that works out values finds what it finds in memory`() throws {
        try StaffStore().inContext { (context) throws in
            let staff = try makeStaff(context)
            let letters = 3...4
            let cases: [(Predicate<Employee>, [String])] = [
                (#Predicate { $0.firstName.count == 3 }, ["Ada", "Bob", "Cyd"]),
                (#Predicate { $0.firstName.isEmpty }, []),
                (#Predicate { ($0.salary ?? 5) * 2 == 20 }, ["Ada"]),
                (#Predicate { ($0.salary ?? 5) - 5 == 0 }, ["Bob"]),
                (#Predicate { $0.salary == nil ? $0.firstName == "Bob" : false }, ["Bob"]),
                (#Predicate { ($0.salary == nil ? $0.lastName : $0.firstName) == "Ada" }, ["Ada"]),
                (#Predicate { letters.contains($0.lastName.count - 2) }, ["Ada", "Bob", "Cyd"]),
                (#Predicate { ("A"..<"C").contains($0.firstName) }, ["Ada", "Bob"]),
                (#Predicate { (1...$0.firstName.count).contains(3) }, ["Ada", "Bob", "Cyd"]),
                (
                    #Predicate { $0.firstName.count % 2 == 1 && $0.lastName.count / 4 == 1 },
                    ["Ada", "Bob", "Cyd"]
                ),
                (#Predicate { -$0.firstName.count > -3 }, []),
                // Nobody's colleagues are not no colleagues.
                (#Predicate { $0.department?.employees.count == 0 }, []),
                (#Predicate { $0.department?.employees.count != 0 }, ["Ada", "Bob", "Cyd"]),
                (#Predicate { ($0.department?.employees.count ?? -1) == -1 }, ["Cyd"]),
                (#Predicate { $0.department?.employees.count == 2 }, ["Ada", "Bob"]),
            ]
            for (predicate, expected) in cases {
                let request = FetchRequest<Employee>(where: predicate)
                #expect(names(try context.fetch(request)) == expected, "\(predicate)")
                #expect(names(try staff.filter { try predicate.evaluate($0) }) == expected)
                #expect(!(try context.explain(request)).contains("in memory"), "\(predicate)")
            }
        }
    }

    @Test func `a request within a condition selects by what it would find`() throws {
        try StaffStore().inContext { (context) throws in
            _ = try makeStaff(context)
            func found(_ inner: FetchRequest<Department>) throws -> [String] {
                let condition = (\Employee.department).isIn(inner)
                return names(try context.fetch(FetchRequest(where: condition)))
            }
            let named = FetchRequest<Department>(where: \.name == "R&D")
            #expect(try found(named) == ["Ada", "Bob"])
            #expect(try found(FetchRequest()) == ["Ada", "Bob"])
            #expect(try found(FetchRequest(where: \.name == "Sales")) == [])
            let others = !(\Employee.department).isIn(named)
            #expect(names(try context.fetch(FetchRequest(where: others))) == ["Cyd"])
            #expect(
                try context.explain(FetchRequest(where: (\Employee.department).isIn(named)))
                    .contains("ANY department.name"))

            var limited = named
            limited.limit = 1
            #expect(throws: QueryError.self) { try found(limited) }
            let unsayable = FetchRequest<Department>(
                where: #Predicate { !$0.hasChanges })
            #expect(throws: QueryError.self) { try found(unsayable) }
            #expect(throws: QueryError.self) {
                try found(FetchRequest(entityName: "Employee"))
            }
        }
    }

    @Test func `a predicate about some members of a relationship is lowered`() throws {
        try StaffStore().inContext { (context) throws in
            let research = try #require(try makeStaff(context)[0].department)
            let cases: [(Predicate<Department>, Bool)] = [
                (#Predicate { $0.employees.filter { $0.firstName == "Ada" }.count == 1 }, true),
                (#Predicate { $0.employees.filter { $0.firstName == "Cyd" }.isEmpty }, true),
                (
                    #Predicate { department in
                        department.employees.filter { $0.salary == nil }.contains {
                            $0.firstName == "Ada"
                        }
                    }, false
                ),
                (
                    #Predicate { department in
                        department.employees.filter { $0.salary == nil }.allSatisfy {
                            $0.firstName == "Bob" && department.name == "R&D"
                        }
                    }, true
                ),
            ]
            for (predicate, holds) in cases {
                let request = FetchRequest<Department>(where: predicate)
                #expect(try context.count(request) == (holds ? 1 : 0), "\(predicate)")
                #expect(try predicate.evaluate(research) == holds)
                #expect(!(try context.explain(request)).contains("in memory"), "\(predicate)")
            }
        }
    }

    @Test func `a predicate without a filter is evaluated in memory and says so`() throws {
        try StaffStore().inContext { (context) throws in
            _ = try makeStaff(context)
            var request = FetchRequest<Employee>(
                where: Condition(#Predicate { !$0.hasChanges })
                    && \Employee.salary > 5)
            request.order = [.descending(\.firstName)]
            request.limit = 1

            #expect(try context.fetch(request).map(\.firstName) == ["Cyd"])
            #expect(try context.explain(request).contains("in memory"))
            #expect(
                try context.explain(FetchRequest<Employee>(where: \Employee.lastName == "x"))
                    .contains("lastName"))
        }
    }

    @Test func `F49 F52 what is pending counts, and order and limit apply to the whole`() throws {
        try StaffStore().inContext { (context) throws in
            let staff = try makeStaff(context)
            staff[0].salary = 50
            context.delete(staff[2])
            let dora = Employee(context: context)
            dora.firstName = "Dora"
            dora.salary = 40
            var request = FetchRequest<Employee>(where: \Employee.salary > 20)
            request.order = [.ascending(\.salary)]

            #expect(try context.fetch(request).map(\.firstName) == ["Dora", "Ada"])
            #expect(try context.count(request) == 2)
            request.limit = 1
            request.offset = 1
            #expect(try context.fetch(request) == [staff[0]])
            request.includesPendingChanges = false
            request.limit = nil
            request.offset = 0
            #expect(try context.fetch(request) == [staff[2]])
        }
    }

    @Test func `a pending change of a related object counts`() throws {
        try StaffStore().inContext { (context) throws in
            let staff = try makeStaff(context)
            staff[0].department?.name = "Sales"

            let sales = try context.fetch(
                FetchRequest<Employee>(where: \Employee.department?.name == "Sales"))

            #expect(names(sales) == ["Ada", "Bob"])
        }
    }

    @Test func `a request that does not fit the model names what would`() throws {
        try StaffStore().inContext { (context) throws in
            let error = #expect(throws: QueryError.self) {
                try context.fetch(FetchRequest<Employee>(where: Condition("lastNam == 'x'")))
            }
            #expect(error?.message.contains("lastName") == true)
        }
    }
}
