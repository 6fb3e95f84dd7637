import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// What a context's own journal keeps.
@Suite struct WorkingJournalTests {
    @Test func `without an undo manager one change of an object is all that is kept`() throws {
        let bank = try Bank()
        let context = bank.context()
        context.performAndWait {
            context.undoManager = nil
            let account = bank.account(in: context)
            for plain in 1...1_000 {
                account.plain = plain
                context.processPendingChanges()
            }

            #expect(context.journal.list.changeCount == 0)
            #expect(context.journal.net.count == 1)
            guard case .update(let edits, _)? = context.journal.net.first?.change?.kind else {
                Issue.record("The account is updated.")
                return
            }
            #expect(edits.map(\.old) == [.int(0)])
            #expect(edits.map(\.new) == [.int(1_000)])
        }
    }

    @Test func `the limit of levels bounds what is kept`() throws {
        let bank = try Bank()
        let context = bank.context()
        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            manager.levelsOfUndo = 3
            let account = bank.account(in: context)
            for plain in 1...100 {
                account.plain = plain
                context.processPendingChanges()
            }
            #expect(context.journal.list.changeCount == 3)

            for _ in 1...3 { context.undo() }
            #expect(account.plain == 97)
            #expect(context.hasChanges)
            #expect(context.journal.list.changeCount == 3)
            context.rollback()
            #expect(account.plain == 0)
            #expect(context.journal.list.changeCount == 0)
        }
    }

    @Test func `a manager that changes contexts takes its open groups along and nothing else`()
        throws
    {
        let bank = try Bank()
        let (first, second) = (bank.context(), bank.context())
        let manager = UndoManager()
        manager.beginUndoGrouping()
        manager.setActionName("Together")
        #expect(manager.groupingLevel == 1)
        first.performAndWait {
            first.undoManager = manager
            bank.account(in: first).plain = 1
            first.processPendingChanges()
            #expect(manager.undoCount == 1)
            first.undoManager = nil
            #expect(first.journal.list.changeCount == 0)
            #expect(first.hasChanges)
        }
        try second.performAndWait { () throws in
            second.undoManager = manager
            #expect(manager.undoCount == 0)
            #expect(manager.groupingLevel == 1)
            bank.account(in: second).plain = 2
            manager.endUndoGrouping()
            #expect(manager.undoActionName == "Together")
            second.undo()
            #expect(!second.hasChanges)
        }
    }
}
