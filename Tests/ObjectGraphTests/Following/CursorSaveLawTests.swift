import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A program that keeps the sum of all deposits in an object of the same store, by following.
///
/// It may end at any moment and be started again: what it knows is in the store.
private struct Counter {
    static let author = "counter"

    let container: PersistentContainer
    let context: ManagedObjectContext
    let cursor: JournalCursor
    let store: PersistentStore

    init(_ followed: FollowedStore) throws {
        container = try followed.another()
        context = container.newBackgroundContext()
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        cursor = try store.cursor(named: "counter")
    }

    /// Takes entries until it has done with so many, or with all.
    func run(atMost count: Int, savingLast: Bool) throws {
        let entries = try store.changes(
            from: cursor.position.next, where: .all.of(Deposit.self).notBy(Self.author),
            limit: count)
        for (index, entry) in entries.enumerated() {
            try context.performAndWait { () throws in
                try add(entry)
                // The program may end after its work and before it has saved.
                guard savingLast || index < entries.count - 1 else { return context.rollback() }
                try context.save(moving: cursor, to: entry.sequence, author: Self.author)
            }
        }
    }

    private func add(_ entry: FollowedEntry) throws {
        let found = try context.fetch(FetchRequest<Reserve>()).first
        let total = found ?? Reserve(context: context)
        for change in entry.changes {
            let old = change.old(\Deposit.balance) ?? 0
            let new = change.new(\Deposit.balance) ?? 0
            total.amount += NSDecimalNumber(decimal: new - old).intValue
        }
    }
}

@Suite struct CursorSaveLawTests {
    @Test(arguments: 1...8)
    func `the work of every entry is saved exactly once, whatever ends in between`(
        seed: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let followed = try FollowedStore()
        let second = try followed.another()
        var ids: [ManagedObjectID] = []
        var counter = try Counter(followed)
        var refusals = 0

        for step in 0..<60 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let amount = Decimal(Int.random(in: 0..<100, using: &random))
                let container = Bool.random(using: &random) ? second : followed.container
                ids.append(try followed.open("\(step)", amount, in: container).account)
            case 4..<6:
                guard let id = ids.randomElement(using: &random) else { continue }
                let amount = Decimal(1_000 + step)
                try followed.save { try $0.account(id).balance = amount }
            case 6:
                guard let index = ids.indices.randomElement(using: &random) else { continue }
                let id = ids.remove(at: index)
                try followed.save { try $0.delete($0.account(id)) }
            case 7: counter = try Counter(followed)
            case 8:
                // Another program with the same cursor: only one of the two may do the work.
                let rival = try Counter(followed)
                try rival.run(atMost: 2, savingLast: true)
                do {
                    try counter.run(atMost: 1, savingLast: true)
                } catch let error as StoreError where error.code == .conditionFailed {
                    refusals += 1
                    counter = try Counter(followed)
                }
            default:
                try counter.run(
                    atMost: Int.random(in: 1...5, using: &random),
                    savingLast: Bool.random(using: &random))
            }
        }
        counter = try Counter(followed)
        try counter.run(atMost: .max, savingLast: true)

        let (total, sum) = try counter.context.performAndWait {
            (
                try counter.context.fetch(FetchRequest<Reserve>()).map(\.amount),
                try counter.context.fetch(.sum(\Deposit.balance), of: FetchRequest<Deposit>())
            )
        }
        #expect(total.count == 1, "seed \(seed)")
        #expect(total.first.map { Decimal($0) } == sum, "seed \(seed), \(refusals) refusals")
        let report = try Store.verify(path: followed.url.path)
        #expect(report.findings.isEmpty, "seed \(seed): \(report.findings)")
    }
}
