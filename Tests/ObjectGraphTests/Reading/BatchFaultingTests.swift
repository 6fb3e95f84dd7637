import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct BatchFaultingTests {
    @Test func `S63 many faults are read in one read of the store`() throws {
        let store = try StaffStore()
        let ids = try store.hire((0..<50).map { "Employee \($0)" })
        try store.inContext { (context) throws in
            let employees = ids.compactMap { context.object(with: $0) as? Employee }
            let before = store.readCount

            try context.realize(employees)

            #expect(store.readCount == before + 1)
            #expect(employees.allSatisfy { !$0.isFault })
            #expect(employees.map(\.firstName) == (0..<50).map { "Employee \($0)" })
            #expect(employees[7].fullName == "Employee 7 of Marketing")
            #expect(store.readCount == before + 1)
        }
    }

    @Test func `S63 faults fired one by one are read one by one`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace", "Edsger"])
        try store.inContext { (context) throws in
            let employees = ids.compactMap { context.object(with: $0) as? Employee }
            let before = store.readCount

            #expect(employees.map(\.firstName) == ["Ada", "Grace", "Edsger"])

            #expect(store.readCount == before + 3)
        }
    }

    @Test func `a save of new objects reads nothing, whatever others have saved meanwhile`() throws
    {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.firstName = "Ada"
            try context.save()
            try store.hire(["Grace"])
            let edsger = Employee(context: context)
            edsger.firstName = "Edsger"
            let before = store.readCount

            let sequence = try context.save()

            #expect(store.readCount == before)
            #expect(edsger.firstName == "Edsger")
            #expect(edsger.since == sequence?.rawValue)
        }
    }

    @Test func `S63 a fetch in batches reads a batch when its first member fires`() throws {
        let store = try StaffStore()
        try store.hire(["Ada", "Barbara", "Edsger", "Grace", "John"])
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.order = [.ascending(\Employee.firstName)]
            request.fetchBatchSize = 2
            let employees = try context.fetch(request)
            #expect(employees.allSatisfy { $0.isFault })
            let before = store.readCount

            #expect(employees[2].firstName == "Edsger")

            #expect(employees.map(\.isFault) == [true, true, false, false, true])
            #expect(store.readCount == before + 1)
            #expect(
                employees.map(\.firstName) == ["Ada", "Barbara", "Edsger", "Grace", "John"])
            #expect(store.readCount == before + 3)
        }
    }

    @Test func `S63 a member of a batch that was deleted meanwhile spoils nothing`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Barbara"])
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.fetchBatchSize = 2
            let employees = try context.fetch(request)
            try store.delete(ids[0])

            #expect(employees[1].firstName == "Barbara")

            #expect(employees[0].isFault)
            #expect(employees[0].firstName == "")
            #expect(employees[0].isDeleted)
        }
    }

    @Test func `S63 a fetch that is to return no faults reads the store once`() throws {
        let store = try StaffStore()
        try store.hire(["Ada", "Barbara", "Edsger", "Grace"])
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.returnsObjectsAsFaults = false
            request.offset = 1
            request.limit = 2
            let before = store.readCount

            let employees = try context.fetch(request)

            #expect(store.readCount == before + 1)
            #expect(employees.allSatisfy { !$0.isFault })
            #expect(employees.map(\.firstName) == ["Barbara", "Edsger"])
            #expect(employees[0].fullName == "Barbara of Marketing")
            #expect(store.readCount == before + 1)
        }
    }

    @Test func `S63 a fetch without faults leaves what was read and edited as it is`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Barbara"])
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            let barbara = try #require(context.object(with: ids[1]) as? Employee)
            ada.firstName = "Augusta"
            #expect(barbara.firstName == "Barbara")
            var request = FetchRequest<Employee>()
            request.returnsObjectsAsFaults = false

            let employees = try context.fetch(request)

            #expect(Set(employees) == [ada, barbara])
            #expect(ada.firstName == "Augusta")
            #expect(ada.isUpdated)
            #expect(!barbara.isUpdated)
        }
    }

    @Test func `S61 S63 rows read along with a fetch serve its faults`() throws {
        let store = try StaffStore()
        try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.includesPropertyValues = true
            let employees = try context.fetch(request)
            #expect(employees.allSatisfy { $0.isFault })
            let before = store.readCount

            #expect(Set(employees.map(\.firstName)) == ["Ada", "Grace"])

            #expect(store.readCount == before)
        }
    }

    @Test func `S63 what is fetched as objects is read by the read that finds it`() throws {
        let store = try StaffStore()
        try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.returnsObjectsAsFaults = false
            let before = store.readCount

            let employees = try context.fetch(request)

            #expect(employees.allSatisfy { !$0.isFault })
            #expect(Set(employees.map(\.firstName)) == ["Ada", "Grace"])
            #expect(store.readCount == before + 1)
        }
    }

    @Test func `S63 relationships are prefetched by key path in one read`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let project = Project(context: context)
            project.title = "Engine"
            project.members = [ada]
            project.sponsor = ada.department
            try context.save()
        }
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>(where: \Employee.firstName == "Ada")
            request.relationshipKeyPathsForPrefetching = [
                "department.employees", "projects.sponsor",
            ]
            let before = store.readCount
            let ada = try #require(try context.fetch(request).first)
            #expect(store.readCount == before + 2)

            #expect(ada.department?.name == "Marketing")
            #expect(ada.projects.map(\.title) == ["Engine"])
            #expect(ada.projects.first?.sponsor === ada.department)
            #expect(Set(ada.department?.employees.map(\.firstName) ?? []) == ["Ada", "Grace"])

            #expect(store.readCount == before + 2)
        }
    }

    @Test func `S63 a prefetch sees what is pending`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let research = Department(context: context)
            ada.department = research
            context.processPendingChanges()
            var request = FetchRequest<Department>()
            request.relationshipKeyPathsForPrefetching = ["employees"]

            let departments = try context.fetch(request)

            let marketing = try #require(departments.first { $0 !== research })
            #expect(research.employees == [ada])
            #expect(marketing.employees.map(\.firstName) == ["Grace"])
        }
    }

    @Test func `S63 a child prefetches what its parent has`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (parent) throws in
            let ada = try #require(try parent.existingObject(with: ids[0]) as? Employee)
            ada.lastName = "Lovelace"
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                var request = FetchRequest<Department>()
                request.relationshipKeyPathsForPrefetching = ["employees"]
                request.returnsObjectsAsFaults = false

                let department = try #require(try child.fetch(request).first)

                let before = store.readCount
                #expect(Set(department.employees.map(\.lastName)) == ["Lovelace", "of Marketing"])
                #expect(store.readCount == before)
            }
        }
    }

    @Test func `a prefetch that does not lead along relationships is refused`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.relationshipKeyPathsForPrefetching = ["department.name"]

            let error = #expect(throws: QueryError.self) { try context.fetch(request) }

            #expect(
                error?.description.contains("'department.name' does not lead along relationships")
                    == true)
        }
    }

    @Test func `F55 a fetch refreshes what was fetched before if the request says so`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let grace = try #require(try context.existingObject(with: ids[1]) as? Employee)
            grace.firstName = "G."
            try store.rename(ids[0], "Lovelace")
            try store.rename(ids[1], "Hopper")
            var request = FetchRequest<Employee>()
            _ = try context.fetch(request)
            #expect(ada.lastName == "of Marketing")

            request.shouldRefreshRefetchedObjects = true
            _ = try context.fetch(request)

            #expect(ada.lastName == "Lovelace")
            #expect(grace.lastName == "Hopper")
            #expect(grace.firstName == "G.")
            #expect(grace.isUpdated && !ada.isUpdated)
        }
    }
}
