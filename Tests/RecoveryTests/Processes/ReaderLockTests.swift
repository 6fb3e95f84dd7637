import DaybookTestSupport
import Foundation
import Testing

/// A process that stands still under LMDB's lock on readers, for which LMDB waits without an end.
@Suite(.serialized)
struct ReaderLockTests {
    private let directory: TemporaryDirectory
    private let recorder: Recorder
    private var trace: String { directory.path("trace") }

    init() throws {
        directory = try TemporaryDirectory()
        recorder = Recorder(in: directory.url)
        try recorder.makeStore()
    }

    /// Leaves a reader behind whose process is dead.
    private func killReader() throws {
        let reader = try ChildProcess(
            BuiltTool.daybook, ["tail", recorder.path, "--follow", "--output", "jsonl"],
            input: URL(fileURLWithPath: "/dev/null"))
        #expect(reader.nextLine() != nil)
        reader.kill()
        #expect(reader.wait() == .killed(SIGKILL))
    }

    /// Reads the journal while its locks are traced.
    private func reader(_ injection: [String]) throws -> ChildProcess {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        return try ChildProcess(
            strace,
            ["-f", "-qq", "-o", trace, "-e", "trace=fcntl"] + injection
                + [BuiltTool.daybook.path, "log", recorder.path, "--oneline"],
            input: URL(fileURLWithPath: "/dev/null"))
    }

    private func traced() throws -> [Substring] {
        guard access(trace, F_OK) == 0 else { return [] }
        return try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    }

    /// Which call it is that looks for a dead reader the second time: LMDB makes it under its lock.
    private func numberOfSecondLook() throws -> Int {
        let reader = try reader([])
        _ = reader.remainingLines()
        #expect(reader.wait() == .exited(0))
        var place: Substring?
        for (number, line) in try traced().filter({ $0.contains(" fcntl(") }).enumerated() {
            let next =
                line.contains("F_GETLK")
                ? line.firstMatch(of: /l_start=(\d+)/).map(\.1) : nil
            if let next, next == place { return number + 1 }
            place = next
        }
        return try #require(nil, "No call looks for a reader a second time.")
    }

    @Test func `a process that was stopped under the lock on readers keeps nobody from recording`()
        throws
    {
        let child = try ChildProcess(BuiltTool.daybook, recorder.arguments)
        try child.write(Recorder.entry("first"))
        #expect(child.nextLine() != nil)
        try killReader()
        let number = try numberOfSecondLook()
        try killReader()
        let stopped = try reader(["-e", "inject=fcntl:signal=STOP:when=\(number)"])
        while try !traced().contains(where: { $0.contains("stopped by SIGSTOP") }) {
            try #require(kill(stopped.number, 0) == 0)
            sched_yield()
        }
        let process = try #require(
            try traced().last?.split(separator: " ").first.flatMap { Int32($0) })
        defer {
            kill(process, SIGKILL)
            stopped.wait()
        }

        // Every so often dead readers are looked for, under that lock.
        for number in 1...70 {
            try child.write(Recorder.entry("\(number)"))
            #expect(child.nextLine() != nil)
        }
        let other = try ChildProcess.run(
            BuiltTool.daybook, ["log", recorder.path, "--lock-timeout", "0.05"])

        #expect(other.ending == .exited(2))
        #expect(other.talk.contains("Process \(process) ('daybook', which is stopped)"), "\(other)")
        try child.endInput()
        #expect(child.wait() == .exited(0))
    }
}
