import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The times at which values are read, after "Faulting" of the seeds.
@Suite struct CoreDataFaultingTests {
    /// Ada, who works in Engines under Charles and has Mary as a report.
    private func makeOffice() throws -> (store: CompanyStore, ada: ManagedObjectID) {
        let store = try CompanyStore()
        let ada = try store.inContext { (context) throws in
            let engines = Company.Department(context: context)
            engines.name = "Engines"
            let employees = ["Ada", "Charles", "Mary"].map { name in
                let employee = Company.Employee(context: context)
                employee.firstName = name
                employee.department = engines
                return employee
            }
            employees[0].manager = employees[1]
            employees[2].manager = employees[0]
            try context.save()
            return employees[0].objectID
        }
        return (store, ada)
    }

    private func fetchAda(_ context: ManagedObjectContext) throws -> Company.Employee {
        let request = FetchRequest<Company.Employee>(where: \Company.Employee.firstName == "Ada")
        return try #require(try context.fetch(request).first)
    }

    @Test func `S51 S53 WE3 Employee: manager, department and reports are faults`() throws {
        let (store, _) = try makeOffice()
        try store.inContext { (context) throws in
            let ada = try fetchAda(context)

            let department = try #require(ada.department)
            let manager = try #require(ada.manager)
            let report = try #require(ada.reports.first)

            #expect(ada.reports.count == 1)
            #expect(department.isFault)
            #expect(manager.isFault)
            #expect(report.isFault)
            #expect(type(of: department as ManagedObject) == Company.Department.self)
            #expect(type(of: manager as ManagedObject) == Company.Employee.self)
            #expect(department.name == "Engines")
            #expect(!department.isFault)
            #expect(manager.isFault)
            #expect(report.isFault)
        }
    }

    @Test func `S52 S54 reading one property reads all attributes of that moment`() throws {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: id) as? Company.Employee)
            #expect(ada.isFault)

            #expect(ada.firstName == "Ada")

            #expect(!ada.isFault)
            try store.edit(id) {
                $0.lastName = "Lovelace"
                $0.salary = 10
            }
            #expect(ada.lastName == "")
            #expect(ada.salary == nil)
        }
    }

    @Test func `S55 a to-many gives its members as faults of their own`() throws {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            let department = try #require(try context.employee(id).department)

            let members = department.employees

            #expect(members.count == 3)
            let others = members.filter { $0.objectID != id }
            #expect(others.count == 2)
            #expect(others.allSatisfy { $0.isFault })
            let one = try #require(others.first)
            #expect(!one.firstName.isEmpty)
            #expect(others.filter(\.isFault).count == 1)
        }
    }

    @Test func `S56 S59 asking for identity, entity, context and state fires nothing`() throws {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: id) as? Company.Employee)
            let manager = Company.Employee(context: context)

            #expect(ada.isFault)
            #expect(ada.objectID == id)
            #expect(ada.entity.name == "Employee")
            #expect(ada.managedObjectContext === context)
            #expect(!ada.isInserted)
            #expect(!ada.isUpdated)
            #expect(!ada.isDeleted)
            #expect(!ada.hasChanges)
            #expect(ada != manager)
            #expect(ada.hashValue == ada.hashValue)
            #expect(context.registeredObjects.contains(ada))
            #expect(context.registeredObject(for: id) === ada)
            #expect(context.object(with: id) === ada)
            #expect(ada.mark == 0)

            #expect(ada.isFault)
            #expect(ada.calls.awakeFromFetch == 0)
        }
    }

    @Test func `S58 F28 an object that becomes a fault is told so, once`() throws {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            #expect(ada.firstName == "Ada")
            #expect(ada.calls.didTurnIntoFault == 0)

            context.refresh(ada, mergeChanges: false)
            #expect(ada.calls.didTurnIntoFault == 1)
            context.refresh(ada, mergeChanges: false)

            #expect(ada.calls.didTurnIntoFault == 1)
            #expect(ada.isFault)
        }
    }

    @Test func `S60 an object that is not a fault has its values, whatever happens to its record`()
        throws
    {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            #expect(!ada.isFault)
            try store.delete(id)

            #expect(ada.firstName == "Ada")
            #expect(ada.hired == Company.openingDay)
            #expect(!ada.isFault)
        }
    }

    @Test func `F14 what is not registered is nil, a fault or read, as asked for`() throws {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            #expect(context.registeredObject(for: id) == nil)
            #expect(context.registeredObjects.isEmpty)
            let fault = try #require(context.object(with: id))
            #expect(fault.isFault)
            #expect(context.registeredObject(for: id) === fault)

            let read = try context.existingObject(with: id)

            #expect(read === fault)
            #expect(!read.isFault)
        }
    }

    @Test func `F14 a record that is missing shows when the fault fires`() throws {
        let (store, id) = try makeOffice()
        try store.delete(id)
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: id) as? Company.Employee)
            #expect(ada.isFault)

            let error = #expect(throws: StoreError.self) { try context.existingObject(with: id) }

            #expect(error?.code == .objectDeleted)
            #expect(ada.firstName == "")
        }
    }

    @Test func `F14 an insert that came to nothing is not brought back by its identifier`() throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let id: ManagedObjectID
            do {
                let ghost = Company.Employee(context: context)
                id = ghost.objectID
                context.delete(ghost)
                context.processPendingChanges()
            }

            #expect(throws: StoreError.self) { try context.existingObject(with: id) }

            #expect(try context.count(FetchRequest<Company.Employee>()) == 0)
            #expect(context.insertedObjects.isEmpty)
            #expect(try context.save() == nil)
        }
    }

    @Test func `F24 what awakeFromFetch sets is no edit`() throws {
        let (store, id) = try makeOffice()
        try store.inContext { (context) throws in
            let ada = try context.employee(id)

            #expect(ada.fullName == "Ada ")
            #expect(ada.calls.awakeFromFetch == 1)
            #expect(!ada.hasChanges)
            #expect(!context.hasChanges)
            context.processPendingChanges()
            #expect(context.undoManager?.canUndo == false)
        }
    }
}
