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

    // MARK: - Company

    /// Has two requests written as one group.
    private func writeTogether(_ writer: Writer) throws {
        try onThreads(2) { _ in
            writer.run(WriteRequest { _ in }) { group, joining in
                // Whoever comes first waits until the other stands in line.
                while writer.waitingCount < 1 { sched_yield() }
                for request in group + joining(group.count) { request.finish(nil) }
            }
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `those who were answered together are waited for the next time`() throws {
        let writer = Writer(patience: 3_600_000_000_000)
        try writeTogether(writer)
        let count = Count(Mutex(0))

        try onThreads(2) { thread in
            // The second one comes when the first has nothing left to do but to wait.
            while thread == 1, !writer.isAwaitingOthers { sched_yield() }
            writer.run(WriteRequest { _ in }) { group, joining in
                let others = joining(group.count)
                count.value.withLock { $0 = others.count }
                for request in group + others { request.finish(nil) }
            }
        }

        #expect(joinedCount(count) == 1)
        #expect(writer.countExpected == 2)
    }

    @Test(.timeLimit(.minutes(1)))
    func `who was alone waits for nobody, however patient`() throws {
        let writer = Writer(patience: 3_600_000_000_000)

        for _ in 0..<3 {
            writer.run(WriteRequest { _ in }) { group, joining in
                for request in group + joining(group.count) { request.finish(nil) }
            }
        }

        #expect(writer.countExpected == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `who has waited in vain writes alone, and waits no more`() throws {
        let writer = Writer(patience: 1_000_000)
        try writeTogether(writer)
        let groups = Count(Mutex(0))

        for _ in 0..<2 {
            writer.run(WriteRequest { _ in }) { group, joining in
                let all = group + joining(group.count)
                groups.value.withLock { $0 += all.count }
                for request in all { request.finish(nil) }
            }
        }

        #expect(joinedCount(groups) == 2)
        #expect(writer.countExpected == 1)
    }

    private func joinedCount(_ count: Count) -> Int {
        count.value.withLock { $0 }
    }

    @Test func `every write is answered, however the threads come and go`() throws {
        let (environment, table) = (environment, table)

        try onThreads(6) { thread in
            for number in 0..<(10 * (thread + 1)) {
                let key = "\(thread) \(number)".bytes
                try environment.write { transaction in
                    try transaction.put(table, key.span.bytes, key.span.bytes, .insertOnly)
                }
                if number % 7 == thread { sched_yield() }
            }
        }

        #expect(try keys() == 210)
        #expect(environment.core.writer.waitingCount == 0)
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

private final class Count: Sendable {
    let value: Mutex<Int>

    init(_ value: consuming Mutex<Int>) {
        self.value = value
    }
}

private final class Counter: Sendable {
    let value: Atomic<Int>

    init(_ value: consuming Atomic<Int>) {
        self.value = value
    }
}
