import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// Writes that come together, and the room reserved in a file.
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
                // The first writer waits until all others are queued.
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
        let refused = Counter()

        try onThreads(8) { thread in
            for number in 0..<50 {
                let key = "\(thread) \(number)".bytes
                do {
                    try environment.write { transaction in
                        try transaction.put(table, key.span.bytes, key.span.bytes, .insertOnly)
                        if number % 5 == thread % 5 { throw Refusal() }
                    }
                } catch is Refusal {
                    refused.add()
                }
            }
        }

        #expect(refused.count == 80)
        #expect(try keys() == 320)
    }

    @Test func `who fails is told at once, not when the others have been repeated`() throws {
        struct Refusal: Error {}
        let (environment, table) = (environment, table)
        let (attempts, refusals) = (Counter(), Counter())
        let writer = environment.core.writer

        try onThreads(2) { thread in
            if thread == 0 {
                try environment.write { transaction in
                    try transaction.put(table, "a".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
                    if attempts.add() == 1 {
                        while writer.waitingCount < 1 { sched_yield() }
                    } else {
                        // The other one continues while this one is still writing.
                        while refusals.count < 1 { sched_yield() }
                    }
                }
            } else {
                while attempts.count < 1 { sched_yield() }
                #expect(throws: Refusal.self) {
                    try environment.write { transaction in
                        try transaction.put(
                            table, "b".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
                        throw Refusal()
                    }
                }
                refusals.add()
            }
        }

        #expect(attempts.count == 2)
        #expect(try keys() == 1)
    }

    private final class Knowledge: Sendable {}

    @Test func `a write that is repeated sees what was remembered before its group`() throws {
        struct Refusal: Error {}
        let (environment, table) = (environment, table)
        let (before, within) = (Knowledge(), Knowledge())
        let attempts = Counter()
        let seen = Seen()
        let writer = environment.core.writer
        try environment.write { transaction in
            try transaction.put(table, "k".bytes.span.bytes, "0".bytes.span.bytes, .upsert)
            transaction.remember(before)
        }

        try onThreads(2) { thread in
            if thread == 0 {
                try environment.write { transaction in
                    seen.append(transaction.remembered)
                    try transaction.put(table, "a".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
                    transaction.remember(within)
                    if attempts.add() == 1 {
                        while writer.waitingCount < 1 { sched_yield() }
                    }
                }
            } else {
                while attempts.count < 1 { sched_yield() }
                #expect(throws: Refusal.self) {
                    try environment.write { transaction in
                        seen.append(transaction.remembered)
                        try transaction.put(
                            table, "b".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
                        transaction.remember(Knowledge())
                        throw Refusal()
                    }
                }
            }
        }
        try environment.write { seen.append($0.remembered) }

        let expected = [before, within, before, within].map(ObjectIdentifier.init)
        #expect(seen.all == expected)
    }

    // MARK: - Waiting for others

    /// A clock that advances on request.
    private final class Time: Sendable {
        private let time = Mutex<UInt64>(5_000_000_000)

        var now: UInt64 { time.withLock { $0 } }

        func pass(_ nanoseconds: UInt64) {
            time.withLock { $0 += nanoseconds }
        }
    }

    /// Acts like the environment: accepts requests until none comes, and commits, for a
    /// millisecond.
    ///
    /// - Returns: The number of answered requests.
    @discardableResult
    private static func write(
        _ group: [WriteRequest], _ joining: (Int) -> [WriteRequest], _ time: Time
    ) -> Int {
        var all = group
        while true {
            let joined = joining(all.count)
            if joined.isEmpty { break }
            all += joined
        }
        time.pass(1_000_000)
        for request in all { request.finish(nil) }
        return all.count
    }

    /// Has two requests written as one group.
    private func writeTogether(_ writer: Writer, _ time: Time) throws {
        try onThreads(2) { _ in
            writer.run(WriteRequest { _ in }) { group, joining in
                // The first writer waits until the other is queued.
                while writer.waitingCount < 1 { sched_yield() }
                Self.write(group, joining, time)
            }
        }
    }

    /// Has one request written.
    ///
    /// - Returns: The number of requests written together with it.
    private func writeAlone(_ writer: Writer, _ time: Time) -> Int {
        var count = 0
        writer.run(WriteRequest { _ in }) { count = Self.write($0, $1, time) }
        return count
    }

    @Test func `those who were answered together are waited for the next time`() throws {
        let time = Time()
        let writer = Writer(
            clock: Writer.Clock(now: { time.now }, wait: { bell, _ in bell.wait() }))
        try writeTogether(writer, time)
        let counts = Counter()

        try onThreads(2) { thread in
            // The second one comes when the first can only wait.
            while thread == 1, !writer.isAwaitingOthers { sched_yield() }
            writer.run(WriteRequest { _ in }) { group, joining in
                counts.add(Self.write(group, joining, time))
            }
        }

        #expect(counts.count == 2)
        #expect(writer.patience.countExpected == 2)
    }

    @Test(arguments: [(0, 1), (1_000_000, 1), (1_000_001, 0)] as [(UInt64, Int)])
    func `a lone write waits only when others have just been answered`(
        _ pause: UInt64, _ expected: Int
    ) throws {
        let time = Time()
        let waits = Counter()
        let writer = Writer(
            clock: Writer.Clock(now: { time.now }, wait: { _, _ in waits.add() }))
        try writeTogether(writer, time)
        time.pass(pause)

        for _ in 0..<3 { #expect(writeAlone(writer, time) == 1) }

        #expect(waits.count == expected)
        #expect(writer.patience.countExpected == 1)
    }

    @Test func `what a group that waited in vain took to commit counts without its wait`() throws {
        let time = Time()
        let writer = Writer(
            clock: Writer.Clock(now: { time.now }, wait: { _, limit in time.pass(limit) }))
        try writeTogether(writer, time)
        time.pass(900_000)

        #expect(writeAlone(writer, time) == 1)

        #expect(writer.patience.nanoseconds == 500_000)
    }

    @Test func `a bell rung when the time was over is heard by no later group`() throws {
        let time = Time()
        let (waits, heard) = (Counter(), Counter())
        let clock = Writer.Clock(now: { time.now }) { bell, _ in
            if waits.add() == 1 {
                // It rings, but is not heard: the time was already over.
                bell.wait()
                bell.signal()
            } else if bell.wait(timeout: .now()) == .success {
                heard.add()
            }
        }
        let writer = Writer(clock: clock)
        try writeTogether(writer, time)
        let counts = Counter()

        try onThreads(2) { thread in
            while thread == 1, !writer.isAwaitingOthers { sched_yield() }
            writer.run(WriteRequest { _ in }) { group, joining in
                counts.add(Self.write(group, joining, time))
            }
        }
        #expect(counts.count == 2)
        #expect(writeAlone(writer, time) == 1)

        #expect(waits.count == 2)
        #expect(heard.count == 0)
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

    /// A file in which one write has freed some 3,000 pages, and its length.
    private func giveUpPages() throws -> EnvironmentStatistics {
        for _ in 0..<2 {
            try environment.write { [table] transaction in
                for number in 0..<3_000 {
                    let (key, value) = ("many \(number)".bytes, [UInt8](repeating: 7, count: 3_000))
                    try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
                }
            }
        }
        return try environment.statistics
    }

    private static func used(_ statistics: EnvironmentStatistics) -> Int {
        (statistics.pagesUsed + statistics.pagesFree) * statistics.pageSize
    }

    @Test func `a file with many free pages uses them before it grows ahead`() throws {
        for number in 0..<10 { try put("key \(number)") }
        let before = try giveUpPages()

        for number in 0..<40 { try put("key \(number)") }

        let after = try environment.statistics
        #expect(Self.used(after) - Self.used(before) <= 8 * after.pageSize)
        #expect(after.fileSize <= max(before.fileSize, Self.used(after)))
    }

    @Test func `a file whose free pages are still read grows ahead`() throws {
        for number in 0..<10 { try put("key \(number)") }

        let (isReading, isWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try onThreads(2) { thread in
            if thread == 0 {
                try environment.read { _ in
                    isReading.signal()
                    isWritten.wait()
                }
                return
            }
            defer { isWritten.signal() }
            isReading.wait()
            _ = try giveUpPages()
            for number in 0..<40 { try put("key \(number)") }
        }

        let statistics = try environment.statistics
        #expect(statistics.fileSize > Self.used(statistics))
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
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .acquiring) }

    /// Counts, and returns the new count.
    @discardableResult
    func add(_ number: Int = 1) -> Int {
        value.add(number, ordering: .acquiringAndReleasing).newValue
    }
}

/// The remembered knowledge, as each body saw it.
private final class Seen: Sendable {
    private let seen = Mutex<[ObjectIdentifier?]>([])

    var all: [ObjectIdentifier?] { seen.withLock { $0 } }

    func append(_ knowledge: (any AnyObject & Sendable)?) {
        seen.withLock { $0.append(knowledge.map { ObjectIdentifier($0) }) }
    }
}
