import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The lifetimes of objects and contexts, after "Managed Objects and References" of the seeds.
@Suite struct CoreDataLifetimeTests {
    enum Edit: CaseIterable {
        case insert, update, delete
    }

    enum Ending: CaseIterable {
        case save, rollback, reset
    }

    @Test func `S1 an object names its context and is registered there`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Lovelace")
        try store.inContext { (context) throws in
            let inserted = Company.Employee(context: context)
            let fetched = try context.employee(id)

            #expect(inserted.managedObjectContext === context)
            #expect(fetched.managedObjectContext === context)
            #expect(context.registeredObjects == [inserted, fetched])
        }
    }

    @Test func `S2 S4 a fetched object goes, and fetching again makes another instance`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Lovelace")
        try store.inContext { (context) throws in
            weak var first: Company.Employee?
            do {
                let ada = try #require(try context.fetch(FetchRequest<Company.Employee>()).first)
                #expect(ada.firstName == "Ada")
                ada.mark = 1
                first = ada
            }
            #expect(first == nil)
            #expect(context.registeredObjects.isEmpty)

            let again = try #require(try context.fetch(FetchRequest<Company.Employee>()).first)

            #expect(again.mark == 0)
            #expect(again.objectID == id)
        }
    }

    @Test(arguments: Edit.allCases, Ending.allCases)
    func `S5 S6 S7 S8 S9 S10 S27 a changed object is held until save, rollback or reset`(
        edit: Edit, ending: Ending
    ) throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            // A save keeps undoable changes and their objects; the other contexts forget them.
            if ending == .save { context.undoManager = nil }
            weak var changed: Company.Employee?
            do {
                changed = try change(id, edit, in: context)
            }
            #expect(changed != nil)
            #expect(changed?.hasChanges == true)

            switch ending {
            case .save: try context.save()
            case .rollback: context.rollback()
            case .reset: context.reset()
            }

            #expect(changed == nil)
            #expect(context.registeredObjects.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `S27 a deleted object is released by what it was related to`(isDeletedElsewhere: Bool)
        throws
    {
        let store = try CompanyStore()
        let department = try store.addDepartment("Engines")
        let id = try store.addEmployee("Ada", "Lovelace", in: department)
        try store.inContext { (context) throws in
            context.undoManager = nil
            let engines = try context.department(department)
            weak var weakAda: Company.Employee?
            do {
                let ada = try #require(engines.employees.first)
                #expect(ada.department === engines)
                weakAda = ada
            }
            #expect(weakAda != nil)

            if isDeletedElsewhere {
                try store.delete(id)
                _ = try context.mergeChanges()
            } else {
                do { context.delete(try #require(weakAda)) }
            }
            try context.save()

            #expect(weakAda == nil)
            #expect(engines.employees.isEmpty)
            #expect(context.registeredObjects == [engines])
        }
    }

    private func change(
        _ id: ManagedObjectID, _ edit: Edit, in context: ManagedObjectContext
    ) throws -> Company.Employee {
        switch edit {
        case .insert:
            return Company.Employee(context: context)
        case .update:
            let employee = try context.employee(id)
            employee.lastName = "Lovelace"
            return employee
        case .delete:
            let employee = try context.employee(id)
            context.delete(employee)
            return employee
        }
    }

    @Test(arguments: Edit.allCases)
    func `S11 S31 a context that goes takes its changed objects and undo manager along`(
        edit: Edit
    ) throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        weak var changed: Company.Employee?
        weak var undoManager: DaybookObjectGraph.UndoManager?
        weak var weakContext: ManagedObjectContext?
        do {
            let context = store.context()
            weakContext = context
            try context.performAndWait { () throws in
                changed = try change(id, edit, in: context)
                undoManager = context.undoManager
                #expect(changed != nil)
                #expect(undoManager != nil)
            }
        }

        #expect(weakContext == nil)
        #expect(changed == nil)
        #expect(undoManager == nil)
    }

    @Test func `S12 an object is held until the last of its changes is undone`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            weak var changed: Company.Employee?
            do {
                let ada = try context.employee(id)
                ada.firstName = "Augusta Ada"
                context.processPendingChanges()
                ada.lastName = "Lovelace"
                context.processPendingChanges()
                changed = ada
            }

            context.undo()
            #expect(changed?.hasChanges == true)
            context.undo()
            #expect(!context.hasChanges)
            // A redoable step still refers to the object.
            context.undoManager?.removeAllActions()

            #expect(changed == nil)
        }
    }

    @Test func `S13 S14 the undo manager holds what it mentions across a save, until scrubbed`()
        throws
    {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            weak var changed: Company.Employee?
            do {
                let ada = try context.employee(id)
                ada.lastName = "King"
                context.processPendingChanges()
                ada.lastName = "Lovelace"
                context.processPendingChanges()
                changed = ada
            }
            try context.save()
            context.undo()
            try context.save()
            let undoManager = try #require(context.undoManager)
            #expect(changed?.lastName == "King")
            #expect(undoManager.canUndo)
            #expect(undoManager.canRedo)

            undoManager.removeAllActions()

            #expect(changed == nil)
            #expect(!undoManager.canUndo)
            #expect(!undoManager.canRedo)
        }
    }

    @Test func `S15 a context that retains its objects keeps them as long as it lives`() throws {
        let store = try CompanyStore()
        _ = try store.addEmployee("Ada", "Lovelace")
        _ = try store.addEmployee("Grace", "Hopper")
        weak var ada: ManagedObject?
        do {
            let context = store.context()
            try context.performAndWait { () throws in
                #expect(!context.retainsRegisteredObjects)
                context.retainsRegisteredObjects = true
                ada = try context.fetch(FetchRequest<Company.Employee>()).first
                #expect(context.registeredObjects.count == 2)
                #expect(ada != nil)
            }
        }

        #expect(ada == nil)
    }

    @Test func `S16 no longer retaining releases clean objects that nobody else holds`() throws {
        let store = try CompanyStore()
        let ids = try ["Ada", "Grace", "Mary"].map { try store.addEmployee($0, "") }
        try store.inContext { (context) throws in
            context.retainsRegisteredObjects = true
            let held = try context.employee(ids[0])
            do {
                try context.employee(ids[1]).lastName = "Hopper"
                _ = try context.employee(ids[2])
            }
            #expect(context.registeredObjects.count == 3)

            context.retainsRegisteredObjects = false

            #expect(Set(context.registeredObjects.map(\.objectID)) == [ids[0], ids[1]])
            #expect(held.firstName == "Ada")
        }
    }

    @Test func `S18 a collection keeps its members, and what they lead to until that is cleared`()
        throws
    {
        let store = try CompanyStore()
        let department = try store.addDepartment("Engines")
        for name in ["Ada", "Grace", "Mary"] {
            _ = try store.addEmployee(name, "", in: department)
        }
        try store.inContext { (context) throws in
            context.undoManager = nil
            weak var engines: Company.Department?
            var kept: [Company.Employee] = []
            do {
                let all = try context.fetch(FetchRequest<Company.Employee>())
                kept = all.filter { $0.firstName == "Ada" }
                engines = kept.first?.department
                #expect(engines != nil)
            }
            #expect(context.registeredObjects == Set(kept + [engines].compactMap { $0 }))

            kept.first?.department = nil
            try context.save()

            #expect(engines == nil)
            #expect(context.registeredObjects == Set(kept))
        }
    }

    @Test func `S19 a context is disconnected by letting go of it`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Lovelace")
        weak var weakContext: ManagedObjectContext?
        var ada: Company.Employee?
        do {
            let context = store.context()
            weakContext = context
            try context.performAndWait { () throws in ada = try context.employee(id) }
            #expect(ada?.managedObjectContext === context)
        }

        #expect(weakContext == nil)
        #expect(ada?.managedObjectContext == nil)
        try store.inContext { (context) throws in
            #expect(try context.employee(id).firstName == "Ada")
        }
    }

    @Test func `S21 a realized relationship keeps its destination alive`() throws {
        let store = try CompanyStore()
        let department = try store.addDepartment("Engines")
        let id = try store.addEmployee("Ada", "Lovelace", in: department)
        try store.inContext { (context) throws in
            weak var engines: Company.Department?
            weak var weakAda: Company.Employee?
            do {
                let ada = try context.employee(id)
                weakAda = ada
                do { engines = ada.department }
                #expect(engines?.name == "Engines")
            }

            #expect(weakAda == nil)
            #expect(engines == nil)
        }
    }

    @Test func `S22 S23 a cycle outlives all references until a refresh breaks it`() throws {
        let store = try CompanyStore()
        let department = try store.addDepartment("Engines")
        let id = try store.addEmployee("Ada", "Lovelace", in: department)
        try store.inContext { (context) throws in
            weak var weakAda: Company.Employee?
            weak var engines: Company.Department?
            do {
                let ada = try context.employee(id)
                weakAda = ada
                engines = ada.department
                #expect(engines?.employees == [ada])
            }
            #expect(weakAda != nil)
            #expect(engines != nil)

            do {
                let ada = try #require(weakAda)
                context.refresh(ada, mergeChanges: false)
                #expect(ada.isFault)
            }

            #expect(weakAda == nil)
            #expect(engines == nil)
        }
    }

    @Test(arguments: Ending.allCases)
    func `S24 a reference from outside keeps an object whatever becomes of its context`(
        ending: Ending
    ) throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Lovelace")
        weak var weakAda: Company.Employee?
        do {
            var held: [Company.Employee] = []
            try store.inContext { (context) throws in
                context.undoManager = nil
                let ada = try context.employee(id)
                weakAda = ada
                context.delete(ada)
                switch ending {
                case .save: try context.save()
                case .rollback: context.rollback()
                case .reset: context.reset()
                }
                held = [ada]
            }
            #expect(weakAda != nil)
            #expect(held.count == 1)
            held = []
        }

        #expect(weakAda == nil)
    }

    @Test func `S25 instances come and go between a record's insert and its delete`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Lovelace")

        for _ in 1...3 {
            try store.inContext { (context) throws in
                for _ in 1...3 {
                    weak var instance: Company.Employee?
                    do {
                        let ada = try context.employee(id)
                        #expect(ada.mark == 0)
                        #expect(ada.firstName == "Ada")
                        ada.mark = 1
                        instance = ada
                    }
                    #expect(instance == nil)
                    #expect(try context.count(FetchRequest<Company.Employee>()) == 1)
                }
            }
        }

        try store.delete(id)
        try store.inContext { (context) throws in
            let error = #expect(throws: StoreError.self) { try context.existingObject(with: id) }
            #expect(error?.code == .objectDeleted)
        }
    }

    @Test func `S26 a record is made by creating an object and saving its context`() throws {
        let store = try CompanyStore()
        let before = try store.head
        try store.inContext { (context) throws in _ = Company.Employee(context: context) }
        #expect(try store.head == before)
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Company.Employee>()) == 0)
            _ = Company.Employee(context: context)

            try context.save()
        }

        #expect(try store.head != before)
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Company.Employee>()) == 1)
        }
    }
}
