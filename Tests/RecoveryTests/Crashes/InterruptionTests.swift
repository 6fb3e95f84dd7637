import DaybookTestSupport
import Foundation
import Testing

/// Commands that are ended while they make files.
@Suite(.serialized)
struct InterruptionTests {
    private static let makings = [
        ["init", "new", "--model", "model.json"], ["load", "new"],
        ["backup", "items.daybook", "new"], ["compact", "items.daybook", "--into", "new"],
        ["recover", "items.daybook", "--into", "new"],
        ["replay", "items.daybook", "--into", "new"], ["replay", "items.daybook"],
        ["import", "items.daybook", "--format", "jsonl", "--dry-run"],
        ["export", "items.daybook", "--format", "html", "--into", "new"],
        ["export", "items.daybook", "--format", "sqlite", "--into", "new"],
        ["keygen", "example.org/items", "--into", "new"],
    ]

    /// The calls at which the signal comes: among them the first and the last that touch the file.
    private static let calls = ["write", "pwrite64", "fdatasync", "fsync", "linkat"]

    /// Every command with one signal, and one command with every signal.
    private static let interruptions =
        makings.map { ($0, SIGTERM) } + [(makings[1], SIGINT), (makings[1], SIGHUP)]

    @Test(arguments: interruptions)
    func `a command that is interrupted leaves no draft behind, or its whole work`(
        words: [String], signal: Int32
    ) throws {
        let directory = try TemporaryDirectory()
        let before = try Self.prepare(directory)
        var interrupted = 0

        for call in Self.calls {
            let ran = try Self.run(words, in: directory, call, "signal=\(signal)")
            let left = try Self.files(in: directory).subtracting(before)
            if ran.ending == .killed(signal) { interrupted += 1 }
            // The imported entries are there already; and the signal may reach the process that
            // checks a copy.
            let endings: [ChildProcess.Ending] = [
                .killed(signal), words[0] == "import" ? .exited(5) : .exited(0), .exited(4),
            ]
            #expect(endings.contains(ran.ending), "\(call): \(ran)")
            #expect(left.isSubset(of: ["new"]), "\(call): \(ran)")
            try Self.expectWhole(left, words, in: directory)
            try Self.clear(directory, to: before)
        }

        #expect(interrupted > 0)
    }

    @Test(arguments: makings)
    func `a command that is killed leaves no part under the name of its work`(
        words: [String]
    ) throws {
        let directory = try TemporaryDirectory()
        let before = try Self.prepare(directory)
        var killed = 0

        for call in Self.calls {
            let ran = try Self.run(words, in: directory, call, "signal=KILL")
            let left = try Self.files(in: directory).subtracting(before)
            if ran.ending == .killed(SIGKILL) { killed += 1 }
            // A nameless file disappears with the process.
            if words.contains("html") || words[0] == "keygen" {
                #expect(left.isSubset(of: ["new"]), "\(call): \(left)")
            }
            try Self.expectWhole(left.intersection(["new"]), words, in: directory)
            try Self.clear(directory, to: before)
        }

        #expect(killed > 0)
    }

    @Test func `a signal that is ignored, as nohup has it, does not end a command`() throws {
        let directory = try TemporaryDirectory()
        let before = try Self.prepare(directory)
        let shell = try #require(BuiltTool.system("bash"))
        let script = """
            trap '' HUP
            cd '\(directory.url.path)'
            exec strace -f -qqq -o /dev/null -e trace=fsync -e inject=fsync:signal=HUP:when=1 \\
                '\(BuiltTool.daybook.path)' load new < export
            """

        let ran = try ChildProcess.run(shell, ["-c", script])

        #expect(ran.ending == .exited(0), "\(ran)")
        #expect(try Self.files(in: directory).subtracting(before) == ["new"])
    }

    // MARK: - Commands

    private static func prepare(_ directory: TemporaryDirectory) throws -> Set<String> {
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        _ = try recorder.record(
            try recorder.writeInput((1...20).map { Recorder.entry("entry-\($0)") }))
        let export = try ChildProcess.run(
            BuiltTool.daybook, ["export", recorder.path, "--format", "jsonl"])
        try Data((export.lines.joined(separator: "\n") + "\n").utf8)
            .write(to: directory.url.appending(path: "export"))
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "temporary"), withIntermediateDirectories: false)
        return try files(in: directory)
    }

    /// Runs a command that a signal reaches at its second call of a kind.
    private static func run(
        _ words: [String], in directory: TemporaryDirectory, _ call: String, _ injection: String
    ) throws -> (lines: [String], talk: String, ending: ChildProcess.Ending) {
        let env = try #require(BuiltTool.system("env"))
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        return try ChildProcess.run(
            env,
            [
                "-C", directory.url.path, "TMPDIR=\(directory.path("temporary"))", strace.path,
                "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                "inject=\(call):\(injection):when=\(call == "linkat" ? 1 : 2)",
                BuiltTool.daybook.path,
            ] + words, input: directory.url.appending(path: "export"))
    }

    /// All files in the folder and in the temporary one, except the lock file of the store.
    private static func files(in directory: TemporaryDirectory) throws -> Set<String> {
        let temporary = try FileManager.default.contentsOfDirectory(
            atPath: directory.path("temporary"))
        return Set(try FileManager.default.contentsOfDirectory(atPath: directory.url.path))
            .union(temporary.map { "temporary/\($0)" })
            .subtracting(["items.daybook-lock", "new-lock"])
    }

    private static func clear(_ directory: TemporaryDirectory, to before: Set<String>) throws {
        for name in try files(in: directory).subtracting(before) {
            try FileManager.default.removeItem(atPath: directory.path(name))
        }
    }

    /// The file under the requested name is complete.
    private static func expectWhole(
        _ names: Set<String>, _ words: [String], in directory: TemporaryDirectory
    ) throws {
        guard !names.isEmpty else { return }
        let file = directory.path("new")
        switch words[0] {
        case "export" where words.contains("html"):
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("</html>"))
        case "export":
            let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
            #expect(bytes.starts(with: Data("SQLite format 3".utf8)))
            #expect(bytes.range(of: Data("entry-20".utf8)) != nil)
        case "keygen":
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.hasPrefix("PRIVATE+KEY+") && text.hasSuffix("\n"))
        default:
            let ran = try ChildProcess.run(BuiltTool.daybook, ["verify", file])
            #expect(ran.ending == .exited(0), "\(ran)")
        }
    }
}
