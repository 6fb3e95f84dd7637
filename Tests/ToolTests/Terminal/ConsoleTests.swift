// The room of the terminal: arguments, help, streams, the pager and the shell.

import Foundation
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

    /// Runs a command with pipes that somebody has made non-blocking.
    private func nonBlocking(_ script: String) throws -> ToolResult {
        try Tool.shell(
            """
            exec perl -MFcntl -MIO::Handle -e '
                sub loosen { fcntl($_[0], F_SETFL, O_NONBLOCK | fcntl($_[0], F_GETFL, 0)) or die $!; }
                \(script)'
            """)
    }

    @Test func `output that waits for its reader loses nothing`() throws {
        let result = try nonBlocking(
            """
            pipe(my $from, my $to) or die $!;
            loosen($to);
            my $child = fork();
            if ($child == 0) {
                open(STDOUT, ">&", $to) or die $!;
                exec($ENV{DAYBOOK}, "manual") or die $!;
            }
            close($to);
            # The pipe is full before anything is read.
            vec(my $ready, fileno($from), 1) = 1;
            select($ready, undef, undef, undef);
            my $text = join("", <$from>);
            waitpid($child, 0);
            print $text;
            exit($? >> 8);
            """)

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.output == (try Tool.run(["manual"]).output))
    }

    @Test func `input that is not there yet is waited for`() throws {
        let library = try LibraryStore()
        let store = library.folder.url.appending(path: "library.daybook").path

        let result = try nonBlocking(
            """
            pipe(my $input, my $to) or die $!;
            pipe(my $from, my $output) or die $!;
            loosen($input);
            my $child = fork();
            if ($child == 0) {
                open(STDIN, "<&", $input) or die $!;
                open(STDOUT, ">&", $output) or die $!;
                close($to);
                exec($ENV{DAYBOOK}, "mcp", "\(store)") or die $!;
            }
            close($input); close($output);
            $to->autoflush(1); $| = 1;
            local $SIG{PIPE} = "IGNORE";
            # After its answer it looks for more, where nothing is.
            for my $number (1 .. 3) {
                print $to "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":$number,\\"method\\":\\"ping\\"}\\n";
                print scalar(<$from>) // "nothing\\n";
            }
            close($to);
            waitpid($child, 0);
            exit($? >> 8);
            """)

        #expect(result.status == 0, "\(result.talk)")
        #expect(
            result.lines == (1...3).map { #"{"jsonrpc":"2.0","id":\#($0),"result":{}}"# })
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
