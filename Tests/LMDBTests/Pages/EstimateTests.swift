import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// Numbers of records told from the pages on the way to the ends of a range.
@Suite struct EstimateTests {
    private static let seeds: [UInt64] = [3, 33, 333]

    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        var options = EnvironmentOptions(tables: ["rows"], durability: .relaxed)
        options.checkedTables = ["rows"]
        environment = try Environment.open(at: directory.path("file"), options: options)
        table = try environment.table("rows")
    }

    private static func key(_ number: Int) -> [UInt8] {
        Array(String(format: "%08d", number).utf8) + [UInt8](repeating: 1, count: number % 90)
    }

    private func put(_ numbers: [Int]) throws {
        try environment.write { [table] transaction in
            for number in numbers {
                try transaction.put(
                    table, Self.key(number).span.bytes, [1].span.bytes, .upsert)
            }
        }
    }

    private func counts(
        from lower: [UInt8], to upper: [UInt8]
    ) throws -> (estimate: Int, exact: Int) {
        try environment.read { [table] transaction in
            (
                try transaction.estimatedCount(table, from: lower.span.bytes, to: upper.span.bytes),
                try transaction.count(table, from: lower.span.bytes, to: upper.span.bytes)
            )
        }
    }

    @Test func `an empty table has nothing, and a small one is counted exactly`() throws {
        #expect(try counts(from: [], to: []) == (0, 0))
        try put([1, 3, 5, 7])

        #expect(try counts(from: [], to: []) == (4, 4))
        #expect(try counts(from: Self.key(3), to: Self.key(7)) == (2, 2))
        #expect(try counts(from: Self.key(4), to: []) == (2, 2))
        #expect(try counts(from: [], to: Self.key(1)) == (0, 0))
        #expect(try counts(from: Self.key(7), to: Self.key(3)).estimate == 0)
    }

    @Test(arguments: seeds)
    func `few records are counted exactly, and many about`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var numbers = Array(0..<40_000)
        numbers.shuffle(using: &random)
        try put(numbers)

        for _ in 0..<400 {
            let length = Int.random(
                in: 0...Int.random(in: 1...40_000, using: &random), using: &random)
            let first = Int.random(in: 0...(40_000 - length), using: &random)
            let (estimate, exact) = try counts(
                from: Self.key(first), to: Self.key(first + length))
            #expect(
                estimate <= 2 * exact + 20 && exact <= 2 * estimate + 20,
                "seed \(seed): \(exact) from \(first) were taken to be \(estimate)")
        }
        let (all, exact) = try counts(from: [], to: [])
        #expect(exact == 40_000)
        #expect((20_000...40_000).contains(all))
        #expect(try counts(from: Self.key(39_999), to: Self.key(0)).estimate == 0)
    }
}
