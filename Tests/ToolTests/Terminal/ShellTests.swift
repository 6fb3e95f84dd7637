import DaybookTestSupport
import Foundation
import Testing

/// The shell, from a pipe and at a terminal.
@Suite struct ShellTests {
    private let atlas: AtlasStore

    init() throws {
        atlas = try AtlasStore()
    }

    // MARK: - From a pipe

    @Test(
        arguments: [
            ("commands", "log -n 1 --oneline\n\n# nothing\nfetch Country --count\n.quit\nlog\n"),
            (
                "past",
                ".at 3\nfetch Country --count\nfetch Country --count --at 1\n.at head\n"
                    + "fetch Country --count\n.at 1980-01-01\nlog --oneline\n.at 1970-01-01\n"
            ),
            ("quotes", "fetch Country --where 'name == \"France\"' --count\n"),
            ("difference", "diff 2 head --stat\nlog -n 1 --oneline\n"),
            ("unknown-command", "log -n 1 --oneline\nlgo\nlog\n"),
            ("failing-command", "show 99\nlog\n"), ("unknown-dot", ".hepl\n"),
            ("open-quote", "fetch 'Country\n"), ("nested", "shell\n"),
            ("bad-place", ".at 99\n"), ("too-many", ".at 1 2\n"),
        ])
    func `lines are run one after the other, up to the first that fails`(
        name: String, input: String
    ) throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data(input.utf8), in: atlas.folder.url)

        let text =
            "--- standard input\n\(input)--- standard output\n\(result.text)"
            + "--- standard error\n\(result.talk)--- exit \(result.status)\n"
        try Fixture.expect(Data(text.utf8), equals: "cli/shell/\(name).txt")
    }

    @Test func `who wants to leave by another word is told the one that does`() throws {
        for word in ["exit", "quit", "q"] {
            let result = try Tool.run(
                ["shell", "atlas.daybook"], input: Data("\(word)\n".utf8), in: atlas.folder.url)

            #expect(result.status == 2)
            #expect(result.talk.contains("Enter '.quit', or Control-D, to leave."))
        }
    }

    @Test func `help tells the shell's own words and every command`() throws {
        let own = try Tool.run(
            ["shell", "atlas.daybook"], input: Data(".help\n".utf8), in: atlas.folder.url)
        let other = try Tool.run(
            ["shell", "atlas.daybook"], input: Data(".help log\n".utf8), in: atlas.folder.url)

        #expect(own.status == 0)
        for word in [".at [SEQ|TIME]", ".help [COMMAND]", ".quit", " log, ", " completion."] {
            #expect(own.text.contains(word))
        }
        #expect(other.output == (try Tool.run(["help", "log"]).output))
        let dull = try Tool.run(
            ["shell", "atlas.daybook"], input: Data("help --color never log\n".utf8),
            in: atlas.folder.url)
        #expect(dull.status == 0 && dull.output == other.output)
    }

    @Test func `a shell writes as its commands do`() throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data("undo 10 --note shell\ncursors c head\n".utf8),
            in: atlas.folder.url)

        #expect(result.status == 0, "\(result.talk)")
        #expect(try atlas.run("log STORE -n 1").text.contains("undoes entry 10"))
        #expect(try atlas.run("cursors STORE").text.contains("c          11"))
    }

    @Test(arguments: [
        (#"replay --until 'Country: name == "Atlantis"'"#, 1),
        (#"replay --assert 'Country: callingCode > 0'"#, 1),
        ("diff 2 head --stat", 0),
        (#"bisect Country --where 'name == "Atlantis"'"#, 0),
    ])
    func `a finding ends the shell, and a difference that was asked for does not`(
        line: String, status: Int32
    ) throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data("\(line)\nlog -n 1 --oneline\n".utf8),
            in: atlas.folder.url)

        #expect(result.status == status)
        #expect(result.text.contains("That was a joke") == (status == 0))
        #expect(
            result.talk.hasSuffix("error: Line 1 failed; the rest was not run.\n")
                == (status == 1), "\(result.talk)")
    }

    @Test func `a command that does not look at the past is told from those that do`() throws {
        let input = ".at 3\nhistory Country/1\nfetch Country --count\nshow 7\n.at\nstats\n"

        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data(input.utf8), in: atlas.folder.url)

        #expect(result.status == 0)
        #expect(
            result.talk
                == "As of entry 3.\n'.at 3' does not hold for 'history'.\nAs of now.\n")
    }

    /// A day lasts for commands that take it for an end, and begins for those that look at a state.
    @Test(arguments: [
        ("2022-07-11", [6, 5, 4, 3, 2, 1]), ("2024-01-02", [6, 5, 4, 3, 2, 1]), ("1970-01-01", []),
    ])
    func `the log ends with the state that the other commands read`(
        date: String, entries: [Int]
    ) throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data(".at \(date)\nlog --oneline\n".utf8),
            in: atlas.folder.url)

        #expect(result.status == 0, "\(result.talk)")
        let state = entries.first.map { "As of entry \($0)." } ?? "As of before the first entry."
        #expect(result.talk == "\(state)\n")
        #expect(result.lines.compactMap { Int($0.prefix { $0 != " " }) } == entries)
    }

    @Test func `what is saved after a time was chosen does not come into its state`() throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"],
            input: Data(".at now\nundo 10\nlog -n 1 --oneline\n.at\nlog -n 1 --oneline\n".utf8),
            in: atlas.folder.url)

        #expect(result.status == 0, "\(result.talk)")
        let shown = result.lines.suffix(2).map { $0.prefix { $0 != " " } }
        #expect(shown == ["10", "11"], "\(result.text)")
    }

    @Test(arguments: [
        ("log --foo", "'log' has no option '--foo'. Enter '.help log' to see its arguments."),
        (
            "diff 1 2 3",
            "'3' is one argument too many: 'diff' takes A B. "
                + "Enter '.help diff' to see its arguments."
        ),
        (
            "log --limit x",
            "'--limit' cannot be 'x': expected a whole number, 0 or more. "
                + "Enter '.help log' to see its arguments."
        ),
        (
            "help lgo",
            "There is no command 'lgo'; did you mean 'log'? Enter '.help' to see all commands."
        ),
        (
            ".help lgo",
            "There is no command 'lgo'; did you mean 'log'? Enter '.help' to see all commands."
        ),
    ])
    func `what is wrong with a line is said as one writes it there`(
        line: String, message: String
    ) throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data("\(line)\n".utf8), in: atlas.folder.url)

        #expect(result.status == 2)
        #expect(result.text.isEmpty)
        #expect(result.talk == "error: Line 1: \(message)\n")
    }

    @Test func `what is no place in the journal is refused`() throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data(".at +\n".utf8), in: atlas.folder.url)

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: Line 1: There is no tag '+', and it is neither"))
    }

    @Test func `input that is no text is refused with its line`() throws {
        let result = try Tool.run(
            ["shell", "atlas.daybook"], input: Data("stats\n".utf8) + Data([0xFF, 0x0A]),
            in: atlas.folder.url)

        #expect(result.status == 2)
        #expect(result.talk == "error: Line 2: This is not UTF-8 text.\n")
    }

    @Test func `a store that is not there is said at once`() throws {
        let result = try Tool.run(["shell", "none.daybook"], in: atlas.folder.url)

        #expect(result.status == 3)
        #expect(result.output.isEmpty)
    }

    // MARK: - At a terminal

    private func session(_ line: String = "shell atlas.daybook") throws -> TerminalSession {
        try TerminalSession("--color never --no-pager \(line)", in: atlas.folder.url)
    }

    @Test func `commands are entered at a prompt that tells store and time`() throws {
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type("fetch Country --count\r")
        session.wait(for: "\r\n2\r\n")
        session.wait(for: "atlas> ")
        try session.type(".at 4\r")
        session.wait(for: "As of entry 4.")
        session.wait(for: "atlas@4> ")
        try session.type("fetch Country --count\r")
        session.wait(for: "\r\n3\r\n")
        session.wait(for: "atlas@4> ")
        try session.type(".quit\r")

        #expect(session.end() == 0)
    }

    @Test func `a line that fails is answered and the shell goes on`() throws {
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type("histroy Country/1\r")
        session.wait(for: "did you mean 'history'?")
        session.wait(for: "atlas> ")
        try session.type("show 99\r")
        session.wait(for: "There is no entry 99")
        session.wait(for: "atlas> ")
        // Control-D leaves.
        try session.type("\u{4}")

        #expect(session.end() == 0)
    }

    @Test(arguments: [
        ("fet\t", "fetch "), ("fetch Cou\t", "fetch Country "),
        ("fetch Country --cou\t", "fetch Country --count "),
        ("log --op ins\t", "log --op insert "), ("log --op=del\t", "log --op=delete "),
        ("log --property calli\t", "log --property callingCode "),
        ("history Country/2.mot\t", "history Country/2.motto "),
        ("history Uni\t", "history Union/"), (".he\t", ".help "),
        ("verify --checkpoint atl\t", "verify --checkpoint atlas.daybook"),
    ])
    func `Tab completes commands, options and the names in the store`(
        keys: String, expected: String
    ) throws {
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type(keys)
        // An end that no completion makes, so that the whole line has been echoed.
        try session.type("\u{1}# \u{5}!\r")
        session.wait(for: "atlas> ")
        // The line is a comment now; the history returns it as a whole.
        try session.type("\u{10}")
        session.wait(for: "# \(expected)!")
        try session.type("\u{15}.quit\r")

        #expect(session.end() == 0)
    }

    @Test func `a name with a space in it is completed to one word`() throws {
        let made = try Tool.run(
            ["cursors", "atlas.daybook", "weekly report", "3"], in: atlas.folder.url)
        try #require(made.status == 0, "\(made.talk)")
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type("tail --cursor we\t")
        session.wait(for: #"ekly\ report "#)
        try session.type("\r")
        session.wait(for: "atlas> ")
        try session.type(".quit\r")

        #expect(session.end() == 0)
        #expect(!session.transcript.contains("error:"), "\(session.transcript)")
    }

    @Test func `the name of a file that commands a terminal is not completed`() throws {
        for name in ["x\u{1B}[31my", "x\u{1B}[32my", "xyz"] {
            try Data().write(to: atlas.folder.url.appending(path: name))
        }
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type("verify --checkpoint x\t")
        session.wait(for: "yz ")
        try session.type("\u{3}")
        session.wait(for: "atlas> ")
        try session.type(".quit\r")

        #expect(session.end() == 0)
        #expect(!session.transcript.contains("\u{1B}[3"), "\(session.transcript)")
    }

    @Test func `what several words could complete is listed`() throws {
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type("history Country/\t")
        session.wait(for: "Country/1  Country/2")
        try session.type("\u{3}")
        session.wait(for: "^C")
        session.wait(for: "atlas> ")
        try session.type(".quit\r")

        #expect(session.end() == 0)
    }

    @Test func `lines are kept from session to session, for their owner only`() throws {
        let first = try session()
        first.wait(for: "atlas> ")
        try first.type("log -n 1 --oneline\r")
        first.wait(for: "That was a joke")
        first.wait(for: "atlas> ")
        try first.type(".quit\r")
        #expect(first.end() == 0)

        let second = try session()
        second.wait(for: "atlas> ")
        try second.type("\u{10}\u{10}")
        second.wait(for: "log -n 1 --oneline")
        try second.type("\r")
        second.wait(for: "That was a joke")
        second.wait(for: "atlas> ")
        try second.type("\u{4}")

        #expect(second.end() == 0)
        let file = atlas.folder.url.appending(path: "state/daybook/history")
        let rights = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(rights as? Int == 0o600)
    }

    @Test func `Control-C ends a command that follows, and not the shell`() throws {
        let session = try session()

        session.wait(for: "atlas> ")
        try session.type("tail -n 1 -f --oneline\r")
        session.wait(for: "That was a joke")
        try session.type("\u{3}")
        session.wait(for: "atlas> ")
        try session.type("fetch Country --count\r")
        session.wait(for: "\r\n2\r\n")
        session.wait(for: "atlas> ")
        try session.type(".quit\r")

        #expect(session.end() == 0)
    }
}
