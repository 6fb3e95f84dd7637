import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook diff STORE A B`: the differences between two states of the store.
struct DiffCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let older = Positional("A", .moment, "One state: SEQ, 'head' or a time; 0 is empty.")
    private let newer = Positional("B", .moment, "The other state.")
    private let entity = RepeatedOption(
        "--entity", short: "-e", "ENTITY", .name, "Only objects of this entity.")
    private let summary = Flag("--stat", "Count the differences of each entity instead.")
    private let form = Option<DifferenceForm>(
        "--format", short: "-f", "FORM", .oneOf,
        "The form of the differences; text by default.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "diff", in: .read, summary: "Compare two states of the store, object by object.",
            discussion: """
                An object is listed once, with its values in A and in B, without intermediate
                values. If A is the later state, the differences lead back.

                --format json-patch writes an array of operations (RFC 6902) that turn the
                output of 'daybook document --at A' into that for B; every old value is tested
                first. --format sql writes statements for SQLite, with their tables in a
                comment; they change only rows that are as in A.
                """,
            arguments: [store, older, newer, entity, summary, form],
            examples: [
                .init("daybook diff iso.daybook 2 head", "All changes since entry 2"),
                .init("daybook diff iso.daybook 2010-01-01 2011-01-01 --stat", "A year in numbers"),
                .init(
                    "daybook diff iso.daybook edition-5 head --format json-patch",
                    "A patch from a tagged entry on"),
            ],
            endings: [
                .init(.success, "No difference."), .init(.finding, "There are differences."),
                .init(.usage), .init(.unreadable),
            ], isPaged: true)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let form = arguments[form] ?? .text
        guard form == .text || (console.format == .text && !arguments[summary]) else {
            throw ToolError.usage("'--format' cannot be combined with '--output' or '--stat'.")
        }
        let store = try StoreReading.open(arguments[store])
        let schema = store.schema
        let older = try StoreReading.sequence(of: arguments[older], in: store)
        let newer = try StoreReading.sequence(of: arguments[newer], in: store)
        var families: Set<EntityNumber> = []
        for name in arguments[entity] {
            families.formUnion(try StoreReading.entity(name, in: schema).family)
        }
        let differences = try AuditReader(store).differences(from: older, to: newer) { object in
            families.isEmpty || families.contains(object.entity)
        }
        if arguments[summary] {
            try DifferenceCounts.print(differences, in: schema, on: console)
        } else {
            switch form {
            case .text: try print(differences, in: schema, on: console)
            case .jsonPatch: try printPatch(differences, in: schema, on: console)
            case .sql: try printSQL(differences, in: schema, on: console)
            }
        }
        return differences.isEmpty ? .success : .finding
    }

    private func print(
        _ differences: [Change], in schema: Schema, on console: Console
    ) throws {
        let text = EntryText(console.palette)
        var listing = Listing(console)
        for difference in differences {
            let change = AuditChange(difference, in: schema)
            try listing.append { writer in
                writer.append(change)
            } text: {
                try console.printLines(text.lines(of: change, indentation: ""))
            }
        }
        try listing.close()
        if differences.isEmpty { try console.remark("Nothing differs.") }
    }

    /// One array of operations.
    private func printPatch(
        _ differences: [Change], in schema: Schema, on console: Console
    ) throws {
        var writer = JSONWriter()
        writer.array { writer in
            for difference in differences {
                guard let entity = schema.entity(difference.object.entity) else { continue }
                JSONPatch.append(
                    operations: AuditChange(difference, in: schema), of: entity, to: &writer)
            }
        }
        try console.print(writer.text)
    }

    private func printSQL(
        _ differences: [Change], in schema: Schema, on console: Console
    ) throws {
        let sql = SQLText(schema)
        try console.printLines(sql.header())
        for difference in differences {
            guard let entity = schema.entity(difference.object.entity) else { continue }
            let change = AuditChange(difference, in: schema)
            try console.printLines(sql.statements(for: change, of: entity))
        }
    }
}

/// The form of differences.
private enum DifferenceForm: String, CaseIterable, Sendable {
    case text
    case jsonPatch = "json-patch"
    case sql
}
