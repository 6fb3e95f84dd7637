import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook blame STORE OBJECT`: who wrote the value of each property of an object.
struct BlameCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let object = Positional(
        "OBJECT", .objectOrProperty, "The object, or one property of it.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "Ask as of this entry or time instead of now.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "blame", in: .read,
            summary: "Show for each property which entry wrote its value.",
            discussion: """
                For each property it names the entry that wrote its value, or that inserted the
                object, with its time, its author, the value, the value before, and the note.
                For an object that was deleted and brought back it still names the author of the
                value and, in addition, the entry that brought it back. It takes the same time
                however long the history of the object is.
                """,
            arguments: [store, object, moment],
            examples: [
                .init("daybook blame iso.daybook Country/17", "Who wrote what"),
                .init(
                    "daybook blame iso.daybook Country/17.name --at 2011-12-15",
                    "Who gave it the name that it had then"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, or there is no such object at that point."),
                .init(.unreadable),
            ], isPaged: true)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[object]
        let store = try StoreReading.open(arguments[store])
        let object = try StoreReading.object(name, in: store.schema)
        let entity = try StoreReading.entity(name.entity, in: store.schema)
        let property = try name.property.map { try StoreReading.property($0, of: entity) }
        let sequence = try arguments[moment].map { try StoreReading.sequence(of: $0, in: store) }
        let blames =
            if let property {
                try store.blame(of: property, in: object, at: sequence).map { [$0] }
            } else {
                try store.blame(of: object, at: sequence)
            }
        guard let blames else {
            throw ToolError.usage(
                sequence.map { "There was no '\(name.objectText)' yet as of entry \($0)." }
                    ?? "There never was an object '\(name.objectText)' in this store.")
        }
        try print(blames, of: name.objectText, in: store.schema, on: console)
        return .success
    }

    private func print(
        _ blames: [BlameRecord], of object: String, in schema: Schema, on console: Console
    ) throws {
        // Few values have come back; only then is there a column for it.
        let hasReturned = blames.contains { $0.returning != nil }
        var table = TextTable(
            [
                .init("entry", .trailing), .init("time"), .init("author"), .init("property"),
                .init("value"), .init("was"),
            ] + (hasReturned ? [.init("brought back by")] : []) + [.init("note")])
        var listing = Listing(console)
        for blame in blames {
            try listing.append { writer in
                writer.append(blame, of: object, in: schema)
            } text: {
                table.append(cells(of: blame, hasReturned: hasReturned, in: schema))
            }
        }
        try listing.close()
        if !table.isEmpty { try console.print(table) }
    }

    private func cells(
        of blame: BlameRecord, hasReturned: Bool, in schema: Schema
    ) -> [TextTable.Cell] {
        let note = (blame.note ?? "").split(separator: "\n").first.map(String.init)
        let was =
            blame.isInsert
            ? "" : text(blame.previous, blame.previousMembers, of: blame.property, in: schema)
        let returned = blame.returning.map { returning in
            "entry \(returning.sequence)" + (returning.heading.author.map { ", \($0)" } ?? "")
        }
        return [
            .init(String(describing: blame.sequence), .name), .init(EntryText.time(blame.time)),
            .init(blame.author ?? ""), .init(blame.property.name),
            .init(text(blame.value, blame.members, of: blame.property, in: schema)), .init(was),
        ] + (hasReturned ? [.init(returned ?? "")] : []) + [.init(note ?? "")]
    }

    /// The number of members listed; the others are counted.
    private static let membersShown = 4

    private func text(
        _ value: Value, _ members: [Member], of property: SchemaProperty, in schema: Schema
    ) -> String {
        guard property.relationship?.isToMany == true else {
            return EntryText.text(
                of: AuditValue(value, type: property.attribute?.type, in: schema))
        }
        guard !members.isEmpty else { return "none" }
        let names = members.prefix(Self.membersShown).map { schema.name(of: $0.object) }
        let rest = members.count - names.count
        return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}

extension JSONWriter {
    /// Writes the members of an answer; `was` is left out if there was no earlier value.
    fileprivate mutating func append(
        _ blame: BlameRecord, of object: String, in schema: Schema
    ) {
        name("object")
        string(object)
        name("property")
        string(blame.property.name)
        append(blame.sequence, blame.time, blame.author, blame.note, blame.info)
        name("value")
        append(blame.value, blame.members, of: blame.property, in: schema)
        if !blame.isInsert {
            name("was")
            append(blame.previous, blame.previousMembers, of: blame.property, in: schema)
        }
        guard let returning = blame.returning else { return }
        name("broughtBackBy")
        self.object { writer in
            let heading = returning.heading
            writer.append(
                returning.sequence, heading.time, heading.author, heading.note, heading.info)
        }
    }

    /// Writes the entry with its time, author and note.
    private mutating func append(
        _ sequence: SequenceNumber, _ time: Int64, _ author: String?, _ note: String?,
        _ info: [String: String]
    ) {
        name("sequence")
        integer(sequence.rawValue)
        name("time")
        self.time(microseconds: time)
        for (name, text) in [("author", author), ("note", note)] {
            guard let text else { continue }
            self.name(name)
            string(text)
        }
        append(info: info)
    }

    private mutating func append(
        _ value: Value, _ members: [Member], of property: SchemaProperty, in schema: Schema
    ) {
        guard property.relationship?.isToMany == true else {
            return self.value(value, of: property, in: schema)
        }
        array { writer in
            for member in members { writer.string(schema.name(of: member.object)) }
        }
    }
}
