import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// The law of projections: the state is what the fold makes of the journal from its first entry.
@Suite struct ProjectionLawTests {
    /// A random history and the programs that fold it.
    private struct History {
        let followed: FollowedStore
        var random: SeededGenerator
        var accounts: [ManagedObjectID] = []
        var works: [ProjectionWork<String, FoldedAccount>] = []
        var others: [PersistentContainer] = []
        var version = 1
        /// Programs that end, or whose version is over, and what became of them.
        var superseded = 0

        init(seed: Int) throws {
            followed = try FollowedStore()
            random = SeededGenerator(seed: UInt64(seed))
        }

        mutating func save() throws {
            let author = ["ada", "bob", nil].randomElement(using: &random) ?? nil
            // Some entries are so long that few go into a page.
            let isLong = Int.random(in: 0..<3, using: &random) == 0
            let note = isLong ? String(repeating: "x", count: 90_000) : nil
            var edits: [(ManagedObjectContext) throws -> Void] = []
            var opened: [Deposit] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let amount = Decimal(Int.random(in: -50...50, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0 where !accounts.isEmpty:
                    let id = accounts.remove(
                        at: Int.random(in: 0..<accounts.count, using: &random))
                    edits.append { try $0.delete($0.account(id)) }
                case 1...2 where !accounts.isEmpty:
                    guard let id = accounts.randomElement(using: &random) else { continue }
                    edits.append { context in
                        guard let deposit = try? context.account(id), !deposit.isDeleted else {
                            return
                        }
                        deposit.balance = amount
                    }
                default:
                    edits.append { context in
                        let account = Deposit(context: context)
                        (account.owner, account.balance) = ("owner \(amount)", amount)
                        opened.append(account)
                    }
                }
            }
            let context = followed.container.newBackgroundContext()
            let made = try context.performAndWait { () throws -> [ManagedObjectID] in
                for edit in edits { try edit(context) }
                try context.save(author: author, note: note)
                return opened.map(\.objectID)
            }
            accounts += made
        }

        mutating func fold() throws {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: works = []
            case 1:
                if Bool.random(using: &random) { others.append(try followed.another()) }
                try begin(in: others.last)
            case 2:
                version += 1
                try begin()
            case 3: try restart()
            default:
                if works.isEmpty { try begin() }
                let index = Int.random(in: 0..<works.count, using: &random)
                // A few pages, wherever that ends.
                for _ in 0..<Int.random(in: 1...4, using: &random) where index < works.count {
                    do throws(StoreError) {
                        guard try works[index].step() != .done else { break }
                    } catch {
                        guard error.code == .projectionSuperseded else { throw error }
                        superseded += 1
                        works.remove(at: index)
                    }
                }
            }
        }

        private mutating func begin(in container: PersistentContainer? = nil) throws {
            let projection = try FoldedAccounts.projection(
                in: container ?? followed.container, version: version)
            works.append(ProjectionWork(projection, rebuilding: Bool.random(using: &random)))
        }

        /// Begins a state beside the present one, as a rebuild does that ends there.
        private func restart() throws {
            _ = try followed.store.store.beginState(of: "accounts", version: version, .string)
        }

        /// Whatever is read now is what the fold makes of the entries up to there.
        func check(_ about: String) throws {
            let projection = try FoldedAccounts.projection(
                in: followed.container, version: version)
            let (state, at) = try projection.contents()
            let expected =
                at == .zero ? [:] : try FoldedAccounts.expected(from: followed.store, through: at)
            #expect(state == expected, "\(about), at entry \(at)")
        }
    }

    @Test(arguments: 1...12)
    func `the state is what the fold makes of the journal, however often it is cut off`(
        seed: Int
    ) throws {
        var history = try History(seed: seed)

        for step in 0..<90 {
            if Bool.random(using: &history.random) {
                try history.save()
            } else {
                try history.fold()
                try history.check("seed \(seed), step \(step)")
            }
        }
        let last = try FoldedAccounts.projection(
            in: history.followed.container, version: history.version)
        try last.catchUp()
        try history.check("seed \(seed), at the end")
        try last.rebuild()
        try history.check("seed \(seed), rebuilt")

        let store = history.followed.store
        #expect(try last.position() == store.head(), "seed \(seed)")
        #expect(try store.store.discardedStates().isEmpty, "seed \(seed)")
        let report = try Store.verify(path: history.followed.url.path)
        #expect(report.findings.isEmpty, "seed \(seed): \(report.findings)")
    }
}
