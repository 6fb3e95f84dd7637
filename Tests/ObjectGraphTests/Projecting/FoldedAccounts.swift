import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

@testable import DaybookObjectGraph

/// What is known of an account, or of a group of them.
struct FoldedAccount: Codable, Hashable, Sendable {
    var owner: String?
    var balance: Decimal = 0
    /// The entries that concerned it, the newest last.
    var entries: [UInt64] = []
}

/// The projection of the tests: what accounts have, by their numbers, and sums by author.
enum FoldedAccounts {
    typealias Projection = JournalProjection<String, FoldedAccount>

    static func projection(
        in container: PersistentContainer, named name: String = "accounts", version: Int = 1
    ) throws -> Projection {
        guard let store = container.persistentStoreCoordinator.persistentStores.first else {
            throw StoreError(.noSuchStore, "The container has no store.")
        }
        return try store.project(
            name, version: version, as: [String: FoldedAccount].self, where: .all.of(Deposit.self),
            fold: fold)
    }

    static func fold(
        _ entry: FollowedEntry, _ state: inout ProjectionState<String, FoldedAccount>
    ) throws {
        for change in entry.changes {
            let key = key(of: change.objectID)
            let old = change.old(\Deposit.balance) ?? 0
            let new = change.new(\Deposit.balance) ?? 0
            switch change.kind {
            case .inserted:
                state[key] = FoldedAccount(
                    owner: change.new(\Deposit.owner), balance: new,
                    entries: [entry.sequence.rawValue])
            case .updated:
                state[key]?.balance += new - old
                state[key]?.entries.append(entry.sequence.rawValue)
            case .deleted: state[key] = nil
            }
            let author = "author/\(entry.author ?? "")"
            state[author, default: FoldedAccount()].balance += new - old
        }
        // A look at many keys, among them those that this page has changed.
        guard entry.sequence.rawValue % 5 == 0 else { return }
        let all = try state.records(prefix: "account/")
        state["all", default: FoldedAccount()].balance = all.reduce(0) { $0 + $1.value.balance }
        state["all"]?.entries = [UInt64(all.count)]
    }

    static func key(of id: ManagedObjectID) -> String { "account/\(id.object.number)" }

    /// The same from scratch, in a dictionary.
    static func expected(
        from store: PersistentStore, through last: SequenceNumber? = nil
    ) throws -> [String: FoldedAccount] {
        var state: [String: FoldedAccount] = [:]
        for entry in try store.changes(through: last, where: .all.of(Deposit.self)) {
            for change in entry.changes {
                let key = key(of: change.objectID)
                let old = change.old(\Deposit.balance) ?? 0
                let new = change.new(\Deposit.balance) ?? 0
                switch change.kind {
                case .inserted:
                    state[key] = FoldedAccount(
                        owner: change.new(\Deposit.owner), balance: new,
                        entries: [entry.sequence.rawValue])
                case .updated:
                    state[key]?.balance += new - old
                    state[key]?.entries.append(entry.sequence.rawValue)
                case .deleted: state[key] = nil
                }
                state["author/\(entry.author ?? "")", default: FoldedAccount()].balance += new - old
            }
            guard entry.sequence.rawValue % 5 == 0 else { continue }
            let all = state.filter { $0.key.hasPrefix("account/") }
            let sum = all.values.reduce(0) { $0 + $1.balance }
            state["all", default: FoldedAccount()].balance = sum
            state["all"]?.entries = [UInt64(all.count)]
        }
        return state
    }
}

extension JournalProjection where Key == String {
    /// The state that is read now.
    func contents() throws -> (state: [String: Value], at: SequenceNumber) {
        try read { state, at in
            let records = try state.records()
            return (Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.value) }), at)
        }
    }
}
