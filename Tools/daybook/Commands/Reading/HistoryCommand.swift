import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook history STORE OBJECT`: everything that happened to one object.
struct HistoryCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let object = Positional(
        "OBJECT", .objectOrProperty, "The object, or one property of it.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N entries.")
    private let reverse = Flag("--reverse", short: "-r", "Newest first.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "history", in: .read,
            summary: "Show everything that happened to an object, oldest first.",
            arguments: [store, object, limit, reverse],
            examples: [
                .init("daybook history iso.daybook Country/17", "From its insertion to today"),
                .init("daybook history iso.daybook Country/17.name", "Only its name"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there never was such an object."),
                .init(.unreadable),
            ], isPaged: true)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[object]
        let store = try StoreReading.open(arguments[store])
        let object = try StoreReading.object(name, in: store.schema)
        let property = try name.property.map { try self.property($0, of: object, in: store) }
        var versions = try store.entries(touching: object)
        guard !versions.isEmpty else {
            throw ToolError.usage("There never was an object '\(name.objectText)' in this store.")
        }
        if arguments[reverse] { versions.reverse() }

        let limit = arguments[limit] ?? .max
        let history = try store.modelHistory()
        var listing = Listing(console)
        for sequence in versions where listing.count < limit {
            let entry = try store.entry(sequence)
            let schema = history.schema(at: sequence)
            let record = AuditRecord(entry, in: schema)
            guard let change = entry.changes.first(where: { $0.object == object }),
                change.concerns(property)
            else { continue }
            try append(
                AuditChange(change, in: schema), of: record, property?.name, to: &listing,
                console)
        }
        try listing.close()
        return .success
    }

    private func append(
        _ change: AuditChange, of record: AuditRecord, _ property: String?,
        to listing: inout Listing, _ console: Console
    ) throws {
        let text = EntryText(console.palette)
        let isFirst = listing.count == 0
        try listing.append { writer in
            JSONLinesEncoder.append(headOf: record, to: &writer)
            writer.append(change)
        } text: {
            if !isFirst { try console.print() }
            let act = console.palette(text.verb(change.operation), text.style(change.operation))
            try console.print(text.heading(of: record) + "  " + act + text.reason(of: change))
            try console.printLines(EntryText.lines(of: record.note, indentation: "    "))
            if let info = EntryInfo.text(record.info) {
                try console.print("    " + console.palette(info, .faint))
            }
            if let undoes = record.undoes {
                try console.print("    undoes \(undoes.entryName)")
            }
            try console.printLines(
                text.details(of: change, property: property, indentation: "    "))
        }
    }

    private func property(
        _ name: String, of object: ObjectID, in store: Store
    ) throws -> SchemaProperty {
        guard let entity = store.schema.entity(object.entity) else {
            throw ToolError.usage("The model has no such entity.")
        }
        let property = try StoreReading.property(name, of: entity)
        guard property.slot == nil, !property.isStoredToMany else { return property }
        let end = property.end
        let owner = end.flatMap { store.schema.entity($0.destination) }
        let inverse = end?.inverse.flatMap { owner?.property($0) }
        throw ToolError.usage(
            "'\(name)' has no history of its own: it is kept as '\(inverse?.name ?? "?")' of each "
                + "'\(owner?.name ?? "?")'. Ask for the history of those objects.")
    }
}

extension Change {
    /// Whether it concerns a property; the insert and the delete of an object always do.
    fileprivate func concerns(_ property: SchemaProperty?) -> Bool {
        guard let property, case .update(let edits, let members) = kind else { return true }
        return edits.contains { $0.property == property.number }
            || members.contains { $0.property == property.number }
    }
}
