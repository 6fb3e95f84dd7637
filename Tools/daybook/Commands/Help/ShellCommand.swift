import DaybookSnapshotStore
import Foundation

/// `daybook shell STORE`: commands about one store.
struct ShellCommand: Command {
    private let store = Positional("STORE", .path, "The store that the commands are about.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "shell", in: .tool, summary: "Enter commands about one store.",
            discussion: """
                Every command of the tool can be entered, without the name of the store: 'log -n 3'.
                '.at 7' or '.at 2011-12-15' makes commands read the past until '.at head';
                '.help' explains the rest.

                On a terminal there is a history, kept from session to session, and completion
                of commands, options, entities, objects and properties with Tab; Control-D
                leaves. From a file or a pipe, lines are read one after another, '#' begins a
                comment, and the first command that fails ends the shell with its exit code.
                That includes 'verify', 'check' and 'replay' with a finding, but not 'diff' with
                differences or 'bisect' without a turn.
                """,
            arguments: [store], formats: [],
            examples: [
                .init("daybook shell iso.daybook", "Look around"),
                .init("daybook shell iso.daybook < questions", "Run the lines of a file"),
            ],
            endings: [
                .init(.success), .init(.finding, "A line found something wrong."),
                .init(.usage, "Wrong usage, on the command line or in a line."),
                .init(.unreadable),
                .init(.unverifiable), .init(.conflict), .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        try StoreReading.open(path).close()
        let isInteractive = SystemCall.isTerminal(.input) && SystemCall.isTerminal(.output)
        var session = ShellSession(
            path, options: Self.handedOn(arguments), isInteractive: isInteractive, console)
        guard isInteractive else { return try read(&session, console) }
        return try converse(&session, path, console)
    }

    private static func handedOn(_ arguments: ParsedArguments) -> [String] {
        (arguments[SharedOptions.color].map { ["--color=\($0.rawValue)"] } ?? [])
            + (arguments[SharedOptions.quiet] ? ["--quiet"] : [])
            + (arguments[SharedOptions.noPager] ? ["--no-pager"] : [])
            + SharedOptions.handedOn(arguments)
    }

    /// Lines from a file or a pipe, up to the first that fails.
    private func read(_ session: inout ShellSession, _ console: Console) throws -> ExitCode {
        while let bytes = try console.input.next() {
            let number = console.input.lineNumber
            guard let line = String(validating: bytes, as: UTF8.self) else {
                throw ToolError.usage("Line \(number): This is not UTF-8 text.")
            }
            do {
                switch try session.perform(line) {
                case .quit: return .success
                case .done(.success): continue
                case .done(let code):
                    throw ToolError(code, "Line \(number) failed; the rest was not run.")
                }
            } catch let error as ToolError where !error.message.hasPrefix("Line \(number)") {
                throw ToolError(
                    error.code, "Line \(number): \(error.message)", details: error.details)
            }
        }
        return .success
    }

    /// Lines from a person; a mistake is reported and the shell continues.
    private func converse(
        _ session: inout ShellSession, _ path: String, _ console: Console
    ) throws -> ExitCode {
        let completer = ShellCompleter(path)
        let history = try historyFile(console)
        guard let editor = LineEditor(history: history, complete: completer.candidates) else {
            return try read(&session, console)
        }
        try console.talk("Enter '.help' for help, '.quit' or Control-D to leave.")
        while true {
            try console.flush()
            switch editor.read(prompt: session.prompt) {
            case .interrupted: continue
            case .end:
                try console.print()
                return try leave(editor, console)
            case .line(let line):
                do {
                    if try session.perform(line) == .quit { return try leave(editor, console) }
                } catch is OutputClosed {
                    return try leave(editor, console)
                } catch {
                    let failure = ToolError(error)
                    console.fail(failure.message, details: failure.details)
                }
            }
        }
    }

    private func historyFile(_ console: Console) throws -> URL {
        do {
            return try LineEditor.historyFile()
        } catch {
            try console.warn("The history cannot be kept: \(ToolError.words(for: error)).")
            return URL(fileURLWithPath: "/dev/null")
        }
    }

    private func leave(_ editor: LineEditor, _ console: Console) throws -> ExitCode {
        if !editor.saveHistory() { try console.warn("The history could not be written.") }
        return .success
    }
}
