import DaybookTestSupport
import Foundation
import Testing

/// Tables that do not fit, and files that are no tables.
@Suite struct TableBadInputTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private func importing(_ table: Data, _ words: String...) throws -> ToolResult {
        try Tool.run(
            ["import", "library.daybook", "-f", "csv"] + words, input: table,
            in: library.folder.url)
    }

    // MARK: - Columns

    @Test func `every column that does not fit is told`() throws {
        let result = try importing(
            Data("isbn,isbn,titel,shelf,authors,foo\n".utf8), "-e", "Book", "--map",
            "shelf=shelf.colour", "--map", "nothing=pages", "--skip", "foo", "--skip", "bar")

        #expect(result.status == 2)
        #expect(
            result.talk == """
                error: The columns do not fit 'Book'.
                  Columns 1 and 2 of the header are both called 'isbn'.
                  The table has no column 'nothing'.
                  The table has no column 'bar'.
                  The columns 'isbn' and 'isbn' both lead to 'isbn'.
                  Column 'titel': 'Book' has no property 'titel'; did you mean 'title'? Say where \
                it goes with '--map', or leave it out with '--skip'.
                  Column 'shelf': 'Shelf' has no property 'colour'. Say where it goes with '--map', \
                or leave it out with '--skip'.
                  'authors' leads to many objects. Map a column to its inverse, or leave out \
                'authors' with '--skip'.

                """)
    }

    @Test(arguments: [
        ("isbn\n1\n", ["-e", "Book"], "No column leads to 'title', and every 'Book' has one."),
        ("title\n", ["-e", "Book"], "No column leads to 'isbn', and every 'Book' has one."),
        ("", ["-e", "Book"], "The table is empty"),
        ("\n\r\n", ["-e", "Book"], "The table is empty"),
        ("a\n", ["-e", "Bok"], "There is no entity 'Bok'; did you mean 'Book'?"),
        ("a\n", ["-e", "Item"], "'Item' is abstract, so there can be no object of it; there is "),
        ("a\n", [], "'--format csv' needs '--entity ENTITY'"),
        ("a\n", ["-e", "Book", "--table", "a=Book"], "'--table' has no meaning"),
        ("a\n", ["-e", "Book", "--batch", "0"], "expected a whole number, 1 or more"),
        ("a\"b\n", ["-e", "Book"], "line 1, field 1: A quotation mark stands inside"),
    ])
    func `a table that cannot be imported is told why`(
        table: String, words: [String], expected: String
    ) throws {
        let result = try Tool.run(
            ["import", "library.daybook", "-f", "csv"] + words, input: Data(table.utf8),
            in: library.folder.url)

        #expect(result.status == 2)
        #expect(result.talk.contains(expected), "\(result.talk)")
    }

    @Test func `the options of tables have no meaning for a stream`() throws {
        let result = try library.run(
            ["import", "library.daybook", "-f", "jsonl", "--entity", "Book"])

        #expect(result.status == 2)
        #expect(
            result.talk == "error: '--entity' has no meaning with '--format jsonl'.\n")
    }

    @Test func `a file that is not there is told by its name`() throws {
        for format in ["csv", "jsonl", "debezium"] {
            let words = format == "csv" ? ["-e", "Book"] : []
            let result = try library.run(
                ["import", "library.daybook", "nowhere.csv", "-f", format] + words)
            #expect(result.status == 2)
            #expect(
                result.talk
                    == "error: The file 'nowhere.csv' cannot be read: No such file or directory.\n")
        }
    }

    // MARK: - Bytes

    @Test(arguments: [
        ("P\u{0}Q", "The field holds a NUL byte, which is not text."),
        ("P\"Q", "A quotation mark stands inside a field"),
        ("\"P\"Q", "Text follows the quotation mark that ends the field."),
        ("P,Q", "The row has 2 fields, the header 1."),
    ])
    func `a row of another form is refused and the others are taken`(
        row: String, reason: String
    ) throws {
        let before = try library.head()

        let result = try importing(
            Data("name\nO\n\(row)\nR\n".utf8), "-e", "Person", "--skip-refused")

        #expect(result.status == 1)
        #expect(result.text == "Imported entry \(before + 1): 2 inserted.\n")
        #expect(result.talk.contains("refused: line 3"), "\(result.talk)")
        #expect(result.talk.contains(reason), "\(result.talk)")
    }

    @Test func `bytes that are not UTF-8 refuse their row`() throws {
        let table = Data("name\nO\n".utf8) + [0x52, 0xE9, 0x6E, 0xE9] + Data("\nR\n".utf8)

        let result = try importing(table, "-e", "Person", "--skip-refused")

        #expect(result.status == 1)
        #expect(
            result.talk.hasPrefix(
                "refused: line 3, column 'name': The field is not UTF-8 text.\n"))
        #expect(result.text.contains("2 inserted"))
    }

    @Test func `every kind of line end, and a byte order mark, are taken`() throws {
        let before = try library.head()

        let result = try importing(
            Data("\u{FEFF}\"name\"\rA\r\nB\nC\rD".utf8), "-e", "Person")

        #expect(result.text == "Imported entry \(before + 1): 4 inserted.\n", "\(result.talk)")
    }

    @Test func `a file that breaks off keeps the entries before it`() throws {
        let before = try library.head()

        let result = try importing(
            Data("name\nA\nB\nC\n\"D\nE\n".utf8), "-e", "Person", "--batch", "2")

        #expect(result.status == 2)
        #expect(result.text == "Imported entry \(before + 1): 2 inserted.\n")
        #expect(
            result.talk
                == "error: line 5: The quotation mark that begins a field here is never closed.\n")
        #expect(try library.head() == before + 1)
    }

    @Test func `a field of a gigabyte is refused in little memory`() throws {
        let result = try Tool.shell(
            """
            cd '\(library.folder.url.path)'
            ulimit -v 4000000
            (printf 'name\\n"'; head -c 1100000000 /dev/zero | tr '\\0' x) \
            | $DAYBOOK import library.daybook -f csv -e Person
            """)

        #expect(result.status == 2)
        #expect(
            result.talk
                == "error: line 2: The quoted field that begins here is longer than 64 MiB. Is its "
                + "closing quotation mark missing?\n")
    }
}
