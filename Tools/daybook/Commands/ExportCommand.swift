/// `daybook export STORE --format FORMAT`: the journal for other programs.
struct ExportCommand: Command {
    private let store = Positional("STORE", .path, "The store to export.")
    private let form = RequiredOption(
        "--format", short: "-f", "FORMAT", .word(among: ["jsonl", "csv"]), "The format to write.")
    private let first = Option("--from", "SEQ|TIME", .moment, "Begin with this entry or time.")
    private let last = Option(
        "--to", "SEQ|TIME", .moment, "End with this entry or time; a date alone includes its day.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "export", in: .prove, summary: "Write the journal to standard output.",
            discussion: """
                jsonl is the whole truth, one object for each entry; 'daybook load' makes the same
                store of it again, digests included. csv has a line for each changed property.
                """,
            arguments: [store, form, first, last], formats: [],
            examples: [
                .init(
                    "daybook export iso.daybook --format jsonl | daybook load copy.daybook",
                    "Copy a store by way of its export")
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
