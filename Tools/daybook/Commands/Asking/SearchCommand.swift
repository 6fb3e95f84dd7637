import DaybookJournalLog
import DaybookObjectModel
import DaybookSearch
import DaybookSnapshotStore

/// `daybook search STORE TEXT`: words in the texts of objects, those of now and those of the past.
struct SearchCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let text = Positional("TEXT", .text, "The words to look for.")
    private let entity = Option(
        "--entity", short: "-e", "NAME", .name, "Only objects of this entity and its subentities.")
    private let property = Option(
        "--property", "NAME", .name, "Only this attribute of the entity.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "As the store was at this entry or time.")
    private let isEver = Flag("--ever", "Every value that ever was, not only those of now.")
    private let limit = Option(
        "--limit", short: "-n", "N", .count, "Stop after N matches, by default 100.")
    private let offset = Option("--offset", "N", .count, "Skip the first N matches.")
    private let index = Option(
        "--index", "FILE", .path, "The file of the index, by default STORE-text.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "search", in: .read, summary: "Find words in the texts of objects, now or ever.",
            discussion: """
                All words must be there, in any order, without regard to case and diacritics:

                  red herring          both words
                  "red herring"        side by side
                  her*                 a word that begins so
                  red OR blue          at least one of the two
                  herring -red         the first, and not the second

                Attributes of type string are searched, but for confidential ones. The best
                matches come first. With '--ever' values are found that were replaced or
                deleted since, with the entries from which and until which they stood.

                The words are kept in a file beside the store, which each search brings up to
                date. It can be deleted at any time.
                """,
            arguments: [store, text, entity, property, moment, isEver, limit, offset, index],
            examples: [
                .init("daybook search iso.daybook 'cote ivoire'", "Finds Côte d'Ivoire, too"),
                .init(
                    "daybook search iso.daybook --ever -e Country swaziland",
                    "What had this name, and until when"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, no word, or no such entity or attribute."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        var scope = SearchScope(
            entityName: arguments[entity], propertyName: arguments[property],
            limit: arguments[limit] ?? 100, offset: arguments[offset] ?? 0)
        if let moment = arguments[moment] {
            guard !arguments[isEver] else {
                throw ToolError.usage("'--at' and '--ever' exclude each other.")
            }
            scope.moment = .sequence(try StoreReading.sequence(of: moment, in: store))
        } else if arguments[isEver] {
            scope.moment = .ever
        }
        let isEver = arguments[isEver]
        var listing = Listing(console)
        for match in try matches(arguments, scope, in: store) {
            let name = "\(store.schema.name(of: match.object)).\(match.property.name)"
            try listing.append(match.json(in: store.schema)) {
                var line = console.palette(name, .name)
                if isEver {
                    line +=
                        "  from entry \(match.since)"
                        + (match.until.map { " until entry \($0)" } ?? "")
                }
                try console.print(line)
                try console.printLines(EntryText.lines(of: match.text, indentation: "    "))
            }
        }
        try listing.close()
        if listing.count == 0 { try console.remark("Nothing was found.") }
        return .success
    }

    private func matches(
        _ arguments: ParsedArguments, _ scope: SearchScope, in store: Store
    ) throws -> [TextIndexFile.Found] {
        do {
            let file = try TextIndexFile(of: store, at: arguments[index] ?? store.path + "-text")
            return try file.search(arguments[text], in: scope)
        } catch let error as SearchError where error.code == .file && arguments[index] == nil {
            throw ToolError.usage("\(error.message) '--index FILE' names it.")
        }
    }
}

extension TextIndexFile.Found {
    /// The match as JSON.
    fileprivate func json(in schema: Schema) -> JSONText {
        [
            "object": .string(schema.name(of: object)), "property": .string(property.name),
            "value": .string(text), "since": .unsigned(since.rawValue),
            "until": until.map { .unsigned($0.rawValue) } ?? .null,
        ]
    }
}
