import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// Records looked up under many keys at once.
@Suite struct KeyLookUpTests {
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

    private struct Key: Hashable {
        let high: UInt32
        let low: UInt64

        var objectKey: ObjectKey { ObjectKey(high, low) }

        var bytes: [UInt8] {
            var writer = KeyWriter()
            writer.append(high)
            writer.append(low)
            return writer.bytes
        }
    }

    private func put(_ keys: Set<Key>, valueSize: @escaping @Sendable (Key) -> Int) throws {
        try environment.write { [table] transaction in
            for key in keys {
                let value = [UInt8](
                    repeating: UInt8(truncatingIfNeeded: key.low), count: valueSize(key))
                try transaction.put(table, key.bytes.span.bytes, value.span.bytes, .upsert)
            }
        }
    }

    /// What is found in one go, and what is found one by one.
    private func found(_ keys: [Key]) throws -> (together: [[UInt8]?], alone: [[UInt8]?]) {
        try environment.read { transaction in
            var together: [[UInt8]?] = []
            try transaction.lookUp(table, count: keys.count) {
                keys[$0].objectKey
            } _: { index, value in
                #expect(index == together.count)
                together.append(value?.array)
                return .proceed
            }
            let alone = try keys.map { try transaction.get(table, $0.objectKey) { $0.array } }
            return (together, alone)
        }
    }

    /// Numbers side by side, with gaps, and far apart; in order, backwards and mixed; some of them, and
    /// of the first numbers' values, are missing.
    @Test(arguments: 0..<12 as Range<UInt64>)
    func `many keys find what each of them finds alone`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let step = [1, 3, 1_000, UInt64(1) << 33][Int(seed % 4)]
        let count: UInt64 = [2, 40, 3_000][Int(seed % 3)]
        let all = (0..<count).flatMap { number in
            (1..<4 as Range<UInt32>).map { Key(high: $0, low: number * step + number % 2) }
        }
        let there = Set(all.filter { _ in UInt8.random(in: 0..<5, using: &random) > 0 })
        try put(there) { Int($0.low % 97) + ($0.low % 211 == 0 ? 3_000 : 0) }
        let sorted = (all + [Key(high: 0, low: 0), Key(high: 9, low: .max)]).sorted {
            ($0.high, $0.low) < ($1.high, $1.low)
        }
        let sparse = sorted.filter { _ in UInt8.random(in: 0..<9, using: &random) == 0 }

        for keys in [
            sorted, sorted.reversed(), sorted.shuffled(using: &random), sparse, sparse.reversed(),
        ] {
            let (together, alone) = try found(keys)

            #expect(together == alone)
            #expect(together.map { $0 != nil } == keys.map(there.contains))
        }
    }

    @Test func `an empty table has none of the keys`() throws {
        let (together, _) = try found([Key(high: 1, low: 1), Key(high: 1, low: 2)])

        #expect(together == [nil, nil])
    }

    @Test func `whoever has enough looks no further`() throws {
        let keys = (0..<10 as Range<UInt64>).map { Key(high: 1, low: $0) }
        try put(Set(keys)) { _ in 1 }
        var seen: [Int] = []

        try environment.read { transaction in
            try transaction.lookUp(table, count: keys.count) {
                keys[$0].objectKey
            } _: { index, _ in
                seen.append(index)
                return index == 3 ? .stop : .proceed
            }
        }

        #expect(seen == [0, 1, 2, 3])
    }

    @Test func `a damaged record is refused however often, and its neighbours are read`() throws {
        let keys = (0..<20 as Range<UInt64>).map { Key(high: 1, low: $0) }
        try put(Set(keys)) { _ in 10 }
        try environment.write { [table] transaction in
            let key = keys[13].bytes
            let stored = [UInt8](repeating: 5, count: 14)
            try transaction.put(table.unchecked, key.span.bytes, stored.span.bytes, .upsert)
        }

        for _ in 0..<3 {
            let sound = keys.filter { $0 != keys[13] }
            let (together, alone) = try found(sound)
            #expect(together == alone && !together.contains(nil))
            let error = #expect(throws: LMDBError.self) { try found(keys) }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func `a damaged key hides no record on another leaf`() throws {
        let keys = (0..<300 as Range<UInt64>).map { Key(high: 1, low: $0) }
        try put(Set(keys)) { _ in 10 }
        let place = URL(fileURLWithPath: directory.path("file"))
        let bytes = try Data(contentsOf: place)
        let file = try FileHandle(forUpdating: place)
        defer { try? file.close() }
        var answered = 0

        for (number, key) in keys.enumerated() {
            // It becomes greater than all others; where it is the last of its leaf, that leaf is still in order.
            let byte = try #require(bytes.firstRange(of: Data(key.bytes))).lowerBound + 4
            func write(_ value: UInt8) throws {
                try file.seek(toOffset: UInt64(byte))
                try file.write(contentsOf: [value])
            }
            try write(bytes[byte] | 0x80)
            let others = keys.filter { $0 != key }
            var missing = 0
            do {
                try environment.read { transaction in
                    try transaction.lookUp(table, count: others.count) {
                        others[$0].objectKey
                    } _: { _, value in
                        if value == nil { missing += 1 }
                        return .proceed
                    }
                }
                answered += 1
            } catch let error as LMDBError {
                #expect(error.code == .corrupt)
            }
            #expect(missing == 0, "key \(number)")
            try write(bytes[byte])
        }

        #expect(answered > 0)
    }
}
