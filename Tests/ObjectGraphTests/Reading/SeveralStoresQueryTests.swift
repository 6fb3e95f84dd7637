import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Queries and messages in which objects of several stores have the same numbers.
@Suite struct SeveralStoresQueryTests {
    private let set: StoreSet

    /// Two stores with one department and two employees each, with the same object numbers.
    init() throws {
        set = try StoreSet("first", "second")
        try set.inContext { (context) throws in
            for store in set.coordinator.persistentStores {
                let department = Department(context: context)
                try context.assign(department, to: store)
                let name = store.url.deletingPathExtension().lastPathComponent
                department.name = name
                for suffix in ["a", "b"] {
                    let employee = Employee(context: context)
                    try context.assign(employee, to: store)
                    employee.lastName = "\(name) \(suffix)"
                    employee.department = suffix == "a" ? department : nil
                }
            }
            try context.save()
        }
    }

    private func department(
        _ name: String, _ context: ManagedObjectContext
    ) throws -> Department {
        let found = try context.fetch(FetchRequest<Department>(where: \Department.name == name))
        return try #require(found.first)
    }

    private func names(
        _ condition: Condition<Employee>, _ context: ManagedObjectContext
    ) throws -> [String] {
        let request = FetchRequest<Employee>(where: condition)
        let names = try context.fetch(request).map(\.lastName)
        #expect(try context.count(request) == names.count)
        return names.sorted()
    }

    @Test func `groups of several stores are joined by value, and kept apart by object`() throws {
        try set.inContext { (context) throws in
            let all = FetchRequest<Employee>()
            let names = try context.fetch(all.select(\.department?.name, .count))
            #expect(names.map(\.0) == [nil, "first", "second"])
            #expect(names.map(\.1) == [2, 1, 1])

            let departments = try ["first", "second"].map { try department($0, context).objectID }
            let ids = try context.fetch(
                all.select(\.department?.objectID, .count).grouped(by: \.department))
            #expect(Set(ids.map(\.0)) == [nil, departments[0], departments[1]])
            #expect(ids.map(\.1) == [2, 1, 1])
            #expect(try context.fetch(all.select(\.lastName)).count == 4)
        }
    }

    @Test func `the objects of two stores have the same numbers, so that these tests can fail`()
        throws
    {
        try set.inContext { (context) throws in
            let first = try department("first", context)
            let second = try department("second", context)
            #expect(first.objectID.object == second.objectID.object)
            #expect(first.objectID != second.objectID)
        }
    }

    @Test(arguments: [true, false])
    func `prefetching reads the objects of each store from that store`(isChild: Bool) throws {
        let root = set.context()
        let context = isChild ? ManagedObjectContext(parent: root) : root
        try context.performAndWait { () throws in
            var request = FetchRequest<Employee>(where: \Employee.department != nil)
            request.relationshipKeyPathsForPrefetching = ["department.employees"]

            let found = try context.fetch(request)

            #expect(found.map(\.lastName).sorted() == ["first a", "second a"])
            #expect(found.compactMap { $0.department?.name }.sorted() == ["first", "second"])
            for employee in found { #expect(employee.department?.employees == [employee]) }
        }
    }

    @Test(arguments: [true, false])
    func `a condition on an object finds nothing that leads to another store's namesake`(
        hasPending: Bool
    ) throws {
        try set.inContext { (context) throws in
            let first = try department("first", context)
            if hasPending { Employee(context: context).lastName = "pending" }

            #expect(try names(\Employee.department == first, context) == ["first a"])
            #expect(
                try names(\Employee.department != first && \Employee.department != nil, context)
                    == ["second a"])
            #expect(try names(!(\Employee.department == first), context).contains("second a"))
        }
    }

    @Test func `an object of another context of the same stores is found by its identity`() throws {
        let other = set.context()
        let second = try other.performAndWait { () throws in try department("second", other) }
        try set.inContext { (context) throws in
            #expect(try names(\Employee.department == second, context) == ["second a"])
        }
    }

    @Test func `a name that two stores may have is refused, and one store is asked by it`() throws {
        try set.inContext { (context) throws in
            let name = try department("second", context).objectID.description
            var request = FetchRequest<Employee>(where: Condition("department == '\(name)'"))

            let error = #expect(throws: QueryError.self) { try context.fetch(request) }
            #expect(error?.message.contains("'\(name)'") == true)
            #expect(throws: QueryError.self) { try context.count(request) }

            request.affectedStores = [set.coordinator.persistentStores[1]]
            #expect(try context.fetch(request).map(\.lastName) == ["second a"])
        }
    }

    @Test func `the address of an object names its store in predicate text`() throws {
        try set.inContext { (context) throws in
            for name in ["first", "second"] {
                let address = try department(name, context).objectID.uriRepresentation()
                #expect(
                    try names(Condition("department == '\(address)'"), context) == ["\(name) a"])
                #expect(
                    try names(Condition("NOT department IN {'\(address)'}"), context).count == 3)
            }
        }
    }

    @Test func `a validation failure says in which store its object is`() throws {
        try set.inContext { (context) throws in
            for store in set.coordinator.persistentStores {
                let project = Project(context: context)
                try context.assign(project, to: store)
                project.sponsor = try department(
                    store.url.deletingPathExtension().lastPathComponent, context)
            }
            try context.save()
            let second = try department("second", context)
            context.delete(second)

            let error = #expect(throws: StoreError.self) { try context.save() }

            let failure = try #require(error?.failures.first)
            #expect(failure.storeIdentifier == second.objectID.storeIdentifier)
            #expect(context.object(of: failure) === second)
        }
    }
}
