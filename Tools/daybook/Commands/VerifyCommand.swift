/// `daybook verify STORE`: everything checked, every finding told.
struct VerifyCommand: Command {
    private let store = Positional("STORE", .path, "The store to verify.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "verify", in: .prove, summary: "Check every entry, row, version, index and reference.",
            discussion: """
                The digests of the journal are computed again and compared along the chain; the
                journal is replayed and compared with all tables derived from it. Every finding
                is told with its place, not only the first.
                """,
            arguments: [store],
            examples: [.init("daybook verify iso.daybook", "Verify a store")],
            endings: [
                .init(.success, "No fault was found."), .init(.usage),
                .init(.unreadable, "The store is unreadable or damaged; the findings say where."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
