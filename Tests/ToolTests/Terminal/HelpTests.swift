import Foundation
import Testing

/// Help, manual and completion, all made from the declarations.
@Suite struct HelpTests {
    static let commands = [
        "init", "record", "load", "log", "show", "fetch", "history", "blame", "bisect", "diff",
        "document", "tag", "model", "stats",
        "undo", "redo", "restore", "replay", "verify", "keygen", "checkpoint", "prove", "check",
        "tiles", "export", "import", "schema", "tail", "cursors", "projections", "backup",
        "compact", "recover", "clone", "push", "pull", "status", "doctor", "unlink", "data", "laws",
        "search", "migrate", "shell", "help", "manual", "completion",
    ]

    @Test func `the overview names every command in its group`() throws {
        let result = try Tool.run(["--help"])

        #expect(result.status == 0)
        #expect(result.talk.isEmpty)
        for command in Self.commands {
            #expect(result.lines.contains { $0.hasPrefix("  \(command) ") }, "\(command)")
        }
    }

    @Test(arguments: commands)
    func `every command explains itself in eighty columns`(command: String) throws {
        let page = try Tool.run([command, "--help"])

        #expect(page.status == 0)
        #expect(page.text.contains("Usage:\n  daybook \(command)"))
        #expect(page.text.contains("Example"))
        #expect(page.text.contains("Exit codes:\n  0  "))
        #expect(page.lines.allSatisfy { $0.count <= 80 }, "\(page.text)")
        #expect(try Tool.run(["help", command]).output == page.output)
        #expect(try Tool.run(["-h", command]).output == page.output)
    }

    @Test func `help and manual tell of every name of an option`() throws {
        let page = try Tool.run(["log", "--help"])
        let manual = try Tool.run(["manual"])

        #expect(page.text.contains("--since, --from SEQ|TIME"))
        #expect(manual.text.contains(".B \\-\\-from, \\-\\-since SEQ|TIME"))
    }

    @Test func `help is given however wrong the rest of the line is`() throws {
        let result = try Tool.run(["fetch", "--bogus", "-h", "--at", "never"])

        #expect(result.status == 0)
        #expect(result.text.hasPrefix("daybook fetch: "))
    }

    @Test func `help for an unknown command says which is near`() throws {
        let result = try Tool.run(["help", "histroy"])

        #expect(result.status == 2)
        #expect(result.talk.contains("did you mean 'history'?"))
    }

    @Test(arguments: [
        "add", "delete", "import", "record", "redo", "restore", "set", "shell", "undo",
    ])
    func `a command that saves names the exit code for servers that are not reached`(
        command: String
    ) throws {
        let page = try Tool.run(["help", command]).text

        #expect(page.contains(/\n +6 +No server was reached/), "\(page)")
    }

    @Test func `the version is a name and three numbers`() throws {
        let result = try Tool.run(["--version"])

        #expect(result.status == 0)
        #expect(result.text.wholeMatch(of: /daybook \d+\.\d+\.\d+\n/) != nil)
    }

    @Test func `the manual page holds every command and option`() throws {
        let result = try Tool.run(["manual"])

        #expect(result.status == 0)
        #expect(result.text.hasPrefix(".TH DAYBOOK 1 "))
        for command in Self.commands {
            #expect(result.text.contains(".SS daybook \(command)"), "\(command)")
        }
        #expect(result.text.contains("\\-\\-where P"))
    }

    @Test func `groff reads the manual page without a warning`() throws {
        let result = try Tool.shell(
            "$DAYBOOK manual | groff -man -ww -Tutf8 -z")

        #expect(result.status == 0)
        #expect(result.talk.isEmpty, "\(result.talk)")
    }

    @Test(arguments: [
        ("daybook fe", "fetch"),
        ("daybook fetch store Country --wh", "--where"),
        ("daybook log store --output j", "json jsonl"),
        ("daybook log store --output = j", "json jsonl"),
        ("daybook completion z", "zsh"),
        ("daybook log store -n ", ""),
        ("daybook --col", "--color"),
        ("daybook ba", "backup"),
        ("daybook tail store --cu", "--cursor"),
        ("daybook log store --op d", "delete"), ("daybook log store --fr", "--from"),
        ("daybook export store --sin", "--since"),
        ("daybook stats store --no-p", ""),
    ])
    func `bash completes commands, options and values`(typed: String, expected: String) throws {
        let words = typed.split(separator: " ", omittingEmptySubsequences: false)
        let array = words.map { "'\($0)'" }.joined(separator: " ")

        let result = try Tool.shell(
            """
            eval "$($DAYBOOK completion bash)"
            COMP_WORDS=(\(array)); COMP_CWORD=\(words.count - 1); _daybook
            echo "${COMPREPLY[@]}"
            """)

        #expect(result.talk.isEmpty, "\(result.talk)")
        #expect(result.text == expected + "\n")
    }

    @Test(arguments: [
        ("daybook tai", "tail"), ("daybook show store --st", "--stat"),
        ("daybook replay store --st", "--step"),
        ("daybook log store --op de", "delete"), ("daybook log store --fro", "--from"),
    ])
    func `fish completes commands, options and values`(typed: String, expected: String) throws {
        let result = try Tool.shell(
            "$DAYBOOK completion fish | fish --no-config -c "
                + "\"source; complete -C '\(typed)'\" | cut -f 1")

        #expect(result.talk.isEmpty, "\(result.talk)")
        #expect(result.lines == [expected])
    }

    @Test(arguments: [
        ("fetch STORE Boo", "Book"), ("fetch STORE ", "Book Disc Item Person Shelf"),
        ("history STORE She", "Shelf/"), ("history STORE Shelf/", "Shelf/1 Shelf/2"),
        ("history STORE Shelf/2", "Shelf/2"), ("history STORE Shelf/02", ""),
        ("history STORE Shelf/3", ""), ("history STORE Shelf/x", ""),
        ("history STORE Book/99999999999999999999", ""),
        ("blame STORE Shelf/1.la", "Shelf/1.label"), ("show STORE hea", "head"),
        ("fetch STORE Book --at ", "first head"), ("fetch STORE Book --sort pri", "price"),
        ("tail STORE --cursor mai", "mailer"), ("log STORE --property pag", "pages"),
        ("tail STORE --cursor = mai", "mailer"), ("tail STORE --cursor=mai", "--cursor=mailer"),
        ("tail STORE -cmai", "-cmailer"), ("tail STORE -c", ""), ("tail STORE -fmai", ""),
        // What is not a name in a store, and stores that are not there.
        ("log STORE --operation ", ""), ("log ST", ""), ("fetch gone.daybook Boo", ""),
        ("nothing x", ""),
        ("", ""), ("fetch", ""), ("fetch STORE -", ""),
    ])
    func `names in a store are told to the scripts of shells`(typed: String, names: String) throws {
        let library = try LibraryStore()
        for words in [
            ["tag", "library.daybook", "first", "2"],
            ["cursors", "library.daybook", "mailer", "2"],
        ] {
            let made = try library.run(words)
            try #require(made.status == 0, "\(made.talk)")
        }
        let words = typed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let named = words.map { $0 == "STORE" ? "library.daybook" : $0 }

        let result = try library.run(["--complete"] + named)

        #expect(result.status == 0 && result.talk.isEmpty)
        #expect(result.lines.joined(separator: " ") == names)
        guard words.contains("STORE") else { return }
        let command = (["--complete"] + words.filter { $0 != "STORE" }).map { "'\($0)'" }
        let alone = try Tool.shell(
            "cd '\(library.folder.url.path)'; DAYBOOK_STORE=library.daybook $DAYBOOK "
                + command.joined(separator: " "))
        #expect(alone.lines.joined(separator: " ") == names)
    }

    @Test(arguments: ["1", "2", "12", "29", "300", "4"])
    func `digits that are typed are completed with every number that begins so`(
        digits: String
    ) throws {
        let library = try LibraryStore(content: "")
        let lines = (1...300).map { number in
            let (entity, name) = number % 7 == 0 ? ("Person", "name") : ("Shelf", "label")
            return #"{"op":"insert","entity":"\#(entity)","values":{"\#(name)":"\#(number)"}}"#
        }
        let made = try library.record(lines.joined(separator: "\n"))
        try #require(made.status == 0, "\(made.talk)")
        let all = try library.run(["fetch", "library.daybook", "Shelf", "--output", "jsonl"]).text
            .matches(of: /"object":"(Shelf\/\d+)"/).map { String($0.1) }
        try #require(all.count == 258)

        let told = try library.run(["--complete", "history", "library.daybook", "Shelf/\(digits)"])

        #expect(told.lines == all.filter { $0.hasPrefix("Shelf/\(digits)") }.sorted())
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `every shell completes names in a store`(shell: String) throws {
        let library = try LibraryStore()
        let scripts = [
            "bash": """
            eval "$(daybook completion bash)"
            COMP_WORDS=(daybook history library.daybook Shelf/); COMP_CWORD=3; _daybook
            printf '%s\n' "${COMPREPLY[@]}"
            """,
            "zsh": """
            autoload -Uz compinit; compinit -D
            eval "$(daybook completion zsh)"
            words=(history library.daybook Shelf/); CURRENT=3
            compadd() { print -l -- "${@[4,-1]}"; }
            _daybook_names
            """,
            "fish": """
            daybook completion fish | source
            complete -C 'daybook history library.daybook Shelf/' | string replace -r '\t.*' ''
            """,
        ]
        let file = library.folder.url.appending(path: "script")
        try Data(try #require(scripts[shell]).utf8).write(to: file)

        let result = try Tool.shell(
            "cd '\(library.folder.url.path)'; PATH=\"$(dirname \"$DAYBOOK\"):$PATH\" \(shell) script"
        )

        #expect(
            result.lines.filter { $0.hasPrefix("Shelf/") } == ["Shelf/1", "Shelf/2"],
            "\(result.talk)")
    }

    @Test(arguments: [
        (
            "bash",
            """
            eval "$(daybook completion bash)"
            complete_last() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _daybook
                eval "printf '[%s]\\n' ${COMPREPLY[0]}"
            }
            # bash takes the word apart at the sign.
            complete_value() {
                local option=${@: -2:1}
                complete_last daybook "${@:1:$#-2}" "${option%=}" = "${@: -1}"
            }
            """
        ),
        (
            "zsh",
            """
            autoload -Uz compinit; compinit -D
            eval "$(daybook completion zsh)"
            # As zsh's own: names are quoted, but not with -Q.
            compadd() {
                local name
                for name in "${@[${@[(i)--]} + 1,-1]}"; do
                    if (( ${@[(I)-Q]} )); then print -r -- $name; else print -r -- ${(q)name}; fi
                done
            }
            complete_last() { words=("${@[2,-1]}"); CURRENT=$#words; eval "printf '[%s]\\n' $(_daybook_names)"; }
            # zsh takes what is before the value away from what is completed.
            complete_value() {
                local IPREFIX=${@[-2]} PREFIX=${@[-1]}
                words=("${@[1,-3]}" "$IPREFIX$PREFIX"); CURRENT=$#words
                eval "printf '[%s]\\n' $(_daybook_names)"
            }
            """
        ),
    ])
    func `a name is one word of the line, of which the shell runs nothing`(
        shell: String, functions: String
    ) throws {
        let library = try LibraryStore()
        for words in [
            ["tag", "library.daybook", "edition-7;true", "2"],
            ["tag", "library.daybook", "x`pwd`", "2"],
            ["cursors", "library.daybook", "weekly report", "2"],
        ] {
            let made = try library.run(words)
            try #require(made.status == 0, "\(made.talk)")
        }
        let script = """
            \(functions)
            complete_last daybook fetch library.daybook Book --at ed
            complete_last daybook show library.daybook ed
            complete_value fetch library.daybook Book --at= ed
            complete_last daybook show library.daybook x
            complete_last daybook tail library.daybook --cursor we
            complete_last daybook tail library.daybook --cursor 'weekly\\ r'
            """
        try Data(script.utf8).write(to: library.folder.url.appending(path: "script"))

        let result = try Tool.shell(
            "cd '\(library.folder.url.path)'; PATH=\"$(dirname \"$DAYBOOK\"):$PATH\" \(shell) script"
        )

        #expect(
            result.lines.filter { $0.hasPrefix("[") } == [
                "[edition-7;true]", "[edition-7;true]", "[edition-7;true]", "[x`pwd`]",
                "[weekly report]",
                "[weekly report]",
            ], "\(result.text)\n\(result.talk)")
    }

    @Test func `in an open quote, bash offers names as they are there, or not at all`() throws {
        let library = try LibraryStore()
        for name in ["x`pwd`", "ready"] {
            let made = try library.run(["tag", "library.daybook", name, "2"])
            try #require(made.status == 0, "\(made.talk)")
        }

        let result = try Tool.shell(
            """
            cd '\(library.folder.url.path)'
            eval "$($DAYBOOK completion bash)"
            for typed in '"x' "'x" '"re'; do
                COMP_WORDS=("$DAYBOOK" fetch library.daybook Book --at "$typed"); COMP_CWORD=5; _daybook
                printf '[%s]\\n' "${COMPREPLY[0]}"
            done
            """)

        #expect(result.lines == ["[]", "[x`pwd`]", "[ready]"], "\(result.talk)")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `every shell accepts its script`(shell: String) throws {
        let result = try Tool.shell(
            "$DAYBOOK completion \(shell) | \(shell) -n")

        #expect(result.status == 0)
        #expect(result.talk.isEmpty, "\(result.talk)")
    }
}
