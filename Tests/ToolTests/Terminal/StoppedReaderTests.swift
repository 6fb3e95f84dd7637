import DaybookTestSupport
import Foundation
import Testing

/// A reader that has begun to read the output of a command, and stops.
@Suite struct StoppedReaderTests {
    private static let count = 1500
    private static let saves = 400
    private let folder: ScratchFolder
    private var path: String { folder.url.appending(path: "notes.daybook").path }

    /// Makes a store with more text in it than a pipe holds.
    init() throws {
        folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Note","attributes":[
             {"name":"number","type":"int64","unique":true},{"name":"text","type":"string"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        let made = try Tool.run(
            ["init", "notes.daybook", "--model", "model.json"], in: folder.url)
        try #require(made.status == 0, "\(made.talk)")
        let text = String(repeating: "first ", count: 150)
        let lines = (1...Self.count).map { number in
            #"{"op":"insert","entity":"Note","values":{"number":\#(number),"text":"\#(text)"}}"#
        }
        try record(lines)
    }

    private func record(_ lines: [String]) throws {
        let result = try Tool.run(
            ["record", "notes.daybook"], input: Data(lines.joined(separator: "\n").utf8),
            in: folder.url)
        try #require(result.status == 0, "\(result.talk)")
    }

    /// Makes many entries, each of them a small one.
    private func saveOften() throws {
        var lines: [String] = []
        for save in 0..<Self.saves {
            let number = 1 + save * 7 % Self.count
            lines.append(
                #"{"op":"update","entity":"Note","match":{"number":\#(number)},"#
                    + #""values":{"text":"second"}}"#)
            lines.append(#"{"op":"save"}"#)
        }
        lines.append(#"{"op":"delete","entity":"Note","match":{"number":\#(Self.count)}}"#)
        try record(lines)
    }

    private var fileSize: Int {
        get throws { try Data(contentsOf: URL(fileURLWithPath: path)).count }
    }

    @Test(arguments: [
        ["fetch", "Note", "--output", "jsonl"], ["fetch", "Note", "--output", "json"],
        ["fetch", "Note"], ["fetch", "Note", "--sort", "-number", "--output", "jsonl"],
        ["document"], ["log", "--changes"], ["export", "--format", "debezium"],
    ])
    func `B10 a reader who stops lets the file be, and reads one state`(words: [String]) throws {
        let command = [words[0], path] + words.dropFirst()
        let undisturbed = try Tool.run(command)
        let sizeBefore = try fileSize
        let child = try ChildProcess(
            Tool.url, command, input: URL(fileURLWithPath: "/dev/null"))
        defer { child.kill() }
        child.waitForOutput()

        try saveOften()

        #expect(try fileSize <= 2 * sizeBefore)
        let lines = child.remainingLines()
        #expect(child.wait() == .exited(0))
        #expect(lines.filter { !$0.isEmpty } == undisturbed.lines)
    }
}
