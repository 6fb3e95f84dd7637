import Foundation

/// Reads a command line by the declarations of the commands.
///
/// Principles:
/// - Options may stand anywhere; `--` ends them; `-` alone is a value.
/// - `--name value`, `--name=value`, `-n value` and `-nvalue` are the same; `-ab` is `-a -b`.
/// - No abbreviations: a script written today must not change its meaning when options are added.
///   After a typing error the message suggests a similar word.
/// - Nothing runs before the whole line is understood.
struct ArgumentParser {
    /// The request of a command line.
    enum Request {
        case overview
        case nothing
        case version
        case help(any Command)
        case run(any Command, ParsedArguments)
    }

    /// Where a line is written, which decides how its commands are named and how one asks for help.
    enum Voice {
        case terminal
        /// The lines of `daybook shell`.
        case shell

        /// A command as it is written there.
        func name(of command: String) -> String { self == .shell ? command : "daybook \(command)" }

        /// What shows the arguments of a command.
        func help(for command: String) -> String {
            self == .shell ? "Enter '.help \(command)'" : "Run 'daybook \(command) --help'"
        }

        /// What shows all commands.
        var help: String { self == .shell ? "Enter '.help'" : "Run 'daybook help'" }
    }

    private let commands: [any Command]
    private let voice: Voice
    /// The store of commands whose lines name none.
    private let store: String?
    /// Lines by their short names.
    private let aliases: [String: [String]]

    /// Reads the lines of these commands, which may leave out a store that is given here, and begin with a short name.
    init(
        _ commands: [any Command], store: String? = nil, aliases: [String: [String]] = [:],
        in voice: Voice = .terminal
    ) {
        self.commands = commands
        self.voice = voice
        self.store = store
        self.aliases = aliases
    }

    /// Understands a command line, without the name of the program.
    ///
    /// - Throws: ``ToolError`` with ``ExitCode/usage``.
    func parse(_ words: [String]) throws(ToolError) -> Request {
        var (name, rest) = try splitCommand(words)
        if let short = name, let line = aliases[short], let first = line.first {
            (name, rest) = (first, line.dropFirst() + rest)
        }
        guard let name else {
            if words.contains("--version") { return .version }
            return asksForHelp(words) ? .overview : .nothing
        }
        let command = try command(named: name)
        if asksForHelp(rest) { return .help(command) }
        return .run(command, try arguments(of: command.declaration, in: rest))
    }

    /// The command with a name.
    func command(named name: String) throws(ToolError) -> any Command {
        if let command = commands.first(where: { $0.declaration.name == name }) { return command }
        guard voice != .shell || !["exit", "quit", "bye", "q"].contains(name) else {
            throw .usage("There is no command '\(name)'. Enter '.quit', or Control-D, to leave.")
        }
        guard !Self.namesStore(name) else {
            throw .usage(
                "A command comes first, and then the store, as in '\(voice.name(of: "log")) \(name)'. "
                    + "\(voice.help) to see all commands.")
        }
        let clause = Suggestion.clause(
            for: name, among: commands.map(\.declaration.name) + aliases.keys)
        throw .usage(
            "There is no command '\(name)'\(clause) \(voice.help) to see all commands.")
    }

    // MARK: - The command's name

    /// The first word that is neither an option nor the value of one is the command.
    private func splitCommand(
        _ words: [String]
    ) throws(ToolError) -> (name: String?, rest: [String]) {
        var index = 0
        while index < words.count {
            let word = words[index]
            guard word.hasPrefix("-"), word.count > 1 else {
                var rest = words
                rest.remove(at: index)
                return (word, rest)
            }
            let spelling = String(word.prefix { $0 != "=" })
            if spelling == "--version" {
                index += 1
                continue
            }
            guard let option = SharedOptions.all.first(where: { $0.names.contains(spelling) })
            else {
                let known = SharedOptions.all.map(\.name) + ["--version"]
                let clause = Suggestion.clause(for: spelling, among: known)
                throw .usage(
                    "There is no option '\(spelling)' before a command\(clause) "
                        + "\(voice.help) to see what there is.")
            }
            index += option.takesValue && !word.contains("=") ? 2 : 1
        }
        return (nil, words)
    }

    private func asksForHelp(_ words: [String]) -> Bool {
        words.prefix { $0 != "--" }.contains { SharedOptions.help.declaration.names.contains($0) }
    }

    // MARK: - Its arguments

    private func arguments(
        of command: CommandDeclaration, in words: [String]
    ) throws(ToolError) -> ParsedArguments {
        let given = Result { () throws(ToolError) in try scan(words, for: command) }
        guard let store, let first = command.positionals.first, first.name == "STORE" else {
            return try given.get()
        }
        // A file that is there is meant, and what is called like a store. Otherwise the line may do without a store, if
        // it fits then.
        if case .success(let parsed) = given, let path = parsed.firstText(of: first),
            Self.namesStore(path)
        {
            return parsed
        }
        let completed = Result { () throws(ToolError) in try scan([store] + words, for: command) }
        if case .failure = completed, case .success(let parsed) = given { return parsed }
        return try completed.get()
    }

    /// Whether a word stands for a store also where a line may do without one.
    static func namesStore(_ word: String) -> Bool {
        word.hasSuffix(".daybook") || FileManager.default.fileExists(atPath: word)
    }

    private func scan(
        _ words: [String], for command: CommandDeclaration
    ) throws(ToolError) -> ParsedArguments {
        var scanner = ArgumentScanner(command, words, voice)
        try scanner.scan()
        return scanner.parsed
    }
}

/// Goes through the words after a command's name.
private struct ArgumentScanner {
    private(set) var parsed: ParsedArguments
    private let command: CommandDeclaration
    private let voice: ArgumentParser.Voice
    private let options: [ArgumentDeclaration]
    private var words: ArraySlice<String>
    private var positionals: ArraySlice<ArgumentDeclaration>

    init(_ command: CommandDeclaration, _ words: [String], _ voice: ArgumentParser.Voice) {
        self.command = command
        self.voice = voice
        self.words = words[...]
        options = command.options + SharedOptions.all
        positionals = command.positionals[...]
        parsed = ParsedArguments(command.arguments + SharedOptions.all)
    }

    /// The command as it is written where the line is.
    private var name: String { voice.name(of: command.name) }

    mutating func scan() throws(ToolError) {
        while let word = words.popFirst() {
            if word == "--" {
                while let word = words.popFirst() { try takePositional(word) }
            } else if word.hasPrefix("--") {
                try takeLongOption(word)
            } else if word.hasPrefix("-"), word.count > 1 {
                try takeShortOptions(word)
            } else {
                try takePositional(word)
            }
        }
        try checkThatNothingIsMissing()
        try checkFormat()
    }

    private mutating func takeLongOption(_ word: String) throws(ToolError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let option = try option(String(parts[0]))
        let attached = parts.count > 1 ? String(parts[1]) : nil
        guard option.takesValue else {
            guard attached == nil else {
                throw usage("'\(option.name)' takes no value.")
            }
            return try take("", for: option, as: option.name)
        }
        guard let attached else {
            let value = try nextValue(for: option, option.name)
            return try take(value, for: option, as: option.name)
        }
        try take(attached, for: option, as: option.name)
    }

    /// `-n 5`, `-n5`, `-n=5`, and several flags in one word.
    private mutating func takeShortOptions(_ word: String) throws(ToolError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            let option = try option(name)
            guard option.takesValue else {
                try take("", for: option, as: name)
                continue
            }
            var attached = String(letters)
            if attached.hasPrefix("=") { attached.removeFirst() }
            let value = letters.isEmpty ? try nextValue(for: option, name) : attached
            return try take(value, for: option, as: name)
        }
    }

    private func option(_ spelling: String) throws(ToolError) -> ArgumentDeclaration {
        if let option = options.first(where: { $0.names.contains(spelling) }) { return option }
        let known = command.allOptions.flatMap(\.names)
        let clause = Suggestion.clause(for: spelling, among: known.filter { $0.hasPrefix("--") })
        throw usage("'\(name)' has no option '\(spelling)'\(clause)")
    }

    private mutating func nextValue(
        for option: ArgumentDeclaration, _ spelling: String
    ) throws(ToolError) -> String {
        let isOption = words.first.map { word in
            options.contains { $0.names.contains(String(word.prefix { $0 != "=" })) }
        }
        guard isOption == false, let value = words.popFirst() else {
            let attached = words.first.map {
                " If '\($0)' is meant, write '\(spelling)=\($0)'."
            }
            throw usage(
                "'\(spelling)' needs a value: \(option.expectation).\(attached ?? "")")
        }
        return value
    }

    private mutating func takePositional(_ word: String) throws(ToolError) {
        guard let positional = positionals.first else {
            // The shell's store is not written in its lines.
            let takes = command.positionals.map(\.name)
                .filter { voice == .terminal || $0 != "STORE" }.joined(separator: " ")
            let expected = takes.isEmpty ? "takes none" : "takes \(takes)"
            throw usage(
                "'\(word)' is one argument too many: '\(name)' \(expected).")
        }
        if positional.occurrence != .several { positionals.removeFirst() }
        try take(word, for: positional, as: positional.name)
    }

    private mutating func take(
        _ text: String, for argument: ArgumentDeclaration, as spelling: String
    ) throws(ToolError) {
        if argument.occurrence != .repeated, argument.kind == .option,
            parsed.count(of: argument) > 0
        {
            let names = argument.names.filter { $0.hasPrefix("--") }.map { "'\($0)'" }
            throw usage(
                "\(names.joined(separator: " or ")) is given twice; it can have only one value.")
        }
        guard let value = argument.convert(text) else {
            var message = "'\(spelling)' cannot be '\(text)': expected \(argument.expectation)"
            message += Suggestion.clause(for: text, among: argument.choices)
            throw usage(message)
        }
        parsed.append(value, to: argument)
    }

    private func checkThatNothingIsMissing() throws(ToolError) {
        let missing = command.arguments.filter {
            ($0.occurrence == .once || $0.occurrence == .several) && parsed.count(of: $0) == 0
        }
        guard let first = missing.first else { return }
        let names = missing.map { $0.kind == .option ? "\($0.name) \($0.placeholder)" : $0.name }
        throw usage(
            missing.count == 1
                ? "\(names[0]) is missing: \(Self.lowercasedFirst(first.help))"
                : "\(names.joined(separator: ", ")) are missing.")
    }

    private func checkFormat() throws(ToolError) {
        guard let format = parsed[SharedOptions.output], !command.formats.contains(format) else {
            return
        }
        guard !command.formats.isEmpty else {
            throw usage("'\(name)' has only one form of output.")
        }
        let names = command.formats.map(\.rawValue).joined(separator: " or ")
        throw usage(
            "'\(name)' cannot print \(format.rawValue): expected \(names).")
    }

    private func usage(_ message: String) -> ToolError {
        .usage("\(message) \(voice.help(for: command.name)) to see its arguments.")
    }

    private static func lowercasedFirst(_ sentence: String) -> String {
        sentence.prefix(1).lowercased() + sentence.dropFirst()
    }
}
