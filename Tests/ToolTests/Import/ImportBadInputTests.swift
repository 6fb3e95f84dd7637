import DaybookTestSupport
import Foundation
import Testing

/// The messages of `import` for bad input: the line, the mistake, the remedy.
///
/// The golden files hold the command line, the input and the answer.
@Suite struct ImportBadInputTests {
    /// Precedes each bad line: an entry to keep, and an open one.
    private static let good =
        event("c", after: #"{"alpha2":"XA","name":"kept"}"#, lsn: 5) + "\n"
        + event("c", after: #"{"alpha2":"XB","name":"open"}"#, lsn: 6) + "\n"

    private static func event(
        _ op: String, before: String = "null", after: String = "null", table: String = "Country",
        lsn: Int = 9
    ) -> String {
        #"{"before":\#(before),"after":\#(after),"source":{"name":"s","db":"d","#
            + #""table":"\#(table)","lsn":\#(lsn),"txId":\#(lsn)},"op":"\#(op)"}"#
    }

    static let cases: [(name: String, line: String, status: Int32)] = [
        ("not-json", "nonsense", 2),
        ("not-an-envelope", #"["c"]"#, 2),
        ("no-operation", #"{"before":null,"after":{}}"#, 2),
        ("unknown-operation", event("x", after: "{}"), 2),
        ("truncate", event("t"), 2),
        ("change-of-tables", #"{"source":{"name":"s"},"ddl":"ALTER TABLE x"}"#, 2),
        ("unknown-member", #"{"op":"c","aftr":{}}"#, 2),
        ("no-source", #"{"op":"c","after":{}}"#, 2),
        ("no-table", #"{"op":"c","after":{},"source":{"name":"s"}}"#, 2),
        ("unknown-table", event("c", after: "{}", table: "countries"), 2),
        ("unknown-column", event("c", after: #"{"alpha2":"XC","nam":"x"}"#), 2),
        ("wrong-type", event("c", after: #"{"alpha2":7}"#), 2),
        ("null-for-mandatory", event("c", after: #"{"alpha2":"XC","name":null}"#), 2),
        ("no-row-after", event("u", before: #"{"alpha2":"XA"}"#), 2),
        ("no-row-before", event("d"), 2),
        ("row-of-wrong-kind", event("c", after: "[]"), 2),
        (
            "update-of-nothing",
            event("u", before: #"{"alpha2":"XZ"}"#, after: #"{"alpha2":"XZ","name":"x"}"#), 5
        ),
        ("delete-of-nothing", event("d", before: #"{"alpha2":"XZ"}"#), 5),
        (
            "other-before",
            event(
                "u", before: #"{"alpha2":"XA","name":"lost"}"#,
                after: #"{"alpha2":"XA","name":"new"}"#), 5
        ),
        ("duplicate", event("c", after: #"{"alpha2":"XA","name":"again"}"#), 5),
        ("goes-back", event("c", after: #"{"alpha2":"XC","name":"late"}"#, lsn: 4), 5),
        (
            "no-key", event("d", before: #"{"name":"Pair"}"#, table: "Union"), 2
        ),
        ("key-missing", event("u", before: "{}", after: #"{"name":"x"}"#), 2),
        (
            "leads-nowhere",
            event(
                "c", after: #"{"code":"XB-1","country":"XZ"}"#, table: "Subdivision"), 5
        ),
        ("list-expected", event("c", after: #"{"name":"x","members":"FR"}"#, table: "Union"), 2),
        (
            "key-expected",
            event("c", after: #"{"code":"XC-1","country":["FR"]}"#, table: "Subdivision"), 2
        ),
    ]

    @Test(arguments: cases)
    func `a bad line is named with what would be right`(
        name: String, line: String, status: Int32
    ) throws {
        let atlas = try AtlasStore()
        let command = "import STORE --format debezium"

        let result = try atlas.run(command, input: Data((Self.good + line + "\n").utf8))

        #expect(result.status == status)
        let text =
            "$ daybook \(command)\n" + Self.good + line + "\n--- standard output\n" + result.text
            + "--- standard error\n" + result.talk + "--- exit \(result.status)\n"
        try Fixture.expect(Data(text.utf8), equals: "cli/import/\(name).txt")
        // The entries before it stay, but nothing of the bad one.
        let countries = try atlas.run("fetch STORE Country")
        #expect(countries.text.contains("kept"))
        #expect(!countries.text.contains("XC"))
        #expect(try atlas.run("verify STORE").status == 0)
    }

    @Test func `a step with a bad event leaves nothing of the events before it`() throws {
        let atlas = try AtlasStore()
        let step = [
            Self.event("c", after: #"{"alpha2":"XB","name":"x"}"#),
            Self.event("c", after: #"{"alpha2":"FR","name":"taken"}"#),
        ]

        let result = try atlas.run(
            "import STORE --format debezium", input: Data(step.joined(separator: "\n").utf8))

        #expect(result.status == 5)
        #expect(result.talk.hasPrefix("error: line 2: 'alpha2' must be unique"))
        #expect(try atlas.run("fetch STORE Country --count").text == "2\n")
    }

    @Test(
        arguments: [
            ("--key Union=name", "names no unique attribute of 'Union'"),
            ("--key Unoin=name", "did you mean 'Union'?"),
            ("--table a=Contry", "did you mean 'Country'?"),
            ("--table a", "A=B"),
            ("--table a=Country --table a=Union", "names 'a' twice"),
        ])
    func `an option that does not fit the model is refused`(
        options: String, expectation: String
    ) throws {
        let atlas = try AtlasStore()

        let result = try atlas.run("import STORE --format debezium \(options)")

        #expect(result.status == 2)
        #expect(result.talk.contains(expectation), "\(result.talk)")
    }

    // MARK: - Native exports

    @Test func `an export to import begins with its first line`() throws {
        let story = try ImportStory(exportingAs: "jsonl")
        let lines = story.stream.split(separator: 0x0a)

        let tail = try story.run(
            "import copy.daybook -f jsonl", input: Data(lines.dropFirst().joined(separator: [0x0a]))
        )
        let gap = try story.run(
            "import copy.daybook -f jsonl",
            input: Data((lines[0..<2] + lines[3...]).joined(separator: [0x0a])))

        #expect(tail.status == 2)
        #expect(tail.talk.hasPrefix("error: line 1, sequence: entry 1 was expected, not entry 2"))
        #expect(gap.status == 2)
        #expect(gap.talk.hasPrefix("error: line 3, sequence: entry 3 was expected, not entry 4"))
        #expect(try story.head() == 2)
    }

    @Test func `a line that stands twice is named`() throws {
        let story = try ImportStory(exportingAs: "jsonl")
        let lines = story.stream.split(separator: 0x0a)

        let result = try story.run(
            "import copy.daybook -f jsonl",
            input: Data((lines[0..<3] + lines[2...]).joined(separator: [0x0a])))

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: line 4, sequence: entry 3 comes again or too late"))
    }

    @Test func `an object of an earlier import that nothing tells from others is named`() throws {
        let story = try ImportStory(exportingAs: "jsonl")
        let lines = story.stream.split(separator: 0x0a)
        // The union, which has no unique attribute, is made in the seventh entry and changed in the
        // eighth.
        let first = try story.run(
            "import copy.daybook -f jsonl", input: Data(lines[0..<7].joined(separator: [0x0a])))

        let second = try story.run("import copy.daybook -f jsonl")

        #expect(first.status == 0, "\(first.talk)")
        #expect(second.status == 2)
        #expect(second.talk.hasPrefix("error: line 8: 'Union/7' was imported at an earlier time"))
    }

    // MARK: - Order

    @Test(arguments: ["debezium", "jsonl"], 1...4 as ClosedRange<UInt64>)
    func `lines out of order are refused, and the entries before them stay`(
        format: String, seed: UInt64
    ) throws {
        let story = try ImportStory(exportingAs: format)
        var generator = SeededGenerator(seed: seed)
        var lines = story.stream.split(separator: 0x0a)
        let first = Int.random(in: 0..<(lines.count - 1), using: &generator)
        let second = Int.random(in: (first + 1)..<lines.count, using: &generator)
        lines.swapAt(first, second)

        let result = try story.run(
            "import copy.daybook -f \(format)", input: Data(lines.joined(separator: [0x0a])))

        #expect(result.status == (format == "jsonl" ? 2 : 5), "seed \(seed): \(result.talk)")
        #expect(result.talk.contains("error: line "), "seed \(seed)")
        #expect(try story.run("verify copy.daybook --quiet").status == 0, "seed \(seed)")
    }

    @Test(arguments: ["debezium", "jsonl"], 1...4 as ClosedRange<UInt64>)
    func `a line that is repeated is refused and named`(format: String, seed: UInt64) throws {
        let story = try ImportStory(exportingAs: format)
        var generator = SeededGenerator(seed: seed)
        var lines = story.stream.split(separator: 0x0a)
        let place = Int.random(in: 0..<lines.count, using: &generator)
        lines.insert(lines[place], at: Int.random(in: (place + 1)...lines.count, using: &generator))
        let second = try #require(lines.lastIndex(of: lines[place]))

        let result = try story.run(
            "import copy.daybook -f \(format)", input: Data(lines.joined(separator: [0x0a])))

        #expect(result.status == (format == "jsonl" ? 2 : 5), "seed \(seed)")
        #expect(
            result.talk.contains("error: line \(second + 1)"), "seed \(seed): \(result.talk)")
    }

    // MARK: - Anything

    @Test(arguments: ["debezium", "jsonl"], 1...12 as ClosedRange<UInt64>)
    func `a stream with changed bytes is taken or refused, and the store stays sound`(
        format: String, seed: UInt64
    ) throws {
        let story = try ImportStory(exportingAs: format)
        var generator = SeededGenerator(seed: seed)
        var stream = story.stream
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: stream.startIndex..<stream.endIndex, using: &generator)
            switch Int.random(in: 0...2, using: &generator) {
            case 0: stream[place] = UInt8.random(in: 0...255, using: &generator)
            case 1: stream[place] = Array("0{}[],:\"nx-".utf8).randomElement(using: &generator) ?? 0
            default: stream.removeSubrange(place..<min(place + 9, stream.endIndex))
            }
        }

        let result = try story.run("import copy.daybook -f \(format)", input: stream)

        #expect([0, 2, 5].contains(result.status), "seed \(seed): \(result.talk)")
        #expect(result.status == 0 || result.talk.contains("error: line "), "seed \(seed)")
        #expect(try story.run("verify copy.daybook --quiet").status == 0, "seed \(seed)")
    }
}
