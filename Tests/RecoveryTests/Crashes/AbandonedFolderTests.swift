import DaybookTestSupport
import Foundation
import Testing

/// What a killed command has left is removed by the next one that makes a file of that name.
@Suite(.serialized)
struct AbandonedFolderTests {
    private static let commands = [
        ["load", "new"], ["backup", "items.daybook", "new"],
        ["compact", "items.daybook", "--into", "new"],
        ["recover", "items.daybook", "--into", "new"],
        ["replay", "items.daybook", "--into", "new"],
        ["export", "items.daybook", "--format", "sqlite", "--into", "new"],
    ]

    @Test(arguments: commands)
    func `the next run removes what a killed one has left`(words: [String]) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        _ = try recorder.record(try recorder.writeInput([Recorder.entry("one")]))
        let export = try ChildProcess.run(
            BuiltTool.daybook, ["export", recorder.path, "--format", "jsonl"])
        let lines = directory.url.appending(path: "lines")
        try Data((export.lines.joined(separator: "\n") + "\n").utf8).write(to: lines)
        let before = try Self.files(in: directory)

        // Killed at the first and at the third call of each kind by which files are made and written: some before the
        // folder is there, some after.
        var left: Set<String> = []
        for call in ["write", "pwrite64", "fsync", "fdatasync", "ftruncate", "linkat", "unlink"] {
            for number in [1, 3] {
                _ = try Self.run(
                    words, in: directory, lines,
                    [
                        strace.path, "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(call)",
                        "-e", "inject=\(call):signal=KILL:when=\(number)",
                    ])
                left.formUnion(
                    try Self.files(in: directory).subtracting(before).subtracting(["new"]))
                try Self.removeCopy(in: directory)
            }
        }
        #expect(!left.isEmpty)

        let ran = try Self.run(words, in: directory, lines, [])

        #expect(ran.ending == .exited(0), "\(ran.talk)")
        let after = try Self.files(in: directory).subtracting(before)
        #expect(after.isSubset(of: ["new"]), "\(after)")
    }

    /// A run that was not killed, or that was after it had given the file its name, has made it.
    private static func removeCopy(in directory: TemporaryDirectory) throws {
        guard FileManager.default.fileExists(atPath: directory.path("new")) else { return }
        try FileManager.default.removeItem(atPath: directory.path("new"))
    }

    private static func files(in directory: TemporaryDirectory) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: directory.url.path))
            .subtracting(["items.daybook-lock", "new-lock"])
    }

    private static func run(
        _ words: [String], in directory: TemporaryDirectory, _ input: URL, _ wrapper: [String]
    ) throws -> (lines: [String], talk: String, ending: ChildProcess.Ending) {
        let env = try #require(BuiltTool.system("env"))
        return try ChildProcess.run(
            env,
            ["-C", directory.url.path, "TMPDIR=\(directory.url.path)"] + wrapper
                + [BuiltTool.daybook.path] + words, input: input)
    }
}
