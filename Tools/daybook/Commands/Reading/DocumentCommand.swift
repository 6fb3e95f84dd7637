import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook document STORE`: a state of the store as one JSON document.
struct DocumentCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the store was at this entry or time.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "document", in: .read,
            summary: "Print a state of the store as one JSON document.",
            discussion: """
                The document that 'daybook diff --format json-patch' makes patches for: objects by
                entity and number, with every property stored on their side.

                  {"Country":{"17":{"name":"France","neighbours":{"Country/3":true}}}}

                To-many relationships have a member for each object, with its position if they
                are ordered, else true.
                """,
            arguments: [store, moment], formats: [],
            examples: [
                .init("daybook document iso.daybook --at 6", "Everything as of entry 6")
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let sequence = try arguments[moment].map { try StoreReading.sequence(of: $0, in: store) }
        try JSONPatch.write(
            documentOf: store, at: try sequence ?? store.head(), to: { try console.write($0) })
        try console.write("\n".utf8)
        return .success
    }
}
