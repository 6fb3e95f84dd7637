/// `daybook replay STORE`: the journal folded again from its first entry.
struct ReplayCommand: Command {
    private let store = Positional("STORE", .path, "The store whose journal to replay.")
    private let last = Option(
        "--to", "SEQ|TIME", .moment, "Stop after this entry or time; at the head when left out.")
    private let target = Option(
        "--into", "NEW", .path, "Replay into a new store; the file must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "replay", in: .past,
            summary: "Replay the journal, to check the store or into a new one.",
            arguments: [store, last, target],
            examples: [
                .init(
                    "daybook replay iso.daybook --to 6 --into then.daybook",
                    "A store as it was at entry 6")
            ],
            endings: [
                .init(.success), .init(.finding, "The replay differs from what the store holds."),
                .init(.usage, "Wrong usage, or the new file exists already."), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
