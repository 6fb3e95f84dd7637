import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Two stores with the same history, of which one has an index of changes: they have the same answers.
@Suite struct IndexedChangesLawTests {
    class Account: ManagedObject {
        @Attribute var balance: Int?
        @Attribute var name: String = ""
        @Relationship var owner: Owner?
    }

    final class Savings: Account {
        @Attribute var rate: Double = 0
    }

    final class Owner: ManagedObject {
        @Attribute var name: String = ""
        @Relationship(.nullify, inverse: \Account.owner) var accounts: Set<Account>
    }

    private static let classes = [Account.self, Savings.self, Owner.self]

    private static func container(at url: URL, isIndexed: Bool) throws -> PersistentContainer {
        var model = try TestContainer.make(inMemory: classes).persistentStoreCoordinator
            .managedObjectModel
        for index in model.entities.indices where model.entities[index].name == "Account" {
            model.entities[index].indexesChanges = isIndexed
        }
        return try TestContainer.make(url, managedObjectModel: model, classes: classes)
    }

    /// Something that is done to both stores; numbers choose among what there is.
    private enum Step {
        case add(isSavings: Bool, balance: Int?)
        case edit([(pick: Int, balance: Int?, rate: Double)])
        case own(pick: Int, owner: Int?)
        case remove(pick: Int)
        case removeOwner(pick: Int)
        case raise(over: Int, by: Int)
        case sweep(under: Int)
        case undo(back: UInt64)
        case restore(pick: Int, at: UInt64)

        static func random(_ number: (ClosedRange<Int>) -> Int) -> Step {
            switch number(0...15) {
            case 0, 1: .add(isSavings: number(0...1) == 0, balance: number(0...40))
            case 2...7:
                .edit(
                    (0...number(0...3)).map { _ in
                        (
                            number(0...99), number(0...5) == 0 ? nil : number(0...60),
                            Double(number(0...3))
                        )
                    })
            case 8: .own(pick: number(0...99), owner: number(0...3) == 0 ? nil : number(0...9))
            case 9: .remove(pick: number(0...99))
            case 10: .removeOwner(pick: number(0...9))
            case 11, 12: .raise(over: number(0...60), by: number(-9...9))
            case 13: .sweep(under: number(0...3))
            case 14: .undo(back: UInt64(number(0...3)))
            default: .restore(pick: number(0...99), at: UInt64(number(0...9)))
            }
        }

        /// Takes the step; one that the store refuses changes nothing.
        func take(
            in container: PersistentContainer, author: String?, _ known: inout [ManagedObjectID]
        ) throws {
            let context = container.newBackgroundContext()
            let store = try #require(
                container.persistentStoreCoordinator.persistentStores.first)
            var ids = known
            try context.performAndWait {
                func accounts() throws -> [Account] {
                    try context.fetch(FetchRequest<Account>()).sorted {
                        $0.objectID.object < $1.objectID.object
                    }
                }
                func owners() throws -> [Owner] {
                    try context.fetch(FetchRequest<Owner>()).sorted {
                        $0.objectID.object < $1.objectID.object
                    }
                }
                switch self {
                case .add(let isSavings, let balance):
                    let account = isSavings ? Savings(context: context) : Account(context: context)
                    account.balance = balance
                    account.name = "a\(ids.count)"
                    let owner = Owner(context: context)
                    owner.name = "o\(ids.count)"
                    account.owner = owner
                    try context.save(author: author)
                    ids.append(account.objectID)
                case .edit(let edits):
                    let accounts = try accounts()
                    guard !accounts.isEmpty else { return }
                    for edit in edits {
                        let account = accounts[edit.pick % accounts.count]
                        account.balance = edit.balance
                        (account as? Savings)?.rate = edit.rate
                    }
                    try context.save(author: author)
                case .own(let pick, let owner):
                    let (accounts, owners) = (try accounts(), try owners())
                    guard !accounts.isEmpty, !owners.isEmpty else { return }
                    accounts[pick % accounts.count].owner = owner.map { owners[$0 % owners.count] }
                    try context.save(author: author)
                case .remove(let pick):
                    let accounts = try accounts()
                    guard !accounts.isEmpty else { return }
                    context.delete(accounts[pick % accounts.count])
                    try context.save(author: author)
                case .removeOwner(let pick):
                    let owners = try owners()
                    guard !owners.isEmpty else { return }
                    context.delete(owners[pick % owners.count])
                    try context.save(author: author)
                case .raise(let limit, let amount):
                    try context.execute(
                        BatchUpdateRequest<Account>(
                            where: Condition("balance > %@", limit),
                            assigning: [.add(amount, to: \.balance)]),
                        author: author)
                case .sweep(let limit):
                    try context.execute(
                        BatchDeleteRequest<Account>(where: Condition("balance < %@", limit)),
                        author: author)
                case .undo(let back):
                    let head = try store.head().rawValue
                    guard head > back + 1 else { return }
                    try store.undo(SequenceNumber(head - back), policy: .keepLater, author: author)
                case .restore(let pick, let at):
                    let head = try store.head().rawValue
                    guard !ids.isEmpty, head > at + 1 else { return }
                    try store.restore(
                        ids[pick % ids.count], at: .sequence(SequenceNumber(head - at)),
                        policy: .overwrite,
                        author: author)
                }
            }
            known = ids
        }
    }

    /// A question, as it is written.
    private static func question(_ head: Int, _ number: (ClosedRange<Int>) -> Int) -> String {
        let property = ["balance", "rate", "name", "owner"][number(0...3)]
        let direction =
            ["balance", "rate"].contains(property)
            ? ["CHANGED", "INCREASED", "DECREASED"][number(0...2)] : "CHANGED"
        var text = "\(property) \(direction)"
        if number(0...2) == 0 { text += [" BY 'ada'", " BY 'bob'", " BY nil"][number(0...2)] }
        if number(0...1) == 0 { text += " SINCE \(number(1...head))" }
        if number(0...2) == 0 { text += " UNTIL \(number(1...head))" }
        switch number(0...5) {
        case 0: return "\(text) AND balance > 10"
        case 1: return "\(text) OR balance CHANGED"
        case 2: return "NOT \(text)"
        default: return text
        }
    }

    private struct Answer {
        let found: [String]
        let changes: [String]
        let explanation: String
    }

    private static func answer(
        _ text: String, in context: ManagedObjectContext
    ) throws -> Answer {
        func asked<Object: ManagedObject>(_ type: Object.Type) throws -> Answer {
            let request = FetchRequest<Object>(where: Condition(text))
            let changes = text.hasPrefix("NOT") ? [] : try context.changes(for: request)
            return Answer(
                found: try context.fetch(request).map { "\($0.objectID)" }.sorted(),
                changes: changes.map {
                    "\($0.objectID) \($0.sequence) \($0.author ?? "") \($0.change.old) "
                        + "\($0.change.new)"
                }.sorted(),
                explanation: try context.explain(request))
        }
        return text.contains("rate") ? try asked(Savings.self) : try asked(Account.self)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `stores with and without an index of changes have the same answers`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let folder = try TemporaryDirectory()
        let files = ["indexed", "plain"].map { folder.url.appendingPathComponent("\($0).daybook") }
        let containers = [
            try Self.container(at: files[0], isIndexed: true),
            try Self.container(at: files[1], isIndexed: false),
        ]
        var known: [[ManagedObjectID]] = [[], []]
        var served = 0

        for round in 1...60 {
            let step =
                round < 6 ? Step.add(isSavings: round > 2, balance: round * 7) : .random(number)
            let author = ["ada", "bob", nil][number(0...2)]
            var refusals: [StoreError.Code?] = []
            for (index, container) in containers.enumerated() {
                do {
                    try step.take(in: container, author: author, &known[index])
                    refusals.append(nil)
                } catch let error as StoreError {
                    refusals.append(error.code)
                }
            }
            #expect(refusals[0] == refusals[1], "seed \(seed), round \(round): \(step)")
            guard round.isMultiple(of: 5) else { continue }
            let stores = containers.compactMap {
                $0.persistentStoreCoordinator.persistentStores.first
            }
            let head = Int(try stores[0].head().rawValue)
            #expect(try stores[1].head() == stores[0].head(), "seed \(seed), round \(round)")
            let moment = number(0...1) == 0 ? head : number(2...head)
            for _ in 0..<6 {
                let text = Self.question(moment, number)
                let answers = try containers.map { container in
                    let context = try container.context(
                        at: .sequence(SequenceNumber(UInt64(moment))))
                    return try context.performAndWait { try Self.answer(text, in: context) }
                }
                let about: Comment = "seed \(seed), round \(round): \(text) as of \(moment)"
                #expect(answers[0].found == answers[1].found, about)
                #expect(answers[0].changes == answers[1].changes, about)
                #expect(!answers[1].explanation.contains("index of the changes"), about)
                if answers[0].explanation.contains("index of the changes") { served += 1 }
            }
        }
        #expect(served > 10, "seed \(seed)")
        for file in files {
            #expect(try Store.verify(path: file.path).findings.isEmpty, "seed \(seed)")
        }
    }
}
