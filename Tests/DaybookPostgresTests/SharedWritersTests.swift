import DaybookObjectGraph
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Many contexts of several programs that save to one store.
@Suite struct SharedWritersTests {
    private struct NoAccount: Error {}

    @Test(arguments: [(1, 2), (2, 1), (4, 4)])
    func `what many contexts add to one balance is all there`(_ programs: Int, _ contexts: Int)
        async throws
    {
        let additions = 6
        let all = try await onThread {
            let store = try SharedStore()
            return try (0..<programs).map { _ in try SharedProgram(store) }
        }
        try await onThread {
            let context = all[0].container.newBackgroundContext()
            try context.performAndWait {
                SharedProgram.Account(context: context).name = "common"
                try context.save()
            }
            for program in all { try program.store.catchUp(within: .seconds(30)) }
        }

        _ = try await onThreads(programs * contexts) { index in
            let context = all[index % programs].container.newBackgroundContext()
            try context.performAndWait {
                for number in 1...additions {
                    // Each attempt but one of a round is overtaken.
                    try context.update(maxAttempts: 10_000, author: "\(index)") {
                        let accounts = try context.fetch(FetchRequest<SharedProgram.Account>())
                        guard let account = accounts.first else { throw NoAccount() }
                        account.balance += 1
                        let booking = SharedProgram.Booking(context: context)
                        booking.text = "\(index).\(number)"
                        booking.account = account
                    }
                }
            }
        }

        let bookings = (0..<programs * contexts).flatMap { index in
            (1...additions).map { "\(index).\($0)" }
        }
        try await onThread {
            for program in all {
                #expect(try program.balances() == ["common": bookings.count])
                #expect(try program.bookings() == bookings.sorted())
            }
            try SharedProgram.expectAlike(all)
        }
    }
}
