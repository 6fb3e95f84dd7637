import DaybookTestSupport
import Foundation
import Testing

/// Following the journal, and cursors that are kept in the store.
@Suite struct TailTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private func tail(_ words: [String]) throws -> ToolResult {
        try library.run(["tail", "library.daybook"] + words)
    }

    /// The numbers of the entries in JSON Lines.
    private func sequences(_ lines: [String]) throws -> [Int] {
        try lines.map { line in
            let match = try #require(line.firstMatch(of: /^\{"sequence":(\d+),/))
            return try #require(Int(match.1))
        }
    }

    private func cursor(_ name: String) throws -> String {
        try library.run(["cursors", "library.daybook", name, "--output", "jsonl"]).text
    }

    /// Records entries, each with one shelf.
    private func recordShelves(_ labels: some Sequence<String>) throws {
        let lines = labels.map { label in
            #"{"op":"insert","entity":"Shelf","values":{"label":"\#(label)"}}"# + "\n"
                + #"{"op":"save","note":"\#(label)"}"# + "\n"
        }
        let result = try library.record(lines.joined())
        try #require(result.status == 0, "\(result.talk)")
    }

    private func follower(_ words: [String]) throws -> ChildProcess {
        let store = library.folder.url.appending(path: "library.daybook").path
        return try ChildProcess(
            Tool.url, [words[0], store] + words.dropFirst() + ["--output", "jsonl"],
            input: URL(fileURLWithPath: "/dev/null"))
    }

    // MARK: - Without a cursor

    @Test func `the last entries come oldest first`() throws {
        try recordShelves((1...12).map { "S\($0)" })

        let ten = try tail(["--output", "jsonl"])
        let two = try tail(["-n", "2", "--output", "jsonl"])
        let none = try tail(["-n", "0", "--output", "json"])
        let chosen = try tail(["-n", "1", "--author", "Ada", "--output", "jsonl"])

        #expect(try sequences(ten.lines) == Array(6...15))
        #expect(try sequences(two.lines) == [14, 15])
        #expect(none.text == "[]\n")
        #expect(try sequences(chosen.lines) == [3])
    }

    @Test(arguments: [["log", "--follow", "-n", "1"], ["tail", "-f", "-n", "1"]])
    func `what another process saves is followed`(words: [String]) throws {
        let follower = try follower(words)
        defer { follower.kill() }
        let before = try #require(follower.nextLine())

        try recordShelves(["C"])
        let first = try #require(follower.nextLine())
        try recordShelves(["D"])
        let second = try #require(follower.nextLine())

        #expect(try sequences([before, first, second]) == [3, 4, 5])
        #expect(second.contains(#""note":"D""#))
    }

    @Test(
        .ownStores("The servers would bring back what is cut off."),
        arguments: [["log", "--follow", "-n", "1"], ["tail", "-f", "-n", "1"]])
    func `a follower ends when what it has shown is cut off`(words: [String]) throws {
        let follower = try follower(words)
        defer { follower.kill() }
        try #require(follower.nextLine() != nil)

        try TestStore.cutBack(
            at: library.folder.url.appending(path: "library.daybook").path, to: 2)
        try recordShelves(["C", "D"])

        #expect(follower.nextLine() == nil)
        #expect(follower.wait() == .exited(2))
        #expect(try follower.talk().contains("begin again"))
    }

    @Test func `only entries that fit a filter are followed`() throws {
        try recordShelves(["wanted 0"])
        let follower = try follower(["log", "-f", "-n", "1", "--grep", "wanted"])
        defer { follower.kill() }
        // After this it follows; an earlier save may be the one entry it begins with.
        #expect(try #require(follower.nextLine()).contains("wanted 0"))

        try recordShelves(["C", "wanted 1", "D", "wanted 2"])
        let notes = try [#require(follower.nextLine()), #require(follower.nextLine())]

        #expect(notes[0].contains("wanted 1"))
        #expect(notes[1].contains("wanted 2"))
    }

    @Test(arguments: ["INT", "TERM"])
    func `a follower ends in peace when it is interrupted`(signal: String) throws {
        let store = library.folder.url.appending(path: "library.daybook").path

        let result = try Tool.shell(
            """
            coproc FOLLOWER { exec "$DAYBOOK" log '\(store)' -f -n 1 --oneline; }
            read -r -u "${FOLLOWER[0]}" line; echo "$line"
            pid=$FOLLOWER_PID; kill -\(signal) $pid; wait $pid; echo "ended with $?"
            """)

        #expect(result.lines.first?.hasPrefix("3  2002-02-02 09:00:00 UTC  by Ada") == true)
        #expect(result.lines.last == "ended with 0", "\(result.text) \(result.talk)")
    }

    @Test(arguments: ["tail", "log"])
    func `a follower whose terminal is gone goes on under nohup`(command: String) throws {
        let store = library.folder.url.appending(path: "library.daybook").path

        let result = try Tool.shell(
            """
            coproc FOLLOWER { trap '' HUP; exec "$DAYBOOK" \(command) '\(store)' -f -n 1 --oneline; }
            read -r -u "${FOLLOWER[0]}" line
            pid=$FOLLOWER_PID; kill -HUP $pid
            "$DAYBOOK" tag '\(store)' moved 1
            echo '{"op":"insert","entity":"Shelf","values":{"label":"late"}}' \
                | "$DAYBOOK" record '\(store)' --author Bo
            read -r -u "${FOLLOWER[0]}" line; echo "$line"
            kill -TERM $pid; wait $pid; echo "ended with $?"
            """)

        #expect(result.lines.contains { $0.contains("by Bo") }, "\(result)")
        #expect(result.lines.last == "ended with 0", "\(result)")
    }

    @Test func `a follower ends when its reader is gone, though nothing is saved`() throws {
        let store = library.folder.url.appending(path: "library.daybook").path

        let result = try Tool.shell(
            "set -o pipefail; timeout 300 \"$DAYBOOK\" tail '\(store)' -f | head -n 1; echo $?")

        #expect(result.lines.last == "0", "\(result.talk)")
    }

    @Test func `a list that has an end cannot be followed`() throws {
        let json = try tail(["-f", "--output", "json"])
        let until = try library.run(["log", "library.daybook", "-f", "--until", "2"])
        let range = try library.run(["log", "library.daybook", "1..2", "-f"])

        for result in [json, until, range] { #expect(result.status == 2) }
        #expect(json.talk.contains("take jsonl"))
        #expect(until.talk == range.talk)
    }

    // MARK: - With a cursor

    @Test func `a cursor goes on where it ended`() throws {
        let first = try tail(["--cursor", "mailer", "-n", "2", "--output", "jsonl"])
        let rest = try tail(["--cursor", "mailer", "--output", "jsonl"])
        let nothing = try tail(["--cursor", "mailer", "--output", "jsonl"])
        try recordShelves(["C"])
        let new = try tail(["--cursor", "mailer", "--output", "jsonl"])

        #expect(try sequences(first.lines) == [1, 2])
        #expect(try sequences(rest.lines) == [3])
        #expect(nothing.text.isEmpty)
        #expect(try sequences(new.lines) == [4])
    }

    @Test func `entries that a filter passes over count as read`() throws {
        _ = try tail(["--cursor", "ada", "--author", "Ada"])

        let all = try tail(["--cursor", "ada", "--output", "jsonl"])

        #expect(all.text.isEmpty)
        #expect(try cursor("ada").contains(#""sequence":3,"#))
    }

    @Test func `output that could not be handed over leaves the cursor where it was`() throws {
        let store = library.folder.url.appending(path: "library.daybook").path

        let full = try Tool.shell("\"$DAYBOOK\" tail '\(store)' --cursor c > /dev/full")
        let gone = try Tool.shell(
            "exec 3> >(exec true); wait $!; \"$DAYBOOK\" tail '\(store)' --cursor c >&3; echo $? >&2"
        )

        #expect(full.status == 2)
        #expect(gone.talk == "0\n")
        #expect(try library.run(["cursors", "library.daybook"]).text.isEmpty)
    }

    @Test(arguments: ["pwrite64", "pwritev", "fdatasync"])
    func `killed before any call that moves the cursor, entries come again and none is skipped`(
        call: String
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let store = library.folder.url.appending(path: "library.daybook").path
        var repeated = 0

        for number in 1...40 {
            let name = "\(call)-\(number)"
            let words = ["tail", store, "--cursor", name, "--output", "jsonl"]
            let cut = try ChildProcess.run(
                strace,
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                    "inject=\(call):signal=KILL:when=\(number)", "--", Tool.url.path,
                ] + words)
            let again = try sequences(try Tool.run(words).lines)

            #expect(try sequences(cut.lines) == [1, 2, 3], "\(name): \(cut.talk)")
            #expect([[], [1, 2, 3]].contains(again), "\(name): \(again)")
            if cut.ending == .exited(0) {
                #expect(again.isEmpty)
                break
            }
            if !again.isEmpty { repeated += 1 }
        }

        // A call that is never made would prove nothing; the meta page is always written.
        if call == "pwrite64" { #expect(repeated > 0) }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `killed at any time, a reader with a cursor has every entry in the end`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        try recordShelves((1...60).map { "S\($0)" })
        var delivered: [Int] = []
        var runs = 0

        while delivered.max() ?? 0 < 63, runs < 200 {
            let follower = try follower(["tail", "--cursor", "c", "-f"])
            var lines: [String] = []
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                guard lines.last?.hasPrefix(#"{"sequence":63,"#) != true,
                    let line = follower.nextLine()
                else { break }
                lines.append(line)
            }
            follower.kill()
            lines += follower.remainingLines()
            follower.wait()
            let numbers = try sequences(lines)
            let expected = numbers.first.map { Array($0..<$0 + numbers.count) } ?? []
            #expect(numbers == expected, "seed \(seed)")
            #expect(numbers.first ?? 1 <= (delivered.max() ?? 0) + 1, "seed \(seed)")
            delivered += numbers
            runs += 1
        }

        #expect(Set(delivered) == Set(1...63), "seed \(seed)")
    }

    // MARK: - The cursors themselves

    @Test func `cursors are listed, set and deleted`() throws {
        try library.expect(["cursors", "library.daybook"], equals: "none")
        try library.expect(["cursors", "library.daybook", "mailer", "2"], equals: "set")
        try library.expect(["cursors", "library.daybook", "search", "head"], equals: "set-to-head")
        try library.expect(["cursors", "library.daybook"], equals: "list")
        try library.expect(["cursors", "library.daybook", "maler"], equals: "no-such-cursor")
        try library.expect(["cursors", "library.daybook", "mailer", "9"], equals: "no-such-entry")
        try library.expect(["cursors", "library.daybook", "mailer", "--delete"], equals: "deleted")
        try library.expect(
            ["cursors", "library.daybook", "mailer", "2", "--delete"], equals: "set-and-deleted")
        try library.expect(["cursors", "library.daybook", "--delete"], equals: "no-name")
    }

    @Test func `setting a cursor appends no entry`() throws {
        let result = try library.run(["cursors", "library.daybook", "c", "2"])

        #expect(result.status == 0)
        #expect(try library.head() == 3)
        #expect(try tail(["--cursor", "c", "--output", "jsonl"]).lines.count == 1)
    }
}
