import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// What a context has taken back of saved entries, and not saved yet, it takes back once, and its save names the
/// entries.
@Suite struct TakenBackTests {
    private let bank: Bank
    private let context: ManagedObjectContext

    init() throws {
        bank = try Bank()
        context = bank.context()
    }

    /// Runs `body` on the queue of the context.
    private func inContext(_ body: (Account) throws -> Void) throws {
        try context.performAndWait { try body(bank.account(in: context)) }
    }

    /// Changes the account, which ends the event.
    private func edit(_ body: (Account) -> Void) { bank.edit(context, body) }

    /// Changes the account and saves it.
    private func saved(author: String? = nil, _ body: (Account) -> Void) throws -> SequenceNumber {
        edit(body)
        return try #require(try context.save(author: author))
    }

    private func header(_ sequence: SequenceNumber?) throws -> EntryHeader {
        try bank.store.entry(try #require(sequence)).header
    }

    /// Asserts that entries are not taken back here, because they, or a part of them, have been.
    private func refuses(_ entries: ClosedRange<SequenceNumber>) {
        let error = #expect(throws: StoreError.self) { try context.undo(entries: entries) }
        #expect(error?.code == .undoBlocked)
    }

    // MARK: - Once

    @Test func `an entry that was taken back is not taken back again when redo was given up`()
        throws
    {
        try inContext { account in
            let ten = try saved { $0.balance += 10 }
            context.undo()
            edit { $0.holder = "Ada" }

            refuses(ten...ten)

            #expect(account.balance == 0)
            try context.save()
            #expect(bank.stored { $0.balance } == 0)
        }
    }

    @Test func `a save names what was taken back before redo was given up`() throws {
        try inContext { account in
            let ten = try saved { $0.balance += 10 }
            context.undo()
            edit { $0.holder = "Ada" }
            context.undo()

            let undo = try context.save()

            #expect(try header(undo).undoes == ten...ten)
            #expect(account.balance == 0)
        }
    }

    @Test func `undo does not go on with a step that was taken back before redo was given up`()
        throws
    {
        try inContext { account in
            _ = try saved(author: "ada") { $0.balance += 10 }
            context.undo()
            edit { $0.holder = "Ada" }

            #expect(try context.continueUndo(savesBy: .author("ada")) == 0)

            context.undo()
            context.undo()
            #expect(account.balance == 0)
        }
    }

    @Test func `an entry is not taken back again when its step has left the list`() throws {
        try inContext { account in
            _ = try saved { $0.holder = "Ada" }
            let ten = try saved { $0.balance += 10 }
            context.undo()
            context.undo()
            context.undoManager?.levelsOfUndo = 1
            refuses(ten...ten)
            context.undoManager?.removeAllActions()

            refuses(ten...ten)

            #expect(account.balance == 0)
        }
    }

    @Test func `a rollback forgets what was taken back`() throws {
        try inContext { account in
            let ten = try saved { $0.balance += 10 }
            context.undo()
            edit { $0.holder = "Ada" }
            context.rollback()

            try context.undo(entry: ten)

            #expect(account.balance == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a refresh forgets what was taken back of its object`(endsRedo: Bool) throws {
        try inContext { account in
            let ten = try saved { $0.balance += 10 }
            context.undo()
            if endsRedo { edit { $0.holder = "Ada" } }
            context.refresh(account, mergeChanges: false)
            #expect(account.balance == 10)
            #expect(context.undoManager?.canRedo == false)

            try context.undo(entry: ten)

            #expect(account.balance == 0)
            #expect(try header(try context.save()).undoes == ten...ten)
        }
    }

    // MARK: - In part

    @Test func `entries of which one was taken back are not taken back together`() throws {
        try inContext { account in
            let five = try saved { $0.balance += 5 }
            let ten = try saved { $0.balance += 10 }
            context.undo()

            refuses(five...ten)
            #expect(account.balance == 5)
            try context.undo(entry: five)

            #expect(account.balance == 0)
            #expect(try header(try context.save()).undoes == five...ten)
        }
    }

    @Test func `an entry is not taken back when a part of its difference has been`() throws {
        try inContext { account in
            edit { $0.balance += 10 }
            let both = try saved { $0.balance += 5 }
            context.undo()

            refuses(both...both)

            #expect(account.balance == 10)
        }
    }

    @Test func `the rest of an entry is taken back when another step of it has been`() throws {
        try inContext { account in
            edit { $0.balance += 10 }
            let both = try saved { $0.holder = "Ada" }
            context.undo()

            try context.undo(entry: both)

            #expect(account.balance == 0)
            #expect(account.holder == "")
            #expect(try header(try context.save()).undoes == both...both)
        }
    }

    @Test func `what a group has saved and taken back is not taken back again`() throws {
        try inContext { account in
            let manager = try #require(context.undoManager)
            manager.beginUndoGrouping()
            let ten = try saved { $0.balance += 10 }
            edit { $0.holder = "Ada" }
            manager.endUndoGrouping()
            context.undo()

            refuses(ten...ten)

            #expect(account.balance == 0)
        }
    }

    @Test func `what a nested group has saved and taken back is not taken back again`() throws {
        try inContext { account in
            let manager = try #require(context.undoManager)
            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            edit { $0.balance += 10 }
            manager.endUndoGrouping()
            let ten = try #require(try context.save())
            manager.undoNestedGroup()
            refuses(ten...ten)
            manager.endUndoGrouping()

            refuses(ten...ten)

            #expect(account.balance == 0)
            context.redo()
            #expect(account.balance == 10)
            #expect(!context.hasChanges)
        }
    }

    @Test func `a saved step that was redone in a group is taken back once`() throws {
        try inContext { account in
            let manager = try #require(context.undoManager)
            let ten = try saved { $0.balance += 10 }
            context.undo()
            manager.beginUndoGrouping()
            context.redo()
            manager.endUndoGrouping()
            #expect(!context.hasChanges)
            context.undo()

            refuses(ten...ten)

            #expect(account.balance == 0)
        }
    }

    // MARK: - Naming

    @Test func `entries in a row that are undone one by one are named together`() throws {
        try inContext { account in
            let five = try saved { $0.balance += 5 }
            let name = try saved { $0.holder = "Ada" }
            try context.undo(entry: name)
            try context.undo(entry: five)

            let undo = try context.save()

            #expect(try header(undo).undoes == five...name)
            #expect(account.balance == 0)
        }
    }

    // MARK: - Going on with an earlier run

    @Test func `undo goes on after what it has taken back was saved without a name`() throws {
        try inContext { account in
            _ = try saved(author: "ada") { $0.holder = "A" }
            context.undoManager?.removeAllActions()
            #expect(try context.continueUndo(savesBy: .author("ada")) == 1)
            _ = try saved { $0.holder = "B" }
            try bank.others { $0.plain = 1 }
            _ = try context.mergeChanges()
            _ = try saved { $0.holder = "C" }
            context.undo()
            context.undo()
            #expect(account.holder == "A")
            // The others' entry lies between those that it takes back.
            #expect(try header(try context.save()).undoes == nil)
            var failures: [any Error] = []
            context.undoFailureHandler = { failures.append($0) }

            context.undo()

            #expect(failures.isEmpty)
            #expect(account.holder == "")
            #expect(account.plain == 1)
        }
    }

    @Test func `a step of the past is blocked by what was saved with a step, and belongs to none`()
        throws
    {
        try inContext { account in
            _ = try saved(author: "ada") { $0.plain = 1 }
            let manager = try #require(context.undoManager)
            manager.removeAllActions()
            #expect(try context.continueUndo(savesBy: .author("ada")) == 1)
            manager.disableUndoRegistration()
            edit { $0.plain = 2 }
            manager.enableUndoRegistration()
            _ = try saved { $0.holder = "B" }
            var failures: [any Error] = []
            context.undoFailureHandler = { failures.append($0) }
            context.undo()
            #expect(account.holder == "")

            context.undo()

            #expect(failures.map { ($0 as? StoreError)?.code } == [.undoBlocked])
            #expect(account.plain == 2)
        }
    }
}
