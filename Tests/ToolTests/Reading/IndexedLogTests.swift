import DaybookTestSupport
import Foundation
import Testing

/// `log` over a store with an index of entries, and over one without.
@Suite struct IndexedLogTests {
    private static func model(_ rest: String) -> String {
        #"{"entities":[{"name":"Shelf","attributes":[{"name":"label","type":"string"}]}]"# + rest
            + "}"
    }

    /// A store of sixty entries; every tenth is Ada's, and every twelfth has a request.
    private func library(_ rest: String) throws -> LibraryStore {
        let library = try LibraryStore(content: "")
        try FileManager.default.removeItem(
            at: library.folder.url.appending(path: "library.daybook"))
        try Data(Self.model(rest).utf8).write(
            to: library.folder.url.appending(path: "model.json"))
        let made = try library.run(["init", "library.daybook", "--model", "model.json"])
        try #require(made.status == 0, "\(made.talk)")
        let lines = (1...60).map { number in
            let author = number % 10 == 0 ? "ada" : "bob"
            let info = number % 12 == 0 ? #","info":{"request":"\#(number % 7)"}"# : ""
            return #"{"op":"insert","entity":"Shelf","values":{"label":"\#(number)"}}"# + "\n"
                + #"{"op":"save","author":"\#(author)"\#(info),"#
                + #""time":"2001-01-01T00:00:00Z"}"# + "\n"
        }
        let recorded = try library.record(lines.joined())
        try #require(recorded.status == 0, "\(recorded.talk)")
        return library
    }

    @Test func `log prints the same with an index of entries and without one`() throws {
        let indexed = try library(#","indexesEntries":["author",{"info":"request"}]"#)
        let plain = try library("")

        for (options, count) in [
            (["--author", "ada"], 6), (["--author", "ada", "-n", "2"], 2),
            (["--author", "ada", "--reverse", "-n", "3"], 3),
            (["--author", "ada", "--author", "eve"], 6), (["--info", "request"], 5),
            (["--info", "request=5"], 1), (["--info", "request=5", "-r"], 1),
            (["--author", "ada", "--info", "request"], 1), (["--author", "eve"], 0),
            (["20..45", "--author", "ada"], 3), (["--author", "ada", "--entity", "Shelf"], 6),
        ] as [([String], Int)] {
            let words = ["log", "library.daybook", "--output", "jsonl"] + options
            let found = try [indexed, plain].map { try numbers($0.run(words)) }
            #expect(found[0] == found[1], "\(options)")
            #expect(found[0].count == count, "\(options)")
        }
        let tail = ["tail", "library.daybook", "-n", "2", "--author", "ada", "--output", "jsonl"]
        #expect(
            try numbers(indexed.run(tail)) == [#"{"sequence":51"#, #"{"sequence":61"#])
        #expect(try indexed.run(["verify", "library.daybook"]).status == 0)
    }

    /// The beginnings of lines; the times and digests of two stores differ.
    private func numbers(_ result: ToolResult) -> [String] {
        result.text.split(separator: "\n").map { line in String(line.prefix { $0 != "," }) }
    }

    @Test func `another process saves, and what it saved is found`() throws {
        let library = try library(#","indexesEntries":["author"]"#)
        let before = try library.run(["log", "library.daybook", "--author", "eve"])

        let saved = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"new"}}"#, ["--author", "eve"])

        try #require(saved.status == 0, "\(saved.talk)")
        #expect(before.text.isEmpty)
        let log = try library.run([
            "log", "library.daybook", "--author", "eve", "--output", "jsonl",
        ])
        #expect(log.text.hasPrefix(#"{"sequence":62,"#), "\(log.text)")
    }

    @Test func `a model with an index of entries is printed with it, and begins it by a step`()
        throws
    {
        let library = try library("")
        try Data(Self.model(#","indexesEntries":["author"]"#).utf8).write(
            to: library.folder.url.appending(path: "model.json"))

        let migrated = try library.run([
            "migrate", "library.daybook", "--model", "model.json",
        ])

        #expect(migrated.status == 0, "\(migrated.talk)")
        #expect(migrated.text.contains("index entries by author"), "\(migrated.text)")
        let model = try library.run(["model", "library.daybook"]).text
        #expect(model.contains(#""indexesEntries""#), "\(model)")
        #expect(try library.run(["verify", "library.daybook"]).status == 0)
    }
}
