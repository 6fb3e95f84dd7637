import DaybookJournalLog
import DaybookPostgres
import DaybookSnapshotStore
import Foundation

/// `daybook clone PLACE NEW`: a copy of a shared store for this machine.
struct CloneCommand: Command {
    private let place = Positional(
        "PLACE", .text, "The shared store, such as 'postgresql:service=ledger?store=iso'.")
    private let file = Positional("NEW", .newPath, "The file to make; it must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "clone", in: .write, summary: "Make this machine's copy of a shared store.",
            discussion: """
                A store that several machines share has its journal in PostgreSQL; each machine has
                a file with a copy of all of it, and reads only there. The copy is brought up by
                every command, and by programs that have it open. Commands that write append to the
                shared journal.

                PLACE names the servers in libpq's words and the store on them:
                'postgresql:SERVERS?store=NAME'. Of the servers the file keeps no more than the name
                of a service, which libpq looks up in its service file. '&unprotected=allowed' at
                the end accepts servers without standbys; what such a server alone has is lost with
                it.
                """,
            arguments: [place, file],
            examples: [
                .init(
                    "daybook clone 'postgresql:service=ledger?store=iso' iso.daybook",
                    "Copy a shared store")
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or the file exists already."),
                .init(.unreadable, "The shared store has no entries yet."),
                .init(
                    .conflict, "An entry of the shared store does not fit; the copy ends before it."
                ),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard !FileManager.default.fileExists(atPath: arguments[file]) else {
            throw ToolError.usage(
                "'\(arguments[file])' exists already and is left as it is. Choose another path.")
        }
        let place = try SharedStores.place(arguments[place])
        let store = try Store.clone(from: place.link(), into: arguments[file])
        let head = try store.head()
        try store.close()
        switch console.format {
        case .text: try console.print("Copied entries 1 to \(head) into '\(arguments[file])'.")
        case .json, .jsonl:
            try console.print(["sequence": .unsigned(head.rawValue)] as JSONText)
        }
        return .success
    }
}
