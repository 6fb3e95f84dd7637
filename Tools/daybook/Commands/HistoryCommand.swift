/// `daybook history STORE OBJECT`: everything that happened to one object.
struct HistoryCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let object = Positional(
        "OBJECT", .objectOrProperty, "The object, or one property of it.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N entries.")
    private let reverse = Flag("--reverse", short: "-r", "Newest first.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "history", in: .read,
            summary: "Tell everything that happened to an object, oldest first.",
            arguments: [store, object, limit, reverse],
            examples: [
                .init("daybook history iso.daybook Country/17", "From its insertion to today"),
                .init("daybook history iso.daybook Country/17.name", "Only its name"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there never was such an object."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
