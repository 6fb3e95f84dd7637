import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The effect of fetches and refreshes on values, after "Ensuring Data Is Up to Date" of the seeds.
@Suite struct CoreDataFreshnessTests {
    @Test func `S34 a fetch leaves the values of realized objects as they are`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            #expect(ada.lastName == "Byron")
            try store.edit(id) { $0.lastName = "Lovelace" }

            let found = try context.fetch(FetchRequest<Company.Employee>())

            #expect(found == [ada])
            #expect(!ada.isFault)
            #expect(ada.lastName == "Byron")
            #expect(!ada.hasChanges)
        }
    }

    @Test func `S35 a fetch leaves inserted, updated and deleted objects as they are`() throws {
        let store = try CompanyStore()
        let updatedID = try store.addEmployee("Ada", "Byron")
        let deletedID = try store.addEmployee("Grace", "Murray")
        try store.inContext { (context) throws in
            let inserted = Company.Employee(context: context)
            inserted.firstName = "Mary"
            let updated = try context.employee(updatedID)
            updated.lastName = "Lovelace"
            let deleted = try context.employee(deletedID)
            context.delete(deleted)
            try store.edit(updatedID) { $0.lastName = "King" }
            try store.edit(deletedID) { $0.lastName = "Hopper" }

            let found = try context.fetch(FetchRequest<Company.Employee>())

            #expect(Set(found) == [inserted, updated])
            #expect(inserted.isInserted)
            #expect(inserted.firstName == "Mary")
            #expect(updated.isUpdated)
            #expect(updated.lastName == "Lovelace")
            #expect(deleted.isDeleted)
            #expect(deleted.lastName == "Murray")
            #expect(context.insertedObjects == [inserted])
            #expect(context.updatedObjects == [updated])
            #expect(context.deletedObjects == [deleted])
        }
    }

    @Test func `S36 WE1 two-context fetch: the first context keeps seeing what it has in memory`()
        throws
    {
        let store = try CompanyStore()
        let ids = try ["Ada", "Grace"].map { try store.addEmployee($0, "Smith") }
        let first = store.context()
        try first.performAndWait { () throws in
            let fetched = try first.fetch(FetchRequest<Company.Employee>())
            #expect(fetched.map(\.objectID) == ids)
            for employee in fetched { employee.lastName = "of the first" }
            try store.inContext { (second) throws in
                for employee in try second.fetch(FetchRequest<Company.Employee>()) {
                    employee.lastName = "of the second"
                }
                try second.save()
            }

            let again = try first.fetch(FetchRequest<Company.Employee>())

            #expect(again == fetched)
            #expect(again.map(\.lastName) == ["of the first", "of the first"])
        }
        try store.inContext { (third) throws in
            let stored = try third.fetch(FetchRequest<Company.Employee>())
            #expect(stored.map(\.lastName) == ["of the second", "of the second"])
        }
    }

    @Test func `S37 S38 a merging refresh keeps what was edited and takes the rest`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            ada.lastName = "Lovelace"
            try store.edit(id) {
                $0.firstName = "Augusta"
                $0.lastName = "King"
                $0.salary = 10
            }

            context.refresh(ada, mergeChanges: true)

            #expect(ada.lastName == "Lovelace")
            #expect(ada.firstName == "Augusta")
            #expect(ada.salary == 10)
            #expect(ada.isUpdated)
        }
    }

    @Test func `S37 S38 a merging refresh treats relationships as it treats values`() throws {
        let store = try CompanyStore()
        let departments = try ["Engines", "Sales"].map { try store.addDepartment($0) }
        let ids = try ["Ada", "Grace", "Mary"].map { try store.addEmployee($0, "") }
        try store.inContext { (context) throws in
            let people = try ids.map { try context.employee($0) }
            let engines = try context.department(departments[0])
            #expect(people.allSatisfy { $0.department == nil && $0.manager == nil })
            people[0].department = engines
            try store.inContext { (other) throws in
                let theirs = try ids.map { try other.employee($0) }
                theirs[0].department = try other.department(departments[1])
                theirs[0].manager = theirs[2]
                theirs[1].department = try other.department(departments[0])
                try other.save()
            }

            context.refresh(people[0], mergeChanges: true)
            context.refresh(people[1], mergeChanges: true)
            context.refresh(engines, mergeChanges: true)

            #expect(people[0].department === engines)
            #expect(people[0].manager === people[2])
            #expect(people[1].department === engines)
            #expect(engines.employees == [people[0], people[1]])
            #expect(context.updatedObjects == [people[0]])
        }
    }

    @Test func `S39 S40 a refresh without merging drops relationships and transient values too`()
        throws
    {
        let store = try CompanyStore()
        let departments = try ["Engines", "Sales"].map { try store.addDepartment($0) }
        let id = try store.addEmployee("Ada", "Lovelace", in: departments[0])
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            ada.department = try context.department(departments[1])
            ada.fullName = "Countess"

            context.refresh(ada, mergeChanges: false)

            #expect(ada.department?.objectID == departments[0])
            #expect(ada.fullName == "Ada Lovelace")
            #expect(try context.department(departments[0]).employees == [ada])
            #expect(try context.department(departments[1]).employees.isEmpty)
            #expect(!context.hasChanges)
            #expect(try context.save() == nil)
        }
    }

    @Test func `S39 a refresh leaves an inserted object as it is`() throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let ada = Company.Employee(context: context)
            ada.firstName = "Ada"

            context.refresh(ada, mergeChanges: false)
            context.refresh(ada, mergeChanges: true)

            #expect(ada.isInserted)
            #expect(ada.firstName == "Ada")
            #expect(try context.save() != nil)
        }
    }

    @Test func `S39 a refresh without merging drops edits and reads the store when asked`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            ada.firstName = "Edited"
            try store.edit(id) { $0.lastName = "King" }

            context.refresh(ada, mergeChanges: false)
            #expect(ada.isFault)
            #expect(!ada.hasChanges)
            #expect(!context.hasChanges)
            try store.edit(id) { $0.lastName = "Lovelace" }

            #expect(ada.firstName == "Ada")
            #expect(ada.lastName == "Lovelace")
            #expect(try context.save() == nil)
        }
    }

    @Test func `S40 S41 refreshing trims the graph to what is still referred to`() throws {
        let store = try CompanyStore()
        for number in 1...5 {
            let department = try store.addDepartment("Department \(number)")
            _ = try store.addEmployee("Employee", "\(number)", in: department)
        }
        try store.inContext { (context) throws in
            let employees = try context.fetch(FetchRequest<Company.Employee>())
            for employee in employees { #expect(employee.department?.employees == [employee]) }
            #expect(context.registeredObjects.count == 10)

            for employee in employees { context.refresh(employee, mergeChanges: false) }

            #expect(employees.allSatisfy { $0.isFault })
            #expect(context.registeredObjects == Set(employees))
            #expect(employees.map(\.lastName) == (1...5).map { "\($0)" })
        }
    }

    @Test func `S42 two stacks on a store differ until the objects are refreshed`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        let other = try TestContainer.make(store.url, model: Company.entities)
        let otherContext = other.newBackgroundContext()
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            #expect(ada.lastName == "Byron")
            try otherContext.performAndWait { () throws in
                let theirs = try #require(
                    try otherContext.fetch(FetchRequest<Company.Employee>()).first)
                theirs.lastName = "Lovelace"
                try otherContext.save()
            }
            #expect(ada.lastName == "Byron")

            context.refresh(ada, mergeChanges: true)

            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test(
        .ownStores("The other process does not have the server, which is in this one."),
        arguments: [true, false])
    func `S42 two processes on a store differ until the objects are refreshed`(
        mergeChanges: Bool
    ) async throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        let context = store.context()
        let held = try context.performAndWait { () throws in Held(try context.employee(id)) }

        await #expect(processExitsWith: .success) { [path = store.url.path as String] in
            let container = try TestContainer.make(
                URL(fileURLWithPath: path), model: Company.entities)
            let context = container.newBackgroundContext()
            try context.performAndWait { () throws in
                for employee in try context.fetch(FetchRequest<Company.Employee>()) {
                    employee.lastName = "Lovelace"
                }
                try context.save()
            }
        }

        context.performAndWait {
            #expect(held.employee.lastName == "Byron")
            context.refresh(held.employee, mergeChanges: mergeChanges)
            #expect(held.employee.lastName == "Lovelace")
        }
    }

    /// Keeps an object across calls on its context's queue.
    private final class Held: @unchecked Sendable {
        // @unchecked Sendable because the employee is used on its context's queue only.
        let employee: Company.Employee

        init(_ employee: Company.Employee) {
            self.employee = employee
        }
    }

    @Test func `F76 refreshing all keeps edits and makes faults of the rest`() throws {
        let store = try CompanyStore()
        let ids = try ["Ada", "Grace"].map { try store.addEmployee($0, "") }
        try store.inContext { (context) throws in
            let edited = try context.employee(ids[0])
            edited.lastName = "Lovelace"
            let clean = try context.employee(ids[1])
            try store.edit(ids[0]) { $0.firstName = "Augusta" }

            context.refreshAllObjects()

            #expect(!edited.isFault)
            #expect(edited.isUpdated)
            #expect(edited.lastName == "Lovelace")
            #expect(edited.firstName == "Augusta")
            #expect(clean.isFault)
        }
    }

    @Test func `F42 J5 a rollback restores what was read, not what others have saved since`() throws
    {
        let store = try CompanyStore()
        let ids = try ["Ada", "Grace"].map { try store.addEmployee($0, "Saved") }
        try store.inContext { (context) throws in
            let updated = try context.employee(ids[0])
            updated.lastName = "Edited"
            let deleted = try context.employee(ids[1])
            context.delete(deleted)
            let inserted = Company.Employee(context: context)
            try store.edit(ids[0]) { $0.lastName = "Newer" }

            context.rollback()

            #expect(updated.lastName == "Saved")
            #expect(!updated.hasChanges)
            #expect(!deleted.isDeleted)
            #expect(deleted.lastName == "Saved")
            #expect(!inserted.isInserted)
            #expect(!context.hasChanges)
            #expect(context.undoManager?.canUndo == false)
            context.redo()
            #expect(!context.hasChanges)
        }
    }

    @Test func `F42 undo and redo move by one step of an event`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            ada.firstName = "Augusta"
            ada.lastName = "King"
            context.processPendingChanges()
            ada.lastName = "Lovelace"
            context.processPendingChanges()

            context.undo()
            #expect(ada.lastName == "King")
            context.undo()
            #expect(ada.firstName == "Ada")
            #expect(ada.lastName == "Byron")
            context.undo()
            #expect(!context.hasChanges)
            context.redo()
            context.redo()
            context.redo()

            #expect(ada.firstName == "Augusta")
            #expect(ada.lastName == "Lovelace")
            #expect(ada.isUpdated)
        }
    }

    @Test func `F42 without an undo manager undo does nothing and rollback works`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            context.undoManager = nil
            let ada = try context.employee(id)
            ada.lastName = "Lovelace"
            context.processPendingChanges()

            context.undo()
            context.redo()
            #expect(ada.lastName == "Lovelace")
            context.rollback()

            #expect(ada.lastName == "Byron")
            #expect(!context.hasChanges)
        }
    }
}
