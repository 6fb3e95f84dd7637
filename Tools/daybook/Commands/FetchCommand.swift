/// `daybook fetch STORE ENTITY`: objects, now or as of the past.
struct FetchCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entity = Positional("ENTITY", .name, "The entity whose objects to fetch.")
    private let filter = Option(
        "--where", short: "-w", "P", .text, "Only objects for which this predicate is true.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the store was at this entry or time.")
    private let sort = RepeatedOption(
        "--sort", short: "-s", "KEY", .name, "Sort by this property; '-KEY' the other way round.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N objects.")
    private let offset = Option("--offset", "N", .count, "Leave out the first N objects.")
    private let count = Flag("--count", short: "-c", "Print only how many there are.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "fetch", in: .read, summary: "Fetch objects, as they are or as they were.",
            discussion: """
                A predicate compares properties with values and combines comparisons:

                  name BEGINSWITH 'L' AND country.alpha2 == "FR"
                  code IN {'FR-75', 'FR-69'} OR NOT name CONTAINS[cd] 'saint'
                  population BETWEEN {1000, 2000}
                  ANY subdivisions.name LIKE '*burg'
                """,
            arguments: [store, entity, filter, moment, sort, limit, offset, count],
            examples: [
                .init(
                    "daybook fetch iso.daybook Country --where \"name BEGINSWITH 'F'\"",
                    "Countries on F"),
                .init(
                    "daybook fetch iso.daybook Country --at 2010-10-01 --count",
                    "How many there were then"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, no such entity or property, or a faulty predicate."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        throw ToolError.withoutStore(declaration.name)
    }
}
