import DaybookTestSupport
import Foundation
import Testing

/// The messages of `record` for bad input: the line, the mistake, the remedy.
///
/// The golden files hold the input and the answer.
@Suite struct RecordBadInputTests {
    /// Precedes each bad line, so that there is an entry to keep and one to drop.
    private static let good = """
        {"op":"insert","entity":"Shelf","values":{"label":"kept"}}
        {"op":"save"}
        {"op":"insert","entity":"Shelf","ref":"s","values":{"label":"dropped"}}

        """

    static let cases: [(name: String, line: String, status: Int32)] = [
        ("not-json", "nonsense", 2),
        ("cut-off", #"{"op":"insert","entity":"Shelf""#, 2),
        ("name-twice", #"{"op":"save","op":"save"}"#, 2),
        ("not-an-object", #"["insert"]"#, 2),
        ("no-operation", #"{"entity":"Shelf"}"#, 2),
        ("unknown-operation", #"{"op":"isnert","entity":"Shelf"}"#, 2),
        ("unlike-any-operation", #"{"op":"frobnicate"}"#, 2),
        ("unknown-member", #"{"op":"insert","entity":"Shelf","vlues":{}}"#, 2),
        ("no-entity", #"{"op":"insert","values":{}}"#, 2),
        ("unknown-entity", #"{"op":"insert","entity":"Shlef"}"#, 2),
        ("abstract-entity", #"{"op":"insert","entity":"Item","values":{"title":"x"}}"#, 2),
        ("unknown-attribute", #"{"op":"insert","entity":"Shelf","values":{"lable":"x"}}"#, 2),
        ("wrong-type", #"{"op":"insert","entity":"Shelf","values":{"label":5}}"#, 2),
        (
            "out-of-range",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"pages":40000}}"#, 2
        ),
        (
            "wrong-date",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"bought":"today"}}"#, 2
        ),
        (
            "null-for-mandatory",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"title":null}}"#, 2
        ),
        ("missing-mandatory", #"{"op":"insert","entity":"Book","values":{"title":"x"}}"#, 2),
        ("duplicate", #"{"op":"insert","entity":"Shelf","values":{"label":"A"}}"#, 5),
        (
            "duplicate-in-entry", #"{"op":"insert","entity":"Shelf","values":{"label":"dropped"}}"#,
            5
        ),
        ("denied-delete", #"{"op":"delete","entity":"Shelf","match":{"label":"A"}}"#, 5),
        ("no-match", #"{"op":"delete","entity":"Shelf","match":{"label":"Q"}}"#, 2),
        ("several-matches", #"{"op":"delete","entity":"Book","match":{"title":"Two"}}"#, 2),
        ("empty-match", #"{"op":"delete","entity":"Shelf","match":{}}"#, 2),
        ("match-without-entity", #"{"op":"delete","match":{"label":"A"}}"#, 2),
        ("match-of-many", #"{"op":"delete","entity":"Shelf","match":{"items":[]}}"#, 2),
        ("no-target", #"{"op":"delete","entity":"Shelf"}"#, 2),
        ("two-targets", #"{"op":"delete","object":"Shelf/1","ref":"s"}"#, 2),
        ("no-such-object", #"{"op":"delete","object":"Shelf/999"}"#, 2),
        ("no-object-name", #"{"op":"delete","object":"Shelf-1"}"#, 2),
        ("other-entity", #"{"op":"delete","entity":"Book","object":"Shelf/1"}"#, 2),
        ("unknown-ref", #"{"op":"delete","ref":"t"}"#, 2),
        ("ref-twice", #"{"op":"insert","entity":"Shelf","ref":"s","values":{"label":"x"}}"#, 2),
        (
            "reference-of-wrong-kind",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"shelf":"A"}}"#, 2
        ),
        (
            "reference-to-wrong-entity",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"#
                + #""values":{"shelf":{"object":"Person/3"}}}"#, 2
        ),
        (
            "list-expected",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"authors":null}}"#, 2
        ),
        (
            "member-twice",
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"#
                + #""values":{"authors":[{"object":"Person/3"},{"match":{"name":"Ada"}}]}}"#, 2
        ),
        ("wrong-time", #"{"op":"save","time":"2011-12-15"}"#, 2),
        ("values-of-wrong-kind", #"{"op":"insert","entity":"Shelf","values":[]}"#, 2),
    ]

    @Test(arguments: cases)
    func `a bad line stops the recording and drops the open entry`(
        name: String, line: String, status: Int32
    ) throws {
        let library = try LibraryStore()

        try library.expect(
            ["record", "library.daybook"], input: Self.good + line, equals: name)

        let again = try library.record("")
        #expect(again.status == 0)
        let labels = try library.run(["fetch", "library.daybook", "Shelf", "--sort", "label"])
        #expect(labels.text.contains("kept"))
        #expect(!labels.text.contains("dropped"))
        #expect(try library.head() == 4)
    }

    @Test(arguments: cases)
    func `bad input ends with its code`(name: String, line: String, status: Int32) throws {
        let library = try LibraryStore()

        let result = try library.record(Self.good + line)

        #expect(result.status == status)
        #expect(result.talk.wholeMatch(of: /error: line \d+(, column \d+)?: [^\n]+\n/) != nil)
    }

    @Test func `a mistake is told by the line that made it, not by that of the save`() throws {
        let library = try LibraryStore()

        let result = try library.record(
            """
            {"op":"insert","entity":"Person","values":{"name":"Eve"}}
            {"op":"insert","entity":"Book","values":{"title":"No number"}}
            {"op":"insert","entity":"Person","values":{"name":"Fay"}}
            {"op":"save"}
            """)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: line 2: 'isbn' is missing"))
    }

    @Test func `F31 a value that breaks a rule of the model is refused with its line`() throws {
        let folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Cup","attributes":[
             {"name":"size","type":"int16","optional":false,"minimum":1,"maximum":9},
             {"name":"code","type":"string","pattern":"[A-Z]+","maxLength":3}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "cups.json"))
        let made = try Tool.run(["init", "cups.daybook", "--model", "cups.json"], in: folder.url)
        try #require(made.status == 0, "\(made.talk)")

        let result = try Tool.run(
            ["record", "cups.daybook"],
            input: Data(
                """
                {"op":"insert","entity":"Cup","ref":"a","values":{"size":9,"code":"ABC"}}
                {"op":"insert","entity":"Cup","values":{"size":10}}
                {"op":"save"}
                """.utf8), in: folder.url)

        #expect(result.status == 2)
        #expect(result.talk == "error: line 2: 'size' of Cup/2 is above its maximum.\n")
        let printed = try Tool.run(["model", "cups.daybook"], in: folder.url)
        #expect(printed.text.contains("\"maximum\": 9"))
        #expect(printed.text.contains("\"pattern\": \"[A-Z]+\""))
    }

    @Test func `bytes that are no text are refused with their line`() throws {
        let library = try LibraryStore()
        let bytes = Data(#"{"op":"save","note":""#.utf8) + Data([0xFF, 0xFE]) + Data("\"}\n".utf8)

        let result = try Tool.run(
            ["record", "library.daybook"], input: bytes, in: library.folder.url)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: line 1"))
        #expect(try library.head() == 3)
    }
}
