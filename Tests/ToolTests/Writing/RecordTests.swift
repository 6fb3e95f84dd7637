import DaybookTestSupport
import Foundation
import Testing

/// The entries of `record` for good input.
@Suite struct RecordTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    @Test func `values and relationships arrive as they were written`() throws {
        try library.expect(
            ["fetch", "library.daybook", "Item", "--output", "jsonl"], equals: "library")
    }

    @Test func `the end of the input saves what is open`() throws {
        let result = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"C"}}"#,
            ["--author", "Eve", "--note", "More room"])

        #expect(result.text == "Recorded entry 4: 1 inserted.\n")
        let log = try library.run(["log", "library.daybook", "-n", "1"])
        #expect(log.text.contains("by Eve"))
        #expect(log.text.contains("More room"))
    }

    @Test func `what a save says goes before what the command line says`() throws {
        let result = try library.record(
            """
            {"op":"delete","entity":"Person","match":{"name":"Bob"}}
            {"op":"save","author":"Ada"}
            """, ["--author", "Eve", "--note", "Moved away"])

        #expect(result.status == 0)
        let log = try library.run(["log", "library.daybook", "-n", "1"])
        #expect(log.text.contains("by Ada"))
        #expect(log.text.contains("Moved away"))
    }

    @Test(arguments: [
        ("2011-12-15T08:30:00.123457+02:00", "2011-12-15T06:30:00.123457Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("0000-01-01T00:00:00.000001Z", "0000-01-01T00:00:00.000001Z"),
    ])
    func `an entry keeps the time at which it happened, to the microsecond`(
        time: String, kept: String
    ) throws {
        let result = try library.record(
            """
            {"op":"update","entity":"Shelf","match":{"label":"A"},"values":{"label":"AA"}}
            {"op":"save","time":"\(time)"}
            """)

        #expect(result.status == 0)
        let log = try library.run(["log", "library.daybook", "-n", "1", "--output", "jsonl"])
        #expect(log.text.contains(#""time":"\#(kept)""#), "\(log.text)")
    }

    @Test func `empty lines, empty saves and updates to the same values make no entry`() throws {
        let result = try library.record(
            """

            {"op":"save"}
            {"op":"update","entity":"Shelf","match":{"label":"A"},"values":{"label":"A"}}
            {"op":"insert","entity":"Shelf","ref":"x","values":{"label":"X"}}
            {"op":"delete","ref":"x"}

            """)

        #expect(result.status == 0)
        #expect(result.text == "Nothing was recorded.\n")
        #expect(try library.head() == 3)
    }

    @Test func `a match sees what earlier lines of its entry did`() throws {
        let result = try library.record(
            """
            {"op":"delete","entity":"Book","match":{"isbn":"3"}}
            {"op":"update","entity":"Book","match":{"title":"Two"},"values":{"title":"Three"}}
            {"op":"insert","entity":"Book","values":{"isbn":"3","title":"Two"}}
            {"op":"update","entity":"Item","match":{"title":"Two"},"values":{"title":"Four"}}
            {"op":"update","entity":"Book","match":{"title":"Three","lent":true},\
            "values":{"lent":false}}
            """)

        #expect(result.text == "Recorded entry 4: 1 inserted, 3 updated, 1 deleted.\n")
        try library.expect(
            ["fetch", "library.daybook", "Book", "--sort", "isbn"], equals: "after-matches")
    }

    @Test func `a unique value that an entry frees may be taken in it`() throws {
        let result = try library.record(
            """
            {"op":"update","entity":"Shelf","match":{"label":"A"},"values":{"label":"C"}}
            {"op":"update","entity":"Shelf","match":{"label":"B"},"values":{"label":"A"}}
            """)

        #expect(result.status == 0, "\(result.talk)")
    }

    @Test func `the inverse of a relationship can be set, and the order of a list is kept`() throws
    {
        let result = try library.record(
            """
            {"op":"update","entity":"Shelf","match":{"label":"B"},\
            "values":{"items":[{"match":{"title":"One"}},{"object":"Disc/8"}]}}
            {"op":"update","entity":"Book","match":{"isbn":"1"},\
            "values":{"authors":[{"match":{"name":"Ada"}},{"match":{"name":"Bob"}}]}}
            """)

        #expect(result.status == 0, "\(result.talk)")
        try library.expect(
            [
                "fetch", "library.daybook", "Item", "--where", "shelf.label == 'B'", "--output",
                "json",
            ],
            equals: "after-relationships")
    }

    @Test func `every entry is acknowledged with its number and digest`() throws {
        let result = try library.record(
            """
            {"op":"insert","entity":"Shelf","values":{"label":"C"}}
            {"op":"save"}
            {"op":"insert","entity":"Shelf","values":{"label":"D"}}
            """, ["--output", "jsonl"])

        let log = try library.run(
            ["log", "library.daybook", "--reverse", "--since", "4", "--output", "jsonl"])
        let digests = log.text.matches(of: /"digest":"([0-9a-f]{64})"/).map(\.1)
        #expect(
            result.lines == [
                #"{"sequence":4,"digest":"\#(try #require(digests.first))"}"#,
                #"{"sequence":5,"digest":"\#(try #require(digests.last))"}"#,
            ])
    }

    @Test func `an acknowledgement comes before the next line is read`() throws {
        let line = #"{"op":"insert","entity":"Shelf","values":{"label":"Z"}}"#
        let path = library.folder.url.appending(path: "library.daybook").path
        let result = try Tool.shell(
            """
            coproc tool { $DAYBOOK record '\(path)' --output jsonl; }
            printf '%s\\n{"op":"save"}\\n' '\(line)' >&${tool[1]}
            read -r answer <&${tool[0]}
            echo "$answer"
            $DAYBOOK fetch '\(path)' Shelf --where "label == 'Z'" --count
            exec {tool[1]}>&-
            wait
            """)

        #expect(result.lines.first?.hasPrefix(#"{"sequence":4,"digest":""#) == true)
        #expect(result.lines.last == "1")
    }

    @Test func `a recording whose reader has gone ends after a whole entry`() throws {
        let path = library.folder.url.appending(path: "library.daybook").path
        let result = try Tool.shell(
            """
            for i in 1 2 3 4 5; do
                echo '{"op":"insert","entity":"Shelf","values":{"label":"S'$i'"}}'
                echo '{"op":"save"}'
            done > '\(path).jsonl'
            exec 3> >(exec true); wait $!
            $DAYBOOK record '\(path)' --output jsonl < '\(path).jsonl' >&3; echo $?
            $DAYBOOK fetch '\(path)' Shelf --where "label BEGINSWITH 'S'" --count
            """)

        #expect(result.lines == ["0", "1"])
        #expect(result.talk.isEmpty)
    }

    @Test func `many matches in one entry each find their own object`() throws {
        var lines = ""
        for number in 0..<4_000 {
            lines += #"{"op":"insert","entity":"Disc","values":{"title":"T\#(number)"}}"# + "\n"
        }
        for number in 0..<4_000 {
            lines +=
                #"{"op":"update","entity":"Disc","match":{"title":"T\#(number)"},"#
                + #""values":{"minutes":\#(number)}}"# + "\n"
        }

        // A search through all pending objects for each match would take minutes.
        let result = try library.record(lines)
        let last = try library.run([
            "fetch", "library.daybook", "Disc", "--where",
            "title == 'T3999' AND minutes == 3999", "--count",
        ])

        #expect(result.text == "Recorded entry 4: 4000 inserted, 4000 updated.\n")
        #expect(last.text == "1\n")
    }
}
