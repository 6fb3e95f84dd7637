import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

@testable import DaybookObjectGraph

/// An object whose attributes merge, each with another strategy.
final class Account: ManagedObject {
    @Attribute var holder: String = ""
    @Attribute var plain: Int = 0
    @Attribute(merge: .sum) var balance: Int = 0
    @Attribute(merge: .sum) var bonus: Decimal?
    @Attribute(rules: [.minimum(0)], merge: .sum) var stock: Int16 = 0
    @Attribute(merge: .maximum) var best: Int = 0
    @Attribute(merge: .union) var tags: [String] = []
    @Attribute(merge: .union) var marks: Set<Int> = []
    @Attribute(merge: .text) var memo: String = ""
    @Relationship(inverse: \Booking.account) var bookings: Set<Booking>
}

final class Booking: ManagedObject {
    @Attribute(.unique) var code: String?
    @Attribute var amount: Int = 0
    @Relationship var account: Account?
}

/// A store with one account, used by several contexts.
final class Bank {
    let folder: TemporaryDirectory
    let container: PersistentContainer
    let id: ManagedObjectID

    init(_ setUp: (Account) -> Void = { _ in }) throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("bank.daybook"), model: [Account.self, Booking.self])
        let context = container.newBackgroundContext()
        id = try context.performAndWait { () throws in
            let account = Account(context: context)
            setUp(account)
            try context.save()
            return account.objectID
        }
    }

    func context(
        _ policy: MergePolicy = .error, parent: ManagedObjectContext? = nil
    ) -> ManagedObjectContext {
        let context =
            parent.map { ManagedObjectContext(parent: $0) } ?? container.newBackgroundContext()
        context.mergePolicy = policy
        context.retainsRegisteredObjects = true
        // The account as it is now.
        context.performAndWait { _ = account(in: context).balance }
        return context
    }

    func account(in context: ManagedObjectContext) -> Account {
        guard let account = context.object(with: id) as? Account else {
            preconditionFailure("The bank has one account.")
        }
        return account
    }

    /// Changes the account in a context.
    @discardableResult
    func edit<Result>(
        _ context: ManagedObjectContext, _ body: (Account) throws -> Result
    ) rethrows -> Result {
        try context.performAndWait {
            let result = try body(account(in: context))
            context.processPendingChanges()
            return result
        }
    }

    @discardableResult
    func save(_ context: ManagedObjectContext) throws -> SequenceNumber? {
        try context.performAndWait { try context.save() }
    }

    /// Changes the account in a separate context and saves.
    @discardableResult
    func others(_ body: (Account) -> Void) throws -> SequenceNumber {
        let context = context()
        edit(context, body)
        guard let sequence = try save(context) else {
            throw StoreError(.noSuchEntry, "The others have changed nothing.")
        }
        return sequence
    }

    /// Reads the account from the store.
    func stored<Result>(_ body: (Account) -> Result) -> Result {
        let context = container.newBackgroundContext()
        return context.performAndWait { body(account(in: context)) }
    }

    var store: Store { container.persistentStoreCoordinator.persistentStores[0].store }

    /// The error of a refused save.
    func refusal(_ context: ManagedObjectContext) -> StoreError? {
        context.performAndWait {
            do {
                try context.save()
                return nil
            } catch {
                return error as? StoreError
            }
        }
    }
}
