// The room of the commands that ask for objects by what they are and were.

import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook fetch STORE ENTITY`: objects, now or as of the past.
struct FetchCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entity = Positional("ENTITY", .name, "The entity whose objects to fetch.")
    private let filter = Option(
        "--where", short: "-w", "P", .text, "Only objects for which this predicate is true.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the store was at this entry or time.")
    private let then = Flag(
        "--then", "With '--at': in the model of that time, with its names and what it had.")
    private let sort = RepeatedOption(
        "--sort", short: "-s", "KEY", .name, "Sort by this property; '-KEY' in descending order.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N objects.")
    private let offset = Option("--offset", "N", .count, "Skip the first N objects.")
    private let after = Option(
        "--after", "CURSOR", .text,
        "Go on behind this place, which the page before has named; 'start' for the first page.")
    private let count = Flag(
        "--count", short: "-c", "Print only the number of objects; with groups, that of each.")
    private let changes = Flag(
        "--changes", "Print the changes that '--where' asks about, with entry, author, old and new."
    )
    private let explain = Flag(
        "--explain",
        "Print how the objects are found and what was read for it, and not the objects.")
    private let groups = GroupArguments()
    private let columns = RepeatedOption(
        "--column", "KEY", .name,
        "Show this property, 'object' or a path such as country.name, and what else is named so.")
    private let form = Option(
        "--format", "FORMAT", ValueParser<FetchForm>.oneOf,
        "Print comma-separated values or a table in Markdown, the names of the columns first.")
    private let template = Option(
        "--template", "TEXT", .text,
        "Print this for each object, with values in place of '{name}' and '{country.name}'.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "fetch", in: .read, summary: "Fetch objects, as they are or as they were.",
            discussion: """
                A predicate compares properties with values and combines comparisons:

                  name BEGINSWITH 'L' AND country.alpha2 == "FR"
                  code IN {'FR-75', 'FR-69'} OR NOT name CONTAINS[cd] 'saint'
                  population BETWEEN {1000, 2000}
                  ANY subdivisions.name LIKE '*burg'

                and asks about the past of each object, up to '--at':

                  EVER salary > 5000 AND NOT ALWAYS isActive == TRUE
                  WAS salary > 5000 AT '2024-05-01'
                  salary DECREASED BY 'ada' SINCE '2024-01-01' UNTIL '2025-01-01'

                A moment is the number of an entry, a tag, 'head' or a date. SINCE and UNTIL
                include an entry that they name; a date begins at midnight, before what
                happened then. '--changes' prints a row for each change that CHANGED,
                INCREASED and DECREASED find.

                The past is read in today's model: with today's names, and a property
                that was removed for a time has the values that it kept meanwhile.
                '--then' reads it in the model of that time.

                With '--group' or an aggregate there is a row for each group of objects,
                with columns that are named as in

                  department.name  count  sum(salary)  distinct(city)

                '--sort', '--limit' and '--offset' are then about these rows, which come in
                the order of the keys otherwise, and '--having' keeps some of them. Objects
                without a value are a group as well. Of integers and decimals a sum is exact;
                one that does not fit the type of the attribute is an error.

                '--after' fetches by pages of '--limit' objects. Each names the cursor of the
                next one: in JSON as "next", beside "objects" or in the last line; otherwise
                on standard error. Unlike an offset it neither repeats nor skips an object
                when others come or go between two pages. It belongs to the store, the entity
                and '--sort'. Each page reads the newest state, or that of '--at'.

                '--explain' carries the fetch out and prints its plan instead of the objects, and
                how many rows, records of indexes, versions and pages were read for it. Rows
                that were read beyond one for each object that was found were passed over.

                CSV is RFC 4180 in UTF-8: a field that is empty and not quoted is null. Groups and
                changes are printed as CSV and not as Markdown. In a template '{{' and '}}' stand
                for braces.
                """,
            arguments: [
                store, entity, filter, moment, then, sort, limit, offset, after, count, changes,
                explain,
            ]
                + groups.all + [columns, form, template],
            examples: [
                .init(
                    "daybook fetch iso.daybook Country --where \"name BEGINSWITH 'F'\"",
                    "Countries with F"),
                .init(
                    "daybook fetch iso.daybook Country --at 2010-10-01 --count",
                    "The number of countries then"),
                .init(
                    "daybook fetch iso.daybook Subdivision -g country.name -c --sort -count",
                    "How many subdivisions each country has, the most first"),
                .init(
                    "daybook fetch iso.daybook Country -w \"name CHANGED\" --changes",
                    "Which countries were renamed, when, by whom, from what to what"),
                .init(
                    "daybook fetch iso.daybook Country -w \"name BEGINSWITH 'F'\" --explain",
                    "Which index finds them, and how many rows are read"),
                .init(
                    "daybook fetch iso.daybook Country --format csv > countries.csv",
                    "A table for a spreadsheet"),
                .init(
                    "daybook fetch iso.daybook Subdivision --column name --column country.name",
                    "Two columns, one of them of the object that is referred to"),
                .init(
                    "daybook fetch iso.daybook Country --template '{alpha2}: {name}'",
                    "A line of one's own for each object"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, no such entity or property, or a faulty predicate."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let file = try StoreReading.open(arguments[store])
        let sequence = try arguments[moment].map { try StoreReading.sequence(of: $0, in: file) }
        let store = try storeToRead(file, at: sequence, isThen: arguments[then])
        let entity = try StoreReading.entity(arguments[entity], in: store.schema)
        var query = Query(entity, offset: arguments[offset] ?? 0)
        query.limit = arguments[limit]
        if let text = arguments[filter] {
            query.filter = try StoreReading.filter(text, for: entity, in: store.schema)
        }
        let form = arguments[form]
        let isCSV = form == .csv
        let isPage = arguments[after] != nil
        if isPage {
            guard arguments[limit] ?? 0 > 0, arguments[offset] == nil, !arguments[count],
                !groups.areAsked(arguments)
            else {
                throw ToolError.usage(
                    "'--after' fetches pages of objects: give '--limit', and no '--offset', '--count' "
                        + "or groups.")
            }
        }
        try checkForms(arguments, console)
        if arguments[explain] {
            guard form == nil, !arguments[changes] else {
                throw ToolError.usage("'--explain' excludes '--changes' and '--format'.")
            }
            try explained(query, arguments, in: store, at: sequence).print(console)
        } else if arguments[changes] {
            guard !arguments[count], !groups.areAsked(arguments) else {
                throw ToolError.usage("'--changes' excludes '--count' and groups.")
            }
            let listing = try FetchedChanges(query.filter, in: store.schema)
            query.sortings = try sortings(arguments, of: entity, in: store.schema)
            let (objects, reading) = try PagedReading.begin(store, at: sequence) {
                try $0.fetch(query)
            }
            try listing.print(objects, reading, console, isCSV)
        } else if groups.areAsked(arguments) {
            var rows = try GroupedFetch(
                groups, arguments, counts: arguments[count], query, in: store.schema)
            try rows.sort(by: arguments[sort])
            try rows.print(try store.read(at: sequence) { try rows.found(in: $0) }, console, isCSV)
        } else if arguments[count] {
            let count = try store.read(at: sequence) { try $0.count(query) }
            try console.print(countText(count, console.format))
        } else {
            query.sortings = try sortings(arguments, of: entity, in: store.schema)
            let whole = try page(of: query, after: arguments[after], in: store)
            let (objects, reading) = try PagedReading.begin(store, at: sequence) {
                try $0.fetch(whole)
            }
            let next = try isPage ? cursor(behind: objects, of: query, reading) : nil
            let shown = isPage ? Array(objects.prefix(query.limit ?? .max)) : objects
            if let text = arguments[template] {
                let template = try FetchTemplate(text, of: entity, in: store.schema)
                try print(shown, as: template, reading, console)
            } else if console.format == .text {
                let columns = try self.columns(arguments, of: entity, in: store.schema)
                try print(shown, columns, form, reading, console)
            } else {
                try printJSON(shown, reading, console, page: isPage ? .some(next) : nil)
            }
            if isPage, console.format == .text {
                try console.talk(next.map { "The next page: --after \($0)" } ?? "The last page.")
            }
        }
        return .success
    }

    /// How the fetch is carried out that the arguments ask for.
    private func explained(
        _ query: Query, _ arguments: ParsedArguments, in store: Store,
        at sequence: SequenceNumber?
    ) throws -> ExplainedFetch {
        if groups.areAsked(arguments) {
            var rows = try GroupedFetch(
                groups, arguments, counts: arguments[count], query, in: store.schema)
            try rows.sort(by: arguments[sort])
            return try ExplainedFetch(of: rows.all, in: store, at: sequence) {
                try rows.found(in: $0).count
            }
        }
        if arguments[count] {
            return try ExplainedFetch(of: query, in: store, at: sequence) { try $0.count(query) }
        }
        var query = query
        query.sortings = try sortings(arguments, of: query.entity, in: store.schema)
        let page = try self.page(of: query, after: arguments[after], in: store)
        return try ExplainedFetch(of: page, in: store, at: sequence) { snapshot in
            try snapshot.fetch(page).prefix(query.limit ?? .max).count
        }
    }

    // MARK: - Pages

    /// The query of a page, which finds one object more than the page has, if there is one; without a cursor the query
    /// itself.
    private func page(of query: Query, after text: String?, in store: Store) throws -> Query {
        guard let text else { return query }
        var query = query
        query.limit = query.limit.map { $0 == .max ? $0 : $0 + 1 }
        if text != "start" {
            guard let token = PlaceToken(text) else {
                throw ToolError.usage(
                    "'--after' takes a cursor as a page has named it, whole, or 'start'.")
            }
            guard token.store == store.uuid else {
                throw ToolError.usage("The cursor of '--after' is of a page of another store.")
            }
            query.start = try query.place(of: token)
        }
        return query
    }

    /// The cursor to the page behind some objects; nil when there is none.
    private func cursor(
        behind objects: [ObjectID], of query: Query, _ reading: PagedReading
    ) throws -> String? {
        guard let limit = query.limit, objects.count > limit else { return nil }
        let last = objects[limit - 1]
        let keys = try reading.store.read(at: reading.sequence) { snapshot in
            var keys: [Value] = []
            for sorting in query.sortings { keys.append(try sorting.key(of: last, in: snapshot)) }
            return keys
        }
        return try query.token(
            for: QueryPlace(keys: keys, object: last), inStore: reading.store.uuid,
            readAt: reading.sequence.rawValue
        ).text
    }

    private func storeToRead(
        _ store: Store, at sequence: SequenceNumber?, isThen: Bool
    ) throws -> Store {
        guard isThen else { return store }
        guard let sequence else {
            throw ToolError.usage("'--then' says which model '--at' reads with, so give both.")
        }
        return try store.withModel(at: sequence)
    }

    private func sortings(
        _ arguments: ParsedArguments, of entity: SchemaEntity, in schema: Schema
    ) throws -> [Sorting] {
        try arguments[sort].map { try sorting($0, of: entity, in: schema) }
    }

    private func sorting(
        _ key: String, of entity: SchemaEntity, in schema: Schema
    ) throws -> Sorting {
        let isDescending = key.hasPrefix("-")
        let path = try StoreReading.path(
            key, without: isDescending ? 1 : 0, of: entity, in: schema, for: "--sort")
        return Sorting(path, isAscending: !isDescending)
    }

    private func countText(_ count: Int, _ format: OutputFormat) -> String {
        format == .text ? String(count) : "{\"count\":\(count)}"
    }

    // MARK: - Printing

    /// Refuses forms that exclude each other.
    private func checkForms(_ arguments: ParsedArguments, _ console: Console) throws {
        let isText = console.format == .text
        if let form = arguments[form] {
            guard isText else {
                throw ToolError.usage("'--format \(form)' and '--output' exclude each other.")
            }
            if form == .markdown, arguments[changes] || groups.areAsked(arguments) {
                throw ToolError.usage("Groups and changes are printed as csv, not as markdown.")
            }
        }
        let listsOthers = arguments[changes] || arguments[explain] || arguments[count]
        let isChosen = !arguments[columns].isEmpty || arguments[template] != nil
        guard !isChosen || isText && !listsOthers && !groups.areAsked(arguments) else {
            throw ToolError.usage(
                "'--column' and '--template' are about objects as text, without '--count', groups, "
                    + "'--changes', '--explain' and '--output'.")
        }
        if arguments[template] != nil, arguments[form] != nil || !arguments[columns].isEmpty {
            throw ToolError.usage("'--template' excludes '--column' and '--format'.")
        }
    }

    private func columns(
        _ arguments: ParsedArguments, of entity: SchemaEntity, in schema: Schema
    ) throws -> FetchedColumns {
        let keys = arguments[columns]
        return keys.isEmpty
            ? FetchedColumns(of: entity)
            : try FetchedColumns(keys, of: entity, in: schema, for: "--column")
    }

    private func printJSON(
        _ objects: [ObjectID], _ reading: PagedReading, _ console: Console, page next: String??
    ) throws {
        var listing = Listing(console, isPage: next != nil)
        try reading.forEach(objects) { object, snapshot in
            let bytes = try json(of: object, snapshot)
            return (bytes, bytes.count)
        } print: { bytes in
            try listing.append(json: bytes)
        }
        if let next { try listing.close(next: next) } else { try listing.close() }
    }

    /// A table for people, or the same columns in a form for other programs.
    private func print(
        _ objects: [ObjectID], _ columns: FetchedColumns, _ form: FetchForm?,
        _ reading: PagedReading, _ console: Console
    ) throws {
        var table = TextTable(columns.titles.map { TextTable.Column($0) })
        if let form { try console.write(form.head(columns.titles)) }
        try reading.forEach(objects) { object, snapshot in
            let texts = try columns.texts(of: object, snapshot)
            return (texts, texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) })
        } print: { texts in
            if let form { return try console.write(form.line(texts)) }
            table.append(
                zip(columns.titles, texts).map { title, text in
                    TextTable.Cell(text ?? "", title == "object" ? .name : .plain)
                })
        }
        guard form == nil else { return }
        try console.print(table)
        try console.talk(objects.count == 1 ? "1 object." : "\(objects.count) objects.")
    }

    /// A line for each object, as the user wants it.
    private func print(
        _ objects: [ObjectID], as template: FetchTemplate, _ reading: PagedReading,
        _ console: Console
    ) throws {
        try reading.forEach(objects) { object, snapshot in
            let line = template.line(try template.columns.texts(of: object, snapshot))
            return (line, line.utf8.count)
        } print: { line in
            try console.print(line)
        }
    }

    /// `{"object":"Country/17","entity":"Country","values":{…}}`, with every property stored on the
    /// object's side.
    private func json(
        of object: ObjectID, _ snapshot: borrowing Snapshot
    ) throws -> [UInt8] {
        let schema = snapshot.schema
        guard let entity = schema.entity(object.entity), let state = try snapshot.state(of: object)
        else { throw StoreError.missingRow(schema.name(of: object)) }
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("object")
            writer.string(schema.name(of: object))
            writer.name("entity")
            writer.string(entity.name)
            writer.name("values")
            writer.object { $0.values(of: state, entity, in: schema) }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the members of an object's `values`.
    fileprivate mutating func values(
        of state: ObjectState, _ entity: SchemaEntity, in schema: Schema
    ) {
        for property in entity.properties where property.isPersistent {
            if let slot = property.slot {
                name(property.name)
                value(state.values[slot], of: property, in: schema)
            } else if property.isStoredToMany {
                let members = (state.members[property.number] ?? [:])
                    .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
                name(property.name)
                array { writer in
                    for (member, _) in members { writer.string(schema.name(of: member)) }
                }
            }
        }
    }
}

extension StoreError {
    fileprivate static func missingRow(_ name: String) -> StoreError {
        StoreError(.corrupt, "\(name) has no row. Run 'daybook verify' to see what is damaged.")
    }
}
