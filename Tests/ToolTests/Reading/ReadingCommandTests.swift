// The room of reading: what the commands that read print.

import DaybookTestSupport
import Foundation
import Testing

/// The output of log, show, history, diff, model and stats.
@Suite struct ReadingCommandTests {
    @Test(arguments: [
        ("tag library.daybook", "There are no tags."),
        ("cursors library.daybook", "There are no cursors."),
        ("search library.daybook nowhere", "Nothing was found."),
        ("log library.daybook --author nobody", "There is no such entry."),
        (
            "log library.daybook --since 2011",
            "There is no entry 2011: the journal has entries 1 to 3."
        ),
        ("tail library.daybook --author nobody", "There is no such entry."),
        ("diff library.daybook 2 2", "Nothing differs."),
    ])
    func `that nothing was found is said at a terminal, and not to programs`(
        line: String, sentence: String
    ) throws {
        let library = try LibraryStore()

        let session = try TerminalSession(line, in: library.folder.url)
        session.wait(for: sentence)
        let quiet = try TerminalSession("\(line) --quiet", in: library.folder.url)
        let program = try library.run(line.split(separator: " ").map(String.init))

        #expect(session.end() == 0)
        #expect(quiet.end() == 0)
        #expect(!quiet.transcript.contains(sentence))
        #expect(program.text.isEmpty && program.talk.isEmpty, "\(program.talk)")
    }

    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
    }

    @Test(
        arguments: [
            ("log STORE", "everything"),
            ("log STORE -n 2 --changes", "changes"),
            ("log STORE --reverse -n 2", "oldest-first"),
            ("log STORE --author Ada --author =cmd", "authors"),
            ("log STORE --entity Union -p", "entity"),
            ("log STORE --object Country/3 -p", "object"),
            ("log STORE --since 3 --until 5", "range"),
            ("log STORE --until 2011-12-15", "until-date"),
            ("log STORE --since 2011-12-16 --author registry", "since-date"),
            ("log STORE -n 1 --output json", "json"),
            ("log STORE -n 2 --output jsonl", "jsonl"),
            ("log STORE -n 0 --output json", "empty-json"),
            ("log STORE --author nobody", "nothing"),
            ("log STORE --entity Contry", "no-such-entity"),
            ("log STORE --since 5 --until 3", "reversed-range"),
            ("log STORE -n 2 --color always", "colors"),
            ("log STORE --oneline", "oneline"),
            ("log STORE --oneline -p --op delete", "oneline-changes"),
            ("log STORE --stat", "counts"),
            ("log STORE --stat -n 2 --color always", "counts-colors"),
            ("log STORE 4..6 --stat --output jsonl", "counts-jsonl"),
            ("log STORE 3..5 --reverse", "places"), ("log STORE 9.. --oneline", "from-place"),
            ("log STORE ..1974-12-31 --oneline", "to-time"),
            ("log STORE --grep Newsletter --grep edition --oneline", "grep"),
            ("log STORE -S Türkiye -p", "text"), ("log STORE --op delete", "operation"),
            ("log STORE --property callingCode --oneline", "property"),
            ("log STORE 5..3", "backward-places"), ("log STORE 5", "no-range"),
            ("log STORE 3.. --since 2", "range-twice"), ("log STORE ..", "empty-range"),
        ])
    func `the log is as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("show STORE 1", "model"), ("show STORE 4", "note"), ("show STORE 5", "deletes"),
            ("show STORE 8", "batch"), ("show STORE head", "undo"),
            ("show STORE 2012-01-01", "time"), ("show STORE 6 --output json", "json"),
            ("show STORE 6 --output jsonl", "jsonl"), ("show STORE 11", "no-such-entry"),
            ("show STORE 6 2012-01-01", "several"), ("show STORE 5 --stat", "counts"),
            ("show STORE 4 head --output json", "several-json"),
            ("show STORE 5 head --stat --output jsonl", "counts-jsonl"),
            ("show STORE 5 11", "one-of-two-missing"), ("show STORE", "no-entry"),
            ("show STORE 0", "zero"), ("show STORE 1970-01-01", "before-everything"),
        ])
    func `an entry is shown as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("history STORE Country/2", "object"), ("history STORE Country/3", "deleted"),
            ("history STORE Union/7", "members"), ("history STORE Subdivision/6", "cascade"),
            ("history STORE Country/1.callingCode", "property"),
            ("history STORE Country/2 --reverse -n 1", "newest"),
            ("history STORE Country/1 --output json", "json"),
            ("history STORE Country/1 --output jsonl", "jsonl"),
            ("history STORE Country/99", "no-such-object"),
            ("history STORE Land/1", "no-such-entity"),
            ("history STORE Country/1.nmae", "no-such-property"),
            ("history STORE Country/1.subdivisions", "derived"),
        ])
    func `a history is told as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("diff STORE 2 head", "all"), ("diff STORE head 2", "backwards"),
            ("diff STORE 0 2 --entity Country", "from-nothing"), ("diff STORE 8 10", "none"),
            ("diff STORE 8 10 --output json", "none-json"),
            ("diff STORE 2 head --stat", "counts"),
            ("diff STORE 2 head --stat --output jsonl", "counts-jsonl"),
            ("diff STORE 3 6 --output json", "json"), ("diff STORE 3 6 --output jsonl", "jsonl"),
            ("diff STORE 2 99", "no-such-entry"),
        ])
    func `a difference is told as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test(
        arguments: [
            ("model STORE", "text"), ("model STORE --output jsonl", "jsonl"),
            ("model STORE --at 0", "before-everything"),
        ])
    func `the model is printed as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test func `statistics count entries and objects`() throws {
        let text = try atlas.run("stats STORE")
        let json = try atlas.run("stats STORE --output json")

        #expect(text.status == 0)
        #expect(text.lines.contains("entries     10"))
        #expect(text.lines.contains("objects     5: Country 2, Subdivision 2, Union 1"))
        let document = try #require(
            try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
        #expect(document["entries"] as? Int == 10)
        #expect(
            document["objects"] as? [String: Int] == ["Country": 2, "Subdivision": 2, "Union": 1])
        let file = atlas.folder.url.appending(path: "atlas.daybook")
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        #expect(document["fileBytes"] as? Int == size)
    }

    @Test func `reading changes no byte of the store`() throws {
        let file = atlas.folder.url.appending(path: "atlas.daybook")
        let before = try Data(contentsOf: file)

        for line in ["log STORE -p", "show STORE 5", "history STORE Country/1", "stats STORE"] {
            #expect(try atlas.run(line).status == 0)
        }

        #expect(try Data(contentsOf: file) == before)
    }
}

/// Columns that are chosen, and other forms of them.
@Suite struct FetchedColumnTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
        let renamed = try library.run(["set", "library.daybook", "Shelf/1", "label=A|*b*\n<i>"])
        try #require(renamed.status == 0, "\(renamed.talk)")
    }

    private func fetch(_ words: [String]) throws -> ToolResult {
        try library.run(["fetch", "library.daybook", "Book", "--sort", "isbn"] + words)
    }

    @Test func `columns are shown as they are named, also of objects that are referred to`() throws
    {
        let columns = ["--column", "title", "--column", "shelf.label", "--column", "object"]

        #expect(
            try fetch(columns).lines.map {
                $0.split(separator: " ", omittingEmptySubsequences: true)
            }[0]
                == ["title", "shelf.label", "object"])
        #expect(
            try fetch(columns + ["--format", "csv"]).text
                == "title,shelf.label,object\r\nOne,\"A|*b*\n<i>\",Book/5\r\n"
                + "Two,\"A|*b*\n<i>\",Book/6\r\nTwo,,Book/7\r\n")
    }

    @Test func `no text ends its cell or begins markup in a table of Markdown`() throws {
        let ran = try fetch(["--column", "isbn", "--column", "shelf.label", "--format", "markdown"])

        #expect(
            ran.text == "| isbn | shelf.label |\n|---|---|\n| 1 | A\\|\\*b\\*<br>&lt;i> |\n"
                + "| 2 | A\\|\\*b\\*<br>&lt;i> |\n| 3 |  |\n")
    }

    @Test func `a bar before a sign that joins it does not end its cell in Markdown`() throws {
        let renamed = try library.run(["set", "library.daybook", "Shelf/1", "label=A|\u{301}b"])
        try #require(renamed.status == 0, "\(renamed.talk)")

        let ran = try fetch(["--column", "shelf.label", "--format", "markdown"])

        #expect(ran.lines.contains("| A\\|\u{301}b |"))
    }

    @Test func `a template has values in place of names`() throws {
        let ran = try fetch(["--template", "{{{isbn}}} {title}: {shelf.label} {object}"])

        #expect(ran.lines.first == "{1} One: A|*b*\\n<i> Book/5")
        #expect(ran.lines.last == "{3} Two:  Book/7")
    }

    private static let refused: [(words: [String], part: String)] = [
        (["--template", "{nope}"], "nope"), (["--template", "{isbn"], "not closed"),
        (["--column", "authors"], "leads to many"),
        (["--column", "isbn", "--output", "json"], "--output"),
        (["--column", "isbn", "--count"], "--count"),
        (["--template", "x", "--format", "csv"], "excludes"),
        (["--format", "markdown", "--group", "title"], "as csv"),
        (["--format", "xml"], "csv or markdown"),
    ]

    @Test func `what does not go together is refused`() throws {
        for (words, part) in Self.refused {
            let ran = try fetch(words)
            #expect(ran.status == 2, "\(words)")
            #expect(ran.talk.contains(part), "\(words): \(ran.talk)")
        }
    }
}
