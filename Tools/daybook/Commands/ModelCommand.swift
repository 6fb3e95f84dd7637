import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook model STORE`: the model, as JSON for `init`.
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
        let store = try StoreReading.open(arguments[store])
        if let moment = arguments[moment] {
            guard try StoreReading.sequence(of: moment, in: store) > .zero else {
                throw ToolError.usage("There was no model yet: entry 1 sets it.")
            }
        }
        // The first entry sets the model of a store, and no later entry changes it.
        let layout: JSONLayout = console.format == .jsonl ? .oneLine : .pretty
        try console.print(store.schema.model.json(layout))
        return .success
    }
}
