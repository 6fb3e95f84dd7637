import DaybookTestSupport
import Foundation
import Testing

/// Information of entries, and what a model requires, on the command line.
@Suite struct InfoCommandTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private static let shelf = #"{"op":"insert","entity":"Shelf","values":{"label":"C"}}"#

    private func log(_ options: String...) throws -> String {
        try library.run(["log", "library.daybook", "--output", "jsonl"] + options).text
    }

    @Test func `what a save line says goes before the command line, key by key`() throws {
        let result = try library.record(
            Self.shelf + "\n" + #"{"op":"save","info":{"request":"8","why":"a = b"}}"#,
            ["--info", "request=7", "--info", "device=pad=2"])

        #expect(result.status == 0, "\(result.talk)")
        #expect(
            try log("-n", "1").contains(
                #""info":{"device":"pad=2","request":"8","why":"a = b"}"#))
    }

    @Test func `show, log and history tell it in words`() throws {
        try #require(
            try library.record(
                #"{"op":"update","object":"Shelf/1","values":{"label":"C"}}"#,
                ["--info", "request=7", "--info", "why=two\nlines"]
            ).status == 0)

        let show = try library.run(["show", "library.daybook", "head"])
        let list = try library.run(["log", "library.daybook", "-n", "1"])
        let history = try library.run(["history", "library.daybook", "Shelf/1"])
        let blame = try library.run([
            "blame", "library.daybook", "Shelf/1", "--output", "jsonl",
        ])

        #expect(
            show.text.contains("  info      request=7\n  info      why=two\n            lines\n"))
        #expect(list.text.contains("\n    request=7, why=\"two\\nlines\"\n"), "\(list.text)")
        #expect(history.text.contains("request=7"), "\(history.text)\(history.talk)")
        #expect(blame.text.contains(#""info":{"request":"7","why":"two\nlines"}"#))
    }

    @Test func `entries are selected by key, and by key and value`() throws {
        for request in ["7", "8"] {
            try #require(
                try library.record(
                    Self.shelf.replacing("C", with: request), ["--info", "request=" + request]
                ).status == 0)
        }
        func count(_ command: String, _ options: String...) throws -> Int {
            let words =
                command == "export"
                ? ["export", "library.daybook", "--format", "jsonl"]
                : ["log", "library.daybook", "--output", "jsonl"]
            return try library.run(words + options).text.split(separator: "\n").count
        }

        for command in ["log", "export"] {
            #expect(try count(command, "--info", "request") == 2)
            #expect(try count(command, "--info", "request=8") == 1)
            #expect(try count(command, "--info", "request=8", "--info", "request=7") == 2)
            #expect(try count(command, "--info", "request=8", "--info", "request") == 2)
            #expect(try count(command, "--info", "request=8", "--info", "device") == 0)
            #expect(try count(command, "--info", "request=") == 0)
        }
    }

    @Test(arguments: [["--info", "=7"], ["--info", "request"], ["--info", ""]])
    func `a pair without key or sign is wrong usage`(options: [String]) throws {
        let before = try library.bytes
        let result = try library.record(Self.shelf, options)

        #expect(result.status == 2)
        #expect(result.talk.contains("a key and a value such as request=77"), "\(result.talk)")
        #expect(try library.bytes == before)
    }

    @Test func `a key given twice is wrong usage`() throws {
        let result = try library.record(Self.shelf, ["--info", "a=1", "--info", "a=2"])

        #expect(result.status == 2)
        #expect(result.talk.contains("'--info' gives 'a' twice"), "\(result.talk)")
    }

    @Test(arguments: [
        (#"{"request":7}"#, "'info.request' is wrong: text was expected, not the number 7."),
        (#"["request"]"#, "'info' is wrong: an object was expected"),
        (#"{"":"x"}"#, "information cannot have the key"),
        (#"{"a=b":"x"}"#, "has '=' in it"),
    ])
    func `bad information stops the recording at its line`(info: String, said: String) throws {
        let result = try library.record(Self.shelf + "\n{\"op\":\"save\",\"info\":\(info)}")

        #expect(result.status == 2)
        #expect(result.talk.contains("line 2: "), "\(result.talk)")
        #expect(result.talk.contains(said), "\(result.talk)")
        #expect(try library.run(["log", "library.daybook", "-n", "1"]).text.contains("entry 3"))
    }

    @Test func `undo, redo and restore keep it`() throws {
        for (words, entry) in [
            (["undo", "library.daybook", "3"], 4), (["redo", "library.daybook", "3"], 5),
        ] {
            let result = try library.run(words + ["--info", "request=\(entry)"])
            #expect(result.status == 0, "\(result.talk)")
            #expect(try log("-n", "1").contains(#""info":{"request":"\#(entry)"}"#))
        }
        try #require(try library.record(#"{"op":"delete","object":"Book/5"}"#).status == 0)

        let restored = try library.run([
            "restore", "library.daybook", "Book/5", "--info", "request=7",
        ])

        #expect(restored.status == 0, "\(restored.talk)")
        #expect(try log("-n", "1").contains(#""info":{"request":"7"}"#))
    }

    @Test func `an export of it loads and is repeated elsewhere`() throws {
        try #require(try library.record(Self.shelf, ["--info", "request=7"]).status == 0)
        let lines = try library.run(["export", "library.daybook", "--format", "jsonl"]).text

        let loaded = try library.run(["load", "copy.daybook"], input: lines)
        let model = Fixture.folder.appending(path: "models/library.json").path
        _ = try library.run(["init", "other.daybook", "--model", model])
        let imported = try library.run(
            ["import", "other.daybook", "--format", "jsonl", "--info", "source=library"],
            input: lines)

        #expect(loaded.status == 0, "\(loaded.talk)")
        #expect(
            try library.run(["export", "copy.daybook", "--format", "jsonl"]).text == lines)
        #expect(imported.status == 0, "\(imported.talk)")
        let last = try library.run([
            "log", "other.daybook", "-n", "1", "--output", "jsonl",
        ])
        #expect(last.text.contains(#""info":{"request":"7","source":"library"}"#), "\(last.text)")
    }

    @Test func `what a model requires is asked for at the line of the save`() throws {
        let model = #"""
            {"entities":[{"name":"Shelf","attributes":[{"name":"label","type":"string"}]}],
             "requires":["author",{"info":"request"}]}
            """#
        let made = try library.run(
            ["init", "strict.daybook", "--model", "-"], input: model)
        try #require(made.status == 0, "\(made.talk)")
        func record(_ options: String...) throws -> ToolResult {
            try library.run(
                ["record", "strict.daybook"] + options,
                input: Self.shelf + "\n{\"op\":\"save\"}\n")
        }

        let refused = try record("--author", "Ada")
        let recorded = try record("--author", "Ada", "--info", "request=7")
        let undone = try library.run(["undo", "strict.daybook", "2", "--author", "Ada"])
        let shown = try library.run(["model", "strict.daybook", "--output", "json"])

        #expect(refused.status == 2)
        #expect(refused.talk.contains("line 2: "), "\(refused.talk)")
        #expect(refused.talk.contains("--info request="), "\(refused.talk)")
        #expect(recorded.status == 0, "\(recorded.talk)")
        #expect(undone.status == 2)
        #expect(undone.talk.contains(#"the information "request""#), "\(undone.talk)")
        #expect(try library.run(["log", "strict.daybook", "-n", "1"]).text.contains("entry 2"))
        #expect(shown.text.contains("requires"), "\(shown.text)")
    }
}
