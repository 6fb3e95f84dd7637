import DaybookLMDB
import DaybookTestSupport
import Foundation
import Testing

@Suite struct PageCheckTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Everything that a reader of the file can see: all records in order, and whether each is
    /// found under its key.
    private func content(_ path: String, _ tables: [String]) throws -> [String: [Record]] {
        let environment = try Environment.open(
            at: path, options: EnvironmentOptions(tables: tables, create: false, readOnly: true))
        return try environment.read { transaction in
            var content: [String: [Record]] = [:]
            for name in tables {
                let table = try environment.table(name)
                var records: [Record] = []
                try transaction.scan(
                    table, from: "".bytes.span.bytes, to: nil, order: .ascending
                ) { key, value in
                    records.append(Record(key: key.array, value: value.array, isFound: false))
                    return .proceed
                }
                for index in records.indices {
                    let (key, value) = (records[index].key, records[index].value)
                    let found = try transaction.get(table, key.span.bytes) { $0.array }
                    records[index].isFound = found == value
                }
                content[name] = records
            }
            return content
        }
    }

    private struct Record: Hashable {
        var key: [UInt8]
        var value: [UInt8]
        var isFound: Bool
    }

    /// A file with deep and flat tables, overflow values and free pages, closed again.
    private func makeFile(
        _ name: String, seed: UInt64, commits: Int, keys: UInt32, tables: [String]
    ) throws -> String {
        let path = directory.path(name)
        let environment = try Environment.open(
            at: path, options: EnvironmentOptions(tables: tables, durability: .relaxed))
        for commit in 0..<commits {
            try environment.write { transaction in
                var random = SeededGenerator(seed: seed &+ UInt64(commit))
                for _ in 0..<Int.random(in: 1...60, using: &random) {
                    let table = try environment.table(tables.randomElement(using: &random) ?? "a")
                    var key = KeyWriter()
                    key.append(UInt32.random(in: 0..<keys, using: &random))
                    let isDeleted = Int.random(in: 0..<3, using: &random) == 0
                    if isDeleted {
                        _ = try transaction.delete(table, key.bytes.span.bytes)
                        continue
                    }
                    let isLong = Int.random(in: 0..<20, using: &random) == 0
                    let length = Int.random(in: isLong ? 2_000...9_000 : 0...200, using: &random)
                    let value = [UInt8](repeating: UInt8(truncatingIfNeeded: commit), count: length)
                    try transaction.put(
                        table, key.bytes.span.bytes, value.span.bytes, .upsert)
                }
            }
        }
        return path
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `a file made by any history of writes is sound`(seed: UInt64) throws {
        let tables = ["a", "b", "c"]
        let keys: UInt32 = seed % 2 == 0 ? 5_000 : 300

        for commits in [0, 1, 2, 3, 50, 150] {
            let path = try makeFile(
                "\(seed)-\(commits)", seed: seed, commits: commits, keys: keys, tables: tables)

            let damage = try PageCheck.run(path: path).filter { $0.severity == .damage }

            #expect(damage == [], "seed \(seed), \(commits) commits")
        }
    }

    @Test func `a copy of either kind is sound`() throws {
        let path = try makeFile("file", seed: 3, commits: 60, keys: 500, tables: ["a", "b"])
        let copies = [directory.path("plain"), directory.path("compact")]
        do {
            let environment = try Environment.open(
                at: path, options: EnvironmentOptions(tables: ["a", "b"]))
            try environment.copy(to: copies[0], compacting: false)
            try environment.copy(to: copies[1], compacting: true)
        }

        for copy in copies {
            #expect(try PageCheck.run(path: copy).filter { $0.severity == .damage } == [])
            #expect(try content(copy, ["a", "b"]) == content(path, ["a", "b"]))
        }
    }

    @Test func `a file that is open is not checked`() throws {
        let path = directory.path("file")
        let environment = try Environment.open(at: path, options: EnvironmentOptions(tables: ["a"]))

        let error = #expect(throws: LMDBError.self) { try PageCheck.run(path: path) }

        #expect(error?.code == .alreadyOpen)
        withExtendedLifetime(environment) {}
    }

    /// The law: for any changed byte, either the check finds damage, or the file reads as before
    /// except for one record's bytes, which digests above this layer cover.
    @Test func `a changed byte is found or changes one record at most`() throws {
        let tables = ["a", "b"]
        let path = try makeFile("file", seed: 11, commits: 4, keys: 90, tables: tables)
        let sound = try content(path, tables)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(try PageCheck.run(path: path).filter { $0.severity == .damage } == [])
        var random = SeededGenerator(seed: 5)
        var counts = (found: 0, read: 0)

        for (offset, mask) in changes(bytes.count, &random) {
            var changed = bytes
            changed[offset] ^= mask
            let findings = PageCheck.run(bytes: changed)
            if findings.contains(where: { $0.severity == .damage }) {
                counts.found += 1
                continue
            }
            // Reading the file is slow; most remaining bytes are in values and unused space.
            let isStructure = offset % 4_096 < 64
            guard isStructure || Int.random(in: 0..<40, using: &random) == 0 else { continue }
            counts.read += 1
            let place = directory.path("changed")
            try Data(changed).write(to: URL(fileURLWithPath: place))
            let differences = try differences(between: sound, andFileAt: place, tables)

            #expect(differences <= 1, "offset \(offset), mask \(mask)")
        }

        #expect(counts.found > 500)
        #expect(counts.read > 100)
    }

    /// Every byte once, and those of the meta pages and of page headers in several ways.
    private func changes(
        _ count: Int, _ random: inout SeededGenerator
    ) -> [(offset: Int, mask: UInt8)] {
        var changes: [(Int, UInt8)] = []
        for offset in 0..<count {
            let isMeta = offset < 8_192
            if isMeta, offset % 4_096 >= 152 { continue }
            let isStructure = isMeta || offset % 4_096 < 32
            let masks: [UInt8] =
                isStructure
                ? [0x01, 0x02, 0x10, 0x80, 0xFF] : [UInt8.random(in: 1...255, using: &random)]
            changes += masks.map { (offset, $0) }
        }
        return changes
    }

    /// The number of records that differ; a missing table is reported when the file is opened.
    private func differences(
        between sound: [String: [Record]], andFileAt path: String, _ tables: [String]
    ) throws -> Int {
        let found: [String: [Record]]
        do {
            found = try content(path, tables)
        } catch let error as LMDBError where error.code == .noSuchTable {
            return 0
        }
        var count = 0
        for name in tables {
            let (left, right) = (sound[name] ?? [], found[name] ?? [])
            count += abs(left.count - right.count)
            count += zip(left, right).count { $0 != $1 }
        }
        return count
    }

    @Test(arguments: [1, 16, 100, 4_096, 5_000, 8_191])
    func `a file cut short is told and not walked into`(length: Int) throws {
        let path = try makeFile("file", seed: 1, commits: 3, keys: 50, tables: ["a"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))

        let findings = PageCheck.run(bytes: Array(bytes.prefix(length)))

        #expect(findings.contains { $0.severity == .damage })
    }

    @Test func `random bytes never stop the check`() throws {
        let path = try makeFile("file", seed: 2, commits: 20, keys: 100, tables: ["a", "b"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var random = SeededGenerator(seed: 77)

        for _ in 0..<300 {
            var changed = bytes
            for _ in 0..<Int.random(in: 2...200, using: &random) {
                let offset = Int.random(in: changed.indices, using: &random)
                changed[offset] = UInt8.random(in: .min ... .max, using: &random)
            }
            _ = PageCheck.run(bytes: changed)
        }

        #expect(!PageCheck.run(bytes: Array(repeating: 0xFF, count: 20_000)).isEmpty)
    }
}
