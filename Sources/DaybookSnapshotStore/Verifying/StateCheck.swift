internal import DaybookJournalLog
internal import DaybookLMDB

/// Whether what programs have folded out of the journal is whole.
///
/// What a fold should have made of an entry is not known here. So this looks at the records, each of which has a
/// check, at how many there should be, and at the places where the states stand.
struct StateCheck {
    private let table: Table?
    private let parts: StoreParts
    private(set) var findings: [VerifyFinding] = []
    /// Whether there are states and no table to look for them in.
    private(set) var lacksTable = false

    private struct Tally {
        var keys = 0
        var bytes = 0
    }

    init(_ table: Table?, _ parts: StoreParts) {
        self.table = table
        self.parts = parts
    }

    /// Checks the list of states and all records.
    mutating func run(
        in transaction: borrowing ReadTransaction, _ progress: (Double) -> Void
    ) throws {
        let list: StateList
        do {
            list = try StoreMetadata.states(parts.tables.meta, in: transaction)
        } catch let error as StoreError where error.code == .corrupt {
            let place = "meta, '\(StoreMetadata.Name.states)'"
            findings.append(
                VerifyFinding(kind: .metadata, place: place, message: error.message))
            return
        }
        let generations = list.states.flatMap { kept in
            [kept.current, kept.successor].compactMap { $0 }.map { (kept.name, $0) }
        }
        guard let table else {
            lacksTable = !generations.isEmpty
            if lacksTable { add("states", "The table 'states' is missing.") }
            return
        }
        let known = Set(list.discarded + generations.map(\.1.number))
        let tallies = try count(table, of: known, in: transaction, progress)
        for (name, generation) in generations {
            let tally = tallies[generation.number] ?? Tally()
            try check(generation, of: name, tally, in: transaction)
        }
    }

    private mutating func check(
        _ generation: StateGeneration, of name: String, _ tally: Tally,
        in transaction: borrowing ReadTransaction
    ) throws {
        let place = "projection '\(name)', version \(generation.version)"
        if tally.keys != generation.keyCount || tally.bytes != generation.byteCount {
            add(
                place,
                "The projection '\(name)' has \(tally.keys) keys and \(tally.bytes) bytes in version "
                    + "\(generation.version), and should have \(generation.keyCount) and "
                    + "\(generation.byteCount).")
        }
        guard try !parts.journal.has(generation.place, in: transaction) else { return }
        add(
            place,
            "The projection '\(name)' stands after an entry \(generation.place.sequence) that is not the one "
                + "in the journal.")
    }

    /// Checks each record.
    ///
    /// - Returns: How much there is of each generation.
    private mutating func count(
        _ table: Table, of known: Set<UInt32>, in transaction: borrowing ReadTransaction,
        _ progress: (Double) -> Void
    ) throws -> [UInt32: Tally] {
        let count = try transaction.count(table)
        var tallies: [UInt32: Tally] = [:]
        var done = 0
        var strays = 0
        let start: [UInt8] = []
        try transaction.scan(
            table.unchecked, from: start.span.bytes, to: nil, order: .ascending
        ) { key, stored in
            done += 1
            if done % 1024 == 0 { progress(Double(done) / Double(count)) }
            guard let parts = try StateTable.parts(of: key), known.contains(parts.generation) else {
                strays += 1
                return .proceed
            }
            tallies[parts.generation, default: Tally()].keys += 1
            tallies[parts.generation, default: Tally()].bytes +=
                parts.key.count + stored.byteCount - table.checkSize
            guard table.accepts(key, stored: stored) else {
                let place = "states, record \(done)"
                add(
                    place,
                    "The record \(done) of the table 'states' is not what was written: its check does not fit."
                )
                return .proceed
            }
            return .proceed
        }
        if strays > 0 {
            add("states", "\(strays) records of the table 'states' belong to no projection.")
        }
        return tallies
    }

    private mutating func add(_ place: String, _ message: String) {
        findings.append(VerifyFinding(kind: .state, place: place, message: message))
    }
}
