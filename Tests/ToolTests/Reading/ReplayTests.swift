import DaybookTestSupport
import Foundation
import Testing

/// Replays that stop, check, and run step by step.
@Suite struct ReplayTests {
    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
    }

    private func replay(_ words: [String]) throws -> ToolResult {
        try Tool.run(["replay", "atlas.daybook"] + words, in: atlas.folder.url)
    }

    @Test func `a replay stops after the first entry with which a condition holds`() throws {
        let found = try replay(["--until", "Country: name == 'Türkiye'", "--into", "then.daybook"])
        let json = try replay(["--until", "Country: name == 'Türkiye'", "--output", "jsonl"])
        let never = try replay(["--until", "Country: name == 'Atlantis'"])

        #expect(found.status == 0)
        #expect(
            found.text == """
                Entry 6: Country/2 meets 'Country: name == 'Türkiye''.
                Replayed 6 entries: the store holds exactly this.

                """)
        let then = try atlas.run("log then.daybook -n 1 --oneline")
        #expect(then.text.hasPrefix("6  "))
        #expect(json.text.contains(#""stopped":{"sequence":6,"#))
        #expect(json.text.contains(#""object":"Country/2""#))
        #expect(never.status == 1)
        #expect(
            never.text == """
                No entry meets 'Country: name == 'Atlantis''.
                Replayed 10 entries: the store holds exactly this.

                """)
    }

    @Test func `a condition that must hold ends the replay where it does not`() throws {
        let rule = "Country: callingCode == nil OR callingCode > 0"

        let broken = try replay(["--assert", rule])
        let json = try replay(["--assert", rule, "--output", "jsonl"])
        let later = try replay(["--assert", rule, "--from", "10"])
        let kept = try replay(["--assert", "Country: name != nil"])

        #expect(broken.status == 1)
        #expect(broken.text.hasPrefix("Entry 9: Country/1 does not meet '\(rule)'.\n"))
        #expect(json.status == 1)
        #expect(json.text.contains(#""failed":{"sequence":9,"#))
        #expect(later.status == 0)
        #expect(kept.status == 0)
    }

    @Test func `of several conditions the first to matter ends the replay`() throws {
        let result = try replay([
            "--assert", "Country: name != nil", "--assert", "Subdivision: name != nil",
            "--until", "Union: name == 'Pair'",
        ])

        #expect(result.status == 1)
        #expect(result.text.hasPrefix("Entry 3: Subdivision/5 does not meet"))
    }

    @Test(
        arguments: [
            (["--until", "name == 'x'"], "'--until' cannot be 'name == 'x'': expected an entity"),
            (["--until", "Land: name == 'x'"], "The model has no entity 'Land'"),
            (["--until", "Country: nmae == 'x'"], "'--until' cannot be understood: Column 10: "),
            (["--assert", "Country: name =="], "'--assert' cannot be understood: "),
            (["--assert", "Country:"], "expected an entity and a predicate"),
            (["--from", "5", "--to", "3"], "The range ends before it begins."),
            (["--step"], "'--step' needs a terminal on standard input to read keys from."),
        ] as [([String], String)])
    func `a condition that cannot be looked at is refused`(
        words: [String], expected: String
    ) throws {
        let result = try replay(words)

        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.talk.contains(expected), "\(result.talk)")
    }

    // MARK: - Step by step

    private func session(_ line: String) throws -> TerminalSession {
        try TerminalSession(
            "replay atlas.daybook --step --color never \(line)", in: atlas.folder.url)
    }

    @Test func `the next entry waits for a key`() throws {
        let session = try session("--from 3")

        session.wait(for: "entry 3 of 10: Enter next, n N, c continue, q quit ")
        #expect(!session.transcript.contains("entry 4  "))
        try session.type("\r")
        session.wait(for: "entry 4 of 10: ")
        try session.type(" ")
        session.wait(for: "entry 5 of 10: ")
        try session.type("n3\r")
        session.wait(for: "entry 8 of 10: ")
        #expect(!session.transcript.contains("entry 6 of 10"))
        try session.type("c")

        #expect(session.end() == 0)
        #expect(session.transcript.contains("entry 10  2024-01-02"))
        #expect(session.transcript.contains("Replayed 10 entries: the store holds exactly this."))
    }

    @Test(arguments: ["q", "\u{3}", "\u{4}"])
    func `quitting leaves a store as of the entry reached`(key: String) throws {
        let session = try session("--into then.daybook")

        session.wait(for: "entry 1 of 10: ")
        try session.type("\r")
        session.wait(for: "entry 2 of 10: ")
        try session.type(key)

        #expect(session.end() == 0)
        #expect(session.transcript.contains("Replayed 2 entries: the store holds exactly this."))
        #expect(try atlas.run("verify then.daybook --quiet").status == 0)
        #expect(try atlas.run("log then.daybook --oneline").lines.count == 2)
    }
}
