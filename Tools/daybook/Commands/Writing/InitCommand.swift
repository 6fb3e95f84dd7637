// The room of the commands that write: they make a store, add entries and tags to it, and show and change its
// model. Each says what it would do before it does it, where it can.

import DaybookJournalLog
import DaybookObjectModel
import DaybookPostgres
import DaybookSnapshotStore
import Foundation

/// `daybook init STORE --model FILE`: a new store whose first entry is its model.
struct InitCommand: Command {
    private let store = Positional("STORE", .newPath, "The file to create.")
    private let model = RequiredOption(
        "--model", short: "-m", "FILE", .path, "The model, as JSON; '-' reads standard input.")
    private let author = Option("--author", short: "-a", "A", .name, "The author of entry 1.")
    private let note = Option("--note", "N", .text, "The note of entry 1.")
    private let info = InfoArguments("Information to keep with entry 1.")
    private let shared = Option(
        "--shared", "PLACE", .text,
        "Begin a shared store that has no entries, such as 'postgresql:service=ledger?store=iso'.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "init", in: .write, summary: "Create a store from a model.",
            discussion: """
                The model names entities, their attributes and their relationships:

                  {"entities":[
                   {"name":"Country","attributes":[
                      {"name":"alpha2","type":"string","optional":false,"unique":true},
                      {"name":"name","type":"string","indexed":true}],
                    "relationships":[{"name":"subdivisions","destination":"Subdivision",
                      "toMany":true,"inverse":"country","deleteRule":"cascade"}]}, ...]}

                The types are string, int16, int32, int64, float, double, decimal, bool, date,
                data, uuid, url, codable for a value that a program encodes, and composite for one
                of several attributes, its "elements". By default a property is optional, has no
                default value and is not indexed. The model becomes entry 1 of the journal, with
                author and note if they are given. An existing file is left as it is; if several
                processes make the same store at the same time, one of them succeeds. The store
                gets its name when it is complete and on the disk.

                With '--shared' the model becomes entry 1 of a store that several machines share,
                which must have been made on the servers and have no entries (see 'daybook help
                schema'), and STORE is this machine's copy. Other machines use 'daybook clone'.
                """,
            arguments: [store, model, author, note, info.argument, shared],
            examples: [
                .init("daybook init iso.daybook --model iso.json", "Create a store"),
                .init(
                    "daybook init iso.daybook -m iso.json --shared \"$PLACE\"",
                    "Begin a shared store"),
            ],
            endings: [
                .init(.success, "The store is there."),
                .init(.usage, "Wrong usage, a faulty model, or the file exists already."),
                .init(.conflict, "The shared store has entries already, and is another one."),
                .init(.unreachable, "No server of the shared store was reached."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        // An empty file may belong to another program, too, and LMDB would fill it.
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ToolError.usage(
                "'\(path)' exists already and is left as it is. Choose another path.")
        }
        let description = try ModelText(arguments[model]).read(console)
        let digest = try make(path, description, arguments)
        let entities =
            description.entities.count == 1
            ? "1 entity" : "\(description.entities.count) entities"
        switch console.format {
        case .text:
            try console.print("Created '\(path)': entry 1 holds the model of \(entities).")
        case .json, .jsonl:
            try console.print(
                ["sequence": 1, "digest": .string(digest.description)] as JSONText)
        }
        return .success
    }

    private func make(
        _ path: String, _ model: ManagedObjectModel, _ arguments: ParsedArguments
    ) throws -> Digest {
        let info = try info.info(arguments)
        guard let place = arguments[shared] else {
            return try Store.make(
                at: path, model: model, author: arguments.author(author), note: arguments[note],
                info: info)
        }
        let link = try SharedStores.place(place).link()
        return try Store.begin(
            link, at: path, version: ModelVersion(first: model.persistent), options: StoreOptions(),
            EntryHeader(
                kind: .model, author: arguments.author(author), note: arguments[note], info: info))
    }
}
