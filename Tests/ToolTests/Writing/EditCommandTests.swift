import DaybookTestSupport
import Foundation
import Testing

/// One change from the command line: `add`, `set` and `delete`.
@Suite struct EditCommandTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private func fetched(_ words: [String]) throws -> String {
        try library.run(["fetch", "library.daybook"] + words + ["--output", "jsonl"]).text
    }

    @Test func `an object is added, changed and deleted, each in an entry of its own`() throws {
        let added = try library.run([
            "add", "library.daybook", "Shelf", "label=C", "--author", "ada", "--note", "More room",
        ])
        #expect(added.status == 0, "\(added.talk)")
        #expect(added.text == "Entry 4 adds Shelf/9.\n")
        let set = try library.run(["set", "library.daybook", "Shelf/9", "label=D"])
        #expect(set.text == "Entry 5 sets Shelf/9.\n")
        #expect(try fetched(["Shelf", "--where", "label == 'D'"]).contains("Shelf/9"))
        let deleted = try library.run(["delete", "library.daybook", "Shelf/9", "--output", "json"])
        #expect(deleted.status == 0)
        #expect(deleted.text.contains("\"objects\": [\n    \"Shelf/9\"\n  ]"))
        #expect(try library.head() == 6)
        let entry = try library.run(["show", "library.daybook", "4"]).text
        #expect(entry.contains("ada") && entry.contains("More room"))
    }

    @Test func `texts become values of the property's type`() throws {
        let added = try library.run([
            "add", "library.daybook", "Book", "isbn=9", "title=Nine", "pages=90", "price=9.90",
            "bought=2011-12-15T08:30:00Z", "lent=true", "shelf=Shelf/1",
            "authors=Person/4,Person/3",
        ])
        #expect(added.status == 0, "\(added.talk)")
        let book = try fetched(["Book", "--where", "isbn == '9'"])
        for part in [
            #""pages":90"#, #""price":"9.9"#, #""bought":"2011-12-15T08:30:00Z""#, #""lent":true"#,
            #""shelf":"Shelf/1""#, #""authors":["Person/4","Person/3"]"#,
        ] { #expect(book.contains(part), "\(part) in \(book)") }

        let emptied = try library.run([
            "set", "library.daybook", "Book/9", "pages=", "shelf=", "authors=", "title=",
            "lent:=null",
        ])
        #expect(emptied.status == 0, "\(emptied.talk)")
        let after = try fetched(["Book", "--where", "isbn == '9'"])
        for part in [
            #""pages":null"#, #""shelf":null"#, #""authors":[]"#, #""title":"""#, #""lent":null"#,
        ] { #expect(after.contains(part), "\(part) in \(after)") }
    }

    @Test func `an author has a name, and an object is deleted once`() throws {
        for line in ["set library.daybook Shelf/1 label=Z", "tag library.daybook here"] {
            let words = line.split(separator: " ").map(String.init)
            let result = try library.run(words + ["--author", ""])

            #expect(result.status == 2)
            #expect(result.talk.contains("'--author' cannot be ''"), "\(result.talk)")
        }
        let twice = try library.run(["delete", "library.daybook", "Book/6", "Book/6"])
        #expect(twice.status == 2)
        #expect(twice.talk.contains("'Book/6' is given twice."))
        #expect(try library.head() == 3)
    }

    @Test func `an object in the place of an entity is told how to be seen`() throws {
        let result = try library.run(["fetch", "library.daybook", "Book/5"])

        #expect(result.status == 2)
        #expect(result.talk.contains("'Book/5' is an object, and an entity is asked for: 'Book'."))
        let shown = try library.run([
            "fetch", "library.daybook", "Book", "--where", "SELF == 'Book/5'", "--count",
        ])
        #expect(shown.text == "1\n")
    }

    @Test func `the word null is refused where it is no value, with how one is taken away`() throws
    {
        for (value, says) in [
            ("pages=null", "'pages=' and 'pages:=null' leave it without a value."),
            ("bought=null", "'bought=' and 'bought:=null' leave it without a value."),
            (
                "shelf=null",
                "'null' is not the name of an object: one such as 'Shelf/17' was expected. 'shelf=' and "
                    + "'shelf:=null' leave it without a value."
            ),
            (
                "authors=Person/3,none",
                "one such as 'Person/17' was expected. 'authors=' empties it."
            ),
        ] {
            let result = try library.run(["set", "library.daybook", "Book/5", value])

            #expect(result.status == 2)
            #expect(result.talk.contains(says), "\(result.talk)")
        }
        #expect(try library.head() == 3)
    }

    @Test func `a dry run shows what would change, and changes nothing`() throws {
        let before = try library.bytes

        let set = try library.run(["set", "library.daybook", "Shelf/1", "label=Z", "--dry-run"])
        let add = try library.run(["add", "library.daybook", "Shelf", "label=Y", "--dry-run"])
        let delete = try library.run(["delete", "library.daybook", "Person/3", "-n"])
        let refused = try library.run(["delete", "library.daybook", "Shelf/1", "--dry-run"])

        #expect(set.text == "updated Shelf/1\n    label  \"A\" → \"Z\"\n")
        #expect(set.talk == "Nothing was changed: this was a dry run.\n")
        #expect(add.text == "inserted Shelf/9\n    label  \"Y\"\n")
        #expect(delete.text.contains("deleted Person/3"))
        #expect(delete.text.contains("updated Book/5"))
        #expect(refused.status == 5)
        #expect(refused.talk.contains("'items'"))
        #expect(try library.bytes == before)
        // Not even a number was taken.
        #expect(
            try library.run(["add", "library.daybook", "Shelf", "label=Y"]).text
                == "Entry 4 adds Shelf/9.\n")
    }

    private static let refused: [(words: [String], status: Int32, part: String)] = [
        (["set", "library.daybook", "Shelf/99", "label=Z"], 2, "no object 'Shelf/99'"),
        (["set", "library.daybook", "Shelf/1", "lable=Z"], 2, "did you mean 'label'?"),
        (["set", "library.daybook", "Book/5", "pages=many"], 2, "An integer was expected"),
        (["set", "library.daybook", "Book/5", "pages:={"], 2, "'pages' is wrong"),
        (["set", "library.daybook", "Shelf/1", "label=Y", "label=Z"], 2, "given twice"),
        (["set", "library.daybook", "Shelf/1", "label"], 2, "name=Norway"),
        (["set", "library.daybook", "Shelf/1"], 2, "NAME=VALUE is missing"),
        (["set", "library.daybook", "Book/5", "shelf=Shelf/1,Shelf/2"], 2, "leads to one object"),
        (["set", "library.daybook", "Book/5", "authors=Shelf/1"], 2, "not of 'Shelf'"),
        (["add", "library.daybook", "Shelf", "label=A"], 5, "must be unique"),
        (["add", "library.daybook", "Item", "title=x"], 2, "is abstract"),
        (["add", "library.daybook", "Book", "title=x"], 2, "isbn"),
        (["delete", "library.daybook", "Shelf/99"], 2, "no object 'Shelf/99'"),
        (["delete", "library.daybook", "Book/5", "Shelf/99"], 2, "no object 'Shelf/99'"),
    ]

    @Test func `what does not fit is refused with the reason, and nothing is saved`() throws {
        for (words, status, part) in Self.refused {
            let ran = try library.run(words)
            #expect(ran.status == status, "\(words): \(ran.talk)")
            #expect(ran.talk.contains(part), "\(words): \(ran.talk)")
            #expect(!ran.talk.contains("line 1"), "\(words): \(ran.talk)")
        }
        #expect(try library.head() == 3)
        let same = try library.run(["set", "library.daybook", "Shelf/1", "label=A"])
        #expect(same.text == "Nothing was recorded: it is like that already.\n")
        #expect(try library.head() == 3)
    }

    @Test
    func `a store that the environment names can be left out, and is not used instead of a file`()
        throws
    {
        let folder = library.folder.url
        let environment = ["DAYBOOK_STORE": folder.appending(path: "library.daybook").path]
        func run(_ words: [String]) throws -> ToolResult {
            try Tool.run(words, environment: environment, in: folder)
        }

        #expect(try run(["add", "Shelf", "label=C"]).text == "Entry 4 adds Shelf/9.\n")
        #expect(try run(["set", "Shelf/9", "label=D"]).text == "Entry 5 sets Shelf/9.\n")
        #expect(try run(["delete", "Shelf/9"]).text == "Entry 6 deletes Shelf/9.\n")
        #expect(try run(["tag", "kept"]).status == 0)
        #expect(try run(["log", "-n", "1", "--oneline"]).text.hasPrefix("6  "))
        #expect(try run(["backup", "copy.daybook"]).status == 0)
        #expect(
            try run(["add", "copy.daybook", "Shelf", "label=E"]).text == "Entry 7 adds Shelf/10.\n")
        #expect(try library.head() == 6)
        let model = Fixture.folder.appending(path: "models/library.json").path
        #expect(try run(["init", "new.daybook", "--model", model]).status == 0)
        #expect(try run(["tag", "missing.daybook"]).talk.contains("no file 'missing.daybook'"))
        #expect(try run(["log", "missing.daybook"]).talk.contains("no file 'missing.daybook'"))
        #expect(try run(["set", "Shelf/1"]).talk.contains("NAME=VALUE is missing"))
    }
}
