import DaybookTestSupport
import Foundation
import Testing

/// Files that are reported: their content, their name and their folder are on the disk before.
@Suite struct DurableNameTests {
    /// A command that makes a file and says so.
    struct Making: Sendable, CustomTestStringConvertible {
        let words: [String]
        var makes = "new"

        var testDescription: String { words.joined(separator: " ") }
    }

    private static let makings = [
        Making(words: ["init", "new", "--model", "model.json"]),
        Making(words: ["load", "new"]),
        Making(words: ["backup", "items.daybook", "new"]),
        Making(words: ["compact", "items.daybook", "--into", "new"]),
        Making(words: ["recover", "items.daybook", "--into", "new"]),
        Making(words: ["replay", "items.daybook", "--into", "new"]),
        Making(words: ["keygen", "example.org/items", "--into", "new"]),
        Making(
            words: [
                "checkpoint", "items.daybook", "--key", "key", "--previous", "old.checkpoint",
                "--growth", "new",
            ]),
        Making(
            words: ["prove", "items.daybook", "2", "--checkpoint", "checkpoint", "--entry", "new"]),
        Making(words: ["export", "items.daybook", "--format", "html", "--into", "new"]),
        Making(words: ["export", "items.daybook", "--format", "sqlite", "--into", "new"]),
        Making(
            words: ["tiles", "items.daybook", "--into", "folder", "--checkpoint", "checkpoint"],
            makes: "folder/checkpoint"),
    ]

    @Test(arguments: makings)
    func `a power cut after the sentence takes no new file away, for its folder was synced before`(
        making: Making
    ) throws {
        let directory = try TemporaryDirectory()
        try Self.prepare(directory)
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let env = try #require(BuiltTool.system("env"))
        let trace = directory.path("trace")
        // The names of folders in the trace have no symbolic links.
        let folder = directory.url.resolvingSymlinksInPath().path

        let ran = try ChildProcess.run(
            env,
            [
                "-C", folder, strace.path, "-f", "-y", "-qq", "-s", "0", "-o", trace, "-e",
                "trace=link,linkat,rename,renameat,renameat2,fsync,sync,write",
                BuiltTool.daybook.path,
            ] + making.words, input: directory.url.appending(path: "export"))

        #expect(ran.ending == .exited(0), "\(ran)")
        let calls = try String(contentsOfFile: trace, encoding: .utf8)
            .split(separator: "\n").map(String.init)
        let naming = try #require(
            calls.lastIndex { call in
                ["link", "rename"].contains { call.contains(" \($0)") }
                    && (call.contains("\"\(making.makes)\"") || call.contains("/\(making.makes)\""))
            }, "\(calls)")
        let made = URL(fileURLWithPath: making.makes, relativeTo: directory.url)
        let place = made.deletingLastPathComponent().resolvingSymlinksInPath().path
        let isSynced = { (call: String) in
            call.contains(" sync()") || call.contains("fsync(") && call.contains("<\(place)>)")
        }
        let synced = try #require(calls[naming...].firstIndex(where: isSynced), "\(calls)")
        // The bytes of the file, which has another name or none at that time, go before its name.
        #expect(
            calls[..<naming].contains { call in
                call.contains(" sync()") || call.contains("fsync(") && !isSynced(call)
            }, "\(calls)")
        // A second process, which talks to the first, checks copies meanwhile.
        let process = try #require(calls[naming].split(separator: " ").first)
        let said = calls.firstIndex { call in
            call.hasPrefix(process)
                && (call.contains(" write(1<") || call.contains(" write(2<"))
        }
        if let said { #expect(synced < said, "\(calls)") }
    }

    /// Makes what the commands need.
    private static func prepare(_ directory: TemporaryDirectory) throws {
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        func keep(_ name: String, _ words: [String]) throws {
            let ran = try ChildProcess.run(BuiltTool.daybook, words)
            try #require(ran.ending == .exited(0), "\(ran)")
            try Data((ran.lines.joined(separator: "\n") + "\n").utf8)
                .write(to: directory.url.appending(path: name))
        }
        let key = directory.path("key")
        try keep("key.pub", ["keygen", "example.org/items", "--into", key])
        try keep("old.checkpoint", ["checkpoint", recorder.path, "--key", key])
        _ = try recorder.record(try recorder.writeInput([Recorder.entry("one")]))
        try keep("checkpoint", ["checkpoint", recorder.path, "--key", key])
        try keep("export", ["export", recorder.path, "--format", "jsonl"])
    }
}
