import DaybookTestSupport
import Foundation
import Testing

/// `daybook model --from`: models of Xcode.
@Suite struct ModelFileCommandTests {
    private static let folder = Fixture.folder.appending(path: "models-from-xcode")

    private static func run(_ words: [String], in directory: URL? = nil) throws -> ToolResult {
        try Tool.run(["model"] + words, in: directory)
    }

    private static func path(_ name: String) -> String { folder.appending(path: name).path }

    @Test func `a store is made from what is printed`() throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let printed = try Self.run(["--from", Self.path("Games.xcdatamodel")])
        let made = try Tool.run(
            ["init", "games.daybook", "--model", "-"], input: printed.output, in: folder.url)

        #expect(printed.status == 0)
        #expect(printed.talk.isEmpty)
        #expect(made.text == "Created 'games.daybook': entry 1 holds the model of 5 entities.\n")
    }

    @Test func `what is left out is told on standard error, and ends with 1 if that is asked`()
        throws
    {
        let words = ["--from", Self.path("Reading.xcdatamodel"), "--output", "jsonl"]
        let plain = try Self.run(words)
        let strict = try Self.run(words + ["--strict"])

        #expect(plain.status == 0)
        #expect(strict.status == 1)
        #expect(plain.lines.count == 1)
        #expect(strict.output == plain.output)
        let told = plain.talk.split(separator: "\n")
        #expect(told.count == 1)
        #expect(told[0].hasPrefix("warning: 'Page.views' is transformable"))
    }

    @Test func `versions are listed and chosen`() throws {
        let words = ["--from", Self.path("Notes.xcdatamodeld")]

        let list = try Self.run(words + ["--list-versions"])
        let json = try Self.run(words + ["--list-versions", "--output", "jsonl"])
        let first = try Self.run(words + ["--version", "Notes", "--output", "jsonl"])

        #expect(list.text == "Notes\nNotes 2 (current)\n")
        #expect(
            json.text == "{\"versions\":[{\"name\":\"Notes\",\"current\":false},"
                + "{\"name\":\"Notes 2\",\"current\":true}]}\n")
        #expect(
            first.text == "{\"entities\":[{\"name\":\"Memo\",\"attributes\":["
                + "{\"name\":\"text\",\"type\":\"string\",\"optional\":false}]}]}\n")
    }

    @Test(arguments: [
        (
            ["--from", "none.mom"],
            "The model 'none.mom' cannot be read. There is no model 'none.mom'."
        ),
        (
            ["--strict"],
            "'--strict' is only for an Xcode model: add '--from FILE', or leave it out."
        ),
        (["a.daybook", "--from", "b.mom"], "'--from' reads an Xcode model, not a store"),
        ([], "Name the STORE to read, or an Xcode model with '--from FILE'."),
    ])
    func `wrong usage is answered with what would be right`(words: [String], said: String) throws {
        let result = try Self.run(words)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: " + said), "\(result.talk)")
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [
        "Notes.xcdatamodeld", "Reading.xcdatamodel", "Games.xcdatamodel", "Shop.xcdatamodel",
        "Offline.xcdatamodel", "Everything.xcdatamodel",
    ])
    func `the classes of a model compile without a word`(name: String) throws {
        let classes = try Self.run(["--from", Self.path(name), "--swift"])

        #expect(classes.status == 0)
        #expect(classes.text.contains(": ManagedObject {"))
        let said = try SwiftCompiler.talk(about: classes.text)
        #expect(!said.contains("error:") && !said.contains("warning:"), "\(said)")
    }

    @Test func `several reasons stand one below the other, and nothing is printed`() throws {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.url.appending(path: "contents")
        try Data("<model><entity name=\"a b\"/><entity name=\"c d\"/></model>".utf8).write(to: file)

        let result = try Self.run(["--from", "contents"], in: folder.url)

        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        let lines = result.talk.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines[0] == "error: The model 'contents' cannot be read, for 2 reasons:")
        #expect(lines[1].hasPrefix("  The entity 'a b' cannot have that name here"))
        #expect(lines[2].hasPrefix("  The entity 'c d' cannot have that name here"))
    }

    @Test func `only the command links an XML parser, not a program with the library`() throws {
        guard let ldd = BuiltTool.system("ldd") else { return }
        let program = try ChildProcess.run(ldd, [BuiltTool.url("daybook-demo").path]).lines
        let command = try ChildProcess.run(ldd, [BuiltTool.daybook.path]).lines

        #expect(program.contains { $0.contains("liblmdb") }, "\(program)")
        #expect(!program.contains { $0.lowercased().contains("xml") })
        #expect(command.contains { $0.lowercased().contains("xml") })
    }
}
