import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Records written together, in order or between others.
struct PutBatchTests {
    private struct Record: Hashable {
        var key: Int
        var value: String
    }

    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
        table = try environment.table("a")
    }

    private static func batch(_ records: [Record]) -> PutBatch {
        var batch = PutBatch()
        for record in records {
            let key = withUnsafeBytes(of: record.key.bigEndian) { Array($0) }
            batch.add(key, Array(record.value.utf8))
        }
        return batch
    }

    @Test(arguments: UInt64(1)...6)
    func `records are written in the order of their keys, however much these share`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let shared = [UInt8](repeating: 7, count: Int.random(in: 0...20, using: &random))
        // Few different bytes, so that many keys differ late or are the beginning of others.
        let keys = Set(
            (0..<400).map { _ in
                shared
                    + (0..<Int.random(in: 1...30, using: &random)).map { _ in
                        UInt8.random(in: 0...1, using: &random)
                    }
            })
        let table = table

        try environment.write { transaction in
            var batch = PutBatch()
            for key in keys { batch.add(key) }
            try batch.write(to: table, in: transaction)
        }

        let found = try environment.read { transaction in
            var found: [[UInt8]] = []
            let start: [UInt8] = []
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, _ in
                found.append(key.array)
                return .proceed
            }
            return found
        }
        #expect(found == keys.sorted { $0.lexicographicallyPrecedes($1) })
    }

    private func write(_ records: [Record], merging: Bool) throws {
        let table = table
        try environment.write { transaction in
            var batch = Self.batch(records)
            if merging {
                try batch.mergeIntoTail(of: table, in: transaction)
            } else {
                try batch.write(to: table, in: transaction)
            }
        }
    }

    private func records() throws -> [Record] {
        let table = table
        return try environment.read { transaction in
            var found: [Record] = []
            let start: [UInt8] = []
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, value in
                let number = key.unsafeLoadUnaligned(as: Int.self)
                let text = value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                found.append(Record(key: Int(bigEndian: number), value: text))
                return .proceed
            }
            return found
        }
    }

    private static func records(_ keys: some Sequence<Int>, _ letter: Character) -> [Record] {
        keys.map { Record(key: $0, value: String(repeating: letter, count: 90 + $0 % 40)) }
    }

    /// Many records inserted among the 3,000 of a table, whose keys are even.
    enum Interleaving: CaseIterable, Sendable {
        case everywhere, behindAll, beforeAll, atTheEnd, inTheMiddle, atTheBeginning

        var keys: [Int] {
            switch self {
            case .everywhere: (1_000..<4_000).map { 2 * $0 + 1 }
            case .behindAll: Array(8_000..<10_000)
            case .beforeAll: Array(0..<2_000)
            case .atTheEnd: (2_800..<4_400).map { 2 * $0 + 1 }
            case .inTheMiddle: Array(4_001...6_001).map { $0 | 1 }.uniqued
            case .atTheBeginning: (900..<2_100).map { 2 * $0 + 1 }
            }
        }
    }

    @Test(arguments: Interleaving.allCases)
    func `merged records stand beside the existing ones`(interleaving: Interleaving) throws {
        let before = Self.records((1_000..<4_000).map { 2 * $0 }, "a")
        let added = Self.records(interleaving.keys, "b")
        try write(before, merging: false)

        try write(added, merging: true)

        #expect(try records() == (before + added).sorted { $0.key < $1.key })
    }

    @Test func `a merged record replaces the one with the same key`() throws {
        let before = Self.records(0..<2_000, "a")
        let added = Self.records((0..<1_500).map { 2 * $0 }, "b")
        try write(before, merging: false)

        try write(added, merging: true)

        let kept = before.filter { $0.key % 2 == 1 }
        #expect(try records() == (kept + added).sorted { $0.key < $1.key })
    }

    @Test func `records are merged whatever order they were added in`() throws {
        let before = Self.records((0..<2_000).map { 2 * $0 }, "a")
        let added = Self.records((0..<2_000).map { 2 * $0 + 1 }, "b")
        try write(before, merging: false)

        try write(added.reversed(), merging: true)

        #expect(try records() == (before + added).sorted { $0.key < $1.key })
    }

    @Test(arguments: [1_024, 3_000])
    func `merging as many records as exist leaves pages nearly full`(count: Int) throws {
        try write(Self.records((0..<count).map { 2 * $0 }, "a"), merging: false)

        try write(Self.records((0..<count).map { 2 * $0 + 1 }, "b"), merging: true)

        let statistics = try environment.statistics
        let leaves = try #require(statistics.tables.first { $0.name == "a" }).leafPages
        // Key, value, and ten bytes of LMDB for each record; half a record per page is lost.
        let bytes = try records().reduce(0) { $0 + 8 + $1.value.utf8.count + 10 }
        #expect(Double(bytes) / Double(leaves * statistics.pageSize) > 0.95)
    }

    /// The number of pages that the writes of `body` rewrite or free.
    private func pagesTouched(_ body: () throws -> Void) throws -> Int {
        let before = try environment.statistics
        try body()
        let after = try environment.statistics
        return after.pagesUsed + after.pagesFree - before.pagesUsed - before.pagesFree
    }

    @Test func `records after all others do not move these`() throws {
        try write(Self.records(0..<3_000, "a"), merging: false)

        let pages = try pagesTouched { try write(Self.records(5_000..<8_000, "b"), merging: true) }

        // About 34 records share a page; the existing ones have as many pages again.
        #expect(pages < 120)
    }

    @Test func `large records after small ones are not moved`() throws {
        let large = (5_000..<7_000).map {
            Record(key: $0, value: String(repeating: "l", count: 6_000))
        }
        try write(large, merging: false)
        let small = Self.records(0..<1_500, "b")

        let pages = try pagesTouched { try write(small, merging: true) }

        #expect(pages < 150)
        #expect(try records() == small + large)
    }

    @Test func `large records are written among others without moving these`() throws {
        func large(_ keys: [Int], _ letter: Character) -> [Record] {
            keys.map { Record(key: $0, value: String(repeating: letter, count: 6_000)) }
        }
        let before = large((0..<1_100).map { 2 * $0 }, "a")
        let added = large((0..<1_100).map { 2 * $0 + 1 }, "b")
        try write(before, merging: false)

        let pages = try pagesTouched { try write(added, merging: true) }

        // Two pages for each new one, and the leaves with the keys.
        #expect(pages < 2 * 1_100 + 150)
        #expect(try records() == (before + added).sorted { $0.key < $1.key })
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `merging gives the same table as writing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var expected: [Int: String] = [:]
        for letter in "abcdef" {
            let start = Int.random(in: 0..<6_000, using: &random)
            let count = Int.random(in: 1...3_000, using: &random)
            let step = Int.random(in: 1...3, using: &random)
            let records = Self.records((0..<count).map { start + step * $0 }, letter)

            try write(records, merging: true)

            for record in records { expected[record.key] = record.value }
            let found = try self.records()
            #expect(
                found == expected.map { Record(key: $0, value: $1) }.sorted { $0.key < $1.key },
                "seed \(seed), batch '\(letter)'")
        }
    }
}

extension [Int] {
    /// Each number once, in order.
    fileprivate var uniqued: [Int] { Set(self).sorted() }
}
