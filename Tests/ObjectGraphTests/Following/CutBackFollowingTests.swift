import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// Contexts of a store of which entries were cut off while they had read them.
@Suite(.ownStores("The servers would bring back what is cut off."))
struct CutBackFollowingTests {
    private let followed: FollowedStore
    private let other: PersistentContainer

    init() throws {
        followed = try FollowedStore()
        other = try followed.another()
    }

    private var coordinator: PersistentStoreCoordinator {
        followed.container.persistentStoreCoordinator
    }

    private func owners(in context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Deposit>()).map(\.owner).sorted()
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    /// Another program opens an account, and then saves what is to be lost: another balance and other accounts.
    private func saveSome() throws -> (account: ManagedObjectID, kept: SequenceNumber) {
        let (account, kept) = try followed.open("Ada", 1, in: other)
        try set(account, 5)
        for owner in ["Bob", "Bea", "Ben"] { try followed.open(owner, in: other) }
        return (account, kept)
    }

    private func set(_ account: ManagedObjectID, _ balance: Decimal) throws {
        try followed.save(in: other) { try $0.account(account).balance = balance }
    }

    /// Cuts off as another program does.
    private func cutBack(to kept: SequenceNumber) throws {
        let store = try #require(other.persistentStoreCoordinator.persistentStores.first)
        try store.store.cutBack(to: kept)
    }

    @Test func `a context that follows loses what was cut off, and gets what comes then`() throws {
        let (account, kept) = try saveSome()
        try coordinator.checkForRemoteChanges()
        let context = followed.container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = true
        let (ada, bob) = try context.performAndWait { () throws in
            let ada = try context.account(account)
            #expect(ada.balance == 5)
            let all = try context.fetch(FetchRequest<Deposit>())
            return (ada, try #require(all.first { $0.owner == "Bob" }))
        }

        try cutBack(to: kept)
        try followed.open("Cyd", in: other)
        #expect(try coordinator.checkForRemoteChanges())

        try context.performAndWait { () throws in
            #expect(ada.balance == 1)
            #expect(code { _ = try context.existingObject(with: bob.objectID) } != nil)
            #expect(try owners(in: context) == ["Ada", "Cyd"])
        }
        try set(account, 9)
        #expect(try coordinator.checkForRemoteChanges())
        try context.performAndWait { () throws in
            #expect(ada.balance == 9)
            ada.balance = 10
            try context.save()
        }
        #expect(try !coordinator.checkForRemoteChanges())
    }

    @Test func `a context that is asked to merge loses what was cut off`() throws {
        let (account, kept) = try saveSome()
        let context = followed.container.newBackgroundContext()
        let ada = try context.performAndWait { try context.account(account) }
        #expect(context.performAndWait { ada.balance } == 5)

        try cutBack(to: kept)

        try context.performAndWait { () throws in
            _ = try context.mergeChanges()
            #expect(ada.balance == 1)
            #expect(try owners(in: context) == ["Ada"])
        }
    }

    @Test func `a save with the number of an entry that was cut off is announced`() throws {
        let (_, kept) = try saveSome()
        try coordinator.checkForRemoteChanges()
        let heard = Mutex<[SequenceNumber]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .persistentStoreRemoteChange, object: coordinator, queue: nil
        ) { notification in
            let entry = notification.userInfo?[PersistentStore.historyTokenKey]
            if let entry = entry as? SequenceNumber { heard.withLock { $0.append(entry) } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try cutBack(to: kept)

        let entries = [try followed.open("Cyd").entry, try followed.open("Dan").entry]

        #expect(heard.withLock { $0 } == entries)
    }

    @Test func `rows of entries that were cut off are not shared with new contexts`() throws {
        let (account, kept) = try saveSome()
        let context = followed.container.newBackgroundContext()
        let ada = try context.performAndWait { try context.account(account) }
        #expect(context.performAndWait { ada.balance } == 5)

        try cutBack(to: kept)
        let anew = followed.container.newBackgroundContext()

        #expect(try anew.performAndWait { try anew.account(account).balance } == 1)
        withExtendedLifetime(ada) {}
    }

    @Test(arguments: [0, 3, 9])
    func `a context as of an entry that was cut off shows no other`(_ more: Int) throws {
        let (_, kept) = try saveSome()
        let last = try followed.store.head()
        let past = try followed.container.context(at: .sequence(last))
        let early = try followed.container.context(at: .sequence(kept))
        let held = followed.container.newBackgroundContext()
        try held.performAndWait { () throws in
            try held.setQueryGeneration(from: .current)
            #expect(try owners(in: held) == ["Ada", "Bea", "Ben", "Bob"])
        }

        try cutBack(to: kept)
        for _ in 0..<more { try followed.open("Cyd", in: other) }

        for context in [past, held] {
            #expect(context.performAndWait { code { _ = try owners(in: context) } } == .generation)
        }
        #expect(try early.performAndWait { try owners(in: early) } == ["Ada"])
        try held.performAndWait { () throws in
            try held.setQueryGeneration(from: .current)
            #expect(try owners(in: held) == ["Ada"] + Array(repeating: "Cyd", count: more))
        }
    }

    @Test(arguments: [0, 3, 9])
    func `a generation that was cut off is refused, and shows no other`(_ more: Int) throws {
        let (_, kept) = try saveSome()
        let held = followed.container.newBackgroundContext()
        let token = try held.performAndWait { () throws in
            try held.setQueryGeneration(from: .current)
            #expect(try owners(in: held) == ["Ada", "Bea", "Ben", "Bob"])
            return try #require(held.queryGenerationToken)
        }
        let later = followed.container.newBackgroundContext()
        try later.performAndWait { () throws in
            try later.setQueryGeneration(from: token)
            #expect(later.queryGenerationToken == token)
            #expect(try owners(in: later) == ["Ada", "Bea", "Ben", "Bob"])
        }

        try cutBack(to: kept)
        for _ in 0..<more { try followed.open("Cyd", in: other) }

        let last = followed.container.newBackgroundContext()
        try last.performAndWait { () throws in
            #expect(code { try last.setQueryGeneration(from: token) } == .generation)
            // It is held to nothing.
            #expect(last.queryGenerationToken == nil)
            #expect(try owners(in: last) == ["Ada"] + Array(repeating: "Cyd", count: more))
        }
        #expect(later.performAndWait { code { _ = try owners(in: later) } } == .generation)
    }

    @Test(arguments: [0, 9])
    func `a fault of a context that is held shows nothing of another journal`(_ more: Int) throws {
        let (account, kept) = try saveSome()
        let held = followed.container.newBackgroundContext()
        let ada = try held.performAndWait { () throws in
            try held.setQueryGeneration(from: .current)
            let ada = try held.account(account)
            #expect(ada.balance == 5)
            held.refresh(ada, mergeChanges: false)
            return ada
        }

        try cutBack(to: kept)
        for balance in 0..<more { try set(account, Decimal(10 + balance)) }

        held.performAndWait {
            #expect(code { try ada.willAccessValue(forKey: "balance") } == .generation)
        }
    }

    @Test(arguments: [true, false])
    func `a change of what cannot be read is not made, and one save says so`(
        isDelete: Bool
    ) throws {
        let (account, kept) = try saveSome()
        let held = followed.container.newBackgroundContext()
        let ada = try held.performAndWait { () throws in
            try held.setQueryGeneration(from: .current)
            let ada = try held.account(account)
            held.refresh(ada, mergeChanges: false)
            return ada
        }
        try cutBack(to: kept)

        try held.performAndWait { () throws in
            if isDelete { held.delete(ada) } else { ada.balance = 3 }

            #expect(!held.hasChanges)
            #expect(code { _ = try held.previewSave() } == .generation)
            #expect(code { try held.save() } == .generation)
            try held.setQueryGeneration(from: nil)
            #expect(try held.save() == nil)
            #expect(ada.balance == 1)
            if isDelete { held.delete(ada) } else { ada.balance = 3 }
            #expect(try held.save() != nil)
        }
    }

    @Test func `a rollback forgets changes that were not made`() throws {
        let (account, kept) = try saveSome()
        let held = followed.container.newBackgroundContext()
        let ada = try held.performAndWait { () throws in
            try held.setQueryGeneration(from: .current)
            let ada = try held.account(account)
            held.refresh(ada, mergeChanges: false)
            return ada
        }
        try cutBack(to: kept)

        try held.performAndWait { () throws in
            ada.balance = 3
            held.rollback()

            #expect(try held.save() == nil)
        }
    }
}
