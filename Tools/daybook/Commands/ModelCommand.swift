/// `daybook model STORE`: the model, as the JSON that init takes.
struct ModelCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "The model as it was at this entry or time.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "model", in: .read, summary: "Print the model of a store, as JSON that 'init' takes.",
            arguments: [store, moment],
            examples: [
                .init(
                    "daybook model iso.daybook --output json > iso.json",
                    "Take the model for another store")
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
