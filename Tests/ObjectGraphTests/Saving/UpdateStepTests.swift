import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// Which undo steps remain after an update that runs again.
@Suite struct UpdateStepTests {
    private struct Refusal: Error {}

    @Test func `an update that runs again keeps the saved steps of an open group`() throws {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0

        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            let account = bank.account(in: context)
            manager.beginUndoGrouping()
            manager.setActionName("Opening")
            account.holder = "Ada"
            try context.save()
            try context.update {
                runs += 1
                account.plain += 10
                if runs == 1 { try bank.others { $0.plain += 100 } }
            }
            #expect(manager.groupingLevel == 1)
            manager.endUndoGrouping()

            #expect(runs == 2)
            #expect(manager.undoCount == 1)
            #expect(manager.undoActionName == "Opening")
            context.undo()
            #expect(account.holder.isEmpty)
            #expect(account.plain == 100)
        }
    }

    @Test func `a failed update leaves what could be redone`() throws {
        let bank = try Bank()
        let context = bank.context()

        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            let account = bank.account(in: context)
            account.holder = "Ada"
            context.undo()
            #expect(throws: Refusal.self) {
                try context.update {
                    account.plain += 10
                    throw Refusal()
                }
            }

            #expect(manager.redoCount == 1)
            context.redo()
            #expect(account.holder == "Ada")
            #expect(account.plain == 0)
        }
    }

    @Test func `a failed update that has undone a saved step leaves it undoable`() throws {
        let bank = try Bank()
        let context = bank.context()

        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            let account = bank.account(in: context)
            account.holder = "Ada"
            try context.save()
            #expect(throws: Refusal.self) {
                try context.update {
                    context.undo()
                    account.plain += 10
                    manager.beginUndoGrouping()
                    throw Refusal()
                }
            }

            #expect(account.holder == "Ada")
            #expect(manager.undoCount == 1)
            #expect(manager.groupingLevel == 0)
            context.undo()
            #expect(account.holder.isEmpty)
            #expect(account.plain == 0)
        }
    }

    @Test func `a failed update keeps as many steps as may be kept since`() throws {
        let bank = try Bank()
        let context = bank.context()

        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            let account = bank.account(in: context)
            for plain in 1...3 {
                account.plain = plain
                try context.save()
            }
            #expect(throws: Refusal.self) {
                try context.update {
                    manager.levelsOfUndo = 2
                    throw Refusal()
                }
            }

            #expect(manager.undoCount == 2)
        }
    }

    @Test func `what the update itself has saved can be undone when it fails afterwards`() throws {
        let bank = try Bank()
        let context = bank.context()

        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            let account = bank.account(in: context)
            #expect(throws: Refusal.self) {
                try context.update {
                    account.plain = 1
                    try context.save()
                    account.plain = 2
                    throw Refusal()
                }
            }

            #expect(account.plain == 1)
            #expect(manager.undoCount == 1)
            context.undo()
            #expect(account.plain == 0)
        }
    }

    @Test func `a failed update brings back no step that it has forgotten itself`() throws {
        let bank = try Bank()
        let context = bank.context()

        try context.performAndWait { () throws in
            let manager = try #require(context.undoManager)
            bank.account(in: context).plain = 1
            try context.save()
            #expect(throws: Refusal.self) {
                try context.update {
                    context.rollback()
                    throw Refusal()
                }
            }

            #expect(!manager.canUndo)
        }
    }
}
