import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// One record, one instance, after "Uniquing" of the seeds.
@Suite struct CoreDataUniquingTests {
    @Test func `S64 S65 WE4 Department: two employees of Marketing share one instance`() throws {
        let store = try CompanyStore()
        let marketing = try store.addDepartment("Marketing")
        let ids = try ["Ada", "Grace"].map { try store.addEmployee($0, "", in: marketing) }
        try store.inContext { (context) throws in
            let first = try context.employee(ids[0])
            let second = try context.employee(ids[1])

            let department = try #require(first.department)
            #expect(department.isFault)
            #expect(second.department === department)
            #expect(department.isFault)

            #expect(first.department?.name == "Marketing")

            #expect(second.department?.isFault == false)
            #expect(second.department === department)
        }
    }

    @Test func `S66 every path leads to the one instance of a record`() throws {
        let store = try CompanyStore()
        let marketing = try store.addDepartment("Marketing")
        let id = try store.addEmployee("Ada", "", in: marketing)
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: id) as? Company.Employee)

            #expect(try context.existingObject(with: id) === ada)
            #expect(try context.fetch(FetchRequest<Company.Employee>()).first === ada)
            #expect(
                try context.fetch(FetchRequest<ManagedObject>(entityName: "Employee")).first === ada
            )
            #expect(try context.department(marketing).employees.first === ada)
            #expect(
                try context.department(marketing).relatedObjects(forKey: "employees").first === ada)
            #expect(context.registeredObject(for: id) === ada)
            #expect(context.registeredObjects.filter { $0.objectID == id } == [ada])
            context.refresh(ada, mergeChanges: false)
            #expect(try context.existingObject(with: id) === ada)
            context.delete(ada)
            context.processPendingChanges()
            context.undo()
            #expect(try context.existingObject(with: id) === ada)
        }
    }

    @Test func `S66 a new object is one instance before and after its save`() throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let ada = Company.Employee(context: context)
            let temporary = ada.objectID
            #expect(context.object(with: temporary) === ada)
            #expect(try context.existingObject(with: temporary) === ada)
            #expect(try context.fetch(FetchRequest<Company.Employee>()) == [ada])

            try context.save()

            #expect(context.object(with: temporary) === ada)
            #expect(try context.existingObject(with: ada.objectID) === ada)
            #expect(try context.fetch(FetchRequest<Company.Employee>()) == [ada])
            #expect(context.registeredObjects == [ada])
        }
    }

    @Test func `S66 an object that others made and this context merged is one instance`() throws {
        let store = try CompanyStore()
        let marketing = try store.addDepartment("Marketing")
        try store.inContext { (context) throws in
            let department = try context.department(marketing)
            #expect(department.employees.isEmpty)
            let id = try store.addEmployee("Ada", "", in: marketing)

            _ = try context.mergeChanges()

            let ada = try #require(department.employees.first)
            #expect(try context.employee(id) === ada)
            #expect(try context.fetch(FetchRequest<Company.Employee>()) == [ada])
            #expect(ada.department === department)
        }
    }

    @Test func `S67 all employees together have one instance per department`() throws {
        let store = try CompanyStore()
        let departments = try ["Marketing", "Engines", "Sales"].map { try store.addDepartment($0) }
        for number in 0..<30 {
            _ = try store.addEmployee("\(number)", "", in: departments[number % 3])
        }
        try store.inContext { (context) throws in
            let employees = try context.fetch(FetchRequest<Company.Employee>())

            let instances = employees.compactMap(\.department).map { ObjectIdentifier($0) }

            #expect(instances.count == 30)
            #expect(Set(instances).count == 3)
            #expect(context.registeredObjects.count == 33)
            #expect(Set(employees.compactMap { $0.department?.name }).count == 3)
        }
    }

    @Test func `S68 S69 S70 contexts have instances of their own, which differ until saved`() throws
    {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        let (first, second) = (store.context(), store.context())
        try first.performAndWait { () throws in
            let ours = try first.employee(id)
            ours.lastName = "Lovelace"
            try second.performAndWait { () throws in
                let theirs = try second.employee(id)

                #expect(theirs !== ours)
                #expect(theirs.objectID == ours.objectID)
                theirs.lastName = "King"
                #expect(theirs.lastName == "King")
                try second.save(author: "second")
                #expect(!theirs.hasChanges)
            }
            #expect(ours.lastName == "Lovelace")

            let error = #expect(throws: StoreError.self) { try first.save() }

            #expect(error?.code == .conflict)
            let conflict = try #require(error?.conflicts.first)
            #expect(error?.conflicts.count == 1)
            #expect(conflict.base == .string("Byron"))
            #expect(conflict.theirs == .string("King"))
            #expect(conflict.ours == .string("Lovelace"))
            #expect(ours.lastName == "Lovelace")
            #expect(ours.isUpdated)
        }
        try store.inContext { (third) throws in
            #expect(try third.employee(id).lastName == "King")
        }
    }
}
