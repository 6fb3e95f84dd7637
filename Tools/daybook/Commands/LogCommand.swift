import AuditTrail
import ObjectModel
import SnapshotStore

/// `daybook log STORE`: the entries of the journal.
struct LogCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entity = RepeatedOption(
        "--entity", short: "-e", "ENTITY", .name, "Only entries that change objects of this entity."
    )
    private let object = RepeatedOption(
        "--object", "OBJECT", .object, "Only entries that change this object.")
    private let author = RepeatedOption(
        "--author", short: "-a", "A", .text, "Only entries of this author.")
    private let since = Option(
        "--since", "SEQ|TIME", .moment, "Only entries from this one or this time on.")
    private let until = Option(
        "--until", "SEQ|TIME", .moment,
        "Only entries up to this one or this time; a date alone includes its day.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N entries.")
    private let reverse = Flag("--reverse", short: "-r", "Oldest first.")
    private let changes = Flag(
        "--changes", short: "-p", "Show the changes of each entry, with old and new values.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "log", in: .read, summary: "List the entries of the journal, newest first.",
            discussion: """
                Of several authors, entities or objects one must fit; everything else that is
                given must hold too. --since and --until compare a time with the time at which an
                entry happened, as its author said, else at which it was recorded.

                With --output json or jsonl each entry is what 'export' writes, with all changes.
                """,
            arguments: [store, entity, object, author, since, until, limit, reverse, changes],
            examples: [
                .init("daybook log iso.daybook -n 5", "The newest five entries"),
                .init(
                    "daybook log iso.daybook --entity Country --since 2011-01-01 -p",
                    "What happened to countries since 2011, value by value"),
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        var filter = AuditFilter()
        filter.authors = Set(arguments[author])
        filter.entities = Set(arguments[entity])
        filter.objects = Set(arguments[object].map(\.objectText))
        try StoreReading.restrict(
            &filter, since: arguments[since], until: arguments[until], in: store)

        let limit = arguments[limit] ?? .max
        var listing = Listing(console)
        if limit > 0 {
            let direction: AuditReader.Direction =
                arguments[reverse] ? .oldestFirst : .newestFirst
            try AuditReader(store).records(matching: filter, direction) { record in
                let isFirst = listing.count == 0
                try listing.append(record) {
                    if !isFirst { try console.print() }
                    try print(record, withChanges: arguments[changes], on: console)
                }
                return listing.count < limit ? .proceed : .stop
            }
        }
        try listing.close()
        return .success
    }

    private func print(
        _ record: AuditRecord, withChanges: Bool, on console: Console
    ) throws {
        let text = EntryText(console.palette)
        try console.printLines(text.summary(of: record))
        guard withChanges else { return }
        for change in record.shown {
            let change = AuditChange(change, in: record.schema)
            try console.printLines(text.lines(of: change, indentation: "    "))
        }
    }
}
