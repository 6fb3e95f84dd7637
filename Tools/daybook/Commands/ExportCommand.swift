import AuditTrail
import JournalLog
import ObjectModel
import SnapshotStore

/// `daybook export STORE --format FORMAT`: the journal for other programs.
struct ExportCommand: Command {
    private let store = Positional("STORE", .path, "The store to export.")
    private let form = RequiredOption(
        "--format", short: "-f", "FORMAT", .word(among: AuditFormats.names), "The format to write.")
    private let first = Option("--from", "SEQ|TIME", .moment, "Begin with this entry or time.")
    private let last = Option(
        "--to", "SEQ|TIME", .moment, "End with this entry or time; a date alone includes its day.")
    private let entity = RepeatedOption(
        "--entity", short: "-e", "ENTITY", .name, "Only entries that change objects of this entity."
    )
    private let object = RepeatedOption(
        "--object", "OBJECT", .object, "Only entries that change this object.")
    private let author = RepeatedOption(
        "--author", short: "-a", "A", .text, "Only entries of this author.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "export", in: .prove, summary: "Write the journal to standard output.",
            discussion: """
                jsonl is the whole truth, one object for each entry; 'daybook load' makes the same
                store of it again, digests included, if every entry is there. csv has a line for
                each changed property, with the names of the columns first; an empty field is
                null, and "" is empty text.

                With --entity or --object, jsonl still writes entries with all their changes, as
                the digest covers them all; csv writes only the changes that are asked for.
                """,
            arguments: [store, form, first, last, entity, object, author], formats: [],
            examples: [
                .init(
                    "daybook export iso.daybook --format jsonl | daybook load copy.daybook",
                    "Copy a store by way of its export")
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard let format = AuditFormats.format(named: arguments[form]) else {
            throw ToolError.usage("There is no format '\(arguments[form])'.")
        }
        let store = try StoreReading.open(arguments[store])
        var filter = AuditFilter()
        filter.authors = Set(arguments[author])
        filter.entities = Set(arguments[entity])
        filter.objects = Set(arguments[object].map(\.objectText))
        try StoreReading.restrict(
            &filter, since: arguments[first], until: arguments[last], in: store)
        // A filter that cannot be meant must not leave half an export behind.
        _ = try filter.resolved(in: store.schema)

        let progress = console.progress(
            "Exporting entries", of: Int(clamping: try store.head().rawValue))
        defer { progress.finish() }
        let isWhole = type(of: format).keepsEntriesWhole
        try console.write(format.opening)
        try AuditReader(store).records(matching: filter) { record in
            let written = isWhole ? AuditRecord(record.entry, in: record.schema) : record
            try console.write(try format.bytes(of: written))
            progress.advance()
            return .proceed
        }
        return .success
    }
}
