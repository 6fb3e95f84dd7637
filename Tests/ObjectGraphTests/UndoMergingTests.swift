import JournalLog
import ObjectModel
import SnapshotStore
import TestSupport
import Testing

@testable import ObjectGraph

/// Saved entries undone in a context that has not seen everything, or has seen it already: what cannot
/// be done is said, and never silently left.
@Suite struct UndoMergingTests {
    private let staff: StaffStore
    private let ada: ManagedObjectID

    /// Entry 2 makes an employee called "one".
    init() throws {
        let staff = try StaffStore()
        self.staff = staff
        ada = try staff.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "one"
            try context.save()
            return ada.objectID
        }
    }

    private func employee(in context: ManagedObjectContext) throws -> Employee {
        try #require(try context.existingObject(with: ada) as? Employee)
    }

    /// Others give the employee a name.
    @discardableResult
    private func rename(_ name: String, author: String? = nil) throws -> SequenceNumber {
        try staff.inContext { (context) throws in
            try employee(in: context).lastName = name
            return try #require(try context.save(author: author))
        }
    }

    private func savedName() throws -> String {
        try staff.inContext { (context) throws in try employee(in: context).lastName }
    }

    private func header(_ sequence: SequenceNumber) throws -> EntryHeader {
        let stores = staff.container.persistentStoreCoordinator.persistentStores
        return try #require(stores.first).store.entry(sequence).header
    }

    // MARK: - Groups, ranges and limits

    @Test(arguments: [true, false])
    func `an entry undone in a group is named by the save`(groupsByEvent: Bool) throws {
        let second = try rename("two")
        try staff.inContext { (context) throws in
            let manager = try #require(context.undoManager)
            manager.groupsByEvent = groupsByEvent
            if groupsByEvent { manager.beginUndoGrouping() }
            try context.undo(entry: second)
            if groupsByEvent { manager.endUndoGrouping() }

            let undo = try #require(try context.save())

            #expect(try header(undo).undoes == second...second)
        }
    }

    @Test func `a group that changes something besides is a plain save`() throws {
        let second = try rename("two")
        try staff.inContext { (context) throws in
            let manager = try #require(context.undoManager)
            manager.beginUndoGrouping()
            try context.undo(entry: second)
            try employee(in: context).firstName = "Ada"
            manager.endUndoGrouping()

            let saved = try #require(try context.save())

            #expect(try header(saved).undoes == nil)
        }
    }

    @Test(arguments: [true, false])
    func `undo does not go on with any entry of a run that is taken back here`(
        isRecorded: Bool
    ) throws {
        let second = try rename("two", author: "ada")
        let third = try rename("three", author: "ada")
        try staff.inContext { (context) throws in
            if !isRecorded { context.undoManager?.disableUndoRegistration() }
            try context.undo(entries: second...third)

            #expect(try context.continueUndo(savesBy: .author("ada")) == 0)
        }
    }

    @Test func `undo goes on with as many steps as the undo manager has levels`() throws {
        for name in ["two", "three", "four", "five"] { try rename(name, author: "ada") }
        try staff.inContext { (context) throws in
            context.undoManager?.levelsOfUndo = 3
            try employee(in: context).firstName = "Ada"
            try context.save(author: "bob")

            #expect(try context.continueUndo(savesBy: .author("ada")) == 2)
            #expect(context.undoManager?.undoCount == 3)
        }
    }

    // MARK: - The container

    @Test func `a preview refuses what the model refuses`() throws {
        let store = try ClassStore(motorpool)
        let joined = try store.inContext { (context) throws in
            let garage = Garage(context: context)
            garage.permit = Permit(context: context)
            let trucks = (0..<3).map { _ in Truck.valid(in: context) }
            garage.trucks = [trucks[0], trucks[1]]
            try context.save()
            trucks[2].garage = garage
            let joined = try #require(try context.save())
            trucks[0].garage = nil
            try context.save()
            return joined
        }

        let preview = #expect(throws: StoreError.self) {
            try store.container.previewUndo(of: joined...joined)
        }
        let undo = #expect(throws: StoreError.self) { try store.container.undo(joined) }

        #expect(preview?.code == .validation)
        #expect(preview?.failures == undo?.failures)
        #expect(preview?.message == undo?.message)
    }

    @Test func `an undo that a new unique value overtakes is worked out anew`() throws {
        let renamed = try staff.inContext { (context) throws in
            let department = Department(context: context)
            department.name = "R&D"
            try context.save()
            department.name = "Laboratory"
            return try #require(try context.save())
        }
        let journal = try #require(
            staff.container.persistentStoreCoordinator.persistentStores.first)
        var planCount = 0

        let error = #expect(throws: StoreError.self) {
            try journal.carryOut {
                let plan = try journal.store.undoPlan(of: renamed...renamed)
                planCount += 1
                if planCount == 1 {
                    try staff.inContext { (context) throws in
                        Department(context: context).name = "R&D"
                        try context.save()
                    }
                }
                return plan
            }
        }

        #expect(planCount == 2)
        #expect(error?.code == .undoBlocked)
        #expect(error?.obstacles.count == 1)
    }
}
