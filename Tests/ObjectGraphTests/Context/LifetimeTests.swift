import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct LifetimeTests {
    /// What gives an object a row other than the one read with its neighbours'.
    enum Renewal: CaseIterable {
        case save, delete, refresh, drop
    }

    @Test(arguments: Renewal.allCases)
    func `an object whose row is another by now keeps none of its neighbours`(
        renewal: Renewal
    ) throws {
        let store = try StaffStore()
        let ids = try store.hire((1...6).map { "Employee \($0)" })
        try store.inContext { (context) throws in
            func fetchOne() throws -> Employee? {
                var request = FetchRequest<Employee>()
                request.returnsObjectsAsFaults = false
                return try context.fetch(request).first { $0.objectID == ids[0] }
            }
            let ada = try #require(try fetchOne())
            weak let batch = ada.rowPage
            #expect(batch != nil)

            switch renewal {
            case .save:
                ada.lastName = "Lovelace"
                #expect(batch != nil)
                try context.save()
            case .delete:
                context.delete(ada)
                try context.save()
            case .refresh: context.refresh(ada, mergeChanges: true)
            case .drop: context.refresh(ada, mergeChanges: false)
            }

            #expect(batch == nil)
        }
    }

    @Test func `S2 a clean object goes with its last reference`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            weak var weakAda: Employee?
            do {
                let ada = Employee(context: context)
                weakAda = ada
                try context.save()
                context.undoManager?.removeAllActions()
            }

            #expect(weakAda == nil)
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test func `S5 S6 S7 the context holds inserted, updated and deleted objects`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            context.undoManager = nil
            weak var weakAda: Employee?
            do {
                let ada = Employee(context: context)
                weakAda = ada
            }
            #expect(weakAda?.isInserted == true)
            let id = try #require(weakAda?.objectID)
            try context.save()
            #expect(weakAda == nil)
            do {
                let ada = try #require(try context.existingObject(with: id) as? Employee)
                ada.lastName = "Lovelace"
                weakAda = ada
            }
            #expect(weakAda?.isUpdated == true)
            context.rollback()
            #expect(weakAda == nil)
            do {
                let ada = try #require(try context.existingObject(with: id) as? Employee)
                context.delete(ada)
                weakAda = ada
            }
            #expect(weakAda?.isDeleted == true)
            context.reset()
            #expect(weakAda == nil)
        }
    }

    @Test func `S3 an object does not keep its context alive`() throws {
        let store = try StaffStore()
        weak var weakContext: ManagedObjectContext?
        var ada: Employee?
        do {
            let context = store.context()
            weakContext = context
            try context.performAndWait { () throws in
                ada = Employee(context: context)
                try context.save()
            }
        }

        #expect(weakContext == nil)
        #expect(ada?.managedObjectContext == nil)
        #expect(ada?.lastName == "")
    }

    @Test func `S12 undoing all changes of an object lets it go`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            weak var weakAda: Employee?
            do {
                let ada = Employee(context: context)
                try context.save()
                context.undoManager?.removeAllActions()
                ada.firstName = "Ada"
                context.processPendingChanges()
                ada.lastName = "Lovelace"
                weakAda = ada
            }
            context.undo()
            #expect(weakAda?.isUpdated == true)

            context.undo()
            context.undoManager?.removeAllActions()

            #expect(weakAda == nil)
        }
    }

    @Test func `S22 S23 a two-way relationship is a cycle that refresh breaks`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            weak var weakAda: Employee?
            weak var weakDepartment: Department?
            do {
                let ada = Employee(context: context)
                let department = Department(context: context)
                ada.department = department
                try context.save()
                context.undoManager?.removeAllActions()
                #expect(department.employees == [ada])
                #expect(ada.department === department)
                weakAda = ada
                weakDepartment = department
            }
            #expect(weakAda != nil)
            #expect(weakDepartment != nil)

            if let ada = weakAda { context.refresh(ada, mergeChanges: false) }

            #expect(weakAda == nil)
            #expect(weakDepartment == nil)
        }
    }

    @Test func `S15 S16 retained objects live as long as the context wants them`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            context.undoManager = nil
            context.retainsRegisteredObjects = true
            weak var weakAda: Employee?
            do {
                let ada = Employee(context: context)
                weakAda = ada
                try context.save()
            }
            #expect(weakAda != nil)

            context.retainsRegisteredObjects = false

            #expect(weakAda == nil)
        }
    }

    @Test func `S16 what redo brings back is retained like all others`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            context.retainsRegisteredObjects = true
            weak var weakAda: Employee?
            do {
                let ada = Employee(context: context)
                weakAda = ada
                context.processPendingChanges()
                context.undo()
                context.redo()
                try context.save()
                context.undoManager = nil
            }

            #expect(weakAda != nil)
        }
    }

    @Test func `S64 S66 one record is one instance by every path`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let department = Department(context: context)
            for name in ["Ada", "Grace"] {
                let employee = Employee(context: context)
                employee.firstName = name
                employee.department = department
            }
            try context.save()
        }
        try store.inContext { (context) throws in
            let employees = try context.fetch(FetchRequest<Employee>())

            let departments = Set(employees.compactMap(\.department))

            let department = try #require(departments.first)
            #expect(departments.count == 1)
            #expect(department.isFault)
            #expect(try context.fetch(FetchRequest<Department>()).first === department)
            #expect(context.object(with: department.objectID) === department)
        }
    }
}

@Suite struct FreshnessTests {
    @Test func `WE2 Sarit Smith: a transient keeps its value across a merging refresh`() throws {
        let store = try StaffStore()
        let id = try store.inContext { (context) throws in
            let sarit = Employee(context: context)
            sarit.firstName = "Sarit"
            sarit.lastName = "Smith"
            try context.save()
            return sarit.objectID
        }
        let second = store.context("second")
        try second.performAndWait { () throws in
            let sarit = try #require(try second.existingObject(with: id) as? Employee)
            sarit.lastName = "Jones"
            sarit.fullName = "Sarit Jones"
            try store.inContext { (first) throws in
                let other = try #require(try first.existingObject(with: id) as? Employee)
                other.firstName = "Fiona"
                other.fullName = "Fiona Smith"
                try first.save()
            }

            second.refresh(sarit, mergeChanges: true)

            #expect(sarit.firstName == "Fiona")
            #expect(sarit.lastName == "Jones")
            #expect(sarit.fullName == "Sarit Jones")
            try second.save()
        }
        try store.inContext { (context) throws in
            let fiona = try #require(try context.existingObject(with: id) as? Employee)
            #expect(fiona.fullName == "Fiona Jones")
        }
    }

    @Test func `S39 a refresh without merging drops edits and reads again`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            try context.save()
            ada.lastName = "Lovelace"

            context.refresh(ada, mergeChanges: false)

            #expect(ada.isFault)
            #expect(ada.lastName == "Byron")
            #expect(!context.hasChanges)
        }
    }
}

@Suite struct BadUseTests {
    @Test func `setting a deleted object changes nothing and undo brings it back whole`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            try context.save()
            context.delete(ada)
            context.processPendingChanges()

            ada.lastName = "Nobody"
            ada.department = Department(context: context)
            context.processPendingChanges()

            context.undo()
            context.undo()
            #expect(ada.lastName == "Byron")
            #expect(ada.department == nil)
            #expect(!ada.isDeleted)
        }
    }

    @Test func `undo passes over objects that an unregistered change has deleted`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            try context.save()
            ada.lastName = "Byron"
            context.undoManager?.disableUndoRegistration()
            context.delete(ada)
            context.undoManager?.enableUndoRegistration()

            context.undo()

            #expect(ada.isDeleted)
            try context.save()
            #expect(try context.count(FetchRequest<Employee>()) == 0)
        }
    }

    @Test func `relating objects of two contexts stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try StaffStore()
            let first = store.context()
            let second = store.context()
            first.performAndWait {
                let ada = Employee(context: first)
                second.performAndWait { ada.department = Department(context: second) }
            }
        }
    }

    @Test func `an insert that cannot be saved is named by the save and gone after a rollback`()
        throws
    {
        let store = try StaffStore()
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("copy.daybook")
        try FileManager.default.copyItem(at: store.url, to: url)
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        let container = try TestContainer.make(url, model: staff, options: options)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            _ = Employee(context: context)

            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .readOnly)
            context.rollback()

            #expect(try context.save() == nil)
            #expect(!context.hasChanges)
        }
    }

    @Test func `a failed insert that was rolled back does not refuse later saves`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            // As after an insert on a full disk that has space again.
            context.terms.rememberInsertFailure(StoreError.readOnlyContext())
            let ada = Employee(context: context)
            ada.lastName = "Lovelace"

            #expect(try context.save() != nil)
        }
    }

    @Test func `an unknown entity stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try StaffStore()
            let context = store.context()
            context.performAndWait { _ = context.insertNewObject(forEntityName: "Person") }
        }
    }
}
