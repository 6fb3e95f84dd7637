/// One command of the tool.
///
/// A command declares its arguments as constants, lists them in its declaration and reads their
/// values with them; the parser, `--help`, the manual page and the completion of the shells all
/// come from the declaration.
protocol Command: Sendable {
    var declaration: CommandDeclaration { get }

    /// Does the work.
    ///
    /// - Throws: ``ToolError`` with the message and the exit code; ``OutputClosed`` when the reader
    ///   of the output is gone.
    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode

    /// Whether the text goes through a pager on a terminal, unless the user says otherwise.
    func isPaged(_ arguments: ParsedArguments) -> Bool
}

extension Command {
    func isPaged(_ arguments: ParsedArguments) -> Bool { declaration.isPaged }
}

/// The group of a command in the overview.
enum CommandGroup: String, CaseIterable, Sendable {
    case write = "Write"
    case read = "Read"
    case past = "Go back"
    case prove = "Check and move"
    case tool = "The tool itself"
}

/// Everything about a command except what it does.
struct CommandDeclaration: Sendable {
    /// A valid command line and its purpose.
    struct Example: Sendable {
        let line: String
        let purpose: String

        init(_ line: String, _ purpose: String) {
            self.line = line
            self.purpose = purpose
        }
    }

    /// The meaning of an exit code for one command.
    struct Ending: Sendable {
        let code: ExitCode
        let meaning: String

        init(_ code: ExitCode, _ meaning: String? = nil) {
            self.code = code
            self.meaning = meaning ?? code.meaning
        }
    }

    let name: String
    let group: CommandGroup
    /// One sentence that begins with a verb.
    let summary: String
    /// Paragraphs, separated by empty lines; an indented paragraph is printed verbatim.
    let discussion: String
    let arguments: [ArgumentDeclaration]
    /// The accepted values of `--output`; none for a command with its own format.
    let formats: [OutputFormat]
    /// Whether the text is usually longer than a screen.
    let isPaged: Bool
    let examples: [Example]
    let endings: [Ending]

    init(
        _ name: String, in group: CommandGroup, summary: String, discussion: String = "",
        arguments: [any Argument] = [], formats: [OutputFormat] = OutputFormat.allCases,
        examples: [Example] = [],
        endings: [Ending] = [Ending(.success), Ending(.usage)],
        isPaged: Bool = false
    ) {
        self.name = name
        self.group = group
        self.summary = summary
        self.discussion = discussion
        self.arguments = arguments.map(\.declaration)
        self.formats = formats
        self.isPaged = isPaged
        self.examples = examples
        self.endings = endings
    }

    var positionals: [ArgumentDeclaration] { arguments.filter { $0.kind == .positional } }
    var options: [ArgumentDeclaration] { arguments.filter { $0.kind != .positional } }

    /// Whether the command opens a store.
    private var isAboutStore: Bool {
        positionals.contains { $0.name == "STORE" || $0.name == "NEW" }
    }

    /// Whether the store may be one that is linked to a shared store.
    private var mayBeLinked: Bool { positionals.contains { $0.name == "STORE" } }

    /// The options of this command and the shared options that apply to it.
    var allOptions: [ArgumentDeclaration] {
        options
            + SharedOptions.all.filter {
                switch $0.name {
                case SharedOptions.output.declaration.name: !formats.isEmpty
                case SharedOptions.noPager.declaration.name: isPaged
                case SharedOptions.lockTimeout.declaration.name: isAboutStore
                case SharedOptions.offline.declaration.name: mayBeLinked
                default: true
                }
            }
    }
}

/// The options that every command understands.
enum SharedOptions {
    static let output = Option<OutputFormat>(
        "--output", "FORMAT", .oneOf, "Print in this form; text by default.")
    static let color = Option<ColorChoice>(
        "--color", "WHEN", .oneOf,
        "Colour the text; auto, the default, does so on a terminal.")
    static let quiet = Flag(
        "--quiet", short: "-q", "Print only warnings and errors on standard error.")
    static let noPager = Flag(
        "--no-pager", "Print long text on a terminal directly, not through a pager.")
    static let lockTimeout = Option<Duration>(
        "--lock-timeout", "SECONDS", .seconds,
        "Wait at most this long for another process that writes to the store; 60 by default.")
    static let offline = Flag(
        "--offline", "Do not ask the servers of a store that is shared with other machines.")
    static let help = Flag("--help", short: "-h", "Print this help.")

    /// What a command that starts others hands on to them, a word each: for how long they wait, and whom they ask.
    static func handedOn(_ arguments: ParsedArguments) -> [String] {
        (arguments[lockTimeout].map { ["--lock-timeout=\($0 / .seconds(1))"] } ?? [])
            + (arguments[offline] ? ["--offline"] : [])
    }

    static var all: [ArgumentDeclaration] {
        [
            output.declaration, color.declaration, quiet.declaration, noPager.declaration,
            lockTimeout.declaration, offline.declaration, help.declaration,
        ]
    }
}
