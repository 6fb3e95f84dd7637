import DaybookLMDB
import DaybookTestSupport
import Synchronization
import Testing

/// Reads walk the pages themselves, and a write transaction still reads through LMDB: so the two are
/// asked the same here.
@Suite struct PageReadingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Keys and values of one kind.
    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        let keyLengths: ClosedRange<Int>
        /// The number of different bytes in a key: few make long common prefixes.
        let alphabet: UInt8
        let valueLengths: ClosedRange<Int>
        let records: Int

        var testDescription: String { name }

        func key(_ random: inout SeededGenerator) -> [UInt8] {
            (0..<Int.random(in: keyLengths, using: &random)).map { _ in
                let step = 256 / Int(alphabet)
                return UInt8(Int.random(in: 0..<Int(alphabet), using: &random) * step + step - 1)
            }
        }

        func value(_ random: inout SeededGenerator) -> [UInt8] {
            let count = Int.random(in: valueLengths, using: &random)
            return Array(repeating: UInt8.random(in: .min ... .max, using: &random), count: count)
        }
    }

    static let shapes = [
        Shape(
            name: "8 bytes", keyLengths: 8...8, alphabet: 5, valueLengths: 0...40, records: 4_000),
        Shape(
            name: "12 bytes", keyLengths: 12...12, alphabet: 4, valueLengths: 0...90, records: 4_000
        ),
        Shape(
            name: "16 bytes", keyLengths: 16...16, alphabet: 2, valueLengths: 3...3, records: 4_000),
        Shape(
            name: "20 bytes", keyLengths: 20...20, alphabet: 2, valueLengths: 0...9, records: 4_000),
        Shape(
            name: "1 to 3 bytes", keyLengths: 1...3, alphabet: 64, valueLengths: 0...9, records: 900
        ),
        Shape(
            name: "any length", keyLengths: 1...511, alphabet: 2, valueLengths: 0...60,
            records: 2_000),
        Shape(
            name: "a deep tree", keyLengths: 480...511, alphabet: 3, valueLengths: 0...4,
            records: 4_000),
        Shape(
            name: "long values", keyLengths: 12...12, alphabet: 3, valueLengths: 1_500...20_000,
            records: 150),
        Shape(
            name: "one record", keyLengths: 12...12, alphabet: 9, valueLengths: 5...5, records: 1),
        Shape(name: "no record", keyLengths: 12...12, alphabet: 9, valueLengths: 5...5, records: 0),
    ]

    /// What a table answers to many questions.
    struct Answers: Equatable, Sendable {
        var count = 0
        var values: [[UInt8]?] = []
        var isContained: [Bool] = []
        var atOrAfter: [[UInt8]?] = []
        var before: [[UInt8]?] = []
        var ranges: [[[UInt8]]] = []
    }

    private static func answers<Reader: Reading & ~Copyable>(
        of transaction: borrowing Reader, _ table: Table, to probes: [[UInt8]]
    ) throws -> Answers {
        var answers = Answers()
        answers.count = try transaction.count(table)
        answers.before.append(try transaction.seek(table, before: nil) { $0.array + $1.array })
        for probe in probes {
            answers.values.append(try transaction.get(table, probe.span.bytes) { $0.array })
            answers.isContained.append(try transaction.contains(table, probe.span.bytes))
            answers.atOrAfter.append(
                try transaction.seek(table, atOrAfter: probe.span.bytes) { $0.array + $1.array })
            answers.before.append(
                try transaction.seek(table, before: probe.span.bytes) { $0.array + $1.array })
        }
        for order in [ScanOrder.ascending, .descending] {
            try answers.ranges.append(records(of: transaction, table, from: [], to: nil, order))
            for (lower, upper) in zip(probes.prefix(30), probes.dropFirst(30).prefix(30)) {
                try answers.ranges.append(
                    records(of: transaction, table, from: lower, to: upper, order))
                try answers.ranges.append(
                    records(of: transaction, table, from: lower, to: nil, order))
            }
        }
        return answers
    }

    /// At most a thousand records, so that walks also end in the middle.
    private static func records<Reader: Reading & ~Copyable>(
        of transaction: borrowing Reader, _ table: Table, from lower: [UInt8], to upper: [UInt8]?,
        _ order: ScanOrder, limit: Int? = nil
    ) throws -> [[UInt8]] {
        let limit = limit ?? (lower.isEmpty ? Int.max : 1_000)
        var records: [[UInt8]] = []
        func walk(to upper: RawSpan?) throws {
            try transaction.scan(table, from: lower.span.bytes, to: upper, order: order) {
                records.append($0.array + $1.array)
                return records.count < limit ? .proceed : .stop
            }
        }
        if let upper { try walk(to: upper.span.bytes) } else { try walk(to: nil) }
        return records
    }

    private func open(_ shape: Shape, tables: [String] = ["rows"]) throws -> Environment {
        try Environment.open(
            at: directory.path(shape.name),
            options: EnvironmentOptions(tables: tables, durability: .relaxed))
    }

    /// Puts records with random keys, and returns keys that are there and keys that are mostly not.
    private func fill(
        _ environment: Environment, _ table: Table, _ shape: Shape, seed: UInt64
    ) throws -> [[UInt8]] {
        try environment.write { transaction in
            var random = SeededGenerator(seed: seed)
            var probes: [[UInt8]] = []
            for index in 0..<shape.records {
                let key = shape.key(&random)
                try transaction.put(
                    table, key.span.bytes, shape.value(&random).span.bytes, .upsert)
                if index % 17 == 0 { probes += Self.neighbours(of: key) }
            }
            for _ in 0..<100 { probes.append(shape.key(&random)) }
            return probes.shuffled(using: &random)
        }
    }

    private static func neighbours(of key: [UInt8]) -> [[UInt8]] {
        var neighbours = [key]
        if key.count > 1 { neighbours.append(Array(key.dropLast())) }
        if key.count < 511 { neighbours.append(key + [0]) }
        for change in [1, 255] as [UInt8] {
            var other = key
            other[other.count - 1] &+= change
            neighbours.append(other)
            other = key
            other[0] &+= change
            neighbours.append(other)
        }
        return neighbours
    }

    private func compare(
        _ environment: Environment, _ table: Table, _ probes: [[UInt8]]
    ) throws -> Answers {
        let own = try environment.read { try Self.answers(of: $0, table, to: probes) }
        let lmdb = try environment.write { try Self.answers(of: $0, table, to: probes) }
        #expect(own == lmdb)
        return own
    }

    @Test(arguments: shapes, [1, 2] as [UInt64])
    func `pages give what LMDB gives`(shape: Shape, seed: UInt64) throws {
        let environment = try open(shape, tables: ["other", "rows"])
        let table = try environment.table("rows")
        let probes = try fill(environment, table, shape, seed: seed)

        let answers = try compare(environment, table, probes)

        #expect((answers.count > 0) == (shape.records > 0))
        #expect(answers.values.contains { $0 != nil } == (shape.records > 0))
    }

    @Test(arguments: shapes)
    func `records that are counted or skipped are those that a walk meets`(shape: Shape) throws {
        let environment = try open(shape)
        let table = try environment.table("rows")
        let probes = try fill(environment, table, shape, seed: 4)
        var random = SeededGenerator(seed: 5)

        try environment.read { transaction in
            for (lower, upper) in zip(probes.prefix(60), probes.dropFirst(60).prefix(60)) {
                let all = try Self.records(
                    of: transaction, table, from: lower, to: upper, .ascending, limit: .max)
                let asked = Int.random(in: 0...(all.count + 2), using: &random)
                var skipped = asked
                var rest: [[UInt8]] = []

                let count = try transaction.count(
                    table, from: lower.span.bytes, to: upper.span.bytes)
                try transaction.scan(
                    table, from: lower.span.bytes, to: upper.span.bytes, skipping: &skipped
                ) {
                    rest.append($0.array + $1.array)
                    return .proceed
                }

                #expect(count == all.count)
                #expect(rest == Array(all.dropFirst(asked)))
                #expect(skipped == max(0, asked - all.count))
            }
        }
    }

    @Test(arguments: shapes)
    func `pages give what LMDB gives after deletes and updates`(shape: Shape) throws {
        let environment = try open(shape)
        let table = try environment.table("rows")
        let probes = try fill(environment, table, shape, seed: 3)

        for round in 0..<5 {
            try environment.write { transaction in
                var random = SeededGenerator(seed: UInt64(round))
                for key in probes where Bool.random(using: &random) {
                    _ = try transaction.delete(table, key.span.bytes)
                }
                for key in probes where Int.random(in: 0..<9, using: &random) == 0 {
                    try transaction.put(
                        table, key.span.bytes, shape.value(&random).span.bytes, .upsert)
                }
            }
            _ = try compare(environment, table, probes)
        }
        try environment.write { try $0.clear(table) }

        #expect(try compare(environment, table, probes).count == 0)
    }

    @Test func `a deep tree is as deep as it should be for the test`() throws {
        let shape = try #require(Self.shapes.first { $0.name == "a deep tree" })
        let environment = try open(shape)
        _ = try fill(environment, environment.table("rows"), shape, seed: 1)

        #expect(try environment.statistics.tables.map(\.depth)[0] >= 5)
    }

    @Test func `a read goes on in its state while others write`() throws {
        let shape = Self.shapes[1]
        let environment = try open(shape)
        let table = try environment.table("rows")
        let probes = try fill(environment, table, shape, seed: 5)

        let (before, after) = try environment.read { transaction in
            let before = try Self.answers(of: transaction, table, to: probes)
            for round in 0..<20 {
                try onAnotherThread {
                    try environment.write { transaction in
                        var random = SeededGenerator(seed: UInt64(round))
                        for key in probes {
                            try transaction.put(
                                table, key.span.bytes, shape.value(&random).span.bytes, .upsert)
                        }
                        if round % 5 == 4 { try transaction.clear(table) }
                    }
                }
            }
            return (before, try Self.answers(of: transaction, table, to: probes))
        }

        #expect(before == after)
        #expect(try environment.read { try $0.count(table) } != before.count)
    }

    /// Each state has the same number under two keys far apart; a state mixed of two has not.
    @Test func `readers beside a writer never see a mix of two states`() throws {
        let environment = try Environment.open(
            at: directory.path("mix"),
            options: EnvironmentOptions(tables: ["a", "b"], durability: .relaxed))
        let (first, second) = (try environment.table("a"), try environment.table("b"))
        let isDone = Atomic(false)
        try write(0, environment, first, second)

        try onThreads(3) { thread in
            if thread == 0 {
                for number in 1...2_000 as ClosedRange<UInt64> {
                    try write(number, environment, first, second)
                }
                isDone.store(true, ordering: .relaxed)
                return
            }
            var last: UInt64 = 0
            while !isDone.load(ordering: .relaxed) {
                let (left, right) = try environment.read { transaction in
                    (try number(transaction, first), try number(transaction, second))
                }
                #expect(left == right)
                #expect(left >= last)
                last = left
            }
        }
    }

    private func write(
        _ number: UInt64, _ environment: Environment, _ tables: Table...
    ) throws {
        try environment.write { transaction in
            var value = KeyWriter()
            value.append(number)
            for table in tables {
                try transaction.put(
                    table, "n".bytes.span.bytes, value.bytes.span.bytes, .upsert)
            }
        }
    }

    private func number(
        _ transaction: borrowing ReadTransaction, _ table: Table
    ) throws -> UInt64 {
        let found = try transaction.get(table, "n".bytes.span.bytes) { value in
            var reader = KeyReader()
            return try reader.uint64(value)
        }
        return try #require(found)
    }

    @Test func `an empty key is refused`() throws {
        let environment = try open(Self.shapes[0])
        let table = try environment.table("rows")

        let error = #expect(throws: LMDBError.self) {
            try environment.read { try $0.contains(table, "".bytes.span.bytes) }
        }

        #expect(error?.code == .keyLength)
    }

    @Test func `a file that grows beyond its first map is read to its end`() throws {
        let environment = try Environment.open(
            at: directory.path("growing"),
            options: EnvironmentOptions(tables: ["rows"], durability: .relaxed, mapSize: 1 << 16))
        let table = try environment.table("rows")

        for number in 0..<300 {
            try environment.write { transaction in
                var key = KeyWriter()
                key.append(UInt32(number))
                try transaction.put(
                    table, key.bytes.span.bytes,
                    [UInt8](repeating: UInt8(number % 251), count: 6_000).span.bytes, .append)
            }
            let last = try environment.read { transaction in
                try transaction.seek(table, before: nil) { $1.array }
            }
            #expect(last == [UInt8](repeating: UInt8(number % 251), count: 6_000))
        }

        #expect(try environment.read { try $0.count(table) } == 300)
    }
}
