import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Observers and nested attempts that change a context while its journal moves, and deletes that are
/// undone after others have saved.
@Suite struct JournalHookTests {
    private struct Refusal: Error {}

    @Test func `what an observer edits during a rollback is rolled back, too`() throws {
        let bank = try Bank { $0.holder = "Ada" }
        let context = bank.context()
        try context.performAndWait { () throws in
            let account = bank.account(in: context)
            nonisolated(unsafe) let observed = account
            let token = NotificationCenter.default.addObserver(
                forName: .managedObjectContextObjectsDidChange, object: context, queue: nil
            ) { _ in
                if observed.holder == "Grace" { observed.plain = 7 }
            }
            defer { NotificationCenter.default.removeObserver(token) }

            account.holder = "Grace"
            context.rollback()

            #expect(account.holder == "Ada")
            #expect(account.plain == 0)
            #expect(!context.hasChanges)
            // The next edit is one of the account, and can be saved.
            account.plain = 3
            #expect(account.changedValues()["plain"] as? Int == 3)
            try context.save()
        }
        bank.edit(bank.context()) { #expect($0.plain == 3) }
    }

    @Test func `a nested update that fails leaves the steps of the outer one`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.plain = 1 }
        try bank.save(context)
        bank.edit(context) { $0.plain = 2 }
        try bank.save(context)

        context.performAndWait {
            #expect(throws: Refusal.self) {
                try context.update {
                    try context.update { throw Refusal() }
                }
            }

            #expect(context.undoManager?.undoCount == 2)
            context.undo()
            #expect(bank.account(in: context).plain == 1)
        }
    }

    @Test func `undoing an entry half of which is forbidden changes nothing`() throws {
        let bank = try Bank()
        let first = bank.context()
        let entry = try first.performAndWait { () throws in
            let account = bank.account(in: first)
            account.stock = 10
            let booking = Booking(context: first)
            booking.code = "b"
            return try #require(try first.save())
        }
        let context = bank.context()
        bank.edit(context) { $0.stock -= 5 }

        try context.performAndWait { () throws in
            let error = #expect(throws: StoreError.self) { _ = try context.undo(entry: entry) }

            #expect(error?.obstacles.map(\.propertyName) == ["stock"])
            #expect(bank.account(in: context).stock == 5)
            #expect(try context.count(FetchRequest<Booking>()) == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a delete that is undone after a merge brings the edits before it back`(
        isSum: Bool
    ) throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { if isSum { $0.balance += 5 } else { $0.plain = 5 } }
        bank.edit(context) { context.delete($0) }
        try bank.others { if isSum { $0.balance += 10 } else { $0.plain = 10 } }

        context.performAndWait {
            _ = try? context.mergeChanges()
            context.undo()
            let account = bank.account(in: context)
            #expect((isSum ? account.balance : account.plain) == (isSum ? 15 : 5))
            context.undo()
            #expect((isSum ? account.balance : account.plain) == 10)
            #expect(!context.hasChanges)
        }
    }

    @Test func `an edit of what others updated and then deleted is a conflict`() throws {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.holder = "Ada" }
        let other = bank.context()
        bank.edit(other) { $0.plain = 1 }
        try bank.save(other)
        bank.edit(other) { other.delete($0) }
        try bank.save(other)

        // Only the update is posted, because the delete is not posted yet.
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [ManagedObjectContext.updatedObjectIDsKey: [bank.id]],
            into: [context])

        let refusal = bank.refusal(context)
        #expect(refusal?.conflicts.map(\.kind) == [.deletedByThem])
        #expect(refusal?.conflicts.map(\.ours) == [.string("Ada")])
    }
}
