import DaybookAudit

/// The arguments of `import` for change streams.
struct StreamArguments {
    private let keys = RepeatedOption(
        "--key", "ENTITY=ATTRIBUTE", .assignment,
        "For a stream: the unique attribute that identifies the objects of this entity.")
    private let tables = RepeatedOption(
        "--table", "TABLE=ENTITY", .assignment,
        "For a stream: the entity of this table of the source.")
    private let ignoresUnknown = Flag(
        "--ignore-unknown",
        "For a stream or Core Data: skip unknown columns and members.")
    private let ignoresBefore = Flag(
        "--ignore-before",
        "For a stream: import even if the old values of the input differ from the store's.")
    private let skipsRepeated = Flag(
        "--skip-repeated", "For a stream: skip events that repeat what stands earlier in it.")
    private let forgetsPositions = Flag(
        "--forget-positions",
        "For a stream: import events whatever positions earlier imports have reached.")

    var all: [any Argument] { besidesCoreData + [ignoresUnknown] }
    /// Those that have no meaning for the store of Core Data.
    var besidesCoreData: [any Argument] {
        [keys, tables, ignoresBefore, skipsRepeated, forgetsPositions]
    }

    func options(_ arguments: ParsedArguments) throws -> Importer.Options {
        var options = Importer.Options()
        for (name, value) in arguments[keys] {
            guard options.keys.updateValue(value, forKey: name) == nil else {
                throw ToolError.usage("'--key' names '\(name)' twice.")
            }
        }
        for (name, value) in arguments[tables] {
            guard options.tables.updateValue(value, forKey: name) == nil else {
                throw ToolError.usage("'--table' names '\(name)' twice.")
            }
        }
        options.ignoresUnknown = skipsUnknown(arguments)
        options.ignoresBefore = arguments[ignoresBefore]
        options.skipsRepeated = arguments[skipsRepeated]
        options.forgetsPositions = arguments[forgetsPositions]
        return options
    }

    func skipsUnknown(_ arguments: ParsedArguments) -> Bool {
        arguments[ignoresUnknown]
    }
}

/// The arguments of `import` for stores of Core Data.
struct CoreDataArguments {
    private let model = Option(
        "--model", short: "-m", "MODEL", .path,
        "For Core Data: the model, as JSON; '-' reads standard input.")
    private let external = RepeatedOption(
        "--external", "ENTITY.ATTRIBUTE", .name,
        "For Core Data: an attribute that allows external storage.")
    private let leavesOutHistory = Flag(
        "--without-history", "For Core Data: import only the present state, as one entry.")

    var all: [any Argument] { [model, external, leavesOutHistory] }

    /// The path of the model.
    func model(_ arguments: ParsedArguments) throws -> String {
        guard let path = arguments[model] else {
            throw ToolError.usage(
                "'--format coredata' needs '--model MODEL': the model of the store, as JSON.")
        }
        return path
    }

    func options(_ arguments: ParsedArguments) -> CoreDataImporter.Options {
        var options = CoreDataImporter.Options()
        options.external = Set(arguments[external])
        options.leavesOutHistory = arguments[leavesOutHistory]
        return options
    }
}

/// The arguments of `import` for tables.
struct TableArguments {
    private let entity = Option(
        "--entity", short: "-e", "ENTITY", .name, "For a table: the entity of its rows.")
    private let paths = RepeatedOption(
        "--map", "COLUMN=PROPERTY", .mapping,
        "For a table: the property of this column, or RELATIONSHIP.ATTRIBUTE.")
    private let skipped = RepeatedOption(
        "--skip", "COLUMN", .text, "For a table: leave out this column.")
    private let null = Option(
        "--null", "TEXT", .text, "For a table: the text that stands for no value.")
    private let batch = Option(
        "--batch", "N", .countFromOne, "For a table: make an entry of each N rows.")
    private let skipsRefused = Flag(
        "--skip-refused", "For a table: save the rows that are not refused.")

    var all: [any Argument] { [entity, paths, skipped, null, batch, skipsRefused] }

    func options(_ arguments: ParsedArguments) throws -> TableImport.Options {
        guard let entity = arguments[entity] else {
            throw ToolError.usage(
                "'--format csv' needs '--entity ENTITY': what the rows of the table are.")
        }
        var options = TableImport.Options()
        options.entity = entity
        options.columns.paths = arguments[paths].map { ($0.name, $0.value) }
        options.columns.skipped = arguments[skipped]
        options.null = arguments[null]
        options.batch = arguments[batch]
        options.skipsRefused = arguments[skipsRefused]
        return options
    }
}

extension ValueParser where Value == (name: String, value: String) {
    /// Two names separated by an equals sign.
    fileprivate static var assignment: ValueParser {
        ValueParser("two names such as A=B") { text in
            guard let sign = text.firstIndex(of: "=") else { return nil }
            let name = String(text[..<sign])
            let value = String(text[text.index(after: sign)...])
            return name.isEmpty || value.isEmpty ? nil : (name, value)
        }
    }

    /// A column, which may have equals signs in its name, and the path of a property.
    fileprivate static var mapping: ValueParser {
        ValueParser("a column and a property such as A=B") { text in
            guard let sign = text.lastIndex(of: "=") else { return nil }
            let path = String(text[text.index(after: sign)...])
            return path.isEmpty ? nil : (String(text[..<sign]), path)
        }
    }
}

extension ValueParser where Value == Int {
    /// How many: one or more.
    fileprivate static var countFromOne: ValueParser {
        ValueParser("a whole number, 1 or more") { text in
            ValueParser.count.parse(text).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}
