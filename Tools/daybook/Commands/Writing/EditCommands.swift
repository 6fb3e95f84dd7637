import Daybook
import DaybookObjectModel
import DaybookSnapshotStore

// One change from the command line, with the checks of 'record'.

/// `daybook add STORE ENTITY NAME=VALUE...`: one new object.
struct AddCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entity = Positional("ENTITY", .name, "The entity of the new object.")
    private let values = SeveralPositionals(
        "NAME=VALUE", .propertyValue, "Properties and their values.")
    private let edit = EditArguments(who: "Who adds it.", why: "Why it is added.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "add", in: .write, summary: "Add one object.",
            discussion: EditArguments.forms,
            arguments: [store, entity, values] + edit.all,
            examples: [
                .init(
                    "daybook add iso.daybook Country alpha2=XK name=Kosovo --note 'Provisional'",
                    "Add a country"),
                .init(
                    "daybook add iso.daybook Subdivision code=XK-01 country=Country/250",
                    "Add an object that refers to another one"),
            ],
            endings: EditArguments.endings)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        try edit.run(arguments, store: arguments[store], deed: "adds", console) { recorder in
            let entity = try recorder.entity(named: arguments[entity])
            return .insert(
                entity: entity.name, ref: nil,
                values: try recorder.members(arguments[values], of: entity))
        }
    }
}

/// `daybook set STORE OBJECT NAME=VALUE...`: values of one object.
struct SetCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let object = Positional("OBJECT", .object, "The object, such as Country/17.")
    private let values = SeveralPositionals(
        "NAME=VALUE", .propertyValue, "Properties and their new values.")
    private let edit = EditArguments(who: "Who sets them.", why: "Why they are set.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "set", in: .write, summary: "Set properties of one object.",
            discussion: EditArguments.forms,
            arguments: [store, object, values] + edit.all,
            examples: [
                .init(
                    "daybook set iso.daybook Country/17 name=Türkiye --note 'Renamed'",
                    "Change a name"),
                .init(
                    "daybook set iso.daybook Country/17 numeric:=null --dry-run",
                    "See what taking a value away would do"),
            ],
            endings: EditArguments.endings)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[object]
        return try edit.run(arguments, store: arguments[store], deed: "sets", console) { recorder in
            let object = try recorder.object(named: name.objectText)
            let entity = try recorder.entity(named: object.objectID.entityName)
            return .update(
                .object(name.objectText, entity: nil),
                values: try recorder.members(arguments[values], of: entity))
        }
    }
}

/// `daybook delete STORE OBJECT...`: objects and what goes with them.
struct DeleteCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let objects = SeveralPositionals("OBJECT", .object, "The objects, such as Country/17.")
    private let edit = EditArguments(who: "Who deletes them.", why: "Why they are deleted.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "delete", in: .write, summary: "Delete objects, and what goes with them.",
            discussion: """
                The delete rules of the model are carried out, so more objects may go, references
                may be emptied, and the delete may be refused. --dry-run shows all of it. Several
                objects go in one entry, all or none. Nothing is lost: 'daybook undo' and 'daybook
                restore' bring objects back.
                """,
            arguments: [store, objects] + edit.all,
            examples: [
                .init(
                    "daybook delete iso.daybook Country/17 --dry-run",
                    "See what goes with a country"),
                .init("daybook delete iso.daybook Country/17 --author me", "Delete a country"),
            ],
            endings: EditArguments.endings)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        try edit.run(arguments, store: arguments[store], deed: "deletes", console) { recorder in
            let names = arguments[objects].map(\.objectText)
            for (place, name) in names.enumerated() where names[..<place].contains(name) {
                throw LineProblem("'\(name)' is given twice.")
            }
            for name in names.dropLast() {
                _ = try recorder.perform(.delete(.object(name, entity: nil)), line: 1)
            }
            return .delete(.object(names.last ?? "", entity: nil))
        }
    }
}

/// What the commands that make one change have in common.
struct EditArguments: Sendable {
    static let forms = """
        NAME=VALUE sets a property to a text, of which its type makes a value: a number, true or
        false, a date such as 2011-12-15T08:30:00Z, base64 for data. Nothing after '=' is an
        empty text, and for all other types no value. A relationship is set to an object,
        capital=Town/3, or to several, stops=Town/3,Town/8; nothing after '=' empties it.
        NAME:=VALUE sets it to JSON, in the form that 'record' reads: name:=null takes a value
        away, where name=null is the text 'null'.

        A new object gets the next number of the store, whatever its entity. Numbers may be left
        out, as after an add that was refused or a program that was killed; none is given twice.

        The change becomes one entry, with the checks of 'record'. With --dry-run the changes are
        shown, with all that follows from the rules of the model, and not made.
        """

    static let endings: [CommandDeclaration.Ending] = [
        .init(.success), .init(.usage, "Wrong usage, or a value or name that does not fit."),
        .init(.unreadable),
        .init(
            .conflict,
            "A value that must be unique is there already, others need what was to be deleted, or a "
                + "law is broken."),
        .init(.unreachable),
    ]

    private let author: Option<String>
    private let note: Option<String>
    private let info = InfoArguments()
    private let isDry = Flag("--dry-run", short: "-n", "Show the changes without making them.")

    init(who: String, why: String) {
        author = Option("--author", short: "-a", "A", .name, who)
        note = Option("--note", "N", .text, why)
    }

    var all: [any Argument] { [isDry, author, note, info.argument] }

    /// Carries out one operation and saves it, or shows what it would do.
    ///
    /// - Parameters:
    ///   - arguments: The command line.
    ///   - path: The store.
    ///   - deed: What the entry does with its objects: "adds".
    ///   - console: Where the outcome is told.
    ///   - operation: What to do, with the names of the store.
    /// - Returns: Success.
    /// - Throws: ``ToolError`` for what does not fit; `StoreError` when the store refuses.
    func run(
        _ arguments: ParsedArguments, store path: String, deed: String, _ console: Console,
        _ operation: (Recorder) throws -> Operation
    ) throws -> ExitCode {
        let recorder = try Recorder(
            path: path, author: arguments.author(author), note: arguments[note],
            info: info.info(arguments), isDry: arguments[isDry], console)
        do {
            _ = try recorder.perform(try operation(recorder), line: 1)
            if arguments[isDry] {
                try PlannedChanges.show(of: recorder, line: 1, console)
            } else {
                let objects = recorder.touchedObjects
                try tell(try recorder.finish(line: 1), of: objects, deed, console)
            }
        } catch let problem as LineProblem {
            throw ToolError(problem.code, problem.message)
        }
        return .success
    }
}

extension EditArguments {
    private func tell(
        _ entry: Recorder.RecordedEntry?, of objects: [String], _ deed: String, _ console: Console
    ) throws {
        guard console.format == .text else {
            return try console.print(
                [
                    "sequence": entry.map { .unsigned($0.sequence.rawValue) } ?? .null,
                    "digest": entry.map { .string($0.digest.description) } ?? .null,
                    "objects": .array(objects.map { .string($0) }),
                ] as JSONText)
        }
        guard let entry else {
            return try console.print("Nothing was recorded: it is like that already.")
        }
        try console.print("Entry \(entry.sequence) \(deed) \(objects.joined(separator: ", ")).")
    }
}

extension Recorder {
    /// What assignments say, as the members of a line of `record`.
    ///
    /// - Parameters:
    ///   - assignments: The assignments.
    ///   - entity: The entity of the object.
    /// - Returns: The members.
    /// - Throws: ``LineProblem`` for a name that is none, or is given twice, and for broken JSON.
    func members(
        _ assignments: [Assignment], of entity: SchemaEntity
    ) throws -> [JSONMember] {
        var members: [JSONMember] = []
        for assignment in assignments {
            guard !members.contains(where: { $0.name == assignment.name }) else {
                throw LineProblem("'\(assignment.name)' is given twice.")
            }
            let value =
                switch assignment.form {
                case .json: try json(assignment)
                case .text: try json(of: assignment, in: entity)
                }
            members.append(JSONMember(assignment.name, value))
        }
        return members
    }

    private func json(_ assignment: Assignment) throws -> JSONValue {
        do {
            return try JSONValue(parsing: assignment.value)
        } catch {
            throw LineProblem("'\(assignment.name)' is wrong: \(error.message)")
        }
    }

    /// The JSON that a text means for a property.
    private func json(of assignment: Assignment, in entity: SchemaEntity) throws -> JSONValue {
        let text = assignment.value
        let property = try property(named: assignment.name, of: entity)
        guard let attribute = property.attribute else {
            let names = text.split(separator: ",").map(String.init)
            if let word = names.first(where: { !$0.contains("/") }) {
                throw LineProblem(notAnObject(word, for: property))
            }
            let objects = names.map { JSONValue.object([JSONMember("object", .string($0))]) }
            if property.relationship?.isToMany == true { return .array(objects) }
            guard objects.count < 2 else {
                throw LineProblem("'\(property.name)' leads to one object, and several are given.")
            }
            return objects.first ?? .null
        }
        switch attribute.type {
        case .string: return .string(text)
        case _ where text.isEmpty: return .null
        case .codable: return try json(assignment)
        case _ where text == "null":
            throw LineProblem("'\(property.name)' is wrong: \(Self.emptying(property))")
        case .bool:
            return ["true": .bool(true), "false": .bool(false)][text] ?? .string(text)
        case .int16, .int32, .int64, .float, .double:
            return text.isNumber ? .number(text) : .string(text)
        case .decimal, .date, .uuid, .url, .data: return .string(text)
        }
    }

    private func notAnObject(_ word: String, for property: SchemaProperty) -> String {
        let entity = property.end.flatMap { schema.entity($0.destination) }?.name ?? "Country"
        return "'\(property.name)' is wrong: '\(word)' is not the name of an object: one such as "
            + "'\(entity)/17' was expected. " + Self.emptying(property)
    }

    /// How a property is left without a value.
    private static func emptying(_ property: SchemaProperty) -> String {
        let (name, isToMany) = (property.name, property.relationship?.isToMany == true)
        return isToMany
            ? "'\(name)=' empties it." : "'\(name)=' and '\(name):=null' leave it without a value."
    }
}
