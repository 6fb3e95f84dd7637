import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// What reading counts for who asks, and how it is ended.
@Suite struct ReadMeterTests {
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table
    private static let count: UInt64 = 40_000

    init() throws {
        directory = try TemporaryDirectory()
        var options = EnvironmentOptions(tables: ["rows"], durability: .relaxed)
        options.checkedTables = ["rows"]
        environment = try Environment.open(at: directory.path("file"), options: options)
        table = try environment.table("rows")
        try environment.write { [table] transaction in
            for number in 0..<Self.count {
                try transaction.put(
                    table, Self.key(number).span.bytes,
                    [UInt8](repeating: 7, count: number == 5 ? 30_000 : 20).span.bytes, .append)
            }
        }
    }

    private static func key(_ number: UInt64) -> [UInt8] {
        var writer = KeyWriter()
        writer.append(UInt32(1))
        writer.append(number)
        return writer.bytes
    }

    private func counted(
        _ body: (borrowing ReadTransaction) throws -> Void
    ) throws -> (records: Int, pages: Int) {
        let meter = ReadMeter()
        try environment.read { try body($0.counted(by: meter)) }
        return (meter.recordCount(of: "rows"), meter.pageCount)
    }

    @Test func `records count that are handed out, and pages that are looked at`() throws {
        // Where the table is, is looked up once for a state.
        _ = try counted { _ = try $0.contains(table, Self.key(1).span.bytes) }
        let one = try counted { transaction in
            _ = try transaction.get(table, Self.key(3).span.bytes) { _ in }
        }
        #expect(one.records == 1)
        // From the root to a leaf.
        #expect((2...4).contains(one.pages))

        let missing = try counted { transaction in
            _ = try transaction.get(table, Self.key(Self.count).span.bytes) { _ in }
        }
        #expect(missing.records == 0)

        let long = try counted { transaction in
            _ = try transaction.get(table, Self.key(5).span.bytes) { _ in }
        }
        #expect(long.records == 1)
        #expect(long.pages == one.pages + 8)

        let walked = try counted { transaction in
            try transaction.scan(
                table, from: Self.key(100).span.bytes, to: Self.key(1_100).span.bytes,
                order: .ascending
            ) { _, _ in .proceed }
        }
        #expect(walked.records == 1_000)
        #expect(walked.pages > one.pages)
        #expect(walked.pages < 100)

        let stopped = try counted { transaction in
            var left = 300
            try transaction.scan(
                table, from: Self.key(0).span.bytes, to: nil, order: .descending
            ) { _, _ in
                left -= 1
                return left == 0 ? .stop : .proceed
            }
        }
        #expect(stopped.records == 300)

        let looked = try counted { transaction in
            try transaction.lookUp(table, count: 50) {
                ObjectKey(1, UInt64($0) + Self.count - 25)
            } _: { _, _ in
                .proceed
            }
        }
        #expect(looked.records == 25)

        let skipped = try counted { transaction in
            var skipped = 900
            try transaction.scan(
                table, from: Self.key(0).span.bytes, to: Self.key(1_000).span.bytes,
                skipping: &skipped
            ) { _, _ in .proceed }
        }
        #expect(skipped.records == 100)
    }

    @Test func `a walk on all cores counts each record once`() throws {
        let found = Mutex(0)
        let walked = try counted { transaction in
            let table = table
            try transaction.scanInParts(
                [table], from: Self.key(0), to: Self.key(Self.count), begin: { 0 }
            ) { part, transaction, lower, upper in
                try transaction.scan(
                    table, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
                ) { _, _ in
                    part += 1
                    return .proceed
                }
            } join: { part in
                found.withLock { $0 += part }
                return .proceed
            }
        }

        #expect(found.withLock { $0 } == Int(Self.count))
        #expect(walked.records == Int(Self.count))
    }

    @Test func `a walk that nobody wants any more ends within some records`() throws {
        let told = Mutex(0)
        let stopper = Mutex<ReadMeter?>(nil)
        let meter = ReadMeter { _, count in
            told.withLock { $0 += count }
            stopper.withLock { $0 }?.stop()
        }
        stopper.withLock { $0 = meter }
        var seen = 0

        #expect(throws: CancellationError.self) {
            try environment.read { transaction in
                try transaction.counted(by: meter).scan(
                    table, from: Self.key(0).span.bytes, to: nil, order: .ascending
                ) { _, _ in
                    seen += 1
                    return .proceed
                }
            }
        }

        #expect(seen == 127)
        #expect(told.withLock { $0 } == 128)
        // Nor does it begin anything else.
        #expect(throws: CancellationError.self) {
            try environment.read { transaction in
                try transaction.counted(by: meter).get(table, Self.key(1).span.bytes) { _ in }
            }
        }
        stopper.withLock { $0 = nil }
    }

    @Test func `others read on while one is ended`() throws {
        let meter = ReadMeter()
        meter.stop()

        let found = try environment.read { transaction in
            try transaction.get(table, Self.key(1).span.bytes) { $0.byteCount }
        }

        #expect(found == 20)
        #expect(meter.pageCount == 0)
    }
}
