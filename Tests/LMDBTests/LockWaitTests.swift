import DaybookLMDB
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Waiting for a process that holds a lock and is stopped.
@Suite(.serialized)
struct LockWaitTests {
    private static func open(_ path: String, _ patience: LockPatience) throws -> Environment {
        try Environment.open(
            at: path, options: EnvironmentOptions(tables: ["a"], patience: patience))
    }

    private static func put(_ environment: Environment, _ key: String) throws {
        let table = try environment.table("a")
        try environment.write { transaction in
            try transaction.put(table, key.bytes.span.bytes, key.bytes.span.bytes, .upsert)
        }
    }

    /// Runs `body` while another process is stopped in the middle of a write; it continues
    /// afterwards.
    private func whileStopped(
        _ body:
            @escaping @Sendable (
                _ path: String, _ process: Int32, _ letGoOn: @escaping @Sendable () -> Void
            ) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("file")
        let note = directory.path("note")
        async let other = #expect(processExitsWith: .success) {
            [path = path as String, note = note as String] in
            let environment = try Self.open(path, LockPatience())
            let table = try environment.table("a")
            try environment.write { transaction in
                try Data("\(getpid())".utf8).write(to: URL(fileURLWithPath: note), options: .atomic)
                // The process that started it may continue it once.
                while access(note + ".go", F_OK) != 0 { _ = raise(SIGSTOP) }
                let bytes = "theirs".bytes
                try transaction.put(table, bytes.span.bytes, bytes.span.bytes, .upsert)
            }
        }
        // On a thread of its own: tests that wait for the end of a pipe that the stopped process
        // has inherited can hold every thread of the pool until it continues.
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            let thread = Thread {
                while access(note, F_OK) != 0 { sched_yield() }
                done.resume(
                    with: Result {
                        let bytes = try Data(contentsOf: URL(fileURLWithPath: note))
                        let process = try #require(Int32(String(decoding: bytes, as: UTF8.self)))
                        defer {
                            Self.letGoOn(process, note)
                            // It may be about to stop again.
                            while kill(process, SIGCONT) == 0 { sched_yield() }
                        }
                        while try !Self.isStopped(process) { sched_yield() }
                        try body(path, process) { Self.letGoOn(process, note) }
                    })
            }
            thread.start()
        }
        _ = await other
    }

    private static func letGoOn(_ process: Int32, _ note: String) {
        let isMade = FileManager.default.createFile(atPath: note + ".go", contents: nil)
        precondition(isMade)
        kill(process, SIGCONT)
    }

    private static func isStopped(_ process: Int32) throws -> Bool {
        let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        return stat.contains(") T ")
    }

    @Test func `who waits for a stopped writer is told after a while who that is`() async throws {
        try await whileStopped { path, process, _ in
            let environment = try Self.open(path, LockPatience(limit: .milliseconds(30)))

            let refusal = #expect(throws: LMDBError.self) { try Self.put(environment, "ours") }

            #expect(refusal?.code == .locked)
            let message = refusal?.message ?? ""
            #expect(message.hasPrefix("Process \(process) ('"), "\(message)")
            #expect(message.contains("which is stopped"), "\(message)")
            #expect(message.contains("kill -CONT \(process)"), "\(message)")
        }
    }

    @Test func `who waits without end goes on with the writer`() async throws {
        try await whileStopped { path, _, letGoOn in
            // Called at each pause, so the writer continues while this one waits.
            let patience = LockPatience(limit: nil) {
                letGoOn()
                return false
            }
            let environment = try Self.open(path, patience)
            try Self.put(environment, "ours")
            let table = try environment.table("a")
            #expect(try environment.read { try $0.count(table) } == 2)
        }
    }

    @Test func `a wish to stop ends the waiting`() async throws {
        try await whileStopped { path, _, _ in
            let environment = try Self.open(path, LockPatience(limit: nil) { true })

            let refusal = #expect(throws: LMDBError.self) { try Self.put(environment, "ours") }

            #expect(refusal?.code == .locked)
            #expect(refusal?.message.contains("was ended") == true)
        }
    }

    @Test func `reading, closing and copying do not wait for a stopped writer`() async throws {
        try await whileStopped { path, _, _ in
            let patience = LockPatience(limit: .zero)
            let environment = try Self.open(path, patience)
            let table = try environment.table("a")
            #expect(try environment.read { try $0.count(table) } == 0)
            try environment.copy(to: path + ".copy", compacting: true)
            let refusal = #expect(throws: LMDBError.self) {
                try environment.copy(to: path + ".all", compacting: false)
            }
            #expect(refusal?.code == .locked)
            #expect(!FileManager.default.fileExists(atPath: path + ".all"))
        }
    }

    @Test func `threads that stand in line behind a stopped writer are all told`() async throws {
        try await whileStopped { path, _, _ in
            let environment = try Self.open(path, LockPatience(limit: .milliseconds(200)))
            let codes = Mutex<[LMDBError.Code]>([])

            try onThreads(8) { thread in
                do {
                    try Self.put(environment, "\(thread)")
                } catch let error as LMDBError {
                    codes.withLock { $0.append(error.code) }
                }
            }

            #expect(codes.withLock(\.self) == Array(repeating: .locked, count: 8))
        }
    }
}
