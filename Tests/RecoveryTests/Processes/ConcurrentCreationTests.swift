import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Several processes that make the same store at the same time.
@Suite(.serialized)
struct ConcurrentCreationTests {
    private let directory: TemporaryDirectory
    private let recorder: Recorder
    private let model: String

    init() throws {
        directory = try TemporaryDirectory()
        recorder = Recorder(in: directory.url)
        model = directory.path("model.json")
        try Data(Recorder.modelText.utf8).write(to: URL(fileURLWithPath: model))
    }

    @Test func `a late init leaves the store that others made meanwhile as it is`() throws {
        let late = try ChildProcess(
            BuiltTool.daybook, ["init", recorder.path, "--model", "-"])
        // No pipe holds this much: when all of it is written, the command has found no file and
        // reads.
        try late.write(String(repeating: " ", count: 1 << 20))
        try recorder.makeStore()
        let recorded = try recorder.record(
            try recorder.writeInput([Recorder.entry("one"), Recorder.entry("two")]))

        try late.write(Recorder.modelText)
        try late.endInput()

        #expect(late.remainingLines() == [])
        #expect(late.wait() == .exited(2))
        #expect(try late.talk().hasPrefix("error: '\(recorder.path)' exists already"))
        #expect(recorded.acknowledged.count == 2)
        #expect(try recorder.check(recorded.acknowledged) == SequenceNumber(3))
        #expect(try recorder.findings() == [])
    }

    @Test(arguments: 1...4)
    func `of twenty-five inits at once one makes the store, and nothing recorded is lost`(
        round: Int
    ) throws {
        let input = try recorder.writeInput([Recorder.entry("one"), Recorder.entry("two")])
        let others = try (1...25).map { _ in
            try ChildProcess(
                BuiltTool.daybook, ["init", recorder.path, "--model", model],
                input: URL(fileURLWithPath: "/dev/null"))
        }
        var winners = 0
        var acknowledged: [Acknowledgement] = []

        for other in others {
            switch other.wait() {
            case .exited(0):
                winners += 1
                acknowledged += try recorder.record(input).acknowledged
            case let ending:
                #expect(ending == .exited(2))
                #expect(try other.talk().hasPrefix("error: '\(recorder.path)' exists already"))
            }
        }

        #expect(winners == 1)
        #expect(acknowledged.count == 2)
        #expect(try recorder.check(acknowledged) == SequenceNumber(3))
        #expect(try recorder.findings() == [])
        #expect(try drafts().isEmpty)
    }

    @Test(arguments: [["load"], ["backup"], ["compact"], ["replay"], ["html"], ["sqlite"]])
    func `what appears meanwhile under the name of a new file is not replaced`(
        words: [String]
    ) throws {
        try recorder.makeStore()
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let export = try ChildProcess.run(
            BuiltTool.daybook, ["export", recorder.path, "--format", "jsonl"])
        let input = directory.url.appending(path: "export")
        try Data((export.lines.joined(separator: "\n") + "\n").utf8).write(to: input)
        let new = directory.path("new")
        let line =
            switch words[0] {
            case "load": ["load", new]
            case "backup": ["backup", recorder.path, new]
            case "html", "sqlite":
                ["export", recorder.path, "--format", words[0], "--into", new]
            default: [words[0], recorder.path, "--into", new]
            }

        // The call that would have given the name finds it taken.
        let ran = try ChildProcess.run(
            strace,
            [
                "-f", "-qqq", "-o", "/dev/null", "-P", new, "-e", "trace=linkat", "-e",
                "inject=linkat:error=EEXIST", BuiltTool.daybook.path,
            ] + line, input: input)

        #expect(ran.ending == .exited(2), "\(ran)")
        #expect(ran.talk.hasPrefix("error: '\(new)' exists already"), "\(ran)")
        #expect(try drafts().isEmpty)
    }

    private func drafts() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            .filter { $0.hasPrefix("items.daybook.") || $0.hasPrefix("new") }
    }
}
