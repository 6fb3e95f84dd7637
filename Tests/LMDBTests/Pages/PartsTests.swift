import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// Walks whose parts are shared among threads.
@Suite struct PartsTests {
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table

    /// Long keys, so that few are on a page and the tree is deep.
    init() throws {
        directory = try TemporaryDirectory()
        var options = EnvironmentOptions(tables: ["rows"], durability: .relaxed)
        options.checkedTables = ["rows"]
        environment = try Environment.open(at: directory.path("file"), options: options)
        table = try environment.table("rows")
        try environment.write { [table] transaction in
            for number in 0..<2_000 {
                try transaction.put(
                    table, Self.key(number).span.bytes, [UInt8(number % 251)].span.bytes, .append)
            }
        }
    }

    private static func key(_ number: Int) -> [UInt8] {
        Array(String(format: "%06d", number).utf8) + [UInt8](repeating: 1, count: 300)
    }

    /// The numbers of the records in a range, part by part.
    private func parts(
        from lower: Int, to upper: Int, failingAt bad: Int? = nil,
        until isEnough: ([[Int]]) -> Bool = { _ in false }
    ) throws -> [[Int]] {
        var parts: [[Int]] = []
        try environment.read { [table] transaction in
            try transaction.scanInParts(
                [table], from: Self.key(lower), to: Self.key(upper)
            ) {
                [Int]()
            } walk: { part, transaction, lower, upper in
                try transaction.scan(
                    table, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
                ) { key, _ in
                    let number = Int(String(decoding: key.array.prefix(6), as: UTF8.self)) ?? -1
                    if number == bad { throw Failure(number: number) }
                    part.append(number)
                    return .proceed
                }
            } join: { part in
                parts.append(part)
                return isEnough(parts) ? .stop : .proceed
            }
        }
        return parts
    }

    private struct Failure: Error, Equatable {
        let number: Int
    }

    @Test(arguments: [(0, 2_000), (0, 1), (17, 1_803), (700, 700), (1_999, 5_000), (900, 100)])
    func `the parts together have each record of the range once, in order`(
        lower: Int, upper: Int
    ) throws {
        let parts = try parts(from: lower, to: upper)

        #expect(parts.flatMap(\.self) == (0..<2_000).filter { $0 >= lower && $0 < upper })
    }

    @Test func `a deep tree has many parts, none of which is long`() throws {
        let parts = try parts(from: 0, to: 2_000)

        #expect(parts.count > 10)
        // A branch page holds about a dozen of these keys, and so does a leaf.
        #expect(parts.allSatisfy { $0.count < 300 })
    }

    @Test func `the first error in the order of the keys is thrown, after the parts before it`()
        throws
    {
        var joined: [[Int]] = []

        #expect(throws: Failure(number: 1_000)) {
            try parts(from: 0, to: 2_000, failingAt: 1_000) {
                joined = $0
                return false
            }
        }

        let numbers = joined.flatMap(\.self)
        #expect(numbers == Array(0..<numbers.count))
        #expect(!numbers.contains(1_000))
    }

    @Test func `whoever has enough walks no further`() throws {
        let parts = try parts(from: 0, to: 2_000) { $0.count == 2 }

        #expect(parts.count == 2)
    }

    /// Several reads of one state at once, each with threads of its own.
    @Test func `several walks go on at the same time`() throws {
        let results = Mutex<[[Int]]>([])

        try onThreads(8) { _ in
            let found = try parts(from: 0, to: 2_000).flatMap(\.self)
            results.withLock { $0.append(found) }
        }

        #expect(results.withLock(\.self) == Array(repeating: Array(0..<2_000), count: 8))
    }
}
