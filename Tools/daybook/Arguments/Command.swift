/// One command of the tool.
///
/// A command declares its arguments as constants, lists them in its declaration and reads their
/// values with them; the parser, `--help`, the manual page and the completion of the shells all
/// come from the declaration.
protocol Command: Sendable {
    var declaration: CommandDeclaration { get }

    /// Does the work.
    ///
    /// - Throws: ``ToolError`` with the sentence and the code to end with; ``OutputClosed`` when
    ///   nobody reads the output any more.
    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode

    /// Whether the text goes through a pager on a terminal, as long as nobody says otherwise.
    func isPaged(_ arguments: ParsedArguments) -> Bool
}

extension Command {
    func isPaged(_ arguments: ParsedArguments) -> Bool { declaration.isPaged }
}

/// Where a command stands in the overview.
enum CommandGroup: String, CaseIterable, Sendable {
    case write = "Write"
    case read = "Read"
    case past = "Go back"
    case prove = "Check and move"
    case tool = "The tool itself"
}

/// Everything about a command except what it does.
struct CommandDeclaration: Sendable {
    /// A command line that works, and what it is good for.
    struct Example: Sendable {
        let line: String
        let purpose: String

        init(_ line: String, _ purpose: String) {
            self.line = line
            self.purpose = purpose
        }
    }

    /// What an exit code means for one command.
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
    /// Paragraphs, divided by empty lines; a paragraph that is moved in stays as it is.
    let discussion: String
    let arguments: [ArgumentDeclaration]
    /// The forms that `--output` may ask for; a command that writes data of its own form has none.
    let formats: [OutputFormat]
    /// Whether the text is as a rule longer than a screen.
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

    /// The options of this command and those of every command that mean something here.
    var allOptions: [ArgumentDeclaration] {
        options
            + SharedOptions.all.filter {
                switch $0.name {
                case SharedOptions.output.declaration.name: !formats.isEmpty
                case SharedOptions.noPager.declaration.name: isPaged
                case SharedOptions.lockTimeout.declaration.name: isAboutStore
                default: true
                }
            }
    }
}

/// The options that every command understands.
enum SharedOptions {
    static let output = Option<OutputFormat>(
        "--output", "FORMAT", .oneOf, "Print in this form; text when left out.")
    static let color = Option<ColorChoice>(
        "--color", "WHEN", .oneOf,
        "Colour the text; auto, which is used when left out, does so on a terminal.")
    static let quiet = Flag(
        "--quiet", short: "-q", "Say nothing on standard error but warnings and errors.")
    static let noPager = Flag(
        "--no-pager", "Print long text on a terminal as it is, and not through a pager.")
    static let lockTimeout = Option<Duration>(
        "--lock-timeout", "SECONDS", .seconds,
        "Wait at most so long for another process that writes to the store; 60 when left out.")
    static let help = Flag("--help", short: "-h", "Print this help.")

    static var all: [ArgumentDeclaration] {
        [
            output.declaration, color.declaration, quiet.declaration, noPager.declaration,
            lockTimeout.declaration, help.declaration,
        ]
    }
}
