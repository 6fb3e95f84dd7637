import DaybookTestSupport
import Foundation
import Testing

/// Words looked for with `search`.
@Suite struct SearchCommandTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
        let renamed = try library.record(
            """
            {"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"title":"Öne, anew"}}
            {"op":"save","author":"Bob","time":"2003-03-03T00:00:00Z"}

            """)
        try #require(renamed.status == 0, "\(renamed.talk)")
    }

    @Test(
        arguments: [
            (["one"], "now"), (["one", "--ever"], "ever"), (["one", "--at", "3"], "past"),
            (["one", "--ever", "--output", "jsonl"], "jsonl"),
            (["t* OR ada", "--entity", "Item", "--limit", "1"], "entity"),
            (["ada", "-e", "Person", "--property", "name", "--output", "json"], "property"),
            (["none"], "nothing"), (["!!"], "no-word"), (["\"one"], "open-phrase"),
            (["one", "-e", "Boook"], "no-such-entity"),
            (["one", "-e", "Book", "--property", "pages"], "not-a-text"),
            (["one", "--ever", "--at", "2"], "two-moments"),
        ])
    func `words are found and printed`(words: [String], name: String) throws {
        try library.expect(["search", "library.daybook"] + words, equals: name)
    }

    @Test func `an index that cannot be beside the store is told where else it can be`() throws {
        let place = library.folder.url.appending(path: "library.daybook-text")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)

        let result = try library.run(["search", "library.daybook", "ada"])

        #expect(result.status == 2)
        #expect(result.talk.hasSuffix("another file. '--index FILE' names it.\n"), "\(result.talk)")
    }

    @Test func `a search writes nothing into the store, and its file can go`() throws {
        let before = try library.bytes
        let first = try library.run(["search", "library.daybook", "ada"])
        try FileManager.default.removeItem(
            at: library.folder.url.appending(path: "library.daybook-text"))
        let elsewhere = try library.run(
            ["search", "library.daybook", "ada", "--index", "words"])

        #expect(first.status == 0 && first.text == elsewhere.text && !first.text.isEmpty)
        #expect(try library.bytes == before)
        let files = try FileManager.default.contentsOfDirectory(atPath: library.folder.url.path)
        #expect(files.contains("words") && !files.contains("library.daybook-text"))
    }
}
