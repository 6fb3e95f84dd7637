// The room of the terminal: arguments, help, streams, the pager and the shell.

import Testing

/// Streams, colours and broken pipes.
@Suite struct ConsoleTests {
    @Test func `a reader that goes away ends the tool quietly`() throws {
        let result = try Tool.shell(
            "exec 3> >(exec true); wait $!; $DAYBOOK manual >&3; echo $? >&2")

        #expect(result.talk == "0\n")
    }

    @Test func `an output that takes nothing is an error`() throws {
        let result = try Tool.shell("$DAYBOOK manual > /dev/full")

        #expect(result.status == 2)
        #expect(result.talk.hasPrefix("error: Standard output cannot be written: "))
    }

    @Test func `a file gets no colours`() throws {
        let result = try Tool.run(["help"])

        #expect(!result.text.contains("\u{1B}"))
    }

    @Test(
        arguments: [
            ("help", [:], true),
            ("help", ["NO_COLOR": "1"], false),
            ("help", ["NO_COLOR": ""], true),
            ("help", ["TERM": "dumb"], false),
        ] as [(String, [String: String], Bool)])
    func `a terminal gets colours unless the environment says no`(
        command: String, environment: [String: String], isColored: Bool
    ) throws {
        let variables = ["TERM": "xterm"].merging(environment) { $1 }

        let result = try Tool.shell(
            "script -qec \"$DAYBOOK \(command)\" /dev/null", environment: variables)

        #expect(result.text.contains("Usage:"))
        #expect(result.text.contains("\u{1B}[") == isColored)
    }

    @Test func `options before a command are its options`() throws {
        let before = try Tool.run(["--quiet", "--color", "never", "completion", "fish"])
        let after = try Tool.run(["completion", "fish", "--color=never", "-q"])

        #expect(before.status == 0)
        #expect(before.output == after.output)
    }
}

/// What colours say, and what they spare.
@Suite struct ColorTests {
    @Test func `in colour changed words have no marks, and the verdict of verify has one`() throws {
        let library = try LibraryStore()
        _ = try library.run([
            "set", "library.daybook", "Book/5", "title=One and two and three and four",
        ])
        _ = try library.run([
            "set", "library.daybook", "Book/5", "title=One and two and 3 and four",
        ])

        let plain = try library.run(["show", "library.daybook", "head"]).text
        let colored = try library.run(["show", "library.daybook", "head", "--color", "always"]).text
        let verdict = try library.run(["verify", "library.daybook", "--color", "always"]).text

        #expect(plain.contains("One and two and [-three-]{+3+} and four"))
        #expect(
            colored.contains(
                "One and two and \u{1B}[31mthree\u{1B}[0m\u{1B}[32m3\u{1B}[0m and four"))
        #expect(verdict.contains("\u{1B}[32m✓ \u{1B}[0mFine: "))
        #expect(!(try library.run(["verify", "library.daybook"]).text.contains("✓")))
    }
}
