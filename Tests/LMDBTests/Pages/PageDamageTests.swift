import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// Files are damaged and then read: a read gives what the sound file gave, or refuses, and ends.
@Suite struct PageDamageTests {
    private let directory: TemporaryDirectory
    private static let tables = ["long", "rows", "texts"]

    private static func options(readOnly: Bool) -> EnvironmentOptions {
        var options = EnvironmentOptions(tables: tables, readOnly: readOnly, durability: .relaxed)
        options.checkedTables = Set(tables)
        return options
    }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A file with deep and flat tables, overflow values and free pages.
    private func makeFile(seed: UInt64) throws -> String {
        let path = directory.path("sound-\(seed)")
        let environment = try Environment.open(at: path, options: Self.options(readOnly: false))
        let (long, rows, texts) = (
            try environment.table("long"), try environment.table("rows"),
            try environment.table("texts")
        )
        for round in 0..<4 as Range<UInt64> {
            try environment.write { transaction in
                var random = SeededGenerator(seed: seed &+ round)
                for _ in 0..<200 {
                    var key = KeyWriter()
                    key.append(UInt32.random(in: 0..<3, using: &random))
                    key.append(UInt64.random(in: 0..<300, using: &random))
                    let value = [UInt8](
                        repeating: UInt8(round), count: Int.random(in: 0..<150, using: &random))
                    try transaction.put(rows, key.bytes.span.bytes, value.span.bytes, .upsert)
                    if UInt8.random(in: 0..<30, using: &random) == 0 {
                        let much = [UInt8](repeating: UInt8(round), count: 3_000)
                        try transaction.put(long, key.bytes.span.bytes, much.span.bytes, .upsert)
                    }
                    let text = [UInt8](
                        repeating: UInt8.random(in: 65..<70, using: &random),
                        count: Int.random(in: 300..<511, using: &random))
                    try transaction.put(texts, text.span.bytes, "t".bytes.span.bytes, .upsert)
                }
            }
        }
        return path
    }

    /// An answer, or the refusal to give one.
    private typealias Answer = Result<[UInt8], LMDBError>

    /// The answers to everything that can be asked of a file.
    private func answers(_ bytes: [UInt8], probes: [[UInt8]]) throws -> [Answer] {
        let path = directory.path("damaged")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        do {
            return try content(path, probes)
        } catch let error as LMDBError {
            return [.failure(error)]
        }
    }

    private func content(_ path: String, _ probes: [[UInt8]]) throws -> [Answer] {
        let environment = try Environment.open(at: path, options: Self.options(readOnly: true))
        var answers: [Answer] = []
        func ask(_ question: () throws -> [UInt8]) throws {
            do {
                answers.append(.success(try question()))
            } catch let error as LMDBError {
                answers.append(.failure(error))
            }
        }
        try ask {
            _ = try environment.statistics; return []
        }
        try environment.read { transaction in
            for name in Self.tables {
                let table = try environment.table(name)
                for order in [ScanOrder.ascending, .descending] {
                    try ask {
                        var all: [UInt8] = []
                        try transaction.scan(
                            table, from: "".bytes.span.bytes, to: nil, order: order
                        ) {
                            all += $0.array + $1.array
                            return .proceed
                        }
                        return all
                    }
                }
                try ask { try Self.inParts(transaction, table) }
                for step in [1, 7] { try ask { try Self.lookedUp(transaction, table, step) } }
                for (probe, next) in zip(probes, probes.dropFirst() + [[0xFF]]) {
                    let key = probe.span.bytes
                    try ask { try transaction.get(table, key) { $0.array } ?? [] }
                    try ask {
                        try transaction.seek(table, atOrAfter: key) { $0.array + $1.array } ?? []
                    }
                    try ask {
                        try transaction.seek(table, before: key) { $0.array + $1.array } ?? []
                    }
                    try ask {
                        let count = try transaction.count(table, from: key, to: next.span.bytes)
                        return Array("\(count)".utf8)
                    }
                    try ask {
                        var some: [UInt8] = []
                        var skipped = 5
                        try transaction.scan(
                            table, from: key, to: next.span.bytes, skipping: &skipped
                        ) {
                            some += $0.array + $1.array
                            return .proceed
                        }
                        return some + [UInt8(skipped)]
                    }
                    for order in [ScanOrder.ascending, .descending] {
                        try ask {
                            var some: [UInt8] = []
                            try transaction.scan(
                                table, from: key, to: next.span.bytes, order: order
                            ) {
                                some += $0.array + $1.array
                                return .proceed
                            }
                            return some
                        }
                    }
                }
            }
        }
        return answers
    }

    /// Records looked up together: all, or some that are further apart.
    private static func lookedUp(
        _ transaction: borrowing ReadTransaction, _ table: Table, _ step: Int
    ) throws -> [UInt8] {
        var found: [UInt8] = []
        try transaction.lookUp(table, count: 900 / step) { index in
            ObjectKey(UInt32(index * step / 300), UInt64(index * step % 300))
        } _: { _, value in
            if let value { found += value.array } else { found.append(0) }
            return .proceed
        }
        return found
    }

    /// All records, read by several threads.
    private static func inParts(
        _ transaction: borrowing ReadTransaction, _ table: Table
    ) throws -> [UInt8] {
        var all: [UInt8] = []
        try transaction.scanInParts([table], from: [0], to: [0xFF]) {
            [UInt8]()
        } walk: { part, transaction, lower, upper in
            try transaction.scan(
                table, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
            ) {
                part += $0.array + $1.array
                return .proceed
            }
        } join: { part in
            all += part
            return .proceed
        }
        return all
    }

    private func probes(_ path: String) throws -> [[UInt8]] {
        let environment = try Environment.open(at: path, options: Self.options(readOnly: true))
        return try environment.read { transaction in
            var keys: [[UInt8]] = []
            for name in Self.tables {
                try transaction.scan(
                    environment.table(name), from: "".bytes.span.bytes, to: nil, order: .ascending
                ) { key, _ in
                    keys.append(key.array)
                    return .proceed
                }
            }
            // Some that are there, and some that are not.
            return keys.enumerated().filter { $0.offset % 7 == 0 }
                .map { $0.offset % 2 == 0 ? $0.element : $0.element + [1] }.sorted {
                    $0.lexicographicallyPrecedes($1)
                }
        }
    }

    enum Damage: String, CaseIterable, Sendable {
        case bit
        case structure
        case exchangedPages
        case copiedPage
        case crossLink
        case zeroedPage
        case randomPage
        case cut

        func apply(to bytes: inout [UInt8], _ random: inout SeededGenerator) {
            let pageSize = 4_096
            let pages = bytes.count / pageSize
            func page() -> Int { Int.random(in: 0..<pages, using: &random) * pageSize }
            switch self {
            case .bit:
                bytes[Int.random(in: bytes.indices, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            case .structure:
                // Headers, offsets and the beginnings of nodes; of meta pages the records.
                let start = page()
                let range = start < 2 * pageSize ? 0..<152 : 0..<64
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    bytes[start + Int.random(in: range, using: &random)] = .random(
                        in: .min ... .max, using: &random)
                }
            case .exchangedPages:
                let (left, right) = (page(), page())
                for offset in 0..<pageSize { bytes.swapAt(left + offset, right + offset) }
            case .copiedPage:
                // It keeps the number of its new place, so that only its content is wrong.
                let (from, to) = (page(), page())
                for offset in 8..<pageSize { bytes[to + offset] = bytes[from + offset] }
            case .crossLink:
                // Every node of a branch leads to the same page.
                let branches = (2..<pages).filter { bytes[$0 * pageSize + 10] == 1 }
                guard let branch = branches.randomElement(using: &random) else { return }
                let start = branch * pageSize
                let lower = Int(bytes[start + 12]) | Int(bytes[start + 13]) << 8
                let target = Int.random(in: 2..<pages, using: &random)
                for place in stride(from: 16, to: lower, by: 2) {
                    let node = Int(bytes[start + place]) | Int(bytes[start + place + 1]) << 8
                    for byte in 0..<6 { bytes[start + node + byte] = 0 }
                    bytes[start + node] = UInt8(target & 0xFF)
                    bytes[start + node + 1] = UInt8(target >> 8)
                }
            case .zeroedPage:
                let start = page()
                for offset in 0..<pageSize { bytes[start + offset] = 0 }
            case .randomPage:
                let start = page()
                for offset in 0..<pageSize {
                    bytes[start + offset] = .random(in: .min ... .max, using: &random)
                }
            case .cut: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            }
        }
    }

    /// Each record carries a check, and no absence is believed that the pages around it do not confirm.
    /// In the file are no earlier states of its pages, which would be right in themselves.
    @Test(arguments: Damage.allCases)
    func `a damaged file is read to an end, and answers as the sound one or not at all`(
        damage: Damage
    ) throws {
        let path = directory.path("compact")
        try Environment.open(at: makeFile(seed: 1), options: Self.options(readOnly: true))
            .copy(to: path, compacting: true)
        let sound = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let probes = try probes(path)
        let expected = try answers(sound, probes: probes).map { try $0.get() }
        var random = SeededGenerator(seed: 42)
        var counts = (refused: 0, same: 0)

        for round in 0..<40 {
            var bytes = sound
            damage.apply(to: &bytes, &random)
            let found = try answers(bytes, probes: probes)
            for (place, answer) in found.enumerated() {
                switch answer {
                case .success(let answer):
                    #expect(answer == expected[place], "round \(round), question \(place)")
                    counts.same += 1
                case .failure(let error):
                    counts.refused += 1
                    let codes: [LMDBError.Code] = [
                        .corrupt, .truncated, .notLMDB, .versionMismatch, .noSuchTable,
                    ]
                    #expect(codes.contains(error.code), "\(error.message)")
                }
            }
        }

        #expect(counts.refused > 0, "\(counts)")
    }

    @Test func `the page and the table are named`() throws {
        let path = try makeFile(seed: 2)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let probes = try probes(path)
        var leaves: [Int] = []
        for page in 2..<bytes.count / 4_096 where bytes[page * 4_096 + 10] == 2 {
            let start = page * 4_096
            guard bytes[start..<start + 4_096].contains("EEEEEEEE".bytes) else { continue }
            bytes[start + 10] = 3
            leaves.append(page)
        }

        let refusals = try answers(bytes, probes: probes).compactMap { answer -> String? in
            guard case .failure(let error) = answer else { return nil }
            return error.message
        }

        let message = try #require(refusals.first)
        // Pages of other tables may have old bytes of keys in their free space.
        let isNamed = leaves.contains { leaf in
            (Self.tables + ["free list"]).contains { name in
                message
                    == "The file is damaged at page \(leaf) of '\(name)': its flags are 3 instead of 2. "
                    + "Run 'daybook verify' to see how far the damage goes."
            }
        }
        #expect(isNamed, "\(message)")
    }

    // MARK: - Single pages

    /// Any bytes are a page or are refused, and what is read of them lies in them. The bytes are followed
    /// by a page that must not be touched.
    @Test func `any bytes can be taken for a page`() throws {
        let size = 512
        let mapped = mmap(nil, 8_192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        let room = try #require(mapped)
        defer { munmap(room, 8_192) }
        try #require(room != MAP_FAILED)
        #expect(mprotect(room + 4_096, 4_096, PROT_NONE) == 0)
        let bytes = UnsafeMutableRawBufferPointer(start: room + 4_096 - size, count: size)
        var random = SeededGenerator(seed: 9)
        var counts = (pages: 0, nodes: 0, refused: 0)

        for round in 0..<20_000 {
            for index in 0..<size where round % 50 == 0 {
                bytes[index] = .random(in: .min ... .max, using: &random)
            }
            makeHeader(of: bytes, &random)
            bytes[Int.random(in: 0..<size, using: &random)] = .random(
                in: .min ... .max, using: &random)
            for kind in [PageView.Kind.branch, .leaf] {
                let page: PageView
                do {
                    page = try PageView(UnsafeRawBufferPointer(bytes), number: 7, kind)
                } catch {
                    counts.refused += 1
                    continue
                }
                counts.pages += 1
                counts.nodes += touch(page, &random)
            }
        }

        #expect(counts.pages > 5_000)
        #expect(counts.nodes > 5_000)
        #expect(counts.refused > 100)
    }

    /// Makes a header and nodes that are mostly possible.
    private func makeHeader(
        of bytes: UnsafeMutableRawBufferPointer, _ random: inout SeededGenerator
    ) {
        let count = UInt16.random(in: 0..<40, using: &random)
        let lower = 16 + 2 * count
        let upper = UInt16.random(in: lower...500, using: &random)
        func put(_ value: UInt16, at offset: Int) {
            bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
        }
        bytes.storeBytes(of: UInt64(7).littleEndian, toByteOffset: 0, as: UInt64.self)
        put(.random(in: 1...2, using: &random), at: 10)
        put(lower, at: 12)
        put(upper, at: 14)
        for index in 0..<Int(count) {
            let offset = UInt16.random(in: upper...504, using: &random)
            put(offset, at: 16 + 2 * index)
            put(.random(in: 0..<100, using: &random), at: Int(offset))
            put(.random(in: 0..<3, using: &random), at: Int(offset) + 4)
            put(.random(in: 0..<30, using: &random), at: Int(offset) + 6)
        }
    }

    /// Reads all of a page; the number of nodes that could be read.
    private func touch(_ page: PageView, _ random: inout SeededGenerator) -> Int {
        var count = 0
        var sum = 0
        for index in -1...page.nodeCount {
            do {
                let node = try page.node(index)
                sum &+= node.key.reduce(0) { $0 &+ Int($1) }
                count += 1
                sum &+= try page.valueInPage(node, count: node.valueSize).reduce(0) {
                    $0 &+ Int($1)
                }
                sum &+= Int(truncatingIfNeeded: try page.overflowPage(node))
            } catch {
                continue
            }
        }
        let key = (0..<Int.random(in: 1...20, using: &random)).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
        key.withUnsafeBytes { key in
            _ = try? page.place(of: SoughtKey(key))
            _ = try? page.childIndex(for: SoughtKey(key))
        }
        _ = try? page.checkPacking()
        return count
    }

    @Test(arguments: [1, 7, 8, 9, 12, 15, 16, 17, 20, 24, 40])
    func `sought keys are in the order of their bytes`(length: Int) {
        var random = SeededGenerator(seed: UInt64(length))
        for _ in 0..<5_000 {
            let left = (0..<length).map { _ in UInt8.random(in: 0...1, using: &random) &* 255 }
            var right = left
            if Bool.random(using: &random) {
                right[Int.random(in: 0..<length, using: &random)] ^= 0x80
            }
            if Int.random(in: 0..<4, using: &random) == 0 { right.removeLast() }
            if Int.random(in: 0..<4, using: &random) == 0 { right.append(0) }
            let order = left.withUnsafeBytes { left in
                right.withUnsafeBytes { SoughtKey(left).order(to: $0) }
            }

            #expect(
                order.signum()
                    == (left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1))
        }
    }
}
