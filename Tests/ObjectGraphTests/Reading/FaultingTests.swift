import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

extension StaffStore {
    /// The number of reads of the store by contexts.
    var readCount: Int {
        container.persistentStoreCoordinator.persistentStores[0].readCount
    }

    /// Saves a department with employees of these first names, and returns the identifiers of these.
    @discardableResult
    func hire(_ names: [String], by department: String = "Marketing") throws -> [ManagedObjectID] {
        try inContext { context in
            let home = Department(context: context)
            home.name = department
            let employees = names.map { name in
                let employee = Employee(context: context)
                employee.firstName = name
                employee.lastName = "of \(department)"
                employee.department = home
                return employee
            }
            try context.save()
            return employees.map(\.objectID)
        }
    }

    /// Deletes an object in a context of its own.
    func delete(_ id: ManagedObjectID) throws {
        try inContext { context in
            context.delete(try context.existingObject(with: id))
            try context.save(author: "Grace")
        }
    }

    /// Sets an employee's last name in a context of its own.
    func rename(_ id: ManagedObjectID, _ name: String) throws {
        try inContext { context in
            let employee = try #require(try context.existingObject(with: id) as? Employee)
            employee.lastName = name
            try context.save()
        }
    }
}

@Suite struct FaultingTests {
    @Test func `S51 WE3 Employee: a fetched object leads to faults only`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.mentor = context.object(with: ids[1]) as? Employee
            let project = Project(context: context)
            ada.projects = [project]
            try context.save()
        }
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>(where: \Employee.firstName == "Ada")
            request.returnsObjectsAsFaults = false

            let ada = try #require(try context.fetch(request).first)

            #expect(!ada.isFault)
            #expect(ada.department?.isFault == true)
            #expect(ada.mentor?.isFault == true)
            #expect(ada.hasFault(forRelationshipNamed: "projects"))
            #expect(ada.projects.allSatisfy { $0.isFault })
        }
    }

    @Test func `S52 S55 F15 a to-many relationship is a fault of its own, before its members`()
        throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let fetched = try context.fetch(FetchRequest<Department>())
            let department = try #require(fetched.first)
            #expect(department.hasFault(forRelationshipNamed: "employees"))

            let members = department.objectIDs(forRelationshipNamed: "employees")

            #expect(Set(members) == Set(ids))
            #expect(context.registeredObjects == [department])
            #expect(!department.hasFault(forRelationshipNamed: "employees"))
            #expect(department.employees.allSatisfy { $0.isFault })
            #expect(department.isFault)
        }
    }

    @Test func `F15 the identifier at the end of a to-one relationship reads its owner only`()
        throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            #expect(ada.hasFault(forRelationshipNamed: "department"))

            let leads = ada.objectIDs(forRelationshipNamed: "department")

            #expect(leads.map(\.entityName) == ["Department"])
            #expect(!ada.hasFault(forRelationshipNamed: "department"))
            #expect(ada.objectIDs(forRelationshipNamed: "desk").isEmpty)
            #expect(context.registeredObjects == [ada])
        }
    }

    @Test func `S53 a fault is an instance of its entity's class without values`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)

            let department: ManagedObject = try #require(ada.department)

            #expect(type(of: department) == Department.self)
            #expect(department.isFault)
            #expect(department.values.isEmpty)
        }
    }

    @Test func `S54 S60 one read brings all attributes of a fault`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            let before = store.readCount

            #expect(ada.firstName == "Ada")

            #expect(!ada.isFault)
            #expect(ada.lastName == "of Marketing")
            #expect(ada.grade == .junior)
            #expect(store.readCount == before + 1)
        }
    }

    @Test func `S56 S59 what is said to fire no fault fires none`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            let grace = try #require(context.object(with: ids[1]))
            let before = store.readCount

            #expect(ada.isFault)
            #expect(ada.objectID == ids[0])
            #expect(ada.entity.name == "Employee")
            #expect(ada.managedObjectContext === context)
            #expect(!ada.isInserted && !ada.isUpdated && !ada.isDeleted && !ada.hasChanges)
            #expect(ada != grace)
            #expect(ada.hashValue != grace.hashValue)
            #expect(ada.hasFault(forRelationshipNamed: "department"))
            #expect(ada.hasFault(forRelationshipNamed: "projects"))
            #expect(context.registeredObject(for: ids[0]) === ada)
            ada.didAccessValue(forKey: "lastName")

            #expect(ada.isFault && grace.isFault)
            #expect(store.readCount == before)
        }
    }

    @Test func `S57 a fault is fired explicitly`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: ids[0]) as? Employee)

            try ada.willAccessValue(forKey: nil)
            ada.didAccessValue(forKey: nil)

            #expect(!ada.isFault)
            let before = store.readCount
            #expect(ada.firstName == "Ada")
            #expect(store.readCount == before)
        }
    }

    @Test func `S58 an object that becomes a fault is told so`() throws {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("told.daybook"), model: [ToldOfFaulting.self])
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let object = ToldOfFaulting(context: context)
            try context.save()
            #expect(object.count == 0)

            context.refresh(object, mergeChanges: false)

            #expect(object.count == 1)
            #expect(object.isFault)
        }
    }

    @Test func `S64 S65 S67 WE4 Department: firing it on one path fires it on all`() throws {
        let store = try StaffStore()
        try store.hire(["Ada", "Grace", "Edsger"])
        try store.hire(["Barbara"], by: "Research")
        try store.inContext { (context) throws in
            var request = FetchRequest<Employee>()
            request.order = [.ascending(\Employee.firstName)]
            let employees = try context.fetch(request)
            let first = try #require(employees[0].department)
            let other = try #require(employees[2].department)
            #expect(first === other && first.isFault)

            #expect(first.name == "Marketing")

            #expect(!other.isFault)
            let departments = employees.compactMap(\.department)
            #expect(departments.count == 4)
            #expect(Set(departments.map(ObjectIdentifier.init)).count == 2)
        }
    }

    @Test func `S66 S68 S69 a record is one instance in a context and another elsewhere`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let other = store.context("other")
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.lastName = "Byron"
            let fetched = try context.fetch(FetchRequest<Employee>())
            let members = try #require(ada.department).employees
            #expect(fetched.first === ada && members.first === ada)

            try other.performAndWait { () throws in
                let twin = try #require(try other.existingObject(with: ids[0]) as? Employee)
                twin.lastName = "Lovelace"

                #expect(twin !== ada)
                #expect(twin.objectID == ids[0])
                #expect(twin.lastName == "Lovelace")
                other.rollback()
            }
            #expect(ada.lastName == "Byron")
        }
    }

    @Test func `S70 two contexts may differ until one saves after the other`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let other = store.context("other")
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.lastName = "Byron"
            try other.performAndWait { () throws in
                let twin = try #require(try other.existingObject(with: ids[0]) as? Employee)
                twin.lastName = "Lovelace"
                try other.save()
            }
            context.processPendingChanges()
            #expect(ada.lastName == "Byron")

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .conflict)
        }
    }
}

@Suite struct IdentityTests {
    @Test func `F14 a registered object is found and a fault made without reading`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let before = store.readCount

            #expect(context.registeredObject(for: ids[0]) == nil)
            let ada = try #require(context.object(with: ids[0]))

            #expect(context.registeredObject(for: ids[0]) === ada)
            #expect(ada.isFault)
            #expect(store.readCount == before)
            #expect(try context.existingObject(with: ids[0]) === ada)
            #expect(!ada.isFault)
        }
    }

    @Test(arguments: [true, false])
    func `F14 an annihilated insert is not resurrected by its identifier`(
        isRetaining: Bool
    ) throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            context.retainsRegisteredObjects = isRetaining
            let ada = Employee(context: context)
            let id = ada.objectID
            #expect(id.isTemporaryID)
            context.delete(ada)
            context.processPendingChanges()

            let error = #expect(throws: StoreError.self) { try context.existingObject(with: id) }

            #expect(error?.code == .noSuchObject)
            #expect(context.registeredObjects.isEmpty)
            #expect(!context.hasChanges)
            let fault = try #require(context.object(with: id) as? Employee)
            #expect(fault.firstName == "")
            #expect(fault.isDeleted)
            #expect(try context.save() == nil)
        }
    }

    @Test func `F14 F79 an object deleted elsewhere is an error that names entry and author`()
        throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.delete(ids[0])
        try store.inContext { (context) throws in
            let error = #expect(throws: StoreError.self) {
                try context.existingObject(with: ids[0])
            }

            #expect(error?.code == .objectDeleted)
            #expect(error?.message.contains("entry 3 by 'Grace'") == true)
            #expect(context.registeredObjects.isEmpty)
        }
    }
}

@Suite struct InaccessibleFaultTests {
    @Test func `F78 a fault without a record counts as deleted and reads as empty`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)
            try store.delete(ids[0])

            #expect(ada.firstName == "")

            context.processPendingChanges()
            #expect(recorder.objects(ManagedObjectContext.deletedObjectsKey) == [ada])
            #expect(ada.isDeleted)
            #expect(!ada.isFault)
            #expect(ada.salary == nil)
            #expect(ada.department == nil)
            try ada.willAccessValue(forKey: "firstName")
        }
    }

    @Test func `F78 on request such a fault stays one and its error is reported and thrown`() throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            context.shouldDeleteInaccessibleFaults = false
            var told: [StoreError.Code] = []
            context.inaccessibleFaultHandler = { _, error in
                if let error = error as? StoreError { told.append(error.code) }
            }
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)
            try store.delete(ids[0])

            #expect(ada.firstName == "")

            context.processPendingChanges()
            #expect(recorder.objects(ManagedObjectContext.invalidatedObjectsKey) == [ada])
            #expect(ada.isFault && !ada.isDeleted)
            #expect(told == [.objectDeleted])
            let error = #expect(throws: StoreError.self) {
                try ada.willAccessValue(forKey: nil)
            }
            #expect(error?.code == .objectDeleted)
        }
    }

    @Test(arguments: [true, false])
    func `F78 a program decides for itself what becomes of such a fault`(
        countsAsDeleted: Bool
    ) throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            context.shouldDeleteInaccessibleFaults = !countsAsDeleted
            context.shouldHandleInaccessibleFault = { object, error in
                object.objectID == ids[0] && (error as? StoreError)?.code == .objectDeleted
                    && countsAsDeleted
            }
            let ada = try #require(context.object(with: ids[0]) as? Employee)
            try store.delete(ids[0])

            #expect(ada.firstName == "")

            #expect(ada.isDeleted == countsAsDeleted)
        }
    }

    @Test func `F78 a fault whose context has gone throws where it can`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        var ada: Employee?
        do {
            let context = store.context()
            context.performAndWait { ada = context.object(with: ids[0]) as? Employee }
        }
        let orphan = try #require(ada)

        let error = #expect(throws: StoreError.self) { try orphan.willAccessValue(forKey: nil) }

        #expect(error?.code == .closed)
        #expect(orphan.isFault)
    }
}

/// Counts the times it becomes a fault.
final class ToldOfFaulting: ManagedObject {
    @Attribute var name: String = ""
    var count = 0

    override func didTurnIntoFault() {
        count += 1
    }
}
