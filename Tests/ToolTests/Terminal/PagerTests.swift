import DaybookTestSupport
import Foundation
import Testing

/// Long text on a terminal.
@Suite struct PagerTests {
    private let atlas: AtlasStore
    /// A pager that leaves a trace.
    private let marking = ["DAYBOOK_PAGER": "sed s/^/P:/"]

    init() throws {
        atlas = try AtlasStore()
    }

    private func session(
        _ line: String, _ environment: [String: String] = [:]
    ) throws -> TerminalSession {
        try TerminalSession(line, in: atlas.folder.url, environment: environment)
    }

    @Test(arguments: [
        "log atlas.daybook -n 1", "show atlas.daybook 6", "history atlas.daybook Country/1",
        "diff atlas.daybook 2 3",
    ])
    func `long text on a terminal goes through the pager`(line: String) throws {
        let session = try session(line, marking)

        let status = session.end()

        #expect(session.transcript.hasPrefix("P:"), "\(session.transcript)")
        #expect(status == (line.hasPrefix("diff") ? 1 : 0))
    }

    @Test(arguments: [
        ("log atlas.daybook -n 1 --no-pager", ["DAYBOOK_PAGER": "sed s/^/P:/"]),
        ("log atlas.daybook -n 1", ["DAYBOOK_PAGER": "cat", "PAGER": "sed s/^/P:/"]),
        ("log atlas.daybook -n 1 --output jsonl", ["DAYBOOK_PAGER": "sed s/^/P:/"]),
        ("stats atlas.daybook", ["DAYBOOK_PAGER": "sed s/^/P:/"]),
        ("log atlas.daybook -n 1 | cat", ["DAYBOOK_PAGER": "sed s/^/P:/"]),
    ])
    func `there is no pager where nobody wants one`(
        line: String, environment: [String: String]
    ) throws {
        let session = try session(line, environment)

        let status = session.end()

        #expect(status == 0)
        #expect(!session.transcript.contains("P:"), "\(session.transcript)")
        #expect(!session.transcript.isEmpty)
    }

    @Test func `PAGER counts where DAYBOOK_PAGER is not set`() throws {
        let session = try session("log atlas.daybook -n 1", ["PAGER": "sed s/^/Q:/"])

        #expect(session.end() == 0)
        #expect(session.transcript.hasPrefix("Q:"))
    }

    @Test func `text in a pager has colours unless NO_COLOR says no`() throws {
        let colored = try session("log atlas.daybook -n 1", marking)
        let plain = try session(
            "log atlas.daybook -n 1", marking.merging(["NO_COLOR": "1"]) { $1 })

        _ = (colored.end(), plain.end())

        #expect(colored.transcript.contains("\u{1B}[36mentry 10"))
        #expect(!plain.transcript.contains("\u{1B}"))
    }

    @Test func `less is left with q, and with it the tool`() throws {
        let session = try session("log atlas.daybook -p")

        session.wait(for: "Union: 1 updated")
        session.wait(for: ":")
        try session.type("q")

        #expect(session.end() == 0)
    }

    @Test func `a pager that has seen enough ends the tool quietly`() throws {
        let session = try session(
            "log atlas.daybook -p", ["DAYBOOK_PAGER": "head -n 1", "NO_COLOR": "1"])

        let status = session.end()

        #expect(status == 0)
        #expect(session.transcript == "entry 10  2024-01-02 12:09:00 UTC  by Ada\r\n")
    }

    @Test func `a pager that is not there is named`() throws {
        let session = try session("log atlas.daybook", ["DAYBOOK_PAGER": "/no/such/pager"])

        let status = session.end()

        #expect(status == 2)
        #expect(session.transcript.contains("The pager '/no/such/pager' cannot be run."))
    }

    @Test func `where there is no less, and no pager was asked for, text stands as it is`() throws {
        let programs = atlas.folder.url.appending(path: "programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: programs.appending(path: "script"),
            withDestinationURL: URL(fileURLWithPath: "/usr/bin/script"))

        let plain = try session("log atlas.daybook -n 1", ["PATH": programs.path])
        let asked = try session(
            "log atlas.daybook -n 1", ["PATH": programs.path, "PAGER": "less"])
        let status = (plain: plain.end(), asked: asked.end())

        #expect(status.plain == 0)
        #expect(plain.transcript.contains("That was a joke"), "\(plain.transcript)")
        #expect(status.asked == 2)
        #expect(asked.transcript.contains("The pager 'less' cannot be run."))
    }

    @Test func `a command that fails at once starts no pager`() throws {
        let session = try session("log atlas.daybook --entity Land", marking)

        let status = session.end()

        #expect(status == 2)
        #expect(!session.transcript.contains("P:"))
        #expect(session.transcript.contains("The model has no entity 'Land'"))
    }
}
