import DaybookLMDB
import DaybookTestSupport
import Testing

/// Removals that share cursors.
@Suite struct RemoveRunTests {
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let tables: [Table]

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"),
            options: EnvironmentOptions(tables: ["a", "b"], durability: .relaxed))
        tables = [try environment.table("a"), try environment.table("b")]
    }

    private static func key(_ number: Int) -> [UInt8] {
        var writer = KeyWriter()
        writer.append(UInt64(number))
        return writer.bytes
    }

    private func fill(_ numbers: Set<Int>) throws {
        let tables = tables
        try environment.write { transaction in
            for table in tables {
                for number in numbers.sorted() {
                    let value = [UInt8](repeating: 7, count: number % 90)
                    try transaction.put(
                        table, Self.key(number).span.bytes, value.span.bytes, .append)
                }
            }
        }
    }

    private func numbers(in table: Table) throws -> [Int] {
        try environment.read { transaction in
            var found: [Int] = []
            try transaction.scan(table, from: [UInt8]().span.bytes, to: nil, order: .ascending) {
                key, value in
                var reader = KeyReader()
                let number = Int(try reader.uint64(key))
                #expect(value.byteCount == number % 90)
                found.append(number)
                return .proceed
            }
            return found
        }
    }

    /// Removes numbers of either table, and expects to be told which were there.
    private func remove(
        _ steps: [(table: Int, number: Int)], from worlds: inout [Set<Int>]
    ) throws {
        let tables = tables
        let told = try environment.write { transaction in
            var told: [Bool] = []
            try transaction.removeRun { run in
                for step in steps {
                    told.append(
                        try run.remove(tables[step.table], Self.key(step.number).span.bytes))
                }
            }
            return told
        }
        for (step, wasThere) in zip(steps, told) {
            #expect((worlds[step.table].remove(step.number) != nil) == wasThere)
        }
    }

    @Test(arguments: 0..<8)
    func `what is removed in any order is gone, and nothing else`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let all = Set((0..<6_000).filter { _ in Int.random(in: 0..<5, using: &random) > 0 })
        try fill(all)
        var worlds = [all, all]
        for _ in 0..<6 {
            var steps = (0..<1_500).map { _ in
                (
                    table: Int.random(in: 0...1, using: &random),
                    number: Int.random(in: 0..<6_000, using: &random)
                )
            }
            if Bool.random(using: &random) { steps.sort { $0.number < $1.number } }
            try remove(steps, from: &worlds)
            for (table, world) in zip(tables, worlds) {
                #expect(try numbers(in: table) == world.sorted(), "seed \(seed)")
            }
        }
    }

    @Test func `a table can be emptied by one run, and asked for more`() throws {
        let all = Set(0..<3_000)
        try fill(all)
        var worlds = [all, all]
        let steps = (0..<3_000).flatMap { [(table: 0, number: $0), (table: 0, number: $0)] }
        try remove(steps, from: &worlds)
        #expect(try numbers(in: tables[0]).isEmpty)
        #expect(try numbers(in: tables[1]) == all.sorted())
    }
}
