import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// What happens while the map changes, which waits for all reads. Exit tests are the other process.
@Suite(.serialized)
struct MapChangeTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("file")
    }

    private static func open(_ path: String) throws -> Environment {
        let options = EnvironmentOptions(
            tables: ["a"], mapSize: 1 << 16, patience: LockPatience(limit: .seconds(5)))
        return try Environment.open(at: path, options: options)
    }

    private static func put(_ environment: Environment, _ key: String, _ size: Int = 1) throws {
        let table = try environment.table("a")
        let value = [UInt8](repeating: 7, count: size)
        try environment.write { transaction in
            try transaction.put(table, key.bytes.span.bytes, value.span.bytes, .upsert)
        }
    }

    private static func count(_ environment: Environment) throws -> Int {
        let table = try environment.table("a")
        return try environment.read { try $0.count(table) }
    }

    /// Runs bodies on threads of their own, without waiting for them before the result is awaited.
    private static func running(
        _ bodies: [@Sendable () throws -> Void]
    ) async throws {
        try await withCheckedThrowingContinuation { done in
            Thread {
                done.resume(with: Result { try onThreads(bodies.count) { try bodies[$0]() } })
            }.start()
        }
    }

    @Test func `another process writes while a write waits for a reader that changes the map`()
        async throws
    {
        let environment = try Self.open(path)
        try Self.put(environment, "first")
        let (began, mayFollow) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (mayPut, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let work: Void = Self.running([
            {
                try environment.read { _ in
                    began.signal()
                    mayEnd.wait()
                }
            },
            {
                mayFollow.wait()
                let count = try Self.count(environment)
                #expect(count > 1)
            },
            {
                mayPut.wait()
                try Self.put(environment, "own")
            },
        ])
        await onThread { began.wait() }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try Self.put(try Self.open(path), "large", 1 << 18)
        }
        mayFollow.signal()
        await onThread { while !environment.core.pool.isExclusive { sched_yield() } }
        mayPut.signal()

        await #expect(processExitsWith: .success) { [path = path as String] in
            try Self.put(try Self.open(path), "theirs")
        }

        mayEnd.signal()
        try await work
        #expect(try Self.count(environment) == 4)
    }

    @Test func `a table is opened inside a read while the map waits for that read`() async throws {
        let environment = try Self.open(path)
        try Self.put(environment, "first")
        let (began, asks) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        try await Self.running([
            {
                try environment.read { _ in
                    began.signal()
                    asks.wait()
                    // So that the other thread, which asks for the same, comes first.
                    for _ in 0..<10_000 { sched_yield() }
                    let table = try environment.table(ifThere: "later")
                    #expect(table == nil)
                }
            },
            {
                began.wait()
                try Self.put(environment, "large", 1 << 18)
            },
            {
                while !environment.core.pool.isExclusive { sched_yield() }
                asks.signal()
                let table = try environment.table(ifThere: "later")
                #expect(table == nil)
            },
        ])

        #expect(try Self.count(environment) == 2)
    }

    @Test func `the map stays as it is where there is no room for the one that the file names`()
        async
    {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let environment = try Self.open(directory.path("file"))
            let (pool, size) = (environment.core.pool, 1 << 36)
            #expect(pool.changeMap(to: size) == 0)
            try Self.put(environment, "first")
            #expect(pool.changeMap(to: 1 << 20) == 0)
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let taken = try #require(pages.split(separator: " ").first.flatMap { UInt64($0) })
            var room = rlimit()
            getrlimit(addressSpace, &room)
            room.rlim_cur = rlim_t(taken * 4096 + UInt64(size) / 2)
            setrlimit(addressSpace, &room)

            #expect(pool.changeMap(to: 0) == ENOMEM)

            #expect(try Self.count(environment) == 1)
            try Self.put(environment, "second")
            #expect(try Self.count(environment) == 2)
        }
    }

    @Test func `reads go on after there was no memory for a larger map`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let environment = try Self.open(directory.path("file"))
            try Self.put(environment, "first")
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let taken = try #require(pages.split(separator: " ").first.flatMap { UInt64($0) })
            let size = 1 << 36
            var room = rlimit()
            getrlimit(addressSpace, &room)
            // Enough for LMDB's map, and not for the one for reading.
            room.rlim_cur = rlim_t(taken * 4096 + UInt64(size) * 3 / 2)
            setrlimit(addressSpace, &room)

            #expect(environment.core.pool.changeMap(to: size) == ENOMEM)

            #expect(try Self.count(environment) == 1)
            try Self.put(environment, "second")
            #expect(try Self.count(environment) == 2)
        }
    }
}

#if canImport(Glibc)
private let addressSpace = __rlimit_resource_t(UInt32(RLIMIT_AS.rawValue))
#else
private let addressSpace = RLIMIT_AS
#endif
