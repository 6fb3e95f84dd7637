import DaybookTestSupport
import Foundation
import Testing

/// Commands started without standard input, output or error.
@Suite struct ClosedDescriptorTests {
    /// Every way to close some of the three, in shell syntax.
    private static let closings = [
        "<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-",
    ]

    /// A command: its words, and its use of the three.
    struct Line: Sendable, CustomTestStringConvertible {
        let words: String
        var reads = false
        var prints = true
        /// The file that the command makes or changes; otherwise the store.
        var writes = "library.daybook"

        var testDescription: String { words }
    }

    private static let lines = [
        Line(words: "init new --model \"$MODEL\"", writes: "new"),
        Line(words: "record library.daybook", reads: true),
        Line(words: "record library.daybook --output jsonl", reads: true),
        Line(words: "fetch library.daybook Shelf"), Line(words: "document library.daybook"),
        Line(words: "log library.daybook"), Line(words: "show library.daybook 2"),
        Line(words: "history library.daybook Shelf/1"),
        Line(words: "blame library.daybook Shelf/1"),
        Line(words: "prove library.daybook 2 --checkpoint cp"),
        Line(words: "undo library.daybook 3"), Line(words: "replay library.daybook"),
        Line(words: "replay library.daybook --into new", writes: "new"),
        Line(words: "bisect library.daybook Shelf --where TRUEPREDICATE"),
        Line(words: "verify library.daybook"),
        Line(words: "export library.daybook -f jsonl"),
        Line(words: "export library.daybook -f sqlite --into db", prints: false),
        Line(words: "load new", reads: true, prints: false, writes: "new"),
        Line(words: "backup library.daybook new", writes: "new"),
        Line(words: "compact library.daybook --into new", writes: "new"),
        Line(words: "recover library.daybook --into new", writes: "new"),
        Line(words: "checkpoint library.daybook -k key"),
        Line(words: "tag library.daybook v1 2"), Line(words: "stats library.daybook"),
        Line(words: "model library.daybook"),
        Line(words: "tail library.daybook -n 1 --cursor c"),
        Line(words: "shell library.daybook", reads: true, prints: false),
    ]

    @Test(arguments: lines)
    func `nothing meant for a closed descriptor is written into a store`(line: Line) throws {
        let library = try LibraryStore()
        let input =
            line.words.hasPrefix("load")
            ? "$DAYBOOK export library.daybook -f jsonl"
            : line.words.hasPrefix("shell")
                ? "true" : #"echo '{"op":"insert","entity":"Shelf","values":{"label":"C"}}'"#
        let model = Fixture.folder.appending(path: "models/library.json").path
        let script = Self.closings.map { closing in
            """
            cp library.daybook kept; \(input) > input
            $DAYBOOK \(line.words) < input > output 2> talk \(closing)
            echo "$?"
            $DAYBOOK verify \(line.writes) > /dev/null 2>&1; echo "$?"
            rm -f new db; cp kept library.daybook
            """
        }
        let result = try Tool.shell(
            """
            cd '\(library.folder.url.path)'; MODEL='\(model)'
            $DAYBOOK keygen example.org/library --into key > key.pub
            $DAYBOOK checkpoint library.daybook -k key > cp
            \(script.joined(separator: "\n"))
            """)

        for (closing, found) in zip(Self.closings, result.lines.chunked(by: 2)) {
            let isRefused =
                closing.contains("<") && line.reads
                || closing.replacing("2>", with: "").contains(">") && line.prints
            let makesNothing = closing.contains("<") && line.reads && line.writes == "new"
            #expect(
                found == [isRefused ? "2" : "0", makesNothing ? "3" : "0"], "\(closing)")
        }
        #expect(result.lines.count == 2 * Self.closings.count, "\(result.text)\(result.talk)")
    }

    @Test func `a closed standard output is an error that is told`() throws {
        let library = try LibraryStore()
        let result = try Tool.shell(
            "cd '\(library.folder.url.path)'; $DAYBOOK log library.daybook >&-")

        #expect(result.status == 2)
        #expect(
            result.talk == "error: Standard output cannot be written: Bad file descriptor.\n")
    }
}

extension [String] {
    fileprivate func chunked(by count: Int) -> [[String]] {
        stride(from: 0, to: self.count, by: count).map { start in
            Array(self[start..<Swift.min(start + count, self.count)])
        }
    }
}
