import CDaybookTerminal
import DaybookJournalLog
import DaybookSnapshotStore
import Foundation

/// Commands about one store, one after another.
///
/// Each runs as a process of its own, in the same terminal: so Control-C ends a command and not the
/// shell, and commands that follow the journal, page their output or ask for keys work as usual.
struct ShellSession {
    /// The shell's own commands.
    static let dotCommands = [".at", ".help", ".quit"]

    /// The commands whose exit code 1 is a normal answer, not a fault.
    private static let comparing: Set<String> = ["bisect", "diff"]

    /// The result of a line.
    enum Ending: Equatable {
        case done(ExitCode)
        case quit
    }

    /// A state of the past, in which a line of the shell has asked to read.
    private struct Past {
        /// What the line says: the number of an entry, a tag or a time.
        let name: String
        /// The entry that it meant then. All commands are given its number, for a time might mean another to each.
        let entry: SequenceNumber
    }

    /// The state that reading commands use; nil for the newest.
    private var past: Past?

    private let path: String
    /// Options of the shell that are passed to every command, a word each.
    private let options: [String]
    /// Whether commands may read from the terminal.
    private let isInteractive: Bool
    private let console: Console

    init(_ path: String, options: [String], isInteractive: Bool, _ console: Console) {
        self.path = path
        self.options = options
        self.isInteractive = isInteractive
        self.console = console
    }

    /// `atlas> `, or `atlas@7> ` in the past.
    var prompt: String {
        let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
        return DisplayText.escaped(name) + (past.map { "@\($0.name)" } ?? "") + "> "
    }

    /// Carries out a line.
    ///
    /// - Throws: ``ToolError`` when it cannot be understood; a failed command has reported its
    ///   reason itself.
    mutating func perform(_ line: String) throws -> Ending {
        guard let words = ShellWords(line)?.words else {
            throw ToolError.usage("A quote is not closed, or a backslash ends the line.")
        }
        guard let first = words.first, !first.hasPrefix("#") else { return .done(.success) }
        guard first.hasPrefix(".") else {
            // A short name stands for the beginning of a line here, too.
            let line = (Configuration.current.aliases[first] ?? [first]) + words.dropFirst()
            return .done(try run(line[0], Array(line.dropFirst())))
        }
        switch (first, words.dropFirst().first, words.count) {
        case (".quit", nil, _): return .quit
        case (".at", let target, ...2): try travel(to: target)
        case (".help", nil, _): try printHelp()
        case (".help", let name?, 2): return .done(try run("help", [name]))
        default:
            let isKnown = Self.dotCommands.contains(first)
            let clause = Suggestion.clause(for: first, among: Self.dotCommands)
            throw ToolError.usage(
                (isKnown ? "'\(first)' has too many arguments." : "There is no '\(first)'\(clause)")
                    + " Enter '.help' to see what there is.")
        }
        return .done(.success)
    }

    // MARK: - The shell's own

    private mutating func travel(to target: String?) throws {
        guard let target, target != "head" else {
            past = nil
            return try console.talk("As of now.")
        }
        guard let found = JournalPosition(target) else {
            throw ToolError.usage(
                "'.at' cannot be '\(target)': expected \(ValueParser.moment.expectation).")
        }
        let store = try StoreReading.open(path)
        let sequence = try StoreReading.sequence(of: found, in: store)
        try store.close()
        past = Past(name: target, entry: sequence)
        try console.talk(
            sequence == .zero ? "As of before the first entry." : "As of entry \(sequence).")
    }

    private func printHelp() throws {
        let lines = [
            ("COMMAND ...", "A command of daybook without the name of the store."),
            (".at [SEQ|TIME]", "Let commands with --at read as of then; now when left out."),
            (".help [COMMAND]", "This help, or that of a command."),
            (".quit", "Leave, as Control-D does."),
        ]
        for (name, meaning) in lines {
            let gap = String(repeating: " ", count: 17 - name.count)
            try console.print("  " + console.palette(name, .name) + gap + meaning)
        }
        try console.print()
        let names = CommandList.all.map(\.declaration.name).filter { $0 != "shell" }
        try console.print("Commands: " + names.joined(separator: ", ") + ".")
    }

    // MARK: - Commands

    private func run(_ name: String, _ words: [String]) throws -> ExitCode {
        // What is wrong with a line is said in the shell's own words, before a process is started for it.
        let parser = ArgumentParser(CommandList.all, in: .shell)
        let command = try parser.command(named: name).declaration
        guard name != "shell" else { throw ToolError.usage("This is the shell already.") }
        if name == "help", words.count == 1, !words[0].hasPrefix("-") {
            _ = try parser.command(named: words[0])
        }
        var line = [name] + words
        if command.positionals.first?.name == "STORE" {
            // A store whose name begins with a dash must not be mistaken for an option.
            let store = path.hasPrefix("-") ? "./" + path : path
            let own = try options(besides: words) + position(for: command, words)
            line = [name] + own + [store] + words
        }
        _ = try parser.parse(line)
        let code = try start(line)
        return code == .finding && Self.comparing.contains(name) ? .success : code
    }

    /// The options of the shell, without those that the line has itself.
    private func options(besides words: [String]) -> [String] {
        let given = Set(words.map { $0.prefix { $0 != "=" } })
        return options.filter { !given.contains($0.prefix { $0 != "=" }) }
    }

    /// The option with which a command reads the past, unless the line has one itself.
    private func position(
        for command: CommandDeclaration, _ words: [String]
    ) throws -> [String] {
        guard let past else { return [] }
        let name = command.name == "log" ? "--until" : "--at"
        let option = command.options.first { $0.name == name }
        guard let option else {
            // A line that names entries itself needs no option.
            if !command.positionals.contains(where: { $0.placeholder.contains("SEQ") }) {
                try console.talk("'.at \(past.name)' does not hold for '\(command.name)'.")
            }
            return []
        }
        let isGiven = words.contains { word in
            option.names.contains(String(word.prefix { $0 != "=" }))
                || (command.name == "log" && (word.contains("..") || word == "-f"))
        }
        return isGiven ? [] : [option.name, "\(past.entry)"]
    }

    private func start(_ words: [String]) throws -> ExitCode {
        try console.flush()
        guard let tool = Bundle.main.executableURL else {
            throw ToolError.usage("The program itself cannot be found.")
        }
        let failure = "No command can be started"
        try SystemCall.setProgram([tool.path] + words, failure)
        let ending = terminal_program_run(isInteractive ? TERMINAL_SHARED : TERMINAL_NO_INPUT)
        guard ending.error == 0 else { throw ToolError.system(failure, ending.error) }
        guard ending.signal == 0 else { return .unreadable }
        return ExitCode(rawValue: ending.code) ?? .unreadable
    }
}
