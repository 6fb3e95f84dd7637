import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// The tree over the times of entries, with as many of them as it takes to have three levels.
struct TimeTreeTests {
    private static let count = 64 * 64 * 64 + 3 * 64 * 64 + 5 * 64

    /// In what order entries happened.
    enum Order: Int, CaseIterable, Sendable {
        /// One after the other.
        case recorded
        /// One after the other, but for every thousandth or so, which is dated far back or far ahead.
        case mostly
        /// In none.
        case random
        /// All at one time.
        case same

        func times(_ generator: inout SeededGenerator) -> [Int64] {
            (1...Int64(count)).map { number in
                switch self {
                case .recorded: number * 10
                case .mostly where Int.random(in: 0..<1000, using: &generator) == 0:
                    Int64.random(in: -10...Int64(20 * count), using: &generator)
                case .mostly: number * 10
                case .random: Int64.random(in: Int64.min...(.max - 1), using: &generator)
                case .same: 7
                }
            }
        }
    }

    @Test(arguments: Order.allCases)
    func `a time is found among many entries, in whatever order they happened`(
        order: Order
    ) throws {
        let seed = UInt64(order.rawValue)
        var generator = SeededGenerator(seed: seed)
        let times = order.times(&generator)
        let folder = try TemporaryDirectory()
        let environment = try Environment.open(
            at: folder.path("times"), options: EnvironmentOptions(tables: ["times"]))
        let tree = TimeTree(table: try environment.table("times"))
        try environment.write { transaction in
            for end in stride(from: TimeTree.width, through: times.count, by: TimeTree.width) {
                let together = Array(times[(end - TimeTree.width)..<end])
                let last = SequenceNumber(UInt64(end))
                for record in try tree.records(through: last, together, in: transaction) {
                    try transaction.put(
                        tree.table, record.key.span.bytes, record.value.span.bytes, .append)
                }
            }
        }

        try environment.read { transaction in
            for _ in 0..<100 {
                let last = Int.random(in: 0...times.count, using: &generator)
                let near = times.randomElement(using: &generator) ?? 0
                for time in [near - 1, near, near + 1, .min, .max] {
                    let expected = times[..<last].lastIndex { $0 <= time }
                    let found = try tree.last(
                        notAfter: time, through: SequenceNumber(UInt64(last)), in: transaction)
                    #expect(
                        found == expected.map { SequenceNumber(UInt64($0) + 1) },
                        "\(order), seed \(seed), \(time) through \(last)")
                }
            }
        }
    }

    @Test func `a record that is missing or does not fit the others is damage, not an answer`()
        throws
    {
        let folder = try TemporaryDirectory()
        let environment = try Environment.open(
            at: folder.path("times"), options: EnvironmentOptions(tables: ["times"]))
        let tree = TimeTree(table: try environment.table("times"))
        let count = 64 * 64
        try environment.write { transaction in
            for end in stride(from: 64, through: count, by: 64) {
                let together = [Int64](repeating: Int64(end), count: 64)
                let last = SequenceNumber(UInt64(end))
                for record in try tree.records(through: last, together, in: transaction) {
                    try transaction.put(
                        tree.table, record.key.span.bytes, record.value.span.bytes, .append)
                }
            }
        }
        func look(for time: Int64) throws -> SequenceNumber? {
            try environment.read {
                try tree.last(notAfter: time, through: SequenceNumber(UInt64(count)), in: $0)
            }
        }
        #expect(try look(for: 640) == SequenceNumber(640))

        let key = StoreKey.time(SequenceNumber(640), 1)
        var later = KeyWriter()
        for _ in 0..<64 { later.append(Int64(641)) }
        try environment.write { [later = later.bytes] transaction in
            try transaction.put(tree.table, key.span.bytes, later.span.bytes, .upsert)
        }
        var error = #expect(throws: StoreError.self) { try look(for: 640) }
        #expect(error?.code == .corrupt)

        try environment.write { transaction in
            _ = try transaction.delete(tree.table, key.span.bytes)
        }
        error = #expect(throws: StoreError.self) { try look(for: 640) }
        #expect(error?.code == .corrupt)
        #expect(try look(for: 639) == SequenceNumber(576))
    }
}
