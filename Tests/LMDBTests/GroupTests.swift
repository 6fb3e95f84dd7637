import Foundation
import Synchronization
import TestSupport
import Testing

@testable import LMDB

/// Writes that come together, and the room that a file keeps ahead.
@Suite struct GroupTests {
    let directory: TemporaryDirectory
    let environment: Environment
    let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
        table = try environment.table("a")
    }

    private func put(_ key: String, _ size: Int = 1) throws {
        let value = [UInt8](repeating: 7, count: size)
        try environment.write { [table] transaction in
            try transaction.put(table, key.bytes.span.bytes, value.span.bytes, .upsert)
        }
    }

    private func keys() throws -> Int {
        try environment.read { try $0.count(table) }
    }

    // MARK: - Groups

    @Test func `a lone write runs on the thread that asks for it`() throws {
        let here = ObjectIdentifier(Thread.current)

        let there = try environment.write { _ in ObjectIdentifier(Thread.current) }

        #expect(there == here)
    }

    @Test func `writes that arrive while one runs share its LMDB transaction`() throws {
        let first = try environment.statistics.lastTransaction
        let (environment, table) = (environment, table)
        let writer = environment.core.writer

        try onThreads(9) { number in
            let key = "key \(number)".bytes
            try environment.write { transaction in
                try transaction.put(table, key.span.bytes, key.span.bytes, .upsert)
                // Whoever comes first waits until all others stand in line.
                while try transaction.count(table) == 1, writer.waitingCount < 8 { sched_yield() }
            }
        }

        #expect(try keys() == 9)
        #expect(try environment.statistics.lastTransaction == first + 1)
    }

    @Test func `a write that fails after it wrote does not harm those that share its transaction`()
        throws
    {
        struct Refusal: Error {}
        let (environment, table) = (environment, table)
        let refused = Atomic<Int>(0)
        let counter = Counter(refused)

        try onThreads(8) { thread in
            for number in 0..<50 {
                let key = "\(thread) \(number)".bytes
                do {
                    try environment.write { transaction in
                        try transaction.put(table, key.span.bytes, key.span.bytes, .insertOnly)
                        if number % 5 == thread % 5 { throw Refusal() }
                    }
                } catch is Refusal {
                    counter.value.add(1, ordering: .relaxed)
                }
            }
        }

        #expect(counter.value.load(ordering: .relaxed) == 80)
        #expect(try keys() == 320)
    }

    // MARK: - Room

    @Test func `a file that is written often grows ahead, and its pages are sound`() throws {
        for number in 0..<40 { try put("key \(number)", 1_000) }

        let statistics = try environment.statistics
        let used = (statistics.pagesUsed + statistics.pagesFree) * statistics.pageSize
        #expect(statistics.fileSize > used)
        #expect(statistics.fileSize - used <= 512 << 10)
        #expect(try keys() == 40)
    }

    @Test func `a file that is written a few times is as long as its pages`() throws {
        for number in 0..<4 { try put("key \(number)", 1_000) }

        let statistics = try environment.statistics
        let pages = statistics.pagesUsed + statistics.pagesFree
        #expect(statistics.fileSize <= pages * statistics.pageSize)
    }

    @Test func `a file that has grown ahead ends with its last page when it is closed`() throws {
        let path = directory.path("other")
        let options = EnvironmentOptions(tables: ["a"])
        func length() throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return try #require(attributes[.size] as? Int)
        }
        func write(_ range: Range<Int>) throws -> (used: Int, open: Int) {
            let environment = try Environment.open(at: path, options: options)
            let table = try environment.table("a")
            for number in range {
                let key = "key \(number)".bytes
                try environment.write { try $0.put(table, key.span.bytes, key.span.bytes, .upsert) }
            }
            let statistics = try environment.statistics
            let pages = statistics.pagesUsed + statistics.pagesFree
            return (pages * statistics.pageSize, try length())
        }

        for range in [0..<30, 30..<60] {
            let written = try write(range)
            #expect(written.open > written.used)
            #expect(try length() == written.used)
            #expect(try PageCheck.run(path: path).isEmpty)
        }
    }
}

private final class Counter: Sendable {
    let value: Atomic<Int>

    init(_ value: consuming Atomic<Int>) {
        self.value = value
    }
}
