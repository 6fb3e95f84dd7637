/// `daybook log STORE`: the entries of the journal.
struct LogCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entity = RepeatedOption(
        "--entity", short: "-e", "ENTITY", .name, "Only entries that change objects of this entity."
    )
    private let object = RepeatedOption(
        "--object", "OBJECT", .object, "Only entries that change this object.")
    private let author = RepeatedOption(
        "--author", short: "-a", "A", .text, "Only entries of this author.")
    private let since = Option(
        "--since", "SEQ|TIME", .moment, "Only entries from this one or this time on.")
    private let until = Option(
        "--until", "SEQ|TIME", .moment,
        "Only entries up to this one or this time; a date alone includes its day.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N entries.")
    private let reverse = Flag("--reverse", short: "-r", "Oldest first.")
    private let changes = Flag(
        "--changes", short: "-p", "Show the changes of each entry, with old and new values.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "log", in: .read, summary: "List the entries of the journal, newest first.",
            arguments: [store, entity, object, author, since, until, limit, reverse, changes],
            examples: [
                .init("daybook log iso.daybook -n 5", "The newest five entries"),
                .init(
                    "daybook log iso.daybook --entity Country --since 2011-01-01 -p",
                    "What happened to countries since 2011, value by value"),
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
