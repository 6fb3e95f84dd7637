import Daybook
import Foundation

private final class Account: ManagedObject {
    @Attribute(.indexed) var number: Int = 0
    @Attribute var name: String = ""
    @Attribute(.indexed) var amount: Int = 0
    @Attribute var kind: Int = 0

    // As the peer has indexes of its tables of entries and changes.
    override class var indexesChanges: Bool { true }
}

/// Daybook as a program asks it, in a new context each time.
final class DaybookPast: AskedAboutThePast {
    static let name = DaybookContender.name

    private let sample: PastSample
    private var container: PersistentContainer?
    private let store: PersistentStore
    private let accounts: [ManagedObjectID]
    private let writing: ManagedObjectContext
    /// The entry that made the accounts.
    private let start: UInt64

    init(in folder: URL, _ sample: PastSample) throws {
        self.sample = sample
        var options = PersistentStoreOptions()
        // Saves do not wait for the disk: here they only make the past.
        options.durability = .relaxed
        let container = try PersistentContainer(
            folder.appendingPathComponent("past.daybook"), model: [Account.self],
            indexesEntries: [.author], options: options)
        self.container = container
        store = container.persistentStoreCoordinator.persistentStores[0]
        let writing = container.newBackgroundContext()
        self.writing = writing
        accounts = try writing.performAndWait {
            var request = BatchInsertRequest<Account>(0..<sample.accounts) { account, row in
                row[\.number] = account
                row[\.name] = sample.name(account)
                row[\.amount] = sample.amount(0, account)
                row[\.kind] = sample.kind(0, account)
            }
            request.resultType = .objectIDs
            return try writing.execute(request).objectIDs
        }
        start = try store.head().rawValue
        for number in 1...sample.saves { try save(number) }
    }

    func save(_ number: Int) throws {
        try writing.performAndWait { () throws in
            for place in 0..<PastSample.saveLength {
                let account = writing.object(with: accounts[sample.account(number, place)])
                guard let account = account as? Account else { continue }
                account.amount = sample.amount(number, place)
                account.kind = sample.kind(number, place)
            }
            try writing.save(author: sample.author(number))
        }
    }

    func answer(_ question: PastQuestion, turn: Int) throws -> Int {
        guard let container else { return 0 }
        let context =
            question == .asOf
            ? try container.context(at: moment(sample.middle(turn)))
            : container.newBackgroundContext()
        return try context.performAndWait { try answer(question, turn, in: context) }
    }

    private func answer(
        _ question: PastQuestion, _ turn: Int, in context: ManagedObjectContext
    ) throws -> Int {
        var request = FetchRequest<Account>()
        request.returnsObjectsAsFaults = false
        switch question {
        case .changedSince:
            request.condition = (\Account.amount).changed(since: moment(sample.recent(turn)))
        case .changedBy:
            request.condition = (\Account.amount).changed(by: sample.author(asked: turn))
        case .ever: request.condition = .ever(\.amount > sample.high(turn))
        case .asOf:
            request.condition =
                \.kind == turn % PastSample.kinds && \.amount >= PastSample.amounts / 2
        case .falls:
            request.condition = (\Account.amount).decreased(since: moment(sample.tenth(turn)))
            return try context.changes(for: request).reduce(0) { sum, fall in
                guard case .int(let old) = fall.old, case .int(let new) = fall.new else {
                    return sum
                }
                return sum + Int(old - new) + (fall.author ?? "").utf8.count
            }
        }
        return try context.fetch(request).reduce(0) { $0 + $1.amount + $1.name.utf8.count }
    }

    private func moment(_ save: Int) -> Moment {
        .sequence(SequenceNumber(start + UInt64(save)))
    }

    // MARK: - Sums

    private func projection() throws -> JournalProjection<String, Int> {
        try store.project("sums", as: [String: Int].self, where: .all.of(Account.self)) {
            entry, state in
            for change in entry.changes {
                state[entry.author ?? "", default: 0] += change.new(\Account.amount) ?? 0
            }
        }
    }

    func catchUp() throws {
        try projection().catchUp()
    }

    func sums() throws -> Int {
        try projection().read { state, _ in
            try state.records().reduce(0) { $0 + ($1.key.utf8.count + 1) * $1.value }
        }
    }

    func forgetSums() throws {
        try store.removeProjection(named: "sums")
    }

    func close() throws {
        container = nil
    }
}
