import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Relationships set to an object that is deleted, or gone: the save refuses them, and they are not
/// visible before.
@Suite struct DeletedReferenceTests {
    private let store: StaffStore
    private let context: ManagedObjectContext

    init() throws {
        store = try StaffStore()
        context = store.context()
    }

    /// A saved department, an employee and a project, none of them related.
    private func company() throws -> (Department, Employee, Project) {
        let research = Department(context: context)
        research.name = "Research"
        let ada = Employee(context: context)
        ada.lastName = "Lovelace"
        let engine = Project(context: context)
        try context.save()
        return (research, ada, engine)
    }

    /// The ways in which an object is gone when it is related.
    enum Departure: CaseIterable {
        case deleted, deletedAndProcessed, savedAsDeleted, deletedByOthers, reset
    }

    private func lose(_ ada: Employee, _ departure: Departure) throws {
        switch departure {
        case .deleted:
            context.delete(ada)
        case .deletedAndProcessed:
            context.delete(ada)
            context.processPendingChanges()
        case .savedAsDeleted:
            context.delete(ada)
            try context.save()
        case .deletedByOthers:
            try store.inContext { (other) throws in
                other.delete(try other.existingObject(with: ada.objectID))
                try other.save()
            }
            _ = try context.mergeChanges()
        case .reset:
            context.reset()
        }
    }

    private func expectRefused(_ owner: ManagedObject, _ name: String) throws {
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validation)
            #expect(error?.number == 1550)
            #expect(error?.failures.map(\.property) == [name])
            #expect(error?.failures.first?.object == owner.objectID.object)
        }
        #expect(context.hasChanges)
    }

    @Test(arguments: Departure.allCases)
    func `relating a deleted object over any relationship leaves no ghost and is refused`(
        departure: Departure
    ) throws {
        guard departure != .reset else { return }
        try context.performAndWait { () throws in
            let (research, ada, engine) = try company()
            let grace = Employee(context: context)
            try context.save()
            try lose(ada, departure)

            research.employees.insert(ada)
            #expect(research.employees.isEmpty)
            try expectRefused(research, "employees")
            research.employees = []

            engine.members.insert(ada)
            #expect(engine.members.isEmpty)
            try expectRefused(engine, "members")
            engine.members = []

            grace.mentor = ada
            #expect(grace.mentor == nil)
            try expectRefused(grace, "mentor")
            grace.mentor = nil

            try context.save()
            #expect(!context.hasChanges)
        }
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Employee>()) == 1)
            let engine = try #require(try context.fetch(FetchRequest<Project>()).first)
            #expect(engine.members.isEmpty)
        }
    }

    @Test func `an object from before a reset cannot be related and leaves no ghost`() throws {
        try context.performAndWait { () throws in
            let (_, ada, _) = try company()
            let id = ada.objectID
            context.reset()
            let sales = Department(context: context)
            sales.name = "Sales"

            sales.employees.insert(ada)

            #expect(sales.employees.isEmpty)
            try expectRefused(sales, "employees")
            let again = try #require(try context.existingObject(with: id) as? Employee)
            sales.employees = [again]
            try context.save()
            #expect(again.department === sales)
        }
    }

    @Test(arguments: [Departure.deleted, .deletedAndProcessed, .savedAsDeleted])
    func `a live object given to a deleted one is refused as well`(departure: Departure) throws {
        try context.performAndWait { () throws in
            let (_, ada, engine) = try company()
            let stays = Employee(context: context)
            let grace = Employee(context: context)
            grace.mentor = stays
            try context.save()
            try lose(ada, departure)

            ada.projects = [engine]

            #expect(engine.members.isEmpty)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validation)
            context.rollback()
            #expect(try context.save() == nil)
        }
    }

    @Test func `undo of the delete, a rollback and a refresh forget the attempt`() throws {
        try context.performAndWait { () throws in
            let (research, ada, _) = try company()
            context.delete(ada)
            context.processPendingChanges()
            research.employees.insert(ada)
            context.undo()
            #expect(!context.hasChanges)
            #expect(try context.save() == nil)
            research.employees.insert(ada)
            try context.save()
            #expect(research.employees == [ada] && ada.department === research)

            context.delete(ada)
            research.employees.insert(ada)
            context.rollback()
            #expect(!context.hasChanges)
            #expect(research.employees == [ada])

            context.delete(ada)
            context.processPendingChanges()
            research.employees.insert(ada)
            context.refresh(research, mergeChanges: false)
            try context.save()
            #expect(research.employees.isEmpty)
        }
    }

    @Test func `a list may be changed while the delete rules of a member wait`() throws {
        try context.performAndWait { () throws in
            let (_, ada, engine) = try company()
            let grace = Employee(context: context)
            engine.members = [ada]
            try context.save()

            context.delete(ada)
            engine.members.insert(grace)
            try context.save()

            #expect(engine.members == [grace])
        }
        try store.inContext { (context) throws in
            #expect(try context.fetch(FetchRequest<Project>()).first?.members.count == 1)
        }
    }

    @Test func `what is taken away from a deleted object is spared by its delete rule`() throws {
        try context.performAndWait { () throws in
            let (research, _, _) = try company()
            let desk = Desk(context: context)
            desk.department = research
            try context.save()

            context.delete(research)
            research.desks.remove(desk)
            try context.save()

            #expect(!desk.isDeleted)
        }
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Desk>()) == 1)
        }
    }

    @Test func `a child refuses what it relates to an object that it deleted`() throws {
        let (researchID, adaID) = try context.performAndWait { () throws in
            let (research, ada, _) = try company()
            return (research.objectID, ada.objectID)
        }
        let child = ManagedObjectContext(parent: context)
        try child.performAndWait { () throws in
            let research = try #require(try child.existingObject(with: researchID) as? Department)
            let ada = try #require(try child.existingObject(with: adaID) as? Employee)
            child.delete(ada)
            research.employees.insert(ada)

            #expect(research.employees.isEmpty)
            let preview = try child.previewSave()
            #expect(preview.refusal?.code == .validation)
            let error = #expect(throws: StoreError.self) { try child.save() }
            #expect(error?.code == .validation)
        }
        context.performAndWait { #expect(!context.hasChanges) }
    }
}
