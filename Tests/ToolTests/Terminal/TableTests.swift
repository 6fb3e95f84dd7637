import DaybookTestSupport
import Foundation
import Testing

/// Tables on terminals of several widths.
@Suite struct TableTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore(
            content: """
                {"op":"insert","entity":"Shelf","ref":"a","values":{"label":"A"}}
                {"op":"insert","entity":"Book","values":{"isbn":"978-0-00-000000-1","title":\
                "A rather long title of a book about 日本 and 🇹🇷","pages":1234,"price":"9.50","shelf":{"ref":"a"}}}
                {"op":"insert","entity":"Book","values":{"isbn":"978-0-00-000000-2","title":"Two"}}
                {"op":"save"}

                """)
    }

    /// What a command prints on a terminal so wide.
    private func printed(_ line: String, columns: Int) throws -> [String] {
        let store = library.folder.url.appending(path: "library.daybook").path
        let command = "stty cols \(columns); exec \\\"$DAYBOOK\\\" --color never --no-pager \(line)"
        let ran = try Tool.shell(
            "script -qec \"\(command.replacing("STORE", with: store))\" /dev/null </dev/null",
            environment: ["LANG": "C.UTF-8", "TERM": "xterm"])
        #expect(ran.status == 0, "\(ran.text)")
        return ran.text.split(separator: "\r\n").map(String.init)
    }

    /// How wide a text looks: letters of Chinese and Japanese, and flags, take two columns.
    private static func width(_ line: String) -> Int {
        line.reduce(0) {
            $0 + ($1.unicodeScalars.first.map { $0.value >= 0x1100 && $0 != "…" } == true ? 2 : 1)
        }
    }

    @Test func `a table that fits is as in a file`() throws {
        let lines = try printed("fetch STORE Book", columns: 200)
        let file = try library.run(["fetch", "library.daybook", "Book"]).lines

        #expect(Array(lines.prefix(3)) == file)
    }

    @Test(arguments: [100, 80, 72])
    func `a narrow terminal shortens texts and keeps names and numbers`(columns: Int) throws {
        let lines = try printed("fetch STORE Book", columns: columns)

        #expect(lines.count >= 3)
        for line in lines { #expect(Self.width(line) <= columns, "\(Self.width(line)): \(line)") }
        #expect(lines[0].hasPrefix("object"))
        #expect(lines[1].contains("Book/2") && lines[1].contains("1234"))
        #expect(columns >= 100 || lines[1].contains("…"))
        // Each column begins in the same place in every row.
        let places = lines.prefix(3).map { line in
            line.range(of: "Shelf/1") ?? line.range(of: "shelf")
        }
        #expect(places[0] != nil && places[1] != nil)
    }

    @Test func `a very narrow terminal has a line for each property`() throws {
        let lines = try printed("fetch STORE Book", columns: 40)

        for line in lines { #expect(Self.width(line) <= 40, "\(line)") }
        #expect(lines.contains("Book/2"))
        #expect(lines.contains("  isbn    978-0-00-000000-1"))
        #expect(lines.contains("  pages   1234"))
        // Nothing is said of what is not there.
        let second = lines.drop { $0 != "Book/3" }
        #expect(!second.contains { $0.hasPrefix("  pages") })
    }
}
