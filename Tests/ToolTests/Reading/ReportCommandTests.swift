import DaybookTestSupport
import Foundation
import Testing

/// `export --format html` with its options.
@Suite struct ReportCommandTests {
    private let library: LibraryStore

    /// A store, a pair of keys and a checkpoint.
    init() throws {
        library = try LibraryStore()
        let made = try library.run(["keygen", "example.org/library", "--into", "private.key"])
        try #require(made.status == 0, "\(made.talk)")
        try made.output.write(to: file("public.key"))
        let signed = try library.run(["checkpoint", "library.daybook", "--key", "private.key"])
        try #require(signed.status == 0, "\(signed.talk)")
        try signed.output.write(to: file("today.checkpoint"))
    }

    private func file(_ name: String) -> URL { library.folder.url.appending(path: name) }

    private func report(_ options: [String]) throws -> ToolResult {
        try library.run(["export", "library.daybook", "--format", "html"] + options)
    }

    @Test func `a report tells what the checkpoint and the key show`() throws {
        let options = ["--checkpoint", "today.checkpoint", "--key", "public.key"]

        let result = try report(options + ["--into", "report.html"])

        #expect(result.status == 0, "\(result.talk)")
        let page = try String(contentsOf: file("report.html"), encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(page.contains("Verified: the journal goes on from the signed checkpoint"))
        #expect(page.contains("<h1>library.daybook</h1>"))
    }

    @Test func `a report without them says that truncation is not excluded`() throws {
        let result = try report([])

        #expect(result.status == 0)
        #expect(result.text.contains("Chain checked; truncation is not excluded"))
    }

    @Test(arguments: [
        ["--checkpoint", "public.key"], ["--key", "public.key"],
        ["--checkpoint", "today.checkpoint", "--key", "today.checkpoint"],
        ["--checkpoint", "missing"],
    ])
    func `what is no checkpoint or key is wrong usage, and no file is made`(
        options: [String]
    ) throws {
        let result = try report(options + ["--into", "report.html"])

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: "))
        #expect(!FileManager.default.fileExists(atPath: file("report.html").path))
    }

    @Test(arguments: [
        (
            "csv", ["--checkpoint", "today.checkpoint", "--key", "public.key"],
            "'--checkpoint' means"
        ),
        ("jsonl", ["--source", "urn:x"], "'--source' means nothing to the format jsonl"),
        ("cloudevents", ["--host", "here"], "'--host' means nothing to the format cloudevents"),
        ("html", ["--key", "public.key"], "A key is for a checkpoint"),
    ])
    func `an option that the format would not heed is refused, a checkpoint above all`(
        format: String, options: [String], message: String
    ) throws {
        let result = try library.run(["export", "library.daybook", "--format", format] + options)

        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.talk.contains(message), "\(result.talk)")
    }

    @Test func `a page has an end, so it cannot go on where another ended`() throws {
        let result = try report(["--resume", "weekly"])

        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.talk.contains("'--resume' cannot be used with the format html"))
    }
}
