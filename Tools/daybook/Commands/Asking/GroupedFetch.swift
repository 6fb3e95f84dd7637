import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// The options of `fetch` that ask for groups.
struct GroupArguments {
    private let keys = RepeatedOption(
        "--group", short: "-g", "KEY", .name,
        "A row for each value of this property, or of several together.")
    private let having = Option(
        "--having", "P", .text, "Only groups for which this predicate about the columns is true.")
    private let aggregates: [(AggregateFunction, RepeatedOption<String>)] = [
        (.sum, RepeatedOption("--sum", "KEY", .name, "The sum of an attribute of numbers.")),
        (
            .average,
            RepeatedOption("--average", "KEY", .name, "The mean of an attribute of numbers.")
        ),
        (.minimum, RepeatedOption("--minimum", "KEY", .name, "The least value of an attribute.")),
        (
            .maximum,
            RepeatedOption("--maximum", "KEY", .name, "The greatest value of an attribute.")
        ),
        (
            .median,
            RepeatedOption(
                "--median", "KEY", .name, "The number in the middle, or the mean of two.")
        ),
        (
            .distinct,
            RepeatedOption("--distinct", "KEY", .name, "The number of different values.")
        ),
    ]

    /// All of them.
    var all: [any Argument] { [keys] + aggregates.map(\.1) + [having] }

    /// Whether a command line asks for groups.
    func areAsked(_ arguments: ParsedArguments) -> Bool {
        arguments[having] != nil || !arguments[keys].isEmpty
            || aggregates.contains { !arguments[$1].isEmpty }
    }

    /// What a command line asks for.
    fileprivate func grouping(
        _ arguments: ParsedArguments, counts: Bool, of entity: SchemaEntity, in schema: Schema
    ) throws -> Grouping {
        var grouping = Grouping(entity)
        for key in arguments[keys] {
            let path = try StoreReading.path(key, of: entity, in: schema, for: "--group")
            grouping.show(try grouping.column(path))
        }
        grouping.close()
        if counts { grouping.show(try grouping.column(.count, of: nil)) }
        for (function, option) in aggregates {
            for key in arguments[option] {
                let name = option.declaration.name
                let path = try StoreReading.path(key, of: entity, in: schema, for: name)
                guard let attribute = path.steps.last?.attribute else {
                    throw ToolError.usage(
                        "'\(name)' cannot be '\(key)', which is a relationship. Name an attribute.")
                }
                guard !function.isOfNumbers || attribute.type.isNumeric else {
                    throw ToolError.usage(
                        "'\(name)' cannot be '\(key)', which is of type '\(attribute.type.rawValue)'. Name "
                            + "an attribute of numbers, or use '--minimum', '--maximum' or '--distinct'."
                    )
                }
                grouping.show(try grouping.column(function, of: path))
            }
        }
        return grouping
    }

    /// The condition on the groups of a command line.
    fileprivate func condition(
        _ arguments: ParsedArguments, on grouping: Grouping, in schema: Schema
    ) throws -> Filter? {
        guard let text = arguments[having] else { return nil }
        guard !grouping.columns.isEmpty else {
            throw ToolError.usage(
                "'--having' is about columns, and there are none. Give '--group', '--count' or another."
            )
        }
        do {
            return try Filter(parsing: text, forColumnsOf: grouping, in: schema)
        } catch {
            throw ToolError.usage("'--having' cannot be understood: \(error.description)")
        }
    }
}

/// Groups of the objects that `fetch` finds, as rows.
struct GroupedFetch {
    private var grouping: Grouping
    private let condition: Filter?
    private let query: Query
    private let schema: Schema

    init(
        _ options: GroupArguments, _ arguments: ParsedArguments, counts: Bool, _ query: Query,
        in schema: Schema
    ) throws {
        do {
            grouping = try options.grouping(
                arguments, counts: counts, of: query.entity, in: schema)
        } catch let error as QueryError {
            throw ToolError.usage(error.message)
        }
        condition = try options.condition(arguments, on: grouping, in: schema)
        self.query = query
        self.schema = schema
    }

    /// Sorts the rows by columns; `-NAME` in descending order.
    mutating func sort(by keys: [String]) throws {
        for key in keys {
            let isDescending = key.hasPrefix("-")
            let name = String(key.dropFirst(isDescending ? 1 : 0))
            guard let column = grouping.columns.first(where: { grouping.name(of: $0) == name })
            else {
                let names = grouping.columns.map { "'\(grouping.name(of: $0))'" }
                throw ToolError.usage(
                    "'--sort' cannot be '\(key)': there is no such column; there are "
                        + "\(names.joined(separator: ", ")).")
            }
            grouping.sort(by: column, isAscending: !isDescending)
        }
    }

    /// The query for all objects that are grouped.
    var all: Query {
        var all = query
        all.limit = nil
        all.offset = 0
        return all
    }

    /// The rows.
    func found(in snapshot: borrowing Snapshot) throws -> [[Value]] {
        var table = grouping.table
        try snapshot.group(&table, by: grouping, all)
        let groups: [Grouping.Group]
        do {
            groups = try grouping.groups(of: table)
        } catch let error as QueryError {
            throw ToolError.usage(error.message)
        }
        let rows = try groups.map { group in grouping.columns.map { group[$0] } }
            .filter { try condition?.matches(columns: $0) ?? true }
        return Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
    }

    /// Prints rows, as comma-separated values or in the form of the console.
    func print(_ rows: [[Value]], _ console: Console, _ isCSV: Bool) throws {
        let names = grouping.columns.map(grouping.name)
        if !isCSV, console.format != .text, let name = names.firstRepeated {
            throw ToolError.usage(
                "Two columns are called '\(name)', and JSON needs a name for each. Leave one out, or use "
                    + "'--format csv'.")
        }
        if isCSV {
            try console.write(CSVRow().line(names))
            for row in rows {
                let cells = readable(row).map { $0.isNull ? nil : $0.text }
                try console.write(CSVRow().line(cells))
            }
        } else if console.format == .text {
            var table = TextTable(
                grouping.columns.map { column in
                    let isNumber = grouping.type(of: column)?.isNumeric == true
                    return TextTable.Column(
                        grouping.name(of: column), isNumber ? .trailing : .leading)
                })
            for row in rows { table.append(readable(row).map { TextTable.Cell($0.text) }) }
            try console.print(table)
            try console.talk(rows.count == 1 ? "1 group." : "\(rows.count) groups.")
        } else {
            var listing = Listing(console)
            for row in rows {
                var writer = JSONWriter()
                writer.object { writer in
                    for (name, value) in zip(names, readable(row)) {
                        writer.name(name)
                        value.write(to: &writer)
                    }
                }
                try listing.append(json: writer.bytes)
            }
            try listing.close()
        }
    }

    /// The values of a row as they are printed.
    private func readable(_ row: [Value]) -> [AuditValue] {
        zip(grouping.columns, row).map { column, value in
            AuditValue(value, type: grouping.type(of: column), in: schema)
        }
    }
}

extension [String] {
    /// The first text that was there before.
    fileprivate var firstRepeated: String? {
        var seen: Set<String> = []
        return first { !seen.insert($0).inserted }
    }
}
