/// `daybook init STORE --model FILE`: a new store whose first entry is its model.
struct InitCommand: Command {
    private let store = Positional("STORE", .path, "The file to create.")
    private let model = RequiredOption(
        "--model", short: "-m", "FILE", .path, "The model, as JSON; '-' reads standard input.")
    private let author = Option("--author", short: "-a", "A", .text, "Who creates the store.")
    private let note = Option("--note", "N", .text, "Why it is created.")

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
                data, uuid and url. What is left out means: optional, no default, not indexed.
                The model becomes entry 1 of the journal. A file that exists is left as it is.
                """,
            arguments: [store, model, author, note],
            examples: [.init("daybook init iso.daybook --model iso.json", "Create a store")],
            endings: [
                .init(.success, "The store is there."),
                .init(.usage, "Wrong usage, a faulty model, or the file exists already."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
