import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// Waiting for a process that holds a lock and is stopped.
@Suite(.serialized)
struct LockWaitTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("file") }

    init() throws {
        directory = try TemporaryDirectory()
    }

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

    /// Runs `body` while another process has stopped in the middle of a write, or while it registers a
    /// reader; it goes on afterwards.
    private func whileStopped(
        registering: Bool = false,
        _ body:
            @escaping @Sendable (
                _ path: String, _ process: Int32, _ letGoOn: @escaping @Sendable () -> Void
            ) throws -> Void
    ) async throws {
        let path = path
        let note = directory.path("note")
        let sign = try ProcessSign.make(at: note)
        async let other = #expect(processExitsWith: .success) {
            [path = path as String, note = note as String, registering = registering as Bool] in
            let environment = try Self.open(path, LockPatience())
            let table = try environment.table("a")
            if registering {
                let status = try environment.core.pair.registering(LockPatience()) {
                    Result { try Self.stop(note) }
                }
                return try status.get()
            }
            try environment.write { transaction in
                try Self.stop(note)
                let bytes = "theirs".bytes
                try transaction.put(table, bytes.span.bytes, bytes.span.bytes, .upsert)
            }
        }
        // On a thread of its own: tests that wait for the end of a pipe that the stopped process
        // has inherited can hold every thread of the pool until it continues.
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            let thread = Thread {
                done.resume(
                    with: Result {
                        let process = try #require(Int32(try sign.wait()))
                        defer {
                            Self.letGoOn(process, note)
                            // It may be about to stop again.
                            while Self.hasStopped(process) { kill(process, SIGCONT) }
                        }
                        try #require(Self.hasStopped(process))
                        try body(path, process) { Self.letGoOn(process, note) }
                    })
            }
            thread.start()
        }
        _ = await other
    }

    private static func stop(_ note: String) throws {
        try ProcessSign(at: note).give("\(getpid())")
        // The process that started it may continue it once.
        while access(note + ".go", F_OK) != 0 { _ = raise(SIGSTOP) }
    }

    private static func letGoOn(_ process: Int32, _ note: String) {
        let isMade = FileManager.default.createFile(atPath: note + ".go", contents: nil)
        precondition(isMade)
        kill(process, SIGCONT)
    }

    /// Waits until it stops or ends, and leaves its end to be seen by who has started it.
    private static func hasStopped(_ process: Int32) -> Bool {
        var state = siginfo_t()
        return waitid(P_PID, id_t(process), &state, WSTOPPED | WEXITED | WNOWAIT) == 0
            && state.si_code == CLD_STOPPED
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

    @Test func `who reads behind a process that was stopped as it began to is told who that is`()
        async throws
    {
        let patience = LockPatience(limit: .milliseconds(30))
        let environment = try Self.open(path, patience)
        let table = try environment.table("a")
        try await whileStopped(registering: true) { path, process, letGoOn in
            let refusal = #expect(throws: LMDBError.self) {
                try environment.read { try $0.count(table) }
            }

            #expect(refusal?.code == .locked)
            let message = refusal?.message ?? ""
            #expect(message.hasPrefix("Process \(process) ('"), "\(message)")
            #expect(message.contains("begins to read '\(path)'"), "\(message)")
            #expect(message.contains("kill -CONT \(process)"), "\(message)")
            let copying = #expect(throws: LMDBError.self) {
                try environment.copy(to: path + ".copy", compacting: true)
            }
            #expect(copying?.code == .locked)
            // Who writes needs no reader, and leaves dead ones to a later write.
            for number in 1...70 { try Self.put(environment, "\(number)") }
            letGoOn()
        }
        #expect(try environment.read { try $0.count(table) } == 70)
    }

    @Test func `who opens behind a process that was stopped as it began to read is told who it is`()
        async throws
    {
        try await whileStopped(registering: true) { path, process, _ in
            let refusal = #expect(throws: LMDBError.self) {
                try Self.open(path, LockPatience(limit: .milliseconds(30)))
            }

            #expect(refusal?.code == .locked)
            #expect(refusal?.message.hasPrefix("Process \(process) ('") == true)
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
