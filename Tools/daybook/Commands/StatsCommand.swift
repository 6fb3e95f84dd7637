/// `daybook stats STORE`: how much there is of everything.
struct StatsCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "stats", in: .read, summary: "Count entries, objects, bytes and pages.",
            arguments: [store],
            examples: [.init("daybook stats iso.daybook", "Sizes at a glance")],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
