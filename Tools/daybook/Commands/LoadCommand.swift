/// `daybook load NEW`: a store from an export.
struct LoadCommand: Command {
    private let store = Positional("NEW", .path, "The file to create.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "load", in: .prove, summary: "Make a new store of an export read from standard input.",
            discussion: """
                Each entry gets the digest that it had; one that does not match stops the loading
                with its line number. A file that exists is left as it is.
                """,
            arguments: [store],
            examples: [.init("daybook load copy.daybook < export.jsonl", "Load an export")],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, a bad line, or the file exists already."),
                .init(.unverifiable, "A digest of the export does not match its entry."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
