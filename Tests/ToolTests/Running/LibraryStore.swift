import DaybookTestSupport
import Foundation
import Testing

/// A store of books in its own folder, recorded by the tool itself.
struct LibraryStore {
    /// What is in the store: two shelves, two people, three books, one disc.
    static let content = """
        {"op":"insert","entity":"Shelf","ref":"a","values":{"label":"A"}}
        {"op":"insert","entity":"Shelf","ref":"b","values":{"label":"B"}}
        {"op":"insert","entity":"Person","ref":"ada","values":{"name":"Ada"}}
        {"op":"insert","entity":"Person","ref":"bob","values":{"name":"Bob"}}
        {"op":"save","author":"registry","note":"Furniture","time":"2001-01-01T00:00:00Z"}
        {"op":"insert","entity":"Book","values":{"isbn":"1","title":"One","pages":100,\
        "price":"9.50","shelf":{"ref":"a"},"authors":[{"ref":"bob"},{"ref":"ada"}]}}
        {"op":"insert","entity":"Book","values":{"isbn":"2","title":"Two","lent":true,\
        "shelf":{"match":{"label":"A"}},"authors":[{"match":{"name":"Ada"}}]}}
        {"op":"insert","entity":"Book","values":{"isbn":"3","title":"Two"}}
        {"op":"insert","entity":"Disc","values":{"title":"Songs","minutes":61.5,\
        "bought":"2002-02-02T08:30:00.25Z","shelf":{"object":"Shelf/2"}}}
        {"op":"save","author":"Ada","time":"2002-02-02T09:00:00Z"}

        """

    let folder: ScratchFolder

    init(content: String = LibraryStore.content) throws {
        folder = try ScratchFolder()
        let model = Fixture.folder.appending(path: "models/library.json").path
        let made = try run(["init", "library.daybook", "--model", model])
        try #require(made.status == 0, "\(made.talk)")
        guard !content.isEmpty else { return }
        let recorded = try record(content)
        try #require(recorded.status == 0, "\(recorded.talk)")
    }

    /// The bytes of the store's file.
    var bytes: Data {
        get throws { try Data(contentsOf: folder.url.appending(path: "library.daybook")) }
    }

    /// Changes a byte of a text wherever the file has it.
    func damage(_ text: String) throws {
        let file = folder.url.appending(path: "library.daybook")
        var bytes = try Data(contentsOf: file)
        var place = bytes.startIndex
        var count = 0
        while let found = bytes.range(of: Data(text.utf8), in: place..<bytes.endIndex) {
            bytes[found.lowerBound] ^= 1
            (place, count) = (found.upperBound, count + 1)
        }
        try #require(count > 0)
        // In place: a program that has it open has another file otherwise.
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    func run(_ words: [String], input: String? = nil) throws -> ToolResult {
        try Tool.run(words, input: input.map { Data($0.utf8) }, in: folder.url)
    }

    /// Records lines; quiet, because progress is not tested.
    func record(_ lines: String, _ options: [String] = []) throws -> ToolResult {
        try run(["record", "library.daybook"] + options, input: lines)
    }

    /// The number of the last entry.
    func head() throws -> Int {
        let result = try run(["log", "library.daybook", "-n", "1", "--output", "jsonl"])
        let match = try #require(result.text.firstMatch(of: /^\{"sequence":(\d+)/))
        return try #require(Int(match.1))
    }

    /// Runs the tool and compares its input and whole output with a golden file.
    func expect(
        _ words: [String], input: String? = nil, equals name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try run(words, input: input)
        let line = words.map { $0.contains(" ") || $0.contains("'") ? "\"\($0)\"" : $0 }
            .joined(separator: " ")
        var text = "$ daybook \(line)\n"
        if let input {
            text += "--- standard input\n" + input + (input.hasSuffix("\n") ? "" : "\n")
        }
        text += "--- standard output\n" + result.text
        if !result.talk.isEmpty { text += "--- standard error\n" + result.talk }
        text += "--- exit \(result.status)\n"
        try Fixture.expect(
            Data(text.utf8), equals: "cli/\(words[0])/\(name).txt", sourceLocation: sourceLocation)
    }
}
