import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// With `sum`, the final value is the initial one plus all saved differences, in any interleaving and
/// through any stack of contexts; and undoing any entry removes exactly its own difference.
@Suite struct SumLawTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `the saved value is the initial one and all differences, however they are merged`(
        seed: UInt64
    ) throws {
        try SumLaw(seed: seed).run(steps: 120)
    }
}

/// Contexts that add to one account, and the expected value of each.
private final class SumLaw {
    private struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// The expected state of a context.
    private struct Ledger {
        let parent: Int?
        /// The unsaved difference.
        var pending = 0
        /// The steps for undo and redo.
        var steps: [Int] = []
        var cursor = 0

        mutating func push(_ amount: Int) {
            pending += amount
            guard amount != 0 else { return }
            steps.removeLast(steps.count - cursor)
            steps.append(amount)
            cursor += 1
        }
    }

    private let seed: UInt64
    private var random: SeededGenerator
    private let bank: Bank
    private var contexts: [ManagedObjectContext] = []
    private var ledgers: [Ledger] = []
    private var stored: Int
    private let start: Int
    /// The difference of each entry.
    private var entries: [UInt64: Int] = [:]
    /// The entries that each entry undoes.
    private var undoes: [UInt64: ClosedRange<SequenceNumber>] = [:]
    private var log: [String] = []

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        let start = Int.random(in: -50...50, using: &random)
        self.start = start
        bank = try Bank { $0.balance = start }
        stored = start
        let policies = MergePolicy.allCases
        for parent in [nil, nil, 0, 0, 2, 1] as [Int?] {
            let context = bank.context(
                policies.randomElement(using: &random) ?? .error,
                parent: parent.map { contexts[$0] })
            if Bool.random(using: &random) {
                context.performAndWait { context.conflictGranularity = .row }
            }
            contexts.append(context)
            ledgers.append(Ledger(parent: parent))
        }
    }

    func run(steps: Int) throws {
        do {
            for _ in 0..<steps { try step() }
            for index in contexts.indices.reversed() {
                try save(index)
                try check("after a save")
            }
            for index in contexts.indices {
                try merge(index)
                try expect(value(of: index), stored, "context \(index) at the end")
            }
            try expect(
                stored, start + entries.values.reduce(0, +), "the sum of all entries")
        } catch {
            Issue.record("Seed \(seed): \(error)\n\(log.joined(separator: "\n"))")
        }
    }

    private func step() throws {
        let index = Int.random(in: 0..<contexts.count, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0...2: add(Int.random(in: 1...20, using: &random), index)
        case 3...5: add(Int.random(in: -20 ... -1, using: &random), index)
        case 6...8: try save(index)
        case 9: try merge(index)
        case 10: undo(index)
        case 11: redo(index)
        case 12: refresh(index)
        case 13: rollback(index)
        case 14: try undoEntry()
        default: try undoEntry(in: index)
        }
        try check("after the step")
    }

    // MARK: - Steps

    private func add(_ amount: Int, _ index: Int) {
        log.append("\(index): add \(amount)")
        bank.edit(contexts[index]) { $0.balance += amount }
        ledgers[index].push(amount)
    }

    private func save(_ index: Int) throws {
        let sequence = try bank.save(contexts[index])?.rawValue
        log.append("\(index): save \(ledgers[index].pending) as \(sequence ?? 0)")
        let amount = ledgers[index].pending
        ledgers[index].pending = 0
        if let parent = ledgers[index].parent {
            ledgers[parent].push(amount)
        } else if let sequence {
            try note(sequence, amount)
        } else if amount != 0 {
            throw Mismatch(description: "Nothing was saved of \(amount).")
        }
    }

    private func note(_ sequence: UInt64, _ amount: Int) throws {
        stored += amount
        entries[sequence] = amount
        undoes[sequence] = try bank.store.entry(SequenceNumber(sequence)).header.undoes
    }

    private func merge(_ index: Int) throws {
        log.append("\(index): merge")
        try contexts[index].performAndWait { _ = try contexts[index].mergeChanges() }
        let base = ledgers[index].parent.map { value(of: $0) } ?? stored
        try expect(value(of: index), base + ledgers[index].pending, "context \(index) merged")
    }

    private func refresh(_ index: Int) {
        log.append("\(index): refresh")
        bank.edit(contexts[index]) { contexts[index].refresh($0, mergeChanges: true) }
    }

    private func rollback(_ index: Int) {
        log.append("\(index): roll back")
        contexts[index].performAndWait { contexts[index].rollback() }
        ledgers[index].pending = 0
        ledgers[index].steps = []
        ledgers[index].cursor = 0
    }

    private func undo(_ index: Int) {
        guard ledgers[index].cursor > 0 else { return }
        log.append("\(index): undo")
        contexts[index].performAndWait { contexts[index].undo() }
        ledgers[index].cursor -= 1
        ledgers[index].pending -= ledgers[index].steps[ledgers[index].cursor]
    }

    private func redo(_ index: Int) {
        guard ledgers[index].cursor < ledgers[index].steps.count else { return }
        log.append("\(index): redo")
        contexts[index].performAndWait { contexts[index].redo() }
        ledgers[index].pending += ledgers[index].steps[ledgers[index].cursor]
        ledgers[index].cursor += 1
    }

    /// Undoes some entry in the store.
    private func undoEntry() throws {
        guard let entry = entries.keys.sorted().randomElement(using: &random),
            let amount = entries[entry]
        else { return }
        let isUndone = isTakenBack(entry)
        log.append("undo entry \(entry), \(isUndone ? "undone already" : "\(amount)")")
        do {
            let outcome = try bank.container.undo(SequenceNumber(entry))
            if isUndone { throw Mismatch(description: "Entry \(entry) was undone twice.") }
            if let undo = outcome.entry { try note(undo.rawValue, -amount) }
        } catch let error as StoreError where error.code == .undoBlocked && isUndone {
            return
        }
    }

    /// Takes some entry back in a context, which is then saved immediately.
    private func undoEntry(in index: Int) throws {
        guard ledgers[index].parent == nil, ledgers[index].pending == 0,
            let entry = entries.keys.sorted().randomElement(using: &random),
            let amount = entries[entry], !isTakenBack(entry),
            contexts[index].performAndWait({ !contexts[index].hasChanges })
        else { return }
        log.append("\(index): undo entry \(entry), \(amount)")
        let context = contexts[index]
        try context.performAndWait {
            try context.undo(entry: SequenceNumber(entry))
            let again = #expect(throws: StoreError.self, "seed \(seed)") {
                try context.undo(entry: SequenceNumber(entry))
            }
            #expect(again?.code == .undoBlocked, "seed \(seed)")
        }
        ledgers[index].push(-amount)
        try save(index)
    }

    /// Whether undos have cancelled an entry.
    private func isTakenBack(_ entry: UInt64) -> Bool {
        var takenBack: Set<UInt64> = []
        for later in entries.keys.sorted(by: >) where later > entry && !takenBack.contains(later) {
            guard let range = undoes[later] else { continue }
            takenBack.formUnion(entries.keys.filter { range ~= SequenceNumber($0) })
        }
        return takenBack.contains(entry)
    }

    // MARK: - Looking

    private func value(of index: Int) -> Int { bank.edit(contexts[index]) { $0.balance } }

    private func check(_ moment: String) throws {
        try expect(bank.stored { $0.balance }, stored, "the store \(moment)")
    }

    private func expect(_ found: Int, _ wanted: Int, _ what: String) throws {
        if found != wanted {
            throw Mismatch(description: "\(what) has \(found) and should have \(wanted).")
        }
    }
}
