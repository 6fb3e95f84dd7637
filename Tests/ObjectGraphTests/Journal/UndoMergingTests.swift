import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// Saved entries undone in a context that has not merged everything, or has already undone them:
/// failures are reported, never silent.
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

    // MARK: - Unmerged entries

    @Test(arguments: [false, true])
    func `an entry that a context has not merged is undone there only after merging`(
        isSpeculative: Bool
    ) throws {
        let context =
            isSpeculative
            ? try staff.container.speculativeContext(at: .sequence(SequenceNumber(2)))
            : staff.context()
        try context.performAndWait { () throws in
            #expect(try employee(in: context).lastName == "one")
            let second = try rename("two", author: "bob")

            for policy in UndoPolicy.allCases {
                let error = #expect(throws: StoreError.self) {
                    try context.undo(entry: second, policy: policy)
                }
                #expect(error?.code == .undoBlocked)
                #expect(error?.obstacles.map(\.propertyName) == ["lastName"])
                #expect(error?.obstacles.map(\.author) == ["bob"])
                #expect(error?.message.contains("mergeChanges()") == true)
            }
            #expect(!context.hasChanges)
            #expect(context.undoManager?.canUndo == false)

            _ = try context.mergeChanges()
            try context.undo(entry: second)
            let undo = try #require(try context.save())
            #expect(try header(undo).undoes == second...second)
            #expect(try savedName() == "one")
        }
    }

    @Test func `a delete that a context has not merged is not undone there`() throws {
        let context = staff.context()
        try context.performAndWait { () throws in
            _ = try employee(in: context)
            let deletion = try staff.inContext { (other) throws in
                other.delete(try employee(in: other))
                return try #require(try other.save())
            }

            let error = #expect(throws: StoreError.self) { try context.undo(entry: deletion) }

            #expect(error?.code == .undoBlocked)
            #expect(error?.obstacles.map(\.entry) == [deletion])
            #expect(!context.hasChanges)
        }
    }

    @Test func `what others have saved elsewhere needs no merging`() throws {
        let first = try rename("two")
        let context = staff.context()
        try context.performAndWait { () throws in
            _ = try employee(in: context)
            try staff.inContext { (other) throws in
                try employee(in: other).firstName = "Ada"
                try other.save()
            }

            try context.undo(entry: first)
            try context.save()

            #expect(try savedName() == "one")
        }
    }

    @Test func `a step of the past that has not been merged is reported and stays until it is`()
        throws
    {
        let context = staff.context()
        try context.performAndWait { () throws in
            let ada = try employee(in: context)
            #expect(ada.lastName == "one")
            try rename("two", author: "bob")
            var told: [StoreError] = []
            context.undoFailureHandler = { error in
                if let error = error as? StoreError { told.append(error) }
            }
            #expect(try context.continueUndo(savesBy: .author("bob")) == 1)

            context.undo()

            #expect(told.map(\.code) == [.undoBlocked])
            #expect(told.first?.message.contains("mergeChanges()") == true)
            #expect(!context.hasChanges)
            #expect(context.undoManager?.canUndo == true)
            _ = try context.mergeChanges()
            #expect(ada.lastName == "two")
            context.undo()
            #expect(told.count == 1)
            #expect(ada.lastName == "one")
        }
    }

    // MARK: - Already undone entries

    @Test(arguments: [true, false])
    func `an entry is not undone twice before a save`(hasUndoManager: Bool) throws {
        let second = try rename("two")
        try staff.inContext { (context) throws in
            if !hasUndoManager { context.undoManager = nil }
            try context.undo(entry: second)

            let error = #expect(throws: StoreError.self) { try context.undo(entry: second) }

            #expect(error?.code == .undoBlocked)
            #expect(error?.message.contains("already") == true)
            #expect(context.undoManager.map(\.undoCount) == (hasUndoManager ? 1 : nil))
            let undo = try #require(try context.save())
            #expect(try header(undo).undoes == second...second)
        }
    }

    @Test func `an insert and a delete are not undone twice before a save either`() throws {
        let deletion = try staff.inContext { (context) throws in
            context.delete(try employee(in: context))
            return try #require(try context.save())
        }
        try staff.inContext { (context) throws in
            try context.undo(entry: deletion)
            #expect(throws: StoreError.self) { try context.undo(entry: deletion) }
            try context.save()
        }
        let made = try staff.inContext { (context) throws in
            _ = Employee(context: context)
            return try #require(try context.save())
        }
        try staff.inContext { (context) throws in
            try context.undo(entry: made)
            #expect(throws: StoreError.self) { try context.undo(entry: made) }
            #expect(try context.save() != nil)
        }
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

    @Test func `undo continues with as many steps as the undo manager has levels`() throws {
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

    @Test func `an undo that a new unique value overtakes is planned again`() throws {
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
