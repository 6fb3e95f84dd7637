import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Updates that would be lost silently because both sides set the same value.
@Suite struct LostUpdateTests {
    @Test func `two contexts that read 0 and each add 10 do not both save 10`() throws {
        let bank = try Bank()
        let (first, second) = (bank.context(), bank.context())
        for context in [first, second] { bank.edit(context) { $0.plain += 10 } }
        let entry = try bank.save(first)

        let error = bank.refusal(second)

        #expect(error?.code == .conflict)
        let conflict = try #require(error?.conflicts.first)
        #expect(error?.conflicts.count == 1)
        #expect(conflict.propertyName == "plain")
        #expect(conflict.base == .int(0))
        #expect(conflict.theirs == .int(10))
        #expect(conflict.ours == .int(10))
        #expect(conflict.sequence == entry)
        #expect(bank.edit(second) { $0.hasChanges })
    }

    @Test func `a child that sets the value its parent has by now is refused, too`() throws {
        let bank = try Bank()
        let parent = bank.context()
        let child = bank.context(parent: parent)
        bank.edit(child) { $0.plain += 10 }
        bank.edit(parent) { $0.plain += 10 }

        #expect(bank.refusal(child)?.code == .conflict)
        #expect(try child.performAndWait { try child.previewSave().refusal?.code } == .conflict)

        try child.performAndWait { _ = try child.mergeChanges() }
        #expect(try bank.save(child) == nil)
        #expect(bank.edit(parent) { $0.plain } == 10)
    }

    @Test func `a merge that tells of an equal value lets the save through`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.plain += 10 }
        try bank.others { $0.plain += 10 }

        let told = try context.performAndWait { try context.mergeChanges() }

        #expect(told.map(\.propertyName) == ["plain"])
        #expect(told.map(\.base) == [.int(0)])
        #expect(told.map(\.theirs) == [.int(10)])
        #expect(told.map(\.ours) == [.int(10)])
        // The program has been notified and adds its own amount.
        bank.edit(context) { $0.plain += 10 }
        try bank.save(context)
        #expect(bank.stored { $0.plain } == 20)
    }

    @Test func `a conflict that an automatic merge has met is reported by the save`() throws {
        for (ours, theirs) in [(10, 10), (7, 10)] {
            let bank = try Bank()
            let context = bank.context()
            context.performAndWait { context.automaticallyMergesChangesFromParent = true }
            bank.edit(context) { $0.plain = ours }
            let entry = try bank.others { $0.plain = theirs }
            context.performAndWait {}

            let error = bank.refusal(context)

            #expect(error?.code == .conflict)
            #expect(error?.conflicts.map(\.sequence) == [entry])
            #expect(error?.conflicts.map(\.ours) == [.int(Int64(ours))])
            #expect(bank.refusal(context)?.code == .conflict)
            #expect(
                try context.performAndWait { try context.previewSave().refusal?.code } == .conflict)

            let told = try context.performAndWait { try context.mergeChanges() }
            #expect(told.count == 1)
            #expect(try context.performAndWait { try context.mergeChanges() }.isEmpty)
            try bank.save(context)
            #expect(bank.stored { $0.plain } == ours)
        }
    }

    @Test func `an automatic merge whose conflicts somebody hears of leaves the save alone`() throws
    {
        let bank = try Bank()
        let context = bank.context()
        var heard: [MergeConflict] = []
        context.performAndWait {
            context.mergeConflictHandler = { heard += $0 }
            context.automaticallyMergesChangesFromParent = true
        }
        bank.edit(context) { $0.plain = 7 }
        try bank.others { $0.plain = 10 }
        context.performAndWait {}

        try bank.save(context)

        #expect(heard.map(\.theirs) == [.int(10)])
        #expect(bank.stored { $0.plain } == 7)
    }

    @Test func `what an undo, a rollback or a refresh has settled is no longer reported`() throws {
        let settle: [(ManagedObjectContext, Account) -> Void] = [
            { context, _ in context.undo() },
            { context, _ in context.rollback() },
            { context, account in context.refresh(account, mergeChanges: true) },
            { context, account in context.refresh(account, mergeChanges: false) },
            { context, _ in context.mergePolicy = .mergeByPropertyObjectTrump },
        ]
        for settle in settle {
            let bank = try Bank()
            let context = bank.context()
            context.performAndWait { context.automaticallyMergesChangesFromParent = true }
            bank.edit(context) { $0.plain = 7 }
            try bank.others { $0.plain = 10 }
            context.performAndWait {}

            bank.edit(context) { settle(context, $0) }

            #expect(bank.refusal(context) == nil)
        }
    }

    @Test func `a merge by identifiers leaves its conflicts to the save`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.plain = 7 }
        try bank.others { $0.plain = 10 }

        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [ManagedObjectContext.updatedObjectIDsKey: [bank.id]],
            into: [context])

        #expect(bank.refusal(context)?.code == .conflict)
    }

    @Test func `what a delete rule has emptied on both sides is no conflict`() throws {
        let bank = try Bank()
        let context = bank.context()
        let booking = try context.performAndWait { () throws in
            let booking = Booking(context: context)
            booking.account = bank.account(in: context)
            try context.save()
            return booking.objectID
        }
        let other = bank.context()
        try other.performAndWait {
            let booking = try other.existingObject(with: booking)
            _ = (booking as? Booking)?.account?.balance
            other.delete(bank.account(in: other))
            other.processPendingChanges()
        }
        try context.performAndWait {
            context.delete(bank.account(in: context))
            try context.save()
        }

        #expect(bank.refusal(other) == nil)
    }
}
