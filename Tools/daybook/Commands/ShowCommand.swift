/// `daybook show STORE SEQ`: one entry and all its changes.
struct ShowCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entry = Positional(
        "SEQ", .moment, "The entry: its sequence number, 'head', or a time.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "show", in: .read, summary: "Show one entry with all its changes, old values and new.",
            arguments: [store, entry],
            examples: [.init("daybook show iso.daybook 7", "Entry 7")],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
