import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Closures that run again after a conflict.
@Suite struct UpdateTests {
    private struct Refusal: Error {}

    @Test func `an update that was overtaken runs again on what is there`() throws {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0

        let result = try context.performAndWait { () throws in
            try context.update(author: "ada", note: "Deposit") {
                runs += 1
                let account = bank.account(in: context)
                account.plain += 10
                if runs < 3 { try bank.others { $0.plain += 100 } }
                return account.plain
            }
        }

        #expect(runs == 3)
        #expect(result == 210)
        #expect(bank.stored { $0.plain } == 210)
        let entry = try bank.store.entry(bank.store.head())
        #expect(entry.header.author == "ada")
        #expect(entry.header.note == "Deposit")
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `an update is exact under a policy that settles conflicts, too`(
        policy: MergePolicy
    ) throws {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0

        try context.performAndWait { () throws in
            context.mergePolicy = policy
            try context.update {
                runs += 1
                bank.account(in: context).plain += 10
                if runs == 1 { try bank.others { $0.plain += 100 } }
            }
            #expect(context.mergePolicy == policy)
        }

        #expect(runs == 2)
        #expect(bank.stored { $0.plain } == 110)
    }

    @Test func `an update of which something is saved already does not run again`() throws {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0

        let error = context.performAndWait {
            #expect(throws: StoreError.self) {
                try context.update {
                    runs += 1
                    let account = bank.account(in: context)
                    account.plain += 10
                    try context.save()
                    try bank.others { $0.plain += 1 }
                    account.plain += 10
                }
            }
        }

        #expect(runs == 1)
        #expect(error?.code == .conflict)
        #expect(bank.stored { $0.plain } == 11)
    }

    @Test func `the first run, too, starts from what is there`() throws {
        let bank = try Bank()
        let context = bank.context()
        try bank.others { $0.plain = 5 }
        var runs = 0

        try context.performAndWait {
            try context.update {
                runs += 1
                bank.account(in: context).plain += 1
            }
        }

        #expect(runs == 1)
        #expect(bank.stored { $0.plain } == 6)
    }

    @Test func `after the last attempt the conflict is thrown and nothing is left behind`() throws {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0

        let error = context.performAndWait {
            #expect(throws: StoreError.self) {
                try context.update(maxAttempts: 4) {
                    runs += 1
                    bank.account(in: context).plain += 10
                    try bank.others { $0.plain += 1 }
                }
            }
        }

        #expect(runs == 4)
        #expect(error?.code == .conflict)
        #expect(error?.conflicts.map(\.propertyName) == ["plain"])
        #expect(!context.performAndWait { context.hasChanges })
        #expect(bank.stored { $0.plain } == 4)
    }

    @Test func `an error of the closure or of the model ends the update and takes it back`() throws
    {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0
        context.performAndWait {
            #expect(throws: Refusal.self) {
                try context.update {
                    runs += 1
                    bank.account(in: context).plain = 1
                    throw Refusal()
                }
            }
            let error = #expect(throws: StoreError.self) {
                try context.update {
                    runs += 1
                    bank.account(in: context).stock = -1
                }
            }
            #expect(error?.code == .validation)
            #expect(!context.hasChanges)
            #expect(bank.account(in: context).stock == 0)
        }
        #expect(runs == 2)
    }

    @Test func `an update keeps its hands off changes that were pending before it`() throws {
        let bank = try Bank()
        let context = bank.context()
        context.performAndWait {
            bank.account(in: context).holder = "Ada"
            var runs = 0
            let error = #expect(throws: StoreError.self) {
                try context.update { runs += 1 }
            }
            #expect(error?.code == .pendingChanges)
            #expect(runs == 0)
            #expect(bank.account(in: context).holder == "Ada")
            #expect(context.hasChanges)
        }
    }

    @Test func `what could be undone before an update that runs again still can`() throws {
        let bank = try Bank()
        let context = bank.context()
        try context.performAndWait {
            bank.account(in: context).holder = "Ada"
            try context.save()
            var runs = 0
            try context.update {
                runs += 1
                bank.account(in: context).plain += 10
                if runs == 1 { try bank.others { $0.plain += 1 } }
            }
            #expect(bank.account(in: context).plain == 11)

            context.undo()
            #expect(bank.account(in: context).plain == 1)
            #expect(bank.account(in: context).holder == "Ada")
            context.undo()
            #expect(bank.account(in: context).holder == "")
            #expect(bank.account(in: context).plain == 1)
        }
    }

    @Test func `an update finds what others have inserted meanwhile`() throws {
        let bank = try Bank()
        let context = bank.context()
        var runs = 0

        try context.performAndWait {
            try context.update {
                runs += 1
                let request = FetchRequest<Booking>(where: \Booking.code == "A")
                let booking = try context.fetch(request).first ?? Booking(context: context)
                booking.code = "A"
                booking.amount += 10
                if runs == 1 {
                    let other = bank.context()
                    try other.performAndWait {
                        let booking = Booking(context: other)
                        booking.code = "A"
                        booking.amount = 100
                        try other.save()
                    }
                }
            }
            let all = try context.fetch(FetchRequest<Booking>())
            #expect(all.map(\.amount) == [110])
        }
        #expect(runs == 2)
    }

    @Test func `an update of a child runs again on what its parent has, and saves into it`() throws
    {
        let bank = try Bank()
        let parent = bank.context()
        let child = bank.context(parent: parent)
        var runs = 0

        try child.performAndWait {
            try child.update {
                runs += 1
                bank.account(in: child).plain += 10
                if runs < 3 { bank.edit(parent) { $0.plain += 100 } }
            }
        }

        #expect(runs == 3)
        #expect(bank.edit(parent) { $0.plain } == 210)
        #expect(bank.stored { $0.plain } == 0)
    }

    @Test func `an update awaited from elsewhere runs on the context's queue`() async throws {
        let bank = try Bank()
        let context = bank.context()
        let id = bank.id

        let result = try await context.update(author: "ada") {
            guard let account = context.object(with: id) as? Account else { return 0 }
            account.plain += 10
            return account.plain
        }

        #expect(result == 10)
        #expect(bank.stored { $0.plain } == 10)
    }

    @Test func `an update that never runs stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let bank = try Bank()
            let context = bank.context()
            try context.performAndWait { try context.update(maxAttempts: 0) {} }
        }
    }
}
