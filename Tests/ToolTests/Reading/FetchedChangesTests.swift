import DaybookTestSupport
import Foundation
import Testing

/// Questions about the past in `fetch`, and `--changes`.
@Suite struct FetchedChangesTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore(
            content: LibraryStore.content + """
                {"op":"update","object":"Book/5","values":{"pages":120,"price":"8.25"}}
                {"op":"save","author":"Bob","note":"Sale","time":"2003-03-03T00:00:00Z"}
                {"op":"update","object":"Book/5","values":{"pages":110,"shelf":{"object":"Shelf/2"}}}
                {"op":"update","object":"Book/6","values":{"authors":[{"object":"Person/4"}]}}
                {"op":"save","author":"Ada","time":"2004-04-04T00:00:00Z"}
                {"op":"update","object":"Book/6","values":{"price":"3","shelf":null}}
                {"op":"save","time":"2005-05-05T00:00:00Z"}

                """)
    }

    @Test(
        arguments: [
            (["Book", "-w", "price DECREASED SINCE '2003-01-01'", "--changes"], "changes-one"),
            (
                ["Book", "-w", "pages CHANGED OR shelf CHANGED OR authors CHANGED", "--changes"],
                "changes"
            ),
            (
                [
                    "Book", "-w", "shelf CHANGED OR authors CHANGED", "--changes", "--output",
                    "jsonl",
                ],
                "changes-jsonl"
            ),
            (
                [
                    "Book", "-w", "pages CHANGED BY 'Ada' OR price CHANGED BY nil", "--changes",
                    "--format", "csv",
                ], "changes-csv"
            ),
            (["Shelf", "-w", "items CHANGED SINCE 4", "--changes"], "changes-derived"),
            (["Book", "-w", "pages CHANGED", "--changes", "--at", "4"], "changes-past"),
            (["Book", "-w", "pages DECREASED UNTIL '2004-04-04'", "--changes"], "changes-none"),
            (["Book", "-w", "pages > 3", "--changes"], "changes-not-asked"),
            (["Book", "-w", "pages CHANGED", "--changes", "--count"], "changes-count"),
            (["Book", "-w", "EVER pages > 115", "--format", "csv"], "past-ever"),
            (["Book", "-w", "WAS shelf.label == 'A' AT '2004-01-01'", "--count"], "past-was"),
            (["Book", "-w", "WAS pages > 1 AT 99"], "past-no-such-entry"),
            (["Book", "-w", "WAS pages > 1 AT 'audit'"], "past-no-such-tag"),
            (["Book", "-w", "EVER EVER pages > 1"], "past-in-past"),
        ])
    func `the past is told as ever`(words: [String], name: String) throws {
        try library.expect(["fetch", "library.daybook"] + words, equals: name)
    }
}
