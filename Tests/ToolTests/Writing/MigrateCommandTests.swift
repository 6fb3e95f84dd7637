import DaybookTestSupport
import Foundation
import Testing

/// Stores that the tool brings to another model.
@Suite struct MigrateCommandTests {
    private let folder: ScratchFolder

    /// A store with two objects, and models with an index more.
    init() throws {
        folder = try ScratchFolder()
        try Data(Self.model(indexed: []).utf8).write(to: folder.url.appending(path: "old.json"))
        try Data(Self.model(indexed: ["x", "y"]).utf8)
            .write(to: folder.url.appending(path: "new.json"))
        try Data(Self.model(indexed: ["x"]).utf8).write(to: folder.url.appending(path: "one.json"))
        try #require(run("init s --model old.json").status == 0)
        let lines = """
            {"op":"insert","entity":"A","values":{"x":"1","y":2}}
            {"op":"insert","entity":"A","values":{"x":"3"}}

            """
        try #require(run("record s", input: lines).status == 0)
    }

    private static func model(indexed: Set<String>) -> String {
        func indexing(_ name: String) -> String {
            indexed.contains(name) ? #","indexed":true"# : ""
        }
        return #"{"entities":[{"name":"A","attributes":[{"name":"x","type":"string""#
            + #"\#(indexing("x"))},{"name":"y","type":"int64"\#(indexing("y"))}]}]}"#
    }

    private func run(_ line: String, input: String? = nil) throws -> ToolResult {
        try Tool.run(
            line.split(separator: " ").map(String.init), input: input.map { Data($0.utf8) },
            in: folder.url)
    }

    @Test func `indexes that are put off are named until a run without the option builds them`()
        throws
    {
        let deferring = try run("migrate s --model new.json --defer-indexes")
        #expect(deferring.status == 0)
        #expect(
            deferring.talk == """
                Entry 3 sets the model: 2 steps.
                Still to be built: the indexes of 'x', 'y'. 'daybook migrate' without \
                '--defer-indexes' builds what is missing.

                """)
        #expect(try run("fetch s A --where x=='3' --count").text == "1\n")

        let building = try run("migrate s --model new.json")
        #expect(building.status == 0)
        #expect(
            building.talk == """
                's' has this model already.
                Built what had been put off: the indexes of 'x', 'y'.

                """)
        #expect(building.text.isEmpty)
        #expect(try run("fetch s A --where x=='3' --count").text == "1\n")
        #expect(try run("verify s").status == 0)

        let third = try run("migrate s --model new.json")
        #expect(third.talk == "'s' has this model already.\n")
    }

    @Test func `taking a migration back tells of the model and not of 0 changes`()
        throws
    {
        try #require(run("migrate s --model one.json").status == 0)

        let plain = try run("undo s 3")
        #expect(plain.text == "Entry 4 takes entry 3 back: the model of before.\n")
        #expect(try run("undo s 2").text == "Entry 5 takes entry 2 back: 2 changes.\n")
    }

    @Test func `a trial names the indexes that are still to be built, and is no finding`() throws {
        _ = try run("migrate s --model one.json --defer-indexes")

        let trial = try run("migrate s --model one.json --dry-run")

        #expect(trial.status == 0)
        #expect(trial.talk.contains("Still to be built: the index of 'x'."))
        #expect(try run("migrate s --model one.json").talk.contains("put off: the index of 'x'."))
    }

    @Test func `JSON names the indexes that are pending, and those that are complete now`() throws {
        let deferring = try run("migrate s --model one.json --defer-indexes --output jsonl")
        let building = try run("migrate s --model one.json --output jsonl")
        let third = try run("migrate s --model one.json --output jsonl")

        #expect(deferring.text.contains(#""indexesPending":["x"]}"#), "\(deferring.text)")
        #expect(building.text == #"{"steps":[],"indexesCompleted":["x"]}"# + "\n")
        #expect(third.text == #"{"steps":[]}"# + "\n")
    }

    @Test func `what goes while something comes may have been renamed, and that is told`() throws {
        let renamed = Self.model(indexed: []).replacing(#""name":"y""#, with: #""name":"z""#)
        try Data(renamed.utf8).write(to: folder.url.appending(path: "renamed.json"))

        let trial = try run("migrate s --model renamed.json --dry-run")
        let done = try run("migrate s --model renamed.json")
        try #require(run("undo s 3").status == 0)
        let kept = try run("migrate s --model renamed.json --rename A.y=z")

        let hint = "'y' goes with its values, and 'z' comes without. To rename it instead, "
        #expect(trial.talk.contains(hint + "migrate with '--rename A.y=z'.\n"))
        #expect(
            done.talk.contains(
                hint + "take entry 3 back with 'undo' and migrate with '--rename A.y=z'.\n"))
        #expect(!kept.talk.contains("--rename"))
        #expect(try run("fetch s A --where z==2 --count").text == "1\n")
    }

    @Test func `an index that is built at once is not told of as put off`() throws {
        let result = try run("migrate s --model one.json")

        #expect(result.talk == "Entry 3 sets the model: 1 step.\n")
    }
}
