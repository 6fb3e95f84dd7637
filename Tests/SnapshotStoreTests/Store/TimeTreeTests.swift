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
                case .random: Int64.random(in: (.min + 10)...(.max - 1_000), using: &generator)
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

        let (least, greatest) = (times.min() ?? 0, times.max() ?? 0)
        try environment.read { transaction in
            for _ in 0..<100 {
                let place = Int.random(in: 0...times.count, using: &generator)
                let near = times.randomElement(using: &generator) ?? 0
                for range in [
                    .min...(near - 1), .min...near, near...(.max), (near + 1)...(.max), near...near,
                    (near - 5)...(near + 900), .min...(least - 1), (greatest + 1)...(.max),
                ] {
                    let last = try tree.last(
                        of: range, through: SequenceNumber(UInt64(place)), in: transaction)
                    let expectedLast = times[..<place].lastIndex { range.contains($0) }
                    #expect(
                        last == expectedLast.map { SequenceNumber(UInt64($0) + 1) },
                        "\(order), seed \(seed), \(range) through \(place)")
                    let first = try tree.first(
                        of: range, from: SequenceNumber(UInt64(place) + 1),
                        through: SequenceNumber(UInt64(times.count)), in: transaction)
                    let expectedFirst = times[place...].firstIndex { range.contains($0) }
                    #expect(
                        first == expectedFirst.map { SequenceNumber(UInt64($0) + 1) },
                        "\(order), seed \(seed), \(range) from \(place + 1)")
                }
            }
        }
    }

    @Test func `a record that is missing or holds no times is damage, not an answer`()
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
                try tree.last(of: .min...time, through: SequenceNumber(UInt64(count)), in: $0)
            }
        }
        #expect(try look(for: 640) == SequenceNumber(640))

        let top = StoreKey.time(SequenceNumber(UInt64(count)), 2)
        var reversed = KeyWriter()
        for _ in 0..<64 { for time in [641, 640] as [Int64] { reversed.append(time) } }
        let sound = try #require(
            try environment.read {
                try $0.get(tree.table, top.span.bytes) { value in
                    value.withUnsafeBytes { Array($0) }
                }
            })
        try environment.write { [reversed = reversed.bytes] transaction in
            try transaction.put(tree.table, top.span.bytes, reversed.span.bytes, .upsert)
        }
        var error = #expect(throws: StoreError.self) { try look(for: 640) }
        #expect(error?.code == .corrupt)

        let key = StoreKey.time(SequenceNumber(640), 1)
        try environment.write { transaction in
            try transaction.put(tree.table, top.span.bytes, sound.span.bytes, .upsert)
            _ = try transaction.delete(tree.table, key.span.bytes)
        }
        error = #expect(throws: StoreError.self) { try look(for: 640) }
        #expect(error?.code == .corrupt)
        #expect(try look(for: 639) == SequenceNumber(576))
    }
}
