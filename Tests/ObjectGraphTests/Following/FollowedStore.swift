import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// The entities of the tests of following.
class Deposit: ManagedObject {
    @Attribute var owner: String = ""
    @Attribute var balance: Decimal = 0
    @Attribute var limit: Decimal?
    @Relationship var branch: Branch?
}

final class Branch: ManagedObject {
    @Attribute var city: String = ""
    @Relationship(.cascade, inverse: \Deposit.branch) var accounts: Set<Deposit>
    @Relationship var reserves: [Reserve]
}

final class Savings: Deposit {
    @Attribute var rate: Double = 0
}

final class Reserve: ManagedObject {
    @Attribute var amount: Int = 0
    @Relationship(inverse: \Branch.reserves) var branch: Branch?
}

/// What only programs with a newer model know.
final class Receipt: ManagedObject {
    @Attribute var text: String = ""
}

/// A store of accounts that programs follow.
final class FollowedStore: Sendable {
    static let model: [ManagedObject.Type] = [
        Deposit.self, Savings.self, Branch.self, Reserve.self,
    ]

    let folder: TemporaryDirectory
    let container: PersistentContainer
    let store: PersistentStore

    init(options: PersistentStoreOptions = PersistentStoreOptions()) throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("accounts.daybook"), model: Self.model,
            options: options)
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    var url: URL { store.url }

    /// Opens the store as another program does.
    func another(
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        try TestContainer.make(url, model: Self.model, options: options)
    }

    /// Changes something in a new context and saves it.
    @discardableResult
    func save(
        by author: String? = nil, note: String? = nil, in container: PersistentContainer? = nil,
        _ edit: (ManagedObjectContext) throws -> Void
    ) throws -> SequenceNumber {
        let context = (container ?? self.container).newBackgroundContext()
        return try context.performAndWait { () throws in
            try edit(context)
            return try #require(try context.save(author: author, note: note))
        }
    }

    /// Opens an account with a balance.
    @discardableResult
    func open(
        _ owner: String, _ balance: Decimal = 0, by author: String? = nil,
        in container: PersistentContainer? = nil
    ) throws -> (account: ManagedObjectID, entry: SequenceNumber) {
        var id: ManagedObjectID?
        let entry = try save(by: author, in: container) { context in
            let account = Deposit(context: context)
            (account.owner, account.balance) = (owner, balance)
            id = account.objectID
        }
        return (try #require(id), entry)
    }
}

extension ManagedObjectContext {
    func account(_ id: ManagedObjectID) throws -> Deposit {
        try #require(try existingObject(with: id) as? Deposit)
    }
}
