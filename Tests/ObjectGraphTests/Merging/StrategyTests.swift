import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Attributes that merge, in every way in which two sides meet.
@Suite struct StrategyTests {
    // MARK: - Saving

    @Test(arguments: MergePolicy.allCases, [ConflictGranularity.property, .row])
    func `differences add up under every policy, and the context shows what was written`(
        policy: MergePolicy, granularity: ConflictGranularity
    ) throws {
        let bank = try Bank { $0.balance = 100 }
        let context = bank.context(policy)
        context.performAndWait { context.conflictGranularity = granularity }
        bank.edit(context) { $0.balance -= 30 }
        try bank.others { $0.balance += 5 }

        let entry = try #require(try bank.save(context))

        #expect(bank.stored { $0.balance } == 75)
        #expect(bank.edit(context) { $0.balance } == 75)
        #expect(!context.performAndWait { context.hasChanges })
        let merged = context.performAndWait { context.mergedValues }
        #expect(merged.map(\.propertyName) == ["balance"])
        #expect(merged.map(\.object) == [bank.id.object])
        #expect(merged.map(\.base) == [.int(100)])
        #expect(merged.map(\.theirs) == [.int(105)])
        #expect(merged.map(\.ours) == [.int(70)])
        #expect(merged.map(\.written) == [.int(75)])
        guard case .update(let edits, _)? = try bank.store.entry(entry).changes.first?.kind else {
            Issue.record("The entry does not update the account.")
            return
        }
        #expect(edits.map(\.old) == [.int(105)])
        #expect(edits.map(\.new) == [.int(75)])

        try bank.save(context)
        #expect(context.performAndWait { context.mergedValues } == [])
    }

    @Test func `every strategy merges what two contexts have made of one object`() throws {
        let bank = try Bank {
            $0.tags = ["old", "kept"]
            $0.marks = [1, 2]
            $0.memo = "Call back on Monday. Paid in May."
            $0.best = 10
        }
        let context = bank.context()
        bank.edit(context) {
            $0.tags = ["kept", "ours"]
            $0.marks = [1, 2, 9]
            $0.memo = "Call back on Friday. Paid in May."
            $0.best = 20
            $0.bonus = 1.5
            $0.holder = "Ada"
        }
        try bank.others {
            $0.tags.append("theirs")
            $0.marks = [2, 5]
            $0.memo = "Call back on Monday. Paid in June."
            $0.best = 15
            $0.bonus = 2
        }

        try bank.save(context)

        for read in [bank.stored { Picture($0) }, bank.edit(context) { Picture($0) }] {
            #expect(read.tags == ["kept", "theirs", "ours"])
            #expect(read.marks == [2, 5, 9])
            #expect(read.memo == "Call back on Friday. Paid in June.")
            #expect(read.best == 20)
            #expect(read.bonus == 3.5)
        }
        #expect(bank.stored { $0.holder } == "Ada")
    }

    private struct Picture {
        let tags: [String]
        let marks: Set<Int>
        let memo: String
        let best: Int
        let bonus: Decimal?

        init(_ account: Account) {
            tags = account.tags
            marks = account.marks
            memo = account.memo
            best = account.best
            bonus = account.bonus
        }
    }

    @Test func `a sum that breaks a rule or the type is a conflict that names the property`() throws
    {
        let cases: [(Int16, Int16, Int16)] = [(10, 3, 4), (30_000, 32_000, 31_000)]
        for (start, theirs, ours) in cases {
            let bank = try Bank { $0.stock = start }
            let context = bank.context()
            bank.edit(context) { $0.stock = ours }
            try bank.others { $0.stock = theirs }

            let error = bank.refusal(context)

            #expect(error?.code == .conflict)
            #expect(error?.conflicts.map(\.propertyName) == ["stock"])
            #expect(bank.stored { $0.stock } == theirs)
            // On the second run, with the new state, the program sees that it is impossible.
            context.performAndWait { context.rollback() }
            let sold = try context.performAndWait { () throws in
                try context.update { () -> Bool in
                    let account = bank.account(in: context)
                    guard account.stock >= 6 else { return false }
                    account.stock -= 6
                    return true
                }
            }
            #expect(sold == (theirs >= 6))
        }
    }

    @Test func `texts edited in the same words are a conflict`() throws {
        let bank = try Bank { $0.memo = "Call on Monday." }
        let context = bank.context()
        bank.edit(context) { $0.memo = "Call on Friday." }
        try bank.others { $0.memo = "Call on Sunday." }

        #expect(bank.refusal(context)?.conflicts.map(\.propertyName) == ["memo"])
    }

    @Test func `a set is kept in one form, whatever order its elements come in`() throws {
        let bank = try Bank { $0.marks = Set(1...40) }
        let context = bank.context()

        bank.edit(context) { account in
            account.marks = Set((1...40).reversed())
            #expect(account.marks == Set(1...40))
        }

        #expect(try bank.save(context) == nil)
    }

    @Test func `an array keeps its order when it merges, and a set its own`() throws {
        let bank = try Bank {
            $0.tags = ["1", "2"]
            $0.marks = [3]
        }
        let context = bank.context()
        bank.edit(context) {
            $0.tags.append("10")
            $0.marks = [1, 3]
        }
        try bank.others {
            $0.tags.append("9")
            $0.marks = [3, 2]
        }

        try bank.save(context)

        let reader = bank.context()
        bank.edit(reader) {
            #expect($0.tags == ["1", "2", "9", "10"])
            #expect($0.marks == [1, 2, 3])
            // Setting the current value changes nothing.
            $0.marks = [2, 3, 1]
        }
        #expect(try bank.save(reader) == nil)
    }

    @Test func `the model knows which attributes are sets`() throws {
        let bank = try Bank()
        let attributes = bank.container.persistentStoreCoordinator.managedObjectModel
            .entities.flatMap(\.attributes)

        #expect(attributes.filter(\.isSet).map(\.name) == ["marks"])
    }

    @Test func `a preview tells what would merge`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.balance += 10 }
        try bank.others { $0.balance += 10 }

        let preview = try context.performAndWait { try context.previewSave() }

        #expect(preview.refusal == nil)
        #expect(preview.conflicts == [])
        #expect(preview.mergedValues.map(\.written) == [.int(20)])
    }

    @Test func `a custom policy is not asked about what merges, and loses none of it`() throws {
        struct OursWins: CustomMergePolicy {
            func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
                for index in conflicts.indices { conflicts[index].resolve(with: .ours) }
            }
        }
        let bank = try Bank()
        let context = bank.context()
        context.performAndWait { context.customMergePolicy = OursWins() }
        bank.edit(context) {
            $0.balance += 10
            $0.holder = "Ada"
        }
        try bank.others {
            $0.balance += 5
            $0.holder = "Bob"
        }

        try bank.save(context)

        #expect(bank.stored { $0.balance } == 15)
        #expect(bank.stored { $0.holder } == "Ada")
    }

    // MARK: - Merging into a context

    @Test(arguments: ["merge", "notification", "following", "refresh", "all"])
    func `a pending difference is added to what others have saved`(way: String) throws {
        let bank = try Bank { $0.balance = 100 }
        let context = bank.context()
        if way == "following" {
            context.performAndWait { context.automaticallyMergesChangesFromParent = true }
        }
        bank.edit(context) { $0.balance -= 30 }
        try bank.others { $0.balance += 5 }

        try context.performAndWait { () throws in
            switch way {
            case "merge": #expect(try context.mergeChanges() == [])
            case "notification":
                ManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [ManagedObjectContext.updatedObjectIDsKey: [bank.id]],
                    into: [context])
            case "refresh": context.refresh(bank.account(in: context), mergeChanges: true)
            case "all": context.refreshAllObjects()
            default: break
            }
        }

        #expect(bank.edit(context) { $0.balance } == 75)
        // Once merged, the same entry changes nothing.
        try context.performAndWait { _ = try context.mergeChanges() }
        #expect(bank.edit(context) { $0.balance } == 75)
        context.performAndWait { context.undo() }
        #expect(bank.edit(context) { $0.balance } == 105)
        context.performAndWait { context.redo() }
        #expect(bank.edit(context) { $0.balance } == 75)
        try bank.save(context)
        #expect(bank.stored { $0.balance } == 75)
    }

    @Test func `a rollback after a merge leaves what others have saved`() throws {
        let bank = try Bank { $0.balance = 100 }
        let context = bank.context()
        bank.edit(context) { $0.balance -= 30 }
        try bank.others { $0.balance += 5 }

        try context.performAndWait {
            _ = try context.mergeChanges()
            context.rollback()
        }

        #expect(bank.edit(context) { $0.balance } == 105)
    }

    @Test func `what both have put in is not taken out by an undo of ours`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.tags = ["both"] }
        bank.edit(context) { $0.tags = ["both", "ours"] }
        try bank.others { $0.tags = ["both"] }
        try context.performAndWait { _ = try context.mergeChanges() }
        #expect(bank.edit(context) { $0.tags } == ["both", "ours"])

        context.performAndWait { while context.undoManager?.canUndo == true { context.undo() } }

        #expect(bank.edit(context) { $0.tags } == ["both"])
        #expect(try bank.save(context) == nil)
    }

    // MARK: - Children

    @Test func `a child's difference is added to its parent's and to the store's`() throws {
        let bank = try Bank { $0.balance = 100 }
        let parent = bank.context()
        let children = [bank.context(parent: parent), bank.context(parent: parent)]
        bank.edit(children[0]) { $0.balance += 1 }
        bank.edit(children[1]) { $0.balance += 2 }
        bank.edit(parent) { $0.balance += 4 }
        try bank.others { $0.balance += 8 }

        for child in children { try bank.save(child) }
        #expect(bank.edit(parent) { $0.balance } == 107)
        #expect(bank.edit(children[1]) { $0.balance } == 107)
        #expect(children[1].performAndWait { children[1].mergedValues }.count == 1)
        try bank.save(parent)

        #expect(bank.stored { $0.balance } == 115)
        #expect(bank.edit(parent) { $0.balance } == 115)
        context(children[0]) { $0.undo() }
        try bank.save(children[0])
        try bank.save(parent)
        #expect(bank.stored { $0.balance } == 114)
    }

    private func context(
        _ context: ManagedObjectContext, _ body: (ManagedObjectContext) -> Void
    ) {
        context.performAndWait { body(context) }
    }

    // MARK: - Undoing

    @Test func `undo across a save takes away exactly what the save had added`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.balance += 10 }
        let entry = try #require(try bank.save(context))
        try bank.others { $0.balance += 5 }
        try context.performAndWait {
            _ = try context.mergeChanges()
            #expect(bank.account(in: context).balance == 15)

            context.undo()
            #expect(bank.account(in: context).balance == 5)
            let undo = try #require(try context.save())
            #expect(try bank.store.entry(undo).header.undoes == entry...entry)
            context.redo()
            #expect(bank.account(in: context).balance == 15)
            try context.save()
        }
        #expect(bank.stored { $0.balance } == 15)
    }

    @Test func `undoing a saved entry takes away its own difference, whatever came later`() throws {
        let bank = try Bank()
        let ten = try bank.others { $0.balance += 10 }
        let five = try bank.others { $0.balance += 5 }
        try bank.others { $0.balance += 2 }

        let undo = try bank.container.undo(ten)
        #expect(bank.stored { $0.balance } == 7)
        #expect(undo.leftOut.isEmpty)
        #expect(throws: StoreError.self) { try bank.container.undo(ten) }
        #expect(bank.stored { $0.balance } == 7)
        try bank.container.undo(five)
        #expect(bank.stored { $0.balance } == 2)
        try bank.container.redo(ten)
        #expect(bank.stored { $0.balance } == 12)
        try bank.container.undo(ten)
        #expect(bank.stored { $0.balance } == 2)
        // A run of entries, a part of which has already been undone.
        try bank.container.undo(ten...five.next)
        #expect(bank.stored { $0.balance } == 0)
    }

    @Test func `a plain attribute is still in the way of an undo, beside one that merges`() throws {
        let bank = try Bank()
        let entry = try bank.others {
            $0.balance += 10
            $0.holder = "Ada"
        }
        try bank.others {
            $0.balance += 5
            $0.holder = "Bob"
        }

        let error = #expect(throws: StoreError.self) { try bank.container.undo(entry) }
        #expect(error?.obstacles.map(\.propertyName) == ["holder"])
        try bank.container.undo(entry, policy: .keepLater)
        #expect(bank.stored { $0.balance } == 5)
        #expect(bank.stored { $0.holder } == "Bob")
    }

    @Test func `a saved entry is taken back in a context once`() throws {
        let bank = try Bank()
        let ten = try bank.others { $0.balance += 10 }
        let context = bank.context()
        try bank.others { $0.balance += 5 }
        try context.performAndWait {
            // The later entry has not been merged, and need not be.
            try context.undo(entry: ten)
            #expect(bank.account(in: context).balance == 0)
            #expect(throws: StoreError.self) { try context.undo(entry: ten) }
            #expect(bank.account(in: context).balance == 0)
            let undo = try #require(try context.save())
            #expect(bank.account(in: context).balance == 5)
            #expect(try bank.store.entry(undo).header.undoes == ten...ten)
            #expect(throws: StoreError.self) { try context.undo(entry: ten) }
        }
        #expect(bank.stored { $0.balance } == 5)
    }

    @Test func `undo continues with saves from before a restart, and takes each difference once`()
        throws
    {
        let bank = try Bank()
        let writer = bank.context()
        for amount in [1, 2, 4] {
            try writer.performAndWait {
                bank.account(in: writer).balance += amount
                try writer.save(author: "ada")
            }
            try bank.others { $0.balance += 100 }
            try writer.performAndWait { _ = try writer.mergeChanges() }
        }
        let context = bank.context()
        try context.performAndWait {
            #expect(try context.continueUndo(savesBy: .author("ada")) == 3)
            context.undo()
            #expect(bank.account(in: context).balance == 303)
            context.undo()
            #expect(bank.account(in: context).balance == 301)
            try context.save()
            context.redo()
            try context.save()
        }
        #expect(bank.stored { $0.balance } == 303)
    }

    @Test func `an entry that was redone with its object is undone whole`() throws {
        let bank = try Bank()
        let context = bank.container.newBackgroundContext()
        let (id, entry) = try context.performAndWait {
            let account = Account(context: context)
            try context.save()
            account.balance += 2
            account.plain = 1
            account.tags = ["a"]
            account.best = 7
            account.memo = "hi"
            let entry = try #require(try context.save())
            context.undo()
            try context.save()
            context.undo()
            try context.save()
            context.redo()
            context.redo()
            // One entry makes the object, with what the other had changed.
            try context.save()
            return (account.objectID, entry)
        }

        let outcome = try bank.container.undo(entry)

        #expect(outcome.leftOut.isEmpty)
        let later = bank.container.newBackgroundContext()
        try later.performAndWait {
            let account = try #require(try later.existingObject(with: id) as? Account)
            #expect(account.balance == 0 && account.plain == 0 && account.best == 0)
            #expect(account.tags.isEmpty && account.memo.isEmpty)
        }
    }
}
