import DaybookTestSupport
import Foundation
import Testing

/// Looking around on the whole screen, in a real terminal.
@Suite struct BrowseTests {
    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
    }

    private func browse(
        _ words: String = "", columns: Int = 100, rows: Int = 20, environment: String = ""
    ) throws -> TerminalScreen {
        try TerminalScreen(
            "browse atlas.daybook \(words)", in: atlas.folder.url, columns: columns, rows: rows,
            environment: environment)
    }

    private func head() throws -> Int {
        let line = try atlas.run("log STORE -n 1 --output jsonl").text
        return try #require(line.firstMatch(of: /^\{"sequence":(\d+)/).flatMap { Int($0.1) })
    }

    @Test(arguments: [(40, 12), (80, 24), (100, 20), (200, 30)])
    func `the first picture at a width`(columns: Int, rows: Int) throws {
        let screen = try browse(columns: columns, rows: rows)

        let picture = try screen.wait(for: "entry \(try head()) of", "↑ ↓ entry")

        try Fixture.expect(
            Data((picture + "\n").utf8), equals: "cli/browse/first-\(columns).txt")
        try screen.press("q")
        #expect(try screen.end() == 0)
    }

    @Test func `arrows go through the entries, and the page follows`() throws {
        let screen = try browse()
        let head = try head()
        try screen.wait(for: "What entry \(head) changes")

        try screen.press("Down")
        try screen.wait(for: "What entry \(head - 1) changes")
        try screen.press("End")
        try screen.wait(for: "What entry 1 changes")
        try screen.press("Down")
        try screen.press("Up")
        try screen.wait(for: "What entry 2 changes")
        try screen.press("Home")
        try screen.wait(for: "What entry \(head) changes")
        try screen.press("Up", "PageDown", "PageUp")
        try screen.wait(for: "What entry \(head) changes")
    }

    @Test func `an object is followed through time, and its values are as 'fetch --at' has them`()
        throws
    {
        let screen = try browse()
        try screen.wait(for: "help")
        try screen.type(":Country/1")
        try screen.press("Enter")
        try screen.wait(for: "Country/1 after entry \(try head())")

        for sequence in stride(from: try head(), through: 2, by: -1) {
            let picture = try screen.wait(for: "Country/1 after entry \(sequence)")
            let fetched = try atlas.run("fetch STORE Country --at \(sequence) --output jsonl")
            let line = fetched.lines.first { $0.contains(#""object":"Country/1","#) }
            let name = line?.firstMatch(of: /"name":"([^"]*)"/)?.1
            if let name {
                #expect(picture.contains("\"\(name)\""), "\(sequence): \(picture)")
            } else {
                #expect(picture.contains("no such object") || picture.contains("deletes it"))
            }
            try screen.press(",")
        }
    }

    @Test func `relationships are followed, and the way back leads to the entries`() throws {
        let screen = try browse("--at 3")
        try screen.wait(for: "What entry 3 changes")
        try screen.press("e")
        try screen.wait(for: "Entities after entry 3", "Country")
        try screen.press("Enter")
        try screen.wait(for: "Country after entry 3")
        try screen.press("Enter")
        try screen.wait(for: "Country/1 after entry 3")
        try screen.press("b")
        try screen.wait(for: "Who wrote Country/1, as of entry 3")
        try screen.press("Escape")
        try screen.wait(for: "Country/1 after entry 3")
        try screen.press("Left", "Left")
        try screen.wait(for: "Entities after entry 3")
        try screen.press("Left")
        try screen.wait(for: "↑ ↓ entry")
    }

    @Test func `a search goes through all time, on from the other end`() throws {
        let screen = try browse()
        try screen.wait(for: "help")
        try screen.type("/Türkiye")
        try screen.press("Enter")
        let first = try screen.wait(for: "'Türkiye' is in entry")
        try screen.press("n")
        try screen.type("/nowhere at all")
        try screen.press("Enter")
        try screen.wait(for: "'nowhere at all' is in no entry.")

        let found = try #require(first.firstMatch(of: /'Türkiye' is in entry (\d+)/)).1
        let shown = try atlas.run("show STORE \(found)").text + atlas.run("log STORE").text
        #expect(shown.contains("Türkiye"))
    }

    @Test func `another size of the screen does not end a search`() throws {
        let library = try LibraryStore(content: "")
        let lines = (1...1_500).map {
            #"{"op":"insert","entity":"Shelf","values":{"label":"\#($0)"}}"# + "\n"
                + #"{"op":"save"}"# + "\n"
        }
        let made = try library.record(lines.joined())
        try #require(made.status == 0, "\(made.talk)")
        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        try screen.wait(for: "help")

        try screen.type("/nowhere")
        try screen.press("Enter")
        try screen.resize(columns: 90, rows: 18)

        try screen.wait(for: "'nowhere' is in no entry.")
    }

    @Test func `of a long value and many objects a part is shown, and how much is left out`()
        throws
    {
        let library = try LibraryStore(content: "")
        let people = (1...1_500).map {
            #"{"op":"insert","entity":"Person","values":{"name":"\#($0)"}}"#
        }
        let authors = (1...1_500).map { #"{"object":"Person/\#($0)"}"# }.joined(separator: ",")
        let title = String(repeating: "x", count: 3_000_000)
        let book =
            #"{"op":"insert","entity":"Book","values":{"isbn":"1","title":"\#(title)","#
            + #""authors":[\#(authors)]}}"#
        let save = #"{"op":"save"}"#
        let lines = people + [save, book, save]
        let made = try library.record(lines.joined(separator: "\n") + "\n")
        try #require(made.status == 0, "\(made.talk)")
        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        try screen.wait(for: "What entry 3 changes", "inserted Book/1501")

        try screen.press("Right", "Down", "Down", "Down", "Enter")
        try screen.wait(for: "The whole line")
        try screen.press("End")
        try screen.wait(for: "x\" … and 2996000 more bytes")
        try screen.press("Escape", "Down", "Enter")
        try screen.wait(for: "The whole line", "Person/")
        try screen.press("End")
        try screen.wait(for: "and 500 more")
    }

    @Test func `times, tags and numbers lead to entries, and nonsense is told`() throws {
        _ = try atlas.run("tag STORE first 2")
        let screen = try browse()
        try screen.wait(for: "help")
        for (typed, answer) in [
            ("3", "What entry 3 changes"), (":first", "What entry 2 changes"),
            (":head", "What entry \(try head()) changes"), (":99", "There is no entry 99"),
            (":1969-01-01", "No entry is as old"), (":Kountry/1", "no entity 'Kountry'"),
            (":no such", "is no entry, time, tag or object"),
        ] {
            try screen.type(typed)
            try screen.press("Enter")
            try screen.wait(for: answer)
        }
        try screen.wait(for: "[first]")
    }

    @Test func `what differs between two entries is shown`() throws {
        let screen = try browse()
        try screen.wait(for: "help")
        try screen.press("d")
        try screen.wait(for: "Mark another entry")
        try screen.press("m")
        try screen.wait(for: "is marked")
        try screen.type("3")
        try screen.press("Enter")
        try screen.wait(for: "What entry 3 changes")
        try screen.press("d")
        let picture = try screen.wait(for: "From entry 3 to entry \(try head())")
        let first = try #require(
            try atlas.run("diff STORE 3 head").lines.first)
        #expect(picture.contains(first))
    }

    @Test func `what others save appears, to who looks at the end`() throws {
        let library = try LibraryStore()
        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        try screen.wait(for: "entry 3 of 3")

        _ = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"C"}}"# + "\n"
                + #"{"op":"save","note":"A third"}"# + "\n")
        try screen.wait(for: "entry 4 of 4", "A third")
        try screen.press("Down")
        try screen.wait(for: "entry 3 of 4")
        _ = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"D"}}"# + "\n" + #"{"op":"save"}"#
                + "\n")
        try screen.wait(for: "entry 3 of 5")
    }

    @Test(.ownStores("The servers would bring back what is cut off."))
    func `what took the place of entries that were cut off appears`() throws {
        let library = try LibraryStore()
        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        try screen.wait(for: "entry 3 of 3")

        try TestStore.cutBack(
            at: library.folder.url.appending(path: "library.daybook").path, to: 2)
        _ = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"C"}}"# + "\n"
                + #"{"op":"save","note":"Another third"}"# + "\n")

        try screen.wait(for: "entry 3 of 3", "Another third")
    }

    @Test func `what others save does not take away what somebody reads`() throws {
        let library = try LibraryStore()
        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        try screen.wait(for: "entry 3 of 3")
        try screen.press("?")
        try screen.wait(for: "to the other side")

        _ = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"C"}}"# + "\n" + #"{"op":"save"}"#
                + "\n")

        try screen.wait(for: "entry 3 of 4", "to the other side")
        try screen.type(":Shelf/1")
        try screen.press("Enter")
        try screen.wait(for: "Shelf/1 after entry 3")
        try screen.press(".")
        try screen.wait(for: "Shelf/1 after entry 4")
        _ = try library.record(
            #"{"op":"update","entity":"Shelf","match":{"label":"A"},"values":{"label":"Z"}}"# + "\n"
                + #"{"op":"save"}"# + "\n")
        try screen.wait(for: "Shelf/1 after entry 5", "\"Z\"")
    }

    @Test func `nothing is changed without '--edit'`() throws {
        let before = try Data(contentsOf: atlas.folder.url.appending(path: "atlas.daybook"))
        let screen = try browse()
        try screen.wait(for: "help")
        for key in ["u", "t"] {
            try screen.press(key)
            try screen.wait(for: "The store is only read")
        }
        try screen.press("q")
        #expect(try screen.end() == 0)
        #expect(try Data(contentsOf: atlas.folder.url.appending(path: "atlas.daybook")) == before)
    }

    @Test func `an undo shows what it would do and waits for a yes`() throws {
        let library = try LibraryStore()
        let screen = try TerminalScreen(
            "browse library.daybook --edit --author Ada", in: library.folder.url)
        try screen.wait(for: "entry 3 of 3")

        try screen.press("u")
        try screen.wait(for: "Undo entry 3?", "deleted Book")
        try screen.press("x")
        try screen.wait(for: "What entry 3 changes")
        #expect(try library.head() == 3)
        try screen.press("u")
        try screen.wait(for: "Undo entry 3?")
        try screen.press("y")
        try screen.wait(for: "Entry 4 takes entry 3 back.", "What entry 4 changes")
        #expect(try library.run(["log", "library.daybook", "-n", "1"]).text.contains("by Ada"))

        // Entry 2 cannot be undone while the books of entry 3 need its shelves; here it can.
        try screen.press("t")
        try screen.type("undone")
        try screen.press("Enter")
        try screen.wait(for: "Entry 4 is tagged 'undone'.", "[undone]")
        try screen.press("t")
        try screen.type("undone")
        try screen.press("Enter")
        try screen.wait(for: "undone")
    }

    @Test func `an entry that cannot be read is told, and the others are still there`() throws {
        let library = try LibraryStore()
        try library.damage("Songs")

        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)

        let picture = try screen.wait(for: "entry 3 of 3", "error: ")
        #expect(picture.contains("3  cannot be read"))
        try screen.press("Down", "Right")
        try screen.wait(for: "What entry 2 changes", "inserted Shelf/1")
        try screen.press("q")
        #expect(try screen.end() == 0)
    }

    @Test func `hostile values repaint nothing`() throws {
        let library = try LibraryStore(content: "")
        let trap = #"\u001b[2J\u001b[31mred\u0007\u202e"#
        let made = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"\#(trap)"}}"# + "\n"
                + #"{"op":"save","author":"\#(trap)","note":"\#(trap)"}"# + "\n")
        try #require(made.status == 0, "\(made.talk)")

        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        let picture = try screen.wait(for: "entry 2 of 2", "What entry 2 changes")

        #expect(picture.contains("[2J"))
        #expect(try !screen.colored().contains("\u{1B}[31mred"))
    }

    @Test func `what was typed and cannot be found repaints nothing either`() throws {
        let screen = try browse()
        try screen.wait(for: "help")

        try screen.type(":\u{202E}abc")
        try screen.press("Enter")

        try screen.wait(for: #"'\u{202E}abc' is no entry"#)
    }

    @Test func `a row stays in its columns, however its letters are put together`() throws {
        let family = "\u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467}"
        let library = try LibraryStore(content: "")
        let made = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"\#(String(repeating: family, count: 60))"}}"#
                + "\n" + #"{"op":"save","note":"Families"}"# + "\n")
        try #require(made.status == 0, "\(made.talk)")

        let screen = try TerminalScreen("browse library.daybook", in: library.folder.url)
        let picture = try screen.wait(for: "entry 2 of 2", "What entry 2 changes", "\u{1F469}")

        for line in picture.split(separator: "\n").dropFirst().dropLast() {
            let sides = line.split(separator: "│", omittingEmptySubsequences: false)
            #expect(!sides[0].unicodeScalars.contains("\u{1F469}"), "\(picture)")
            #expect(sides.count == 2 || line.contains("█"), "\(picture)")
        }
    }

    @Test func `the terminal is given back, whatever ends it`() throws {
        for keys in [["q"], ["C-c"]] {
            let screen = try browse()
            try screen.wait(for: "help")
            for key in keys { try screen.press(key) }
            #expect(try screen.end() == 0)
            // The picture is gone.
            #expect(try !screen.text().contains("help"))
        }
    }

    @Test func `without a terminal, or one that nobody knows, it says so`() throws {
        let piped = try atlas.run("browse STORE")
        #expect(piped.status == 2)
        #expect(piped.talk.contains("takes the whole terminal"))

        let screen = try browse(environment: "TERM=nothing-like-that")
        #expect(try screen.end() == 2)
        #expect(try screen.text().contains("set TERM"))
    }

    @Test func `a store that is taken away ends it with the reason`() throws {
        let screen = try browse()
        try screen.wait(for: "help")
        try FileManager.default.removeItem(
            at: atlas.folder.url.appending(path: "atlas.daybook"))
        #expect(try screen.end() != 0)
        try screen.wait(for: "error:")
    }

    @Test func `a small screen and one that changes its size are drawn`() throws {
        let screen = try browse()
        try screen.wait(for: "help")
        try screen.resize(columns: 50, rows: 10)
        try screen.wait(for: "↑ ↓ entry")
        try screen.press("Right")
        try screen.wait(for: "Enter follow")
        try screen.resize(columns: 15, rows: 3)
        try screen.wait(for: "Too small")
        try screen.resize(columns: 120, rows: 20)
        try screen.wait(for: "? help  q quit")
    }
}
