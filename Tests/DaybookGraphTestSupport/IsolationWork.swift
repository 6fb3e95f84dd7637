internal import DaybookJournalLog
package import DaybookObjectGraph
internal import DaybookSnapshotStore
package import DaybookTestSupport
import Foundation
internal import Testing

/// Transactions on a few lists and registers, and what each of them has seen.
package struct IsolationWork: Sendable {
    /// How contexts read and save.
    package enum Way: String, Codable, CaseIterable, Sendable {
        /// Each object is read as it is when it is looked at.
        case latest
        /// All is read as it was at one entry.
        case pinned
        /// All is read as it was at one entry, and saved if that is still so.
        case conditional

        /// What can happen all the same.
        package var allows: Set<Anomaly> {
            switch self {
            case .latest: [.readSkew, .writeSkew]
            case .pinned: [.writeSkew]
            case .conditional: []
            }
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let keys = 5

    private let container: PersistentContainer
    private let way: Way

    /// Works in a container whose only store has ``IsolationCell`` in its model.
    package init(in container: PersistentContainer, _ way: Way) {
        (self.container, self.way) = (container, way)
    }

    /// Makes the lists and registers.
    ///
    /// - Throws: What a save throws.
    package func prepare() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<Self.keys { IsolationCell(context: context).number = number }
            try context.save()
        }
    }

    /// One transaction that reads all there is.
    ///
    /// - Returns: What it has seen.
    /// - Throws: What a fetch throws.
    package func readAll() throws -> TransactionHistory.Transaction {
        let context = container.newBackgroundContext()
        let began = Self.now
        let steps = try context.performAndWait {
            try (0..<Self.keys).flatMap { key in
                let cell = try Self.cell(key, context)
                return [
                    TransactionHistory.Step.read(key, cell.items),
                    .load(Self.register(key), cell.register),
                ]
            }
        }
        return TransactionHistory.Transaction(
            session: -1, steps: steps, outcome: .committed, began: began, ended: Self.now)
    }

    /// Makes transactions in one context, one after the other.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - session: Whose they are; no other context of the history has this number.
    ///   - seed: What decides what they do.
    /// - Returns: What they have seen, in order.
    /// - Throws: What is neither a conflict nor a failure of servers.
    package func transactions(
        _ count: Int, session: Int, seed: UInt64
    ) throws -> [TransactionHistory.Transaction] {
        var generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(session))
        let context = container.newBackgroundContext()
        // An object that nobody holds is read again, and may be newer.
        context.retainsRegisteredObjects = true
        return try context.performAndWait {
            // An item says whose it is.
            try (0..<count).map {
                try transaction(context, session, item: session * count + $0, &generator)
            }
        }
    }

    private func transaction(
        _ context: ManagedObjectContext, _ session: Int, item: Int,
        _ generator: inout SeededGenerator
    ) throws -> TransactionHistory.Transaction {
        let began = Self.now
        context.reset()
        let seen = try container.persistentStoreCoordinator.persistentStores[0].head()
        if way != .latest { try context.setQueryGeneration(from: .current) }
        var steps: [TransactionHistory.Step] = []
        for _ in 0..<Int.random(in: 2...4, using: &generator) {
            let key = Int.random(in: 0..<Self.keys, using: &generator)
            let cell = try Self.cell(key, context)
            let changes = Bool.random(using: &generator)
            if Bool.random(using: &generator) {
                steps.append(.read(key, cell.items))
                if changes && !cell.items.contains(item) {
                    cell.list += " \(item)"
                    steps += [.append(key, item), .read(key, cell.items)]
                }
            } else {
                let key = Self.register(key)
                steps.append(.load(key, cell.register))
                if changes && cell.register != item {
                    cell.register = item
                    steps += [.store(key, item), .load(key, cell.register)]
                }
            }
        }
        let outcome = try outcome(of: context, since: seen)
        return TransactionHistory.Transaction(
            session: session, steps: steps, outcome: outcome, began: began, ended: Self.now)
    }

    private func outcome(
        of context: ManagedObjectContext, since seen: SequenceNumber
    ) throws -> TransactionHistory.Outcome {
        do {
            if way == .conditional {
                try context.save(ifUnchanged: FetchRequest<IsolationCell>(), since: seen)
            } else {
                try context.save()
            }
            return .committed
        } catch let error as StoreError {
            switch error.code {
            case .conflict, .conditionFailed, .unreachable: return .aborted
            case .inDoubt: return .unknown
            default: throw error
            }
        }
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Lists and registers are keys of one space.
    private static func register(_ key: Int) -> Int { keys + key }

    private static func cell(_ key: Int, _ context: ManagedObjectContext) throws -> IsolationCell {
        let found = try context.fetch(FetchRequest<IsolationCell>(where: \.number == key))
        guard let cell = found.first else { throw Failure(description: "List \(key) is missing.") }
        return cell
    }
}

extension IsolationWork.Way {
    /// Makes histories and expects them to have no anomaly but those that this way of saving allows.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - order: What sessions may rely on beside the values.
    ///   - least: How many transactions of each have to be committed, or the history would prove nothing.
    ///   - make: Makes the history of a seed.
    /// - Throws: What `make` throws.
    package func expectNoOther(
        in count: Int, by order: TransactionHistory.Order, committing least: Int,
        _ make: (UInt64) async throws -> TransactionHistory
    ) async throws {
        for _ in 0..<count {
            let seed = UInt64.random(in: 1...1_000_000_000)
            let history = try await make(seed)
            CountedWork.add(1, "histories")
            CountedWork.add(history.transactions.count, "transactions")
            let committed = history.transactions.count { $0.outcome == .committed }
            #expect(committed >= least, "seed \(seed)")
            let found = history.anomalies(by: order).filter { !allows.contains($0.anomaly) }
            #expect(found == [], "seed \(seed)")
        }
    }
}

/// A list and a register.
package final class IsolationCell: ManagedObject {
    @Attribute(.unique) var number: Int
    @Attribute var list: String = ""
    @Attribute var register: Int?

    var items: [Int] { list.split(separator: " ").compactMap { Int($0) } }
}
