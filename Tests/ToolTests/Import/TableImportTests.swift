import DaybookTestSupport
import Foundation
import Testing

/// Objects from the rows of tables.
@Suite struct TableImportTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    /// Imports a table of an entity.
    private func importing(
        _ table: String, of entity: String, _ options: String...
    ) throws -> ToolResult {
        try library.run(
            ["import", "library.daybook", "-f", "csv", "-e", entity] + options, input: table)
    }

    private func fetch(_ entity: String, where condition: String) throws -> [String] {
        let result = try library.run(
            ["fetch", "library.daybook", entity, "--where", condition, "--output", "jsonl"])
        return result.lines
    }

    // MARK: - Rows

    @Test func `a table of one column that was fetched comes back with its nulls`() throws {
        let folder = try ScratchFolder()
        let model = #"{"entities":[{"name":"A","attributes":[{"name":"k","type":"int64"}]}]}"#
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        for line in [
            "init s --model model.json", "init t --model model.json", "add s A k:=null",
            "add s A k=1", "add s A k:=null",
        ] {
            let words = line.split(separator: " ").map(String.init)
            try #require(try Tool.run(words, in: folder.url).status == 0, "\(line)")
        }
        let fetch = ["A", "--column", "k", "--format", "csv"]
        let table = try Tool.run(["fetch", "s"] + fetch, in: folder.url)

        let result = try Tool.run(
            ["import", "t", "-f", "csv", "-e", "A"], input: table.output, in: folder.url)

        #expect(table.text == "k\r\n\r\n1\r\n\r\n")
        #expect(result.status == 0, "\(result.talk)")
        #expect(try Tool.run(["fetch", "t"] + fetch, in: folder.url).output == table.output)
    }

    @Test func `each row becomes an object, and all of them one entry`() throws {
        let before = try library.head()

        let result = try importing(
            "name\r\nCarl\r\n\"Dora, the \"\"second\"\"\"\r\n", of: "Person", "--author", "Ada",
            "--note", "From a table")

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.text == "Imported entry \(before + 1): 2 inserted.\n")
        let shown = try library.run(["show", "library.daybook", "head", "--output", "jsonl"]).text
        #expect(shown.contains(#""author":"Ada","note":"From a table","context":"import""#))
        #expect(shown.contains(#""new":{"name":"Carl"}"#))
        #expect(shown.contains(#""new":{"name":"Dora, the \"second\""}"#))
        #expect(try library.run(["verify", "library.daybook"]).status == 0)
    }

    @Test func `columns are mapped, skipped, and lead to objects by their unique values`() throws {
        let result = try importing(
            """
            ISBN,title,Pages,Lent,Price,Shelf,comment
            9,Nine,90,TRUE,9.90,B,x
            10,Ten,,0,,,

            """, of: "Book", "--map", "ISBN=isbn", "--map", "Pages=pages", "--map", "Lent=lent",
            "--map", "Price=price", "--map", "Shelf=shelf.label", "--skip", "comment")

        #expect(result.status == 0, "\(result.talk)")
        let books = try fetch("Book", where: "isbn IN {'9', '10'}")
        try #require(books.count == 2)
        #expect(
            books.contains {
                $0.contains(
                    #""isbn":"9","lent":true,"pages":90,"bought":null,"price":"9.9","shelf":"Shelf/2","title":"Nine""#
                )
            }, "\(books)")
        #expect(
            books.contains {
                $0.contains(
                    #""isbn":"10","lent":false,"pages":null,"bought":null,"price":null,"shelf":null,"title":"Ten""#
                )
            }, "\(books)")
    }

    @Test func `the only unique attribute of a destination need not be named`() throws {
        let result = try importing("isbn,title,shelf\n9,Nine,A\n", of: "Book")

        #expect(result.status == 0, "\(result.talk)")
        #expect(try fetch("Book", where: "isbn == '9' AND shelf.label == 'A'").count == 1)
    }

    @Test func `rows may lead to rows of the same entry, before and after them`() throws {
        let folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Place","attributes":[
              {"name":"code","type":"string","optional":false,"unique":true}],
             "relationships":[
              {"name":"parent","destination":"Place","inverse":"parts"},
              {"name":"parts","destination":"Place","toMany":true,"inverse":"parent"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        _ = try Tool.run(["init", "s", "--model", "model.json"], in: folder.url)
        let table = "code,parent\nb,a\na,\nc,b\nd,d\n"

        let result = try Tool.run(
            ["import", "s", "-f", "csv", "-e", "Place"], input: Data(table.utf8), in: folder.url)

        #expect(result.status == 0, "\(result.talk)")
        let places = try Tool.run(["fetch", "s", "Place", "--output", "jsonl"], in: folder.url)
        let parents = places.lines.compactMap {
            $0.firstMatch(of: /"code":"(.)","parent":("Place\/\d"|null)/)
        }.map { "\($0.1) \($0.2)" }
        #expect(parents == [#"b "Place/2""#, "a null", #"c "Place/1""#, #"d "Place/4""#])
    }

    @Test func `values have the forms that they have in JSON`() throws {
        let folder = try ScratchFolder()
        let types = [
            "string", "int16", "int32", "int64", "float", "double", "decimal", "bool", "date",
            "data", "uuid", "url",
        ]
        let attributes = types.map { #"{"name":"\#($0)_","type":"\#($0)"}"# }
        let model =
            #"{"entities":[{"name":"All","attributes":[\#(attributes.joined(separator: ","))]}]}"#
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        _ = try Tool.run(["init", "s", "--model", "model.json"], in: folder.url)
        let table =
            types.map { "\($0)_" }.joined(separator: ",") + "\n"
            + "x,-7,70000,5e3,0.5,1.25e2,12345678901234567890.5,1,2011-12-15,aGk=,"
            + "e621e1f8-c36c-495a-93fc-0c247a3e6e5f,https://example.org/a\n"
            + ",,,,,NaN,,,,,,\n"

        let result = try Tool.run(
            ["import", "s", "-f", "csv", "-e", "All"], input: Data(table.utf8), in: folder.url)

        #expect(result.status == 0, "\(result.talk)")
        let found = try Tool.run(["fetch", "s", "All", "--output", "jsonl"], in: folder.url)
        try #require(found.lines.count == 2)
        for expected in [
            #""string_":"x""#, #""int16_":-7"#, #""int32_":70000"#, #""int64_":5000"#,
            #""float_":0.5"#, #""double_":125.0"#, #""decimal_":"12345678901234567890.5""#,
            #""bool_":true"#, #""date_":"2011-12-15T00:00:00Z""#, #""data_":"aGk=""#,
            #""uuid_":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
            #""url_":"https://example.org/a""#,
        ] {
            #expect(found.lines[0].contains(expected), "\(expected) in \(found.lines[0])")
        }
        #expect(found.lines[1].contains(#""double_":"NaN""#))
        #expect(found.lines[1].contains(#""string_":null"#))
    }

    @Test func `only the text of null is no value when that is asked for`() throws {
        let result = try importing(
            "isbn,title,pages\n9,,NULL\n10,NULL,1\n", of: "Book", "--null", "NULL")

        #expect(result.status == 1)
        #expect(
            result.talk.hasPrefix(
                "refused: line 3, column 'title': 'title' must have a value.\n"))
        let taken = try importing("isbn,title,pages\n9,,NULL\n", of: "Book", "--null", "NULL")
        #expect(taken.status == 0, "\(taken.talk)")
        #expect(try fetch("Book", where: "title == '' AND pages == nil").count == 1)
    }

    @Test func `each batch of rows is an entry`() throws {
        let before = try library.head()
        let table = "name\n" + (1...7).map { "P\($0)\n" }.joined()

        let result = try importing(table, of: "Person", "--batch", "3", "--output", "jsonl")

        #expect(result.status == 0)
        #expect(
            result.lines.map { $0.prefix { $0 != "," } }
                == (1...3).map { #"{"sequence":\#(before + $0)"# })
        let last = try library.run(["show", "library.daybook", "head", "--output", "jsonl"]).text
        #expect(last.matches(of: /"op":"insert"/).count == 1)
    }

    @Test func `a table may be a file, a dry run leaves the store as it is`() throws {
        let path = library.folder.url.appending(path: "people.csv")
        try Data("name\nCarl\n".utf8).write(to: path)
        let before = try library.head()
        let words = ["import", "library.daybook", "people.csv", "-f", "csv", "-e", "Person"]

        let dry = try library.run(words + ["--dry-run"])
        let none = try library.head()
        let real = try library.run(words)

        #expect(dry.text == "Would import entry \(before + 1): 1 inserted.\n")
        #expect(none == before)
        #expect(real.text == "Imported entry \(before + 1): 1 inserted.\n")
    }

    // MARK: - Refused rows

    /// Two rows that fit and five that do not.
    private static let mixed = """
        isbn,title,pages,shelf
        9,Nine,many,A
        1,One,1,A
        10,Ten,10,A
        11,Eleven,11,Z
        10,Ten again,10,
        12,Twelve,32768,
        13,Thirteen,
        14,Fourteen,14,B

        """

    private static let refusals = [
        "line 2, column 'pages': An integer was expected, not the text \"many\".",
        "line 7, column 'pages': It holds 16-bit integers, from -32768 to 32767.",
        "line 8: The row has 3 fields, the header 4.",
        "line 5, column 'shelf': There is no 'Shelf' with such a 'label'.",
        "line 3, column 'isbn': 'isbn' must be unique, and Book/5 has the same value.",
        "line 6, column 'isbn': 'isbn' must be unique, and line 4 has the same value.",
    ]

    @Test func `an entry with a refused row is not saved, and all reasons are told`() throws {
        let before = try library.head()

        let result = try importing(Self.mixed, of: "Book")

        #expect(result.status == 1)
        #expect(result.text == "Nothing was imported.\n")
        let refusals = Self.refusals.map { "refused: \($0)" }
        let error =
            "error: 6 rows were refused, so nothing of lines 2 to 9 was saved. Correct the "
            + "rows, or use '--skip-refused' to import the others."
        #expect(result.talk.split(separator: "\n").map(String.init) == refusals + [error])
        #expect(try library.head() == before)
    }

    @Test func `the other rows are saved when that is asked for`() throws {
        let before = try library.head()

        let result = try importing(Self.mixed, of: "Book", "--skip-refused")

        #expect(result.status == 1)
        #expect(result.text == "Imported entry \(before + 1): 2 inserted.\n")
        let refusals = Self.refusals.map { "refused: \($0)" }
        let sum = "6 rows were refused and left out."
        #expect(result.talk.split(separator: "\n").map(String.init) == refusals + [sum])
        #expect(try fetch("Book", where: "isbn IN {'10', '14'}").count == 2)
        #expect(try library.run(["verify", "library.daybook"]).status == 0)
    }

    @Test func `refused rows are lines of JSON when that is asked for`() throws {
        let result = try importing(
            Self.mixed, of: "Book", "--skip-refused", "--output", "jsonl")

        #expect(
            result.lines.first
                == #"{"line":2,"column":"pages","reason":"An integer was expected, not the text \"many\"."}"#
        )
        #expect(result.lines.contains { $0.hasPrefix(#"{"line":8,"column":null,"reason":"#) })
        #expect(result.lines.last?.hasPrefix(#"{"sequence":"#) == true)
        #expect(result.talk == "6 rows were refused and left out.\n")
    }

    @Test func `rows that lead to a refused row are refused with it`() throws {
        let folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Place","attributes":[
              {"name":"code","type":"string","optional":false,"unique":true,"maxLength":1}],
             "relationships":[{"name":"parent","destination":"Place"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        _ = try Tool.run(["init", "s", "--model", "model.json"], in: folder.url)
        // 'c' leads to 'b', and 'b' to 'aa', which is too long.
        let table = "code,parent\nc,b\nb,aa\naa,\nd,\n"

        let result = try Tool.run(
            ["import", "s", "-f", "csv", "-e", "Place", "--skip-refused"],
            input: Data(table.utf8), in: folder.url)

        #expect(result.text == "Imported entry 2: 1 inserted.\n")
        #expect(result.talk.contains("line 4, column 'code': 'code' is longer than"))
        #expect(result.talk.contains("line 3, column 'parent': There is no 'Place'"))
        #expect(result.talk.contains("line 2, column 'parent': There is no 'Place'"))
    }

    @Test func `what comes after an entry with a refused row is not saved`() throws {
        let before = try library.head()

        let result = try importing(
            "name\nP1\nP2\nP3\nAda\nP5\nP6\n", of: "Person", "--batch", "2")

        #expect(result.status == 1)
        #expect(result.text == "Imported entry \(before + 1): 2 inserted.\n")
        #expect(result.talk.contains("nothing of lines 4 to 5 was saved"))
        #expect(try library.head() == before + 1)

        let one = try importing("name\nAda\n", of: "Person")
        #expect(one.talk.contains("so nothing of line 2 was saved"))
    }

    @Test func `a row that takes what only one object can hold is refused`() throws {
        let folder = try ScratchFolder()
        let model = """
            {"entities":[
             {"name":"Key","attributes":[
               {"name":"code","type":"string","optional":false,"unique":true}],
              "relationships":[{"name":"lock","destination":"Lock","inverse":"key"}]},
             {"name":"Lock","attributes":[
               {"name":"code","type":"string","optional":false,"unique":true}],
              "relationships":[{"name":"key","destination":"Key","inverse":"lock"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        _ = try Tool.run(["init", "s", "--model", "model.json"], in: folder.url)
        _ = try Tool.run(
            ["import", "s", "-f", "csv", "-e", "Lock"], input: Data("code\na\nb\n".utf8),
            in: folder.url)

        let first = try Tool.run(
            ["import", "s", "-f", "csv", "-e", "Key"], input: Data("code,lock\nk,a\n".utf8),
            in: folder.url)
        let second = try Tool.run(
            ["import", "s", "-f", "csv", "-e", "Key", "--skip-refused"],
            input: Data("code,lock\nl,a\nm,b\nn,b\no,\n".utf8), in: folder.url)

        #expect(first.status == 0, "\(first.talk)")
        #expect(second.status == 1)
        #expect(second.talk.contains("refused: line 2, column 'lock': "), "\(second.talk)")
        #expect(try Tool.run(["verify", "s"], in: folder.url).status == 0)
        let keys = try Tool.run(["fetch", "s", "Key", "--output", "jsonl"], in: folder.url)
        let held = keys.lines.compactMap {
            $0.firstMatch(of: /"code":"(.)","lock":("Lock\/\d"|null)/)
        }.map { "\($0.1) \($0.2)" }
        #expect(held.count == 3)
        #expect(held.first == #"k "Lock/1""#)
        #expect(held.filter { $0.hasSuffix(#""Lock/2""#) }.count == 1, "\(held)")
        #expect(held.contains("o null"))
    }
}
