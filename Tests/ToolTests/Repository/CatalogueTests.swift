// The room of the repository: the scripts of `Tools`, the README, and what the compiler says to beginners.

import DaybookTestSupport
import Foundation
import Testing

/// `Tools/catalogue` on a small repository.
@Suite struct CatalogueTests {
    private struct Repository {
        let folder: TemporaryDirectory

        init(list: String, tests: String) throws {
            folder = try TemporaryDirectory()
            for name in ["Tools", "Fixtures", "Tests"] {
                try FileManager.default.createDirectory(
                    at: folder.url.appendingPathComponent(name), withIntermediateDirectories: true)
            }
            try FileManager.default.copyItem(
                at: Fixture.folder.deletingLastPathComponent()
                    .appending(path: "Tools/catalogue"),
                to: folder.url.appendingPathComponent("Tools/catalogue"))
            try write(list, to: "Fixtures/catalogue.txt")
            try write(tests, to: "Tests/SomeTests.swift")
        }

        func write(_ text: String, to path: String) throws {
            try Data(text.utf8).write(to: folder.url.appendingPathComponent(path))
        }

        func run(_ arguments: String) throws -> ToolResult {
            try Tool.shell("cd '\(folder.url.path)' && Tools/catalogue \(arguments)")
        }
    }

    private static let list = "S1 The first.\nF10 The tenth.\nWE2 An example.\n"
    /// Assembled, so that the script does not take these for tests of its own repository.
    private static let keyword = "func"
    private static let tests = """
        @Test \(keyword) `S1 F10 two at once`() throws {
        @Test(arguments: [1])
        \(keyword) `WE2 Sarit Smith: an example that failed before`(number: Int) {
        // @Test \(keyword) `F10 a comment`() {
        @Test \(keyword) `about S1, but not by its number`() {
        """
    private static let two = "S1 F10 two at once"
    private static let sarit = "WE2 Sarit Smith: an example that failed before"

    /// The test library's line for the end of a test, without its suite.
    private static func events(_ name: String, _ kind: String, symbol: String) -> String {
        """
        {"kind":"test","payload":{"displayName":"\(name)","id":"T/\(name)","kind":"function","name":"x"},"version":0}
        {"kind":"event","payload":{"kind":"testStarted","messages":[{"symbol":"default"}],"testID":"T/\(name)"}}
        {"kind":"event","payload":{"kind":"\(kind)","messages":[{"symbol":"\(symbol)"}],"testID":"T/\(name)"}}

        """
    }

    @Test func `the table has a line for each item with its tests`() throws {
        let repository = try Repository(
            list: Self.list + "J3 The last.\n", tests: Self.tests)

        let result = try repository.run("")

        #expect(result.status == 0)
        #expect(
            result.lines == [
                "| item | what it says | tests |", "|---|---|---|",
                "| S1 | The first. | `S1 F10 two at once` |",
                "| F10 | The tenth. | `S1 F10 two at once` |",
                "| WE2 | An example. | `WE2 Sarit Smith: an example that failed before` |",
                "| J3 | The last. | |",
            ])
    }

    @Test func `an item without a test is named, and a range is no item`() throws {
        let repository = try Repository(
            list: Self.list + "S2 The second.\nS3 The third.\n",
            tests: Self.tests + "\n@Test \(Self.keyword) `S2-S3 a range`() {")

        let result = try repository.run("--check")

        #expect(result.status == 1)
        #expect(
            result.lines == ["S2 has no test: The second.", "S3 has no test: The third."])
        #expect(result.talk.contains("3 of 5 items"))
    }

    @Test func `with the events of a run each test of an item must have passed`() throws {
        let repository = try Repository(list: Self.list, tests: Self.tests)
        // A line separator within a text, which JSON leaves as it is, ends no line.
        let other = Self.events("a\u{2028}b", "testEnded", symbol: "fail")
        try repository.write(
            [Self.two, Self.sarit].map { Self.events($0, "testEnded", symbol: "pass") }.joined()
                + other, to: "events")

        let result = try repository.run("--check --passed events")

        #expect(result.status == 0, "\(result.text) \(result.talk)")
        #expect(result.lines.isEmpty)
    }

    @Test(
        arguments: [
            ("testEnded", "fail", "did not pass."),
            ("testEnded", "passWithKnownIssue", "did not pass."),
            ("testSkipped", "skip", "was not run."),
        ])
    func `a test that failed, was skipped or has a known issue is named`(
        kind: String, symbol: String, finding: String
    ) throws {
        let repository = try Repository(list: Self.list, tests: Self.tests)
        try repository.write(
            Self.events(Self.two, kind, symbol: symbol)
                + Self.events(Self.sarit, "testEnded", symbol: "pass"), to: "events")

        let result = try repository.run("--check --passed events")

        #expect(result.status == 1)
        #expect(result.lines == ["S1 F10: the test '\(Self.two)' \(finding)"])
    }

    @Test func `tests of one name pass only together`() throws {
        let repository = try Repository(list: Self.list, tests: Self.tests)
        let passed = [Self.two, Self.sarit].map { Self.events($0, "testEnded", symbol: "pass") }
        let failed = Self.events(Self.two, "testEnded", symbol: "fail")
        try repository.write(failed + passed.joined(), to: "events")

        let result = try repository.run("--check --passed events")

        #expect(result.lines == ["S1 F10: the test '\(Self.two)' did not pass."])
    }

    @Test func `a list or events that cannot be used are an error`() throws {
        let repository = try Repository(list: "S1 The first.\nS1 Again.\n", tests: "")
        let repeated = try repository.run("--check")
        try repository.write(Self.list, to: "Fixtures/catalogue.txt")
        let missing = try repository.run("--check --passed nowhere")
        let events = Self.events(Self.two, "testEnded", symbol: "pass")
        try repository.write(String(events.dropLast(20)), to: "events")
        let cut = try repository.run("--check --passed events")
        try repository.write("", to: "events")
        let empty = try repository.run("--check --passed events")

        #expect(repeated.status == 2)
        #expect(repeated.talk.contains("'S1 Again.'"))
        #expect(missing.status == 2)
        #expect(missing.talk.contains("'nowhere' cannot be read"))
        #expect(cut.status == 2)
        #expect(cut.talk.contains("Line 3 of 'events' is no event of a test run"))
        #expect(empty.status == 2)
        #expect(empty.talk.contains("Line 1 of 'events' is no event"))
    }

    @Test func `every line of the list is an item`() throws {
        let result = try Tool.shell(
            "'\(Fixture.folder.deletingLastPathComponent().path)/Tools/catalogue'")

        #expect(result.status == 0)
        let text = String(decoding: try Fixture.data("catalogue.txt"), as: UTF8.self)
        let items = text.split(separator: "\n")
        #expect(result.lines.count == 2 + items.count)
    }
}
