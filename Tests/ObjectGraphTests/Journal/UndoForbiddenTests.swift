import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// Undo of a difference that, with what others have saved since, leads to a value the rules of the
/// attribute forbid: nothing changes, and it is reported.
@Suite struct UndoForbiddenTests {
    /// A context in which 10 were put in stock, of which others have sold 8 before 5 were there.
    private func makeBank(_ context: (Bank) -> ManagedObjectContext) throws -> (
        Bank, ManagedObjectContext
    ) {
        let bank = try Bank { $0.stock = 5 }
        let context = context(bank)
        bank.edit(context) { $0.stock += 10 }
        try bank.save(context)
        try bank.others { $0.stock -= 12 }
        try context.performAndWait { () throws in _ = try context.mergeChanges() }
        return (bank, context)
    }

    @Test func `an undo to a forbidden value changes nothing and is reported`() throws {
        let (bank, context) = try makeBank { $0.context() }
        try context.performAndWait { () throws in
            var errors: [any Error] = []
            context.undoFailureHandler = { errors.append($0) }
            let account = bank.account(in: context)
            context.undo()

            #expect(account.stock == 3)
            #expect(!context.hasChanges)
            let error = try #require(errors.first as? StoreError)
            #expect(errors.count == 1)
            #expect(error.code == .undoBlocked)
            #expect(error.obstacles.map(\.propertyName) == ["stock"])
            #expect(error.obstacles.map(\.object) == [account.graphID.object])
            #expect(error.description.contains("'stock' of Account/1"))
        }
    }

    @Test func `without a handler the next save tells of it once`() throws {
        let (bank, context) = try makeBank { $0.context() }
        bank.edit(context) { _ in context.undo() }

        #expect(bank.refusal(context)?.code == .undoBlocked)
        #expect(bank.refusal(context) == nil)
    }

    @Test func `the step stays, and can be undone once that is allowed again`() throws {
        let (bank, context) = try makeBank { $0.context() }
        try context.performAndWait { () throws in
            context.undoFailureHandler = { _ in }
            context.undo()
            #expect(context.undoManager?.undoCount == 1)
            #expect(context.undoManager?.canRedo == false)

            try bank.others { $0.stock += 20 }
            _ = try context.mergeChanges()
            context.undo()
            #expect(bank.account(in: context).stock == 13)
        }
    }

    @Test func `nothing else of the step is taken back either`() throws {
        let bank = try Bank { $0.stock = 5 }
        let context = bank.context()
        bank.edit(context) {
            $0.stock += 10
            $0.holder = "Ada"
        }
        try bank.save(context)
        try bank.others { $0.stock -= 12 }
        try context.performAndWait { () throws in
            var count = 0
            context.undoFailureHandler = { _ in count += 1 }
            _ = try context.mergeChanges()
            context.undo()

            #expect(count == 1)
            #expect(bank.account(in: context).holder == "Ada")
        }
    }

    @Test func `a redo to a forbidden value is reported as well`() throws {
        let bank = try Bank { $0.stock = 15 }
        let context = bank.context()
        bank.edit(context) { $0.stock -= 10 }
        try bank.save(context)
        bank.edit(context) { _ in context.undo() }
        try bank.save(context)
        try bank.others { $0.stock -= 12 }
        try context.performAndWait { () throws in
            var errors: [any Error] = []
            context.undoFailureHandler = { errors.append($0) }
            _ = try context.mergeChanges()
            context.redo()

            #expect(bank.account(in: context).stock == 3)
            #expect(errors.map { ($0 as? StoreError)?.code } == [.undoBlocked])
            #expect(context.undoManager?.canRedo == true)
        }
    }

    @Test func `a nested group that leads to a forbidden value stays in the open one`() throws {
        let bank = try Bank { $0.stock = 5 }
        let context = bank.context()
        try context.performAndWait { () throws in
            var errors: [any Error] = []
            context.undoFailureHandler = { errors.append($0) }
            let manager = try #require(context.undoManager)
            let account = bank.account(in: context)
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            account.stock += 10
            manager.endUndoGrouping()
            try context.save()
            try bank.others { $0.stock -= 12 }
            _ = try context.mergeChanges()
            manager.undoNestedGroup()

            #expect(account.stock == 3)
            #expect(errors.map { ($0 as? StoreError)?.code } == [.undoBlocked])
            manager.endUndoGrouping()
            #expect(manager.undoCount == 1)
        }
    }

    @Test func `the undo of a saved entry in a context with less than it takes away is refused`()
        throws
    {
        let bank = try Bank { $0.stock = 5 }
        let context = bank.context()
        let sequence = try bank.others { $0.stock += 10 }
        try context.performAndWait { () throws in
            _ = try context.mergeChanges()
            let account = bank.account(in: context)
            account.stock -= 12
            let error = #expect(throws: StoreError.self) { try context.undo(entry: sequence) }

            #expect(error?.code == .undoBlocked)
            #expect(account.stock == 3)
        }
    }
}
