import Foundation
import Testing

/// Wrong command lines, and the tool's messages.
@Suite struct ArgumentTests {
    @Test(arguments: [
        "backup library.daybook -", "compact library.daybook --into -", "load -",
        "recover library.daybook --into -", "replay library.daybook --into -",
        "keygen name --into -", "init - --model -", "data library.daybook Book/5.title --into -",
    ])
    func `no new file is called as standard output is elsewhere`(line: String) throws {
        let library = try LibraryStore()
        let before = try FileManager.default.contentsOfDirectory(atPath: library.folder.url.path)

        let result = try library.run(line.split(separator: " ").map(String.init), input: "")

        #expect(result.status == 2)
        #expect(
            result.talk.contains("cannot be '-': expected the path of a new file, or './-'"),
            "\(result.talk)")
        let after = try FileManager.default.contentsOfDirectory(atPath: library.folder.url.path)
        #expect(after.sorted() == before.sorted())
    }

    @Test(arguments: ["--sort", "--column", "--group", "--sum"])
    func `several keys in one word are told to have an option each`(option: String) throws {
        let library = try LibraryStore()

        let result = try library.run(["fetch", "library.daybook", "Book", option, "isbn,title"])

        #expect(result.status == 2)
        #expect(
            result.talk.contains(
                "'\(option)' takes one key at a time: '\(option) isbn \(option) title'."))
    }

    @Test func `a store in the place of the command is told where it stands`() throws {
        let library = try LibraryStore()

        for words in [["library.daybook", "log"], ["gone.daybook"]] {
            let result = try library.run(words)

            #expect(result.status == 2)
            #expect(
                result.talk.contains(
                    "A command comes first, and then the store, as in 'daybook log \(words[0])'."))
        }
    }

    @Test(arguments: [
        (["fecth"], "There is no command 'fecth'; did you mean 'fetch'?"),
        (["xyzzy"], "There is no command 'xyzzy'. Run"),
        (["ver"], "There is no command 'ver'; did you mean 'verify'?"),
        (["--outptu", "json", "log"], "'--outptu' before a command; did you mean '--output'?"),
        (["log", "S", "--entty", "Country"], "no option '--entty'; did you mean '--entity'?"),
        (["log", "S", "-z"], "'daybook log' has no option '-z'."),
        (["log", "S", "--output", "jsno"], "expected text, json or jsonl; did you mean 'json'?"),
        (["log", "S", "--color=alway"], "did you mean 'always'?"),
        (["completion", "bsh"], "expected bash, zsh or fish; did you mean 'bash'?"),
        (["export", "S", "--format", "jsnl"], "did you mean 'jsonl'?"),
        (["export", "S", "--format", "csv", "--output", "json"], "only one form of output"),
    ])
    func `a mistyped word is answered with the nearest right one`(
        words: [String], expected: String
    ) throws {
        let result = try Tool.run(words)

        #expect(result.talk.contains(expected), "\(result.talk)")
        expectUsageError(result)
    }

    @Test(arguments: [
        (["fetch"], "STORE, ENTITY are missing."),
        (["fetch", "S"], "ENTITY is missing: the entity whose objects to fetch."),
        (["init", "S"], "--model FILE is missing: the model, as JSON"),
        (["redo", "S", "1", "2"], "one argument too many: 'daybook redo' takes STORE SEQ[..SEQ]."),
        (["manual", "x"], "'x' is one argument too many: 'daybook manual' takes none."),
        (["log", "S", "--limit"], "'--limit' needs a value: a whole number, 0 or more."),
        (["log", "S", "-n"], "'-n' needs a value: a whole number, 0 or more."),
        (["fetch", "S", "E", "--where", "--at", "3"], "'--where' needs a value: text."),
        (["fetch", "S", "E", "--sort", "-c"], "If '-c' is meant, write '--sort=-c'."),
        (["log", "S", "--reverse=yes"], "'--reverse' takes no value."),
        (["log", "S", "-n", "1", "-n", "2"], "'--limit' is given twice"),
        (["log", "S", "--since", "1", "--from", "2"], "'--since' or '--from' is given twice"),
        (["stats", "--", "S", "--output"], "'--output' is one argument too many"),
    ])
    func `what is missing, too much or doubled is named`(words: [String], expected: String) throws {
        let result = try Tool.run(words)

        #expect(result.talk.contains(expected), "\(result.talk)")
        expectUsageError(result)
    }

    @Test(arguments: [
        (["log", "S", "-n", "many"], "'-n' cannot be 'many': expected a whole number, 0 or more."),
        (["log", "S", "--limit=-1"], "'--limit' cannot be '-1'"),
        (
            ["undo", "S", "42..45..46"],
            "expected a sequence number such as 42, 'head', a time, a tag, or a range such as "
                + "42..45."
        ),
        (["show", "S", "99999999999999999999"], "'SEQ' cannot be '99999999999999999999'"),
        (
            ["fetch", "S", "E", "--at", "last week"],
            "expected a sequence number such as 42, a time such as 2011-12-15, "
                + "2011-12-15T08:30:00Z or '2 hours ago', or a tag."
        ),
        (["fetch", "S", "E", "--at", "2011-13-01"], "'--at' cannot be '2011-13-01'"),
        (["fetch", "S", "E", "--at", "2011-02-29"], "'--at' cannot be '2011-02-29'"),
        (["fetch", "S", "E", "--at", "2011-12-15T25:00"], "'--at' cannot be"),
        (["fetch", "S", "E", "--at", "2011-12-15T10:00:00.Z"], "'--at' cannot be"),
        (["fetch", "S", "E", "--at", "2011-12-15T10:00+2"], "'--at' cannot be"),
        (["fetch", "S", "E", "--at", "-3"], "'--at' cannot be '-3'"),
        (["history", "S", "Country"], "expected an object such as Country/17, or a property"),
        (["history", "S", "Country/0"], "'OBJECT' cannot be 'Country/0'"),
        (["history", "S", "/1"], "'OBJECT' cannot be '/1'"),
        (["history", "S", "Country/1."], "'OBJECT' cannot be 'Country/1.'"),
        (["log", "S", "--object", "Country/1.name"], "expected an object such as Country/17."),
    ])
    func `a value that cannot be converted is told what is expected`(
        words: [String], expected: String
    ) throws {
        let result = try Tool.run(words)

        #expect(result.talk.contains(expected), "\(result.talk)")
        expectUsageError(result)
    }

    @Test(arguments: [
        "0", "42", "2011", "20111215", "18446744073709551615", "head", "2011-12-15", "2012-02-29",
        "2011-12-15T08:30", "2011-12-15 08:30:00", "2011-12-15T08:30:00Z", "2011-12-15t08:30:00z",
        "2011-12-15T08:30:00.123456Z", "2011-12-15T08:30:00,5Z", "2011-12-15T08:30+02:00",
        "2011-12-15T08:30:00-0330",
    ])
    func `every form of an entry or a time is taken`(moment: String) throws {
        let result = try Tool.run(["fetch", "no-such-store", "Country", "--at", moment])

        #expect(!result.talk.contains("cannot be '"), "\(result.talk)")
    }

    @Test(arguments: [
        ["--limit", "5"], ["--limit=5"], ["-n", "5"], ["-n5"], ["-n=5"], ["-rpn", "5"], ["-rpn5"],
        ["-r", "--limit", "5", "-p"],
    ])
    func `every way to write an option is taken`(words: [String]) throws {
        let result = try Tool.run(["log"] + words + ["no-such-store"])

        #expect(!result.talk.contains("--help"), "\(result.talk)")
    }

    @Test func `control characters in an argument do not reach the terminal`() throws {
        let result = try Tool.run(["fet\u{1B}[2Jch\nx"])

        #expect(result.talk.contains("'fet\\u{1B}[2Jch\\nx'"), "\(result.talk)")
        expectUsageError(result)
    }

    @Test func `no command at all prints the overview and fails`() throws {
        let result = try Tool.run([])

        #expect(result.status == 2)
        #expect(result.text.contains("Usage:"))
        #expect(result.talk.hasPrefix("error: A command is missing."))
    }

    private func expectUsageError(_ result: ToolResult) {
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.talk.hasPrefix("error: "))
        #expect(result.talk.filter { $0 == "\n" }.count == 1)
    }
}
