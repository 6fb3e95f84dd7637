import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// The changes that `fetch --changes` finds, as rows: of which object, when, by whom, from what to what.
struct FetchedChanges {
    private let questions: [FilterChange]
    private let schema: Schema

    /// So many objects are asked for their changes in one read of the store.
    private static let objectsAtOnce = 1_000

    fileprivate struct Row {
        let object: ObjectID
        let change: PastChange
        let heading: EntryHeading
        let type: AttributeType?
        let property: String
    }

    /// - Throws: ``ToolError`` when the condition asks about no change.
    init(_ filter: Filter, in schema: Schema) throws {
        questions = filter.changesAsked
        self.schema = schema
        guard !questions.isEmpty else {
            throw ToolError.usage(
                "'--changes' prints the changes that '--where' asks about, and it asks about none. Write, for "
                    + "example, --where \"salary DECREASED SINCE '2024-01-01'\".")
        }
    }

    /// Prints the changes of some objects, as comma-separated values or in the form of the console.
    func print(
        _ objects: [ObjectID], _ reading: PagedReading, _ console: Console, _ isCSV: Bool
    ) throws {
        let names = ["object", "entry", "time", "author", "property", "old", "new", "note"]
        if isCSV {
            try console.write(CSVRow().line(names))
            try forEachRow(objects, reading) { try console.write(CSVRow().line(cells($0))) }
        } else if console.format == .text {
            var table = TextTable(
                names.map { TextTable.Column($0, $0 == "entry" ? .trailing : .leading) })
            var count = 0
            try forEachRow(objects, reading) { row in
                count += 1
                table.append(cells(row).map { TextTable.Cell($0 ?? "") })
            }
            try console.print(table)
            try console.talk(count == 1 ? "1 change." : "\(count) changes.")
        } else {
            var listing = Listing(console)
            try forEachRow(objects, reading) { try listing.append(json: json($0)) }
            try listing.close()
        }
    }

    private func forEachRow(
        _ objects: [ObjectID], _ reading: PagedReading, _ body: (Row) throws -> Void
    ) throws {
        var rest = objects[...]
        while !rest.isEmpty {
            var rows: [Row] = []
            try reading.store.read(at: reading.sequence) { snapshot in
                try snapshot.forEachChange(
                    meeting: questions, of: Array(rest.prefix(Self.objectsAtOnce))
                ) { object, change, heading in
                    let property = schema.entity(object.entity)?.property(change.property)
                    rows.append(
                        Row(
                            object: object, change: change, heading: heading,
                            type: property?.attribute?.type, property: property?.name ?? ""))
                }
            }
            rest = rest.dropFirst(Self.objectsAtOnce)
            // Nothing is printed while the store is being read.
            for row in rows { try body(row) }
        }
    }

    private func cells(_ row: Row) -> [String?] {
        [
            schema.name(of: row.object), String(row.change.sequence.rawValue),
            DateText.text(microseconds: row.heading.time), row.heading.author, row.property,
            text(row.change.old, row.change.removed, row),
            text(row.change.new, row.change.added, row),
            row.heading.note,
        ]
    }

    /// The value on one side of a change; for a relationship to many the objects that left it, or came to it.
    private func text(_ value: Value, _ objects: [ObjectID], _ row: Row) -> String? {
        if !value.isNull { return AuditValue(value, type: row.type, in: schema).text }
        return objects.isEmpty
            ? nil : objects.map { schema.name(of: $0) }.joined(separator: " ")
    }

    private func json(_ row: Row) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("object")
            writer.string(schema.name(of: row.object))
            writer.name("entry")
            writer.integer(row.change.sequence.rawValue)
            writer.name("time")
            writer.time(microseconds: row.heading.time)
            writer.name("author")
            writer.optional(row.heading.author)
            writer.name("note")
            writer.optional(row.heading.note)
            writer.append(info: row.heading.info)
            writer.name("property")
            writer.string(row.property)
            if row.isOfMembers {
                for (name, objects) in [
                    ("removed", row.change.removed), ("added", row.change.added),
                ] {
                    writer.name(name)
                    writer.array { writer in
                        for object in objects { writer.string(schema.name(of: object)) }
                    }
                }
            } else {
                for (name, value) in [("old", row.change.old), ("new", row.change.new)] {
                    writer.name(name)
                    AuditValue(value, type: row.type, in: schema).write(to: &writer)
                }
            }
        }
        return writer.bytes
    }
}

extension FetchedChanges.Row {
    /// Whether the property is a relationship that is told by its members.
    fileprivate var isOfMembers: Bool { change.old.isNull && change.new.isNull }
}

extension JSONWriter {
    fileprivate mutating func optional(_ text: String?) {
        if let text { string(text) } else { null() }
    }
}
