import DaybookSnapshotStore

/// `daybook unlink STORE`: a copy of a shared store becomes a store of its own.
struct UnlinkCommand: Command {
    private let store = Positional("STORE", .path, "The copy.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "unlink", in: .write,
            summary: "Make this machine's copy of a shared store one of its own.",
            discussion: """
                Nobody is asked, and the shared store stays as it is. What is saved to the file from
                then on is only there. A program that has the file open with its link cannot save
                any more until it opens it anew.
                """,
            arguments: [store],
            examples: [.init("daybook unlink iso.daybook", "Part from the other machines")],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        guard let file = try SharedStores.file(path) else {
            throw ToolError.usage("'\(path)' is a store of its own already.")
        }
        let store = try Store.open(at: path)
        try store.unlink()
        try store.close()
        switch console.format {
        case .text:
            // The place is what the file says, which may come from anybody.
            let place = DisplayText.escaped(file.place)
            try console.print("'\(path)' is not linked to '\(place)' any more.")
        case .json, .jsonl: try console.print(["place": .string(file.place)] as JSONText)
        }
        return .success
    }
}
