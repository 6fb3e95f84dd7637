import DaybookJournalLog
import DaybookPostgres
import DaybookSnapshotStore

/// `daybook push STORE PLACE`: a store of its own becomes a shared one.
struct PushCommand: Command {
    private let store = Positional("STORE", .path, "The store whose journal is put there.")
    private let place = Positional(
        "PLACE", .text, "The shared store, such as 'postgresql:service=ledger?store=iso'.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "push", in: .write,
            summary: "Put a store's journal into a shared store, and link the file.",
            discussion: """
                The shared store must have been made for this store ('daybook schema --add-store ...
                --of STORE'), and have none of its entries or the first ones. Programs may save
                meanwhile; afterwards the file is this machine's copy, and they must open it as
                such. Interrupted, the command goes on where it ended when it is run again.
                """,
            arguments: [store, place],
            examples: [
                .init(
                    "daybook push iso.daybook 'postgresql:service=ledger?store=iso'",
                    "Share a store")
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or the store cannot be shared."),
                .init(.unreadable),
                .init(.conflict, "The shared store is another one, or has other entries."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let place = try SharedStores.place(arguments[place])
        let path = arguments[store]
        if let file = try SharedStores.file(path) {
            throw ToolError.usage("'\(path)' is linked to '\(file.place)' already.")
        }
        let store = try Store.open(at: path)
        let progress = console.progress(
            "Pushing entries", of: Int(clamping: try store.head().rawValue))
        try store.push(to: place.link()) { done, _ in progress.reach(Int(clamping: done)) }
        progress.finish()
        let head = try store.head()
        try store.close()
        switch console.format {
        case .text:
            try console.print(
                "Pushed entries 1 to \(head); '\(path)' is linked to '\(place.text)'.")
        case .json, .jsonl:
            try console.print(
                ["sequence": .unsigned(head.rawValue), "place": .string(place.text)] as JSONText)
        }
        return .success
    }
}
