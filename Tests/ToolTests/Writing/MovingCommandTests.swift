import DaybookTestSupport
import Foundation
import Testing

/// Stores that are exported and loaded again.
@Suite struct MovingCommandTests {
    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: atlas.folder.url.path)
            .filter { !$0.hasPrefix("atlas.daybook") }.sorted()
    }

    // MARK: - Export

    @Test(arguments: ["jsonl", "csv"])
    func `a loaded store exports the same bytes`(format: String) throws {
        let result = try atlas.run("export STORE --format \(format)")

        #expect(result.status == 0)
        #expect(result.talk.isEmpty)
        #expect(result.output == (try Fixture.data("exports/atlas.\(format)")))
    }

    @Test(
        arguments: [
            ("export STORE -f jsonl --from 4 --to 4", "range"),
            ("export STORE -f jsonl --object Country/3 --from 3", "whole-entries"),
            ("export STORE -f csv --object Country/3", "chosen-changes"),
            ("export STORE -f csv --author Ada", "author"),
            ("export STORE -f csv --from 2011-12-15 --to 2011-12-15", "day"),
            ("export STORE -f csv --entity Countri", "no-such-entity"),
            ("export STORE -f syslog --host db1 --author =cmd", "syslog"),
            ("export STORE -f syslog --host é", "no-host"),
            ("export STORE -f sqlite", "no-file"),
            ("export STORE -f prov --resume weekly", "no-parts"),
            ("export STORE -f xml", "no-such-format"), ("export STORE", "no-format"),
        ])
    func `a part is exported as ever`(line: String, name: String) throws {
        try atlas.expect(line, equals: name)
    }

    @Test func `an export up to a time leaves the later entries to the next one`() throws {
        let first = try atlas.run("export STORE -f jsonl --until 2012-01-01 --resume feed")
        let second = try atlas.run("export STORE -f jsonl --resume feed")

        #expect(first.lines.count == 2)
        #expect(second.output == (try Fixture.data("exports/atlas.jsonl")))
    }

    @Test func `a reader that goes away ends an export quietly`() throws {
        let path = atlas.folder.url.appending(path: "atlas.daybook").path

        let result = try Tool.shell(
            "exec 3> >(exec true); wait $!; $DAYBOOK export '\(path)' -f jsonl >&3; echo $? >&2")

        #expect(result.talk == "0\n")
    }

    // MARK: - Load

    @Test func `a loading tells how much it loaded`() throws {
        let input = try Fixture.data("exports/atlas.jsonl")

        let text = try atlas.run("load new.daybook", input: input)
        let json = try atlas.run("load other.daybook --output jsonl", input: input)

        #expect(text.status == 0)
        #expect(text.output.isEmpty)
        #expect(text.talk == "Loaded 10 entries; every digest matches.\n")
        #expect(json.text.hasPrefix(#"{"entries":10,"digest":""#))
        #expect(try files() == ["new.daybook", "other.daybook"])
    }

    @Test func `an altered line stops the loading with its number`() throws {
        let text = String(decoding: try Fixture.data("exports/atlas.jsonl"), as: UTF8.self)
        let altered = Data(text.replacing("\"Paris\"", with: "\"Parys\"").utf8)

        let result = try atlas.run("load new.daybook", input: altered)

        #expect(result.status == 3)
        #expect(result.talk.hasPrefix("error: line 3: Entry 3 "))
        #expect(try files().isEmpty)
    }

    @Test func `a bad line stops the loading with its number`() throws {
        let lines = try Fixture.data("exports/atlas.jsonl").split(separator: 0x0a)
        let input = Data(lines[0] + [0x0a] + lines[1].dropLast(9))

        let result = try atlas.run("load new.daybook", input: input)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: line 2: column "))
        #expect(try files().isEmpty)
    }

    @Test func `no input makes no store`() throws {
        let result = try atlas.run("load new.daybook")

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: The input has no entry."))
        #expect(try files().isEmpty)
    }

    @Test func `a store that is there is not loaded over`() throws {
        let file = atlas.folder.url.appending(path: "atlas.daybook")
        let before = try Data(contentsOf: file)

        let result = try atlas.run(
            "load STORE", input: try Fixture.data("exports/atlas.jsonl"))

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: 'atlas.daybook' exists already and is left"))
        #expect(try Data(contentsOf: file) == before)
    }
}
