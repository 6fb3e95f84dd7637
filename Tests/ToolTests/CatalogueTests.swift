import Foundation
import TestSupport
import Testing

/// `Tools/catalogue` on a small repository of its own.
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
    /// Put together, so that the script does not take these for tests of its own repository.
    private static let keyword = "func"
    private static let tests = """
        @Test \(keyword) `S1 F10 two at once`() throws {
        @Test(arguments: [1])
        \(keyword) `WE2 Sarit Smith: an example that failed before`(number: Int) {
        // @Test \(keyword) `F10 a comment`() {
        @Test \(keyword) `about S1, but not by its number`() {
        """
    private static let passed = """
        ✔ Test "S1 F10 two at once" passed after 0.1 seconds.
        ✔ Test "WE2 Sarit Smith: an example that failed before" with 2 test cases passed after 1.0 s.
        """

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

    @Test func `with a log each test of an item must have passed`() throws {
        let repository = try Repository(list: Self.list, tests: Self.tests)
        try repository.write(Self.passed, to: "log")

        let result = try repository.run("--check --passed log")

        #expect(result.status == 0, "\(result.text)")
        #expect(result.lines.isEmpty)
    }

    @Test(
        arguments: [
            (
                "✘ Test \"S1 F10 two at once\" failed after 0.1 seconds with 1 issue.",
                "did not pass."
            ),
            (
                "✘ Test \"S1 F10 two at once\" passed after 0.1 seconds with 1 known issue.",
                "did not pass."
            ),
            ("➜ Test \"S1 F10 two at once\" skipped: \"No disk.\"", "was not run."),
        ])
    func `a test that failed, was skipped or has a known issue is named`(
        line: String, finding: String
    ) throws {
        let repository = try Repository(list: Self.list, tests: Self.tests)
        let passed = Self.passed.split(separator: "\n")[1]
        try repository.write("\(line)\n\(passed)\n", to: "log")

        let result = try repository.run("--check --passed log")

        #expect(result.status == 1)
        #expect(result.lines == ["S1 F10: the test 'S1 F10 two at once' \(finding)"])
    }

    @Test func `a list or log that cannot be used is an error`() throws {
        let repository = try Repository(list: "S1 The first.\nS1 Again.\n", tests: "")
        let repeated = try repository.run("--check")
        try repository.write(Self.list, to: "Fixtures/catalogue.txt")
        let missing = try repository.run("--check --passed nowhere")

        #expect(repeated.status == 2)
        #expect(repeated.talk.contains("'S1 Again.'"))
        #expect(missing.status == 2)
        #expect(missing.talk.contains("'nowhere' cannot be read"))
    }

    @Test func `every line of the list is an item`() throws {
        let result = try Tool.shell(
            "'\(Fixture.folder.deletingLastPathComponent().path)/Tools/catalogue'")

        #expect(result.status == 0)
        let text = String(decoding: try Fixture.data("catalogue.txt"), as: UTF8.self)
        #expect(result.lines.count == 2 + text.split(separator: "\n").count)
    }
}
