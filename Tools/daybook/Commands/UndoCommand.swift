/// `daybook undo STORE SEQ`: the inverse of an entry as a new entry.
struct UndoCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entry = Positional("SEQ", .sequence, "The entry to undo.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show what would be changed, change nothing.")
    private let author = Option("--author", short: "-a", "A", .text, "Who undoes it.")
    private let note = Option("--note", "N", .text, "Why it is undone.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "undo", in: .past, summary: "Undo an entry by appending its inverse.",
            discussion: """
                Nothing is removed from the journal: the undo is an entry of its own, and can be
                undone. An entry can be undone as long as no later entry has touched the same
                properties; otherwise nothing is changed and the later entries are named.
                """,
            arguments: [store, entry, isDry, author, note],
            examples: [
                .init("daybook undo iso.daybook 7 --dry-run", "See what undoing entry 7 would do"),
                .init("daybook undo iso.daybook 7 --note 'Wrong newsletter'", "Undo it"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
                .init(.conflict, "Later entries stand on it; nothing is changed."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
