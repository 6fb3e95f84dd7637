import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook laws STORE`: the laws of the model, and what in the past has broken them.
struct LawsCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let check = Flag(
        "--check", "Judge every entry of the past by the laws, and print what breaks one.")
    private let rule = Option(
        "--rule", "ENTITY:RULE", .text,
        "Judge the past by this rule instead, which the model need not have.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "laws", in: .read, summary: "Show the laws of the model, and what has broken them.",
            discussion: """
                A law is a rule about how the objects of an entity may change, such as
                salary NEVER DECREASED UNLESS NOTE. Every save is held to the laws of the model in
                force. With --check the whole past is judged by the laws that the model has now,
                also what was saved before they were declared. With --rule it is judged by one rule,
                to see what declaring it would find.
                """,
            arguments: [store, check, rule],
            examples: [
                .init("daybook laws staff.daybook", "The laws"),
                .init("daybook laws staff.daybook --check", "What in the past has broken them"),
                .init(
                    "daybook laws shop.daybook --rule 'Item: price NEVER DECREASED BY MORE THAN 5'",
                    "Prices that fell far, and who saved it"),
            ],
            endings: [
                .init(.success, "The laws were listed, or the past keeps all of them."),
                .init(.finding, "An entry breaks a law."), .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        if let rule = arguments[rule] {
            return try judge(by: try laws(rule, in: store.schema), store, console)
        }
        let laws = try store.laws()
        guard !arguments[check] else { return try judge(by: laws, store, console) }
        try list(laws, store.schema, console)
        return .success
    }

    /// The one law of `Employee: salary NEVER DECREASED`.
    private func laws(_ text: String, in schema: Schema) throws -> SchemaLaws {
        guard let colon = text.firstIndex(of: ":") else {
            throw ToolError.usage(
                "'--rule' takes an entity, a colon and a rule, as in 'Employee: salary NEVER DECREASED'."
            )
        }
        let name = text[..<colon].trimmingPrefix { $0.isWhitespace }
        let entity = try StoreReading.entity(String(name), in: schema)
        let rule = text[text.index(after: colon)...].trimmingPrefix { $0.isWhitespace }
        let law = try SchemaLaw(LawDescription("--rule", String(rule)), of: entity, in: schema)
        return SchemaLaws([law], in: schema)
    }

    private func list(_ laws: SchemaLaws, _ schema: Schema, _ console: Console) throws {
        var table = TextTable([.init("entity"), .init("law"), .init("rule")])
        var listing = Listing(console)
        for law in laws.all {
            let entity = schema.entity(law.entity)?.name ?? ""
            try listing.append { writer in
                for (name, text) in [("entity", entity), ("law", law.name), ("rule", law.text)] {
                    writer.name(name)
                    writer.string(text)
                }
            } text: {
                table.append([.init(entity), .init(law.name, .name), .init(law.text)])
            }
        }
        try listing.close()
        if !table.isEmpty { try console.print(table) }
        if laws.all.isEmpty { try console.talk("The model has no laws.") }
    }

    private func judge(
        by laws: SchemaLaws, _ store: Store, _ console: Console
    ) throws -> ExitCode {
        let names = ["entry", "time", "author", "object", "property", "old", "new", "law"]
        var table = TextTable(
            names.map { TextTable.Column($0, $0 == "entry" ? .trailing : .leading) })
        var listing = Listing(console)
        try store.forEachBreach(of: laws) { found in
            let values = Values(found.breach, in: store.schema)
            try listing.append { writer in
                writer.append(found, values)
            } text: {
                table.append(
                    [
                        String(describing: found.sequence), EntryText.time(found.heading.time),
                        found.heading.author ?? "", found.breach.objectName,
                        found.breach.property ?? "", values.old.text, values.new.text,
                        found.breach.law,
                    ].map { TextTable.Cell($0) })
            }
            return .proceed
        }
        try listing.close()
        if !table.isEmpty { try console.print(table) }
        let count = listing.count
        try console.talk(
            laws.isEmpty
                ? "The model has no laws."
                : count == 0
                    ? "No entry breaks a law." : count == 1 ? "1 breach." : "\(count) breaches.")
        return count == 0 ? .success : .finding
    }

    /// The values of a breach, as other commands show them.
    fileprivate struct Values {
        let old: AuditValue
        let new: AuditValue

        init(_ breach: LawBreach, in schema: Schema) {
            let property = breach.property.flatMap {
                schema.entity(breach.object.entity)?.property(named: $0)
            }
            let type = property?.attribute?.type
            old = AuditValue(breach.old, type: type, in: schema)
            new = AuditValue(breach.new, type: type, in: schema)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func append(_ found: PastBreach, _ values: LawsCommand.Values) {
        let (breach, heading) = (found.breach, found.heading)
        name("sequence")
        integer(found.sequence.rawValue)
        name("time")
        time(microseconds: heading.time)
        for (name, text) in [("author", heading.author), ("note", heading.note)] {
            guard let text else { continue }
            self.name(name)
            string(text)
        }
        append(info: heading.info)
        for (name, text) in [
            ("law", breach.law), ("rule", breach.rule), ("object", breach.objectName),
        ] {
            self.name(name)
            string(text)
        }
        guard let property = breach.property else { return }
        name("property")
        string(property)
        name("old")
        values.old.write(to: &self)
        name("new")
        values.new.write(to: &self)
    }
}
