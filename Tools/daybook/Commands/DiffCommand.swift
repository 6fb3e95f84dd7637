/// `daybook diff STORE A B`: what two states of the store differ in.
struct DiffCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let older = Positional("A", .moment, "One state: SEQ, 'head' or a time; 0 is empty.")
    private let newer = Positional("B", .moment, "The other state.")
    private let entity = RepeatedOption(
        "--entity", short: "-e", "ENTITY", .name, "Only objects of this entity.")
    private let summary = Flag("--stat", "Count the differences of each entity instead.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "diff", in: .read, summary: "Compare two states of the store, object by object.",
            arguments: [store, older, newer, entity, summary],
            examples: [
                .init("daybook diff iso.daybook 2 head", "All that has changed since entry 2"),
                .init("daybook diff iso.daybook 2010-01-01 2011-01-01 --stat", "A year in numbers"),
            ],
            endings: [
                .init(.success, "No difference."), .init(.finding, "There are differences."),
                .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
