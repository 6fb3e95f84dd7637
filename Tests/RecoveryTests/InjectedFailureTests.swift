import DaybookTestSupport
import Foundation
import Testing

/// Commands whose system calls are refused, one by one.
@Suite(.serialized)
struct InjectedFailureTests {
    private static let commands = [
        ["init", "new", "--model", "model.json"], ["load", "new"],
        ["backup", "items.daybook", "new"], ["replay", "items.daybook", "--into", "new"],
        ["recover", "items.daybook", "--into", "new"],
        ["replay", "items.daybook"], ["verify", "items.daybook"],
        ["export", "items.daybook", "--format", "html", "--into", "new"],
        ["export", "items.daybook", "--format", "sqlite", "--into", "new"],
        ["keygen", "example.org/items", "--into", "new"], ["log", "items.daybook"],
        ["bisect", "items.daybook", "--run", "false"],
    ]

    /// The refused call, and the error.
    private static let refusals = [
        ("pread64", "EIO"), ("pwrite64", "ENOSPC"), ("fsync", "EIO"), ("fdatasync", "EIO"),
        ("ftruncate", "ENOSPC"), ("linkat", "EIO"), ("mkdir", "ENOSPC"), ("pipe2", "EMFILE"),
        ("openat", "EMFILE"),
    ]

    /// No command makes more calls of a kind.
    private static let callsMaximum = 150

    /// How many calls of each kind come before a program's first own step, which are the same for every
    /// command: there only the loader determines how a program ends.
    private static let loading = Result {
        let directory = try TemporaryDirectory()
        _ = try prepare(directory)
        var counts: [String: Int] = [:]
        for (call, error) in refusals {
            for number in 1...callsMaximum {
                let (ran, wasRefused) = try run(
                    ["help"], in: directory, "inject=\(call):error=\(error):when=\(number)", call)
                guard wasRefused else { break }
                if ran.talk.contains("loading shared libraries") { counts[call] = number }
            }
        }
        return counts
    }

    @Test(arguments: commands)
    func `a command that a failing call ends says why, and nobody calls that damage`(
        words: [String]
    ) throws {
        let directory = try TemporaryDirectory()
        let before = try Self.prepare(directory)
        let loading = try Self.loading.get()
        let overview = Set(try ChildProcess.run(BuiltTool.daybook, ["help"]).lines)
        var refused = 0

        for (call, error) in Self.refusals {
            for number in (loading[call] ?? 0) + 1...Self.callsMaximum {
                let (ran, wasRefused) = try Self.run(
                    words, in: directory, "inject=\(call):error=\(error):when=\(number)", call)
                guard wasRefused else { break }
                refused += 1
                let place = "\(call) \(number)"
                guard case .exited(let code) = ran.ending else {
                    Issue.record("\(place): \(ran)")
                    continue
                }
                // The program that bisect runs says no at every entry: 1 is the answer to that.
                let isAnswer = code == 0 || code == 1 && words.first == "bisect"
                #expect(isAnswer || ran.talk.contains("error: "), "\(place): \(ran)")
                // Who cannot read its own words shows all commands, also those for damaged stores.
                let said = ran.lines.filter { !overview.contains($0) }
                #expect(!(ran.talk + said.joined()).contains("damage"), "\(place): \(ran)")
                let left = try Self.files(in: directory).subtracting(before)
                #expect(left.isSubset(of: ["new"]), "\(place): \(left)")
                for name in left {
                    try FileManager.default.removeItem(atPath: directory.path(name))
                }
            }
        }

        CountedWork.add(refused, "failed calls")
        #expect(refused > 0)
    }

    private static func prepare(_ directory: TemporaryDirectory) throws -> Set<String> {
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        _ = try recorder.record(
            try recorder.writeInput([Recorder.entry("one"), Recorder.entry("two")]))
        let export = try ChildProcess.run(
            BuiltTool.daybook, ["export", recorder.path, "--format", "jsonl"])
        try Data((export.lines.joined(separator: "\n") + "\n").utf8)
            .write(to: directory.url.appending(path: "export"))
        try Data().write(to: directory.url.appending(path: "trace"))
        return try files(in: directory)
    }

    private static func files(in directory: TemporaryDirectory) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: directory.url.path))
            .subtracting(["new-lock"])
    }

    /// Runs a command, and returns whether one of its calls was refused.
    private static func run(
        _ words: [String], in directory: TemporaryDirectory, _ injection: String, _ call: String
    ) throws -> (
        ran: (lines: [String], talk: String, ending: ChildProcess.Ending), wasRefused: Bool
    ) {
        let env = try #require(BuiltTool.system("env"))
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let trace = directory.path("trace")
        let ran = try ChildProcess.run(
            env,
            [
                "-C", directory.url.path, "TMPDIR=\(directory.url.path)", strace.path, "-f",
                "-qqq", "-o", trace, "-e", "trace=\(call)", "-e", injection,
                BuiltTool.daybook.path,
            ] + words, input: directory.url.appending(path: "export"))
        let calls = try String(contentsOfFile: trace, encoding: .utf8)
        return (ran, calls.contains("INJECTED"))
    }
}
