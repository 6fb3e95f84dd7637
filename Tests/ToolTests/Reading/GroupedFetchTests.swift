import DaybookTestSupport
import Foundation
import Testing

/// Groups and comma-separated values of `fetch`.
@Suite struct GroupedFetchTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    @Test(
        arguments: [
            (
                ["Item", "--group", "shelf.label", "--count", "--minimum", "title"],
                "group-label"
            ),
            (
                ["Item", "-g", "shelf", "--sum", "price", "--count", "--sort", "-count"],
                "group-object"
            ),
            (
                [
                    "Book", "--group", "title", "--group", "lent", "--distinct", "isbn", "--median",
                    "pages", "--average", "pages", "--maximum", "bought",
                ], "group-several"
            ),
            (
                ["Item", "--group", "shelf.label", "--count", "--having", "count > 1"],
                "group-having"
            ),
            (["Book", "--sum", "price", "--count", "-w", "isbn == 'none'"], "group-of-nothing"),
            (
                ["Item", "-g", "shelf", "-c", "--sum", "price", "--output", "jsonl"],
                "group-jsonl"
            ),
            (["Item", "-g", "title", "-c", "--output", "json", "-n", "1"], "group-json"),
            (["Item", "-g", "title", "-c", "--at", "3", "--format", "csv"], "group-past"),
            (["Item", "-g", "shelf.label", "-c", "--format", "csv"], "group-csv"),
            (["Item", "-g", "shelf.labl", "-c"], "group-no-such-property"),
            (["Book", "-g", "authors", "-c"], "group-of-many"),
            (["Book", "--sum", "title"], "group-sum-of-text"),
            (["Book", "--sum", "shelf"], "group-sum-of-relationship"),
            (["Book", "-g", "title", "--sort", "pages"], "group-no-such-column"),
            (["Book", "-g", "title", "--having", "sum(pages) > 3"], "group-faulty-having"),
            (["Book", "--having", "count > 3"], "group-no-column"),
            (["Book", "--format", "csv", "--output", "json"], "csv-and-json"),
            (["Book", "--format", "csv", "--sort", "isbn"], "csv"),
        ])
    func `groups and tables are as ever`(words: [String], name: String) throws {
        try library.expect(["fetch", "library.daybook"] + words, equals: name)
    }

    @Test(
        arguments: [
            ["-g", "pages", "-g", "pages", "-g", "title"], ["--sum", "pages", "--sum", "pages"],
        ])
    func `two columns of one name are refused in JSON before anything is printed`(words: [String])
        throws
    {
        let fetch = ["fetch", "library.daybook", "Book"] + words

        for output in ["json", "jsonl"] {
            let result = try library.run(fetch + ["--output", output])
            #expect(result.status == 2 && result.text.isEmpty, "\(result)")
            #expect(result.talk.contains("Two columns are called '"), "\(result.talk)")
        }
        #expect(try library.run(fetch).status == 0)
        #expect(try library.run(fetch + ["--format", "csv"]).status == 0)
    }

    @Test func `a sum that does not fit is refused with its attribute`() throws {
        let big = (4...5).map {
            #"{"op":"insert","entity":"Book","values":{"isbn":"\#($0)","title":"Big","pages":20000}}"#
        }
        _ = try library.record(big.joined(separator: "\n") + "\n")

        let result = try library.run(["fetch", "library.daybook", "Book", "--sum", "pages"])

        #expect(result.status == 2)
        #expect(
            result.talk
                == "error: The sum of 'pages' of 'Book' does not fit its type 'int16'. Give the attribute a "
                + "type with more digits, or restrict the request.\n")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")))
    func `SQLite's importer reads what is written as comma-separated values`() throws {
        let texts = ["a, b", "say \"so\"", "two\nlines", "", " edge ", "ä\r", "=1+1"]
        let lines = texts.enumerated().map { index, text in
            let title = text.replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
                .replacing("\r", with: "\\r")
            return
                #"{"op":"insert","entity":"Book","values":{"isbn":"s\#(index)","title":"\#(title)"}}"#
        }
        let recorded = try library.record(lines.joined(separator: "\n") + "\n")
        try #require(recorded.status == 0, "\(recorded.talk)")
        let result = try library.run([
            "fetch", "library.daybook", "Book", "--format", "csv", "--sort", "isbn",
            "-w", "isbn BEGINSWITH 's'",
        ])
        let table = library.folder.url.appending(path: "books.csv")
        try Data(result.text.utf8).write(to: table)

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [
            ":memory:", ".import --csv '\(table.path)' book",
            "SELECT group_concat(hex(title), ' ') FROM (SELECT title FROM book ORDER BY isbn)",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let read = try #require(try output.fileHandleForReading.readToEnd())
        process.waitUntilExit()

        let expected = texts.map { text in
            text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        }
        #expect(String(decoding: read, as: UTF8.self) == expected.joined(separator: " ") + "\n")
    }
}
