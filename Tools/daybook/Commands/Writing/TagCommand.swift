import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook tag STORE`: names for entries.
struct TagCommand: Command {
    private let store = Positional("STORE", .path, "The store.")
    private let name = OptionalPositional("NAME", .name, "The tag; all are listed by default.")
    private let entry = OptionalPositional(
        "SEQ|TIME", .moment, "The entry to name; by default the newest.")
    private let delete = Flag("--delete", short: "-d", "Remove the tag.")
    private let force = Flag("--force", short: "-f", "Move the tag if another entry has it.")
    private let author = Option("--author", short: "-a", "A", .name, "Who sets the tag.")
    private let note = Option("--note", "N", .text, "The note of the tag.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "tag", in: .past, summary: "Name an entry, list the names, or remove one.",
            discussion: """
                A tag can be given wherever SEQ|TIME is written. Tags are kept beside the
                journal: setting one changes no entry, and exports and replays leave them out.

                A name has no spaces, no '/' and none of ~ ^ : ? * [ \\ or quotes; it is not a
                number, a date or 'head'.
                """,
            arguments: [store, name, entry, delete, force, author, note],
            examples: [
                .init("daybook tag iso.daybook edition-6 --note 'As printed'", "Name the head"),
                .init("daybook tag iso.daybook edition-5 2010-12-31", "Name an entry of the past"),
                .init(
                    "daybook diff iso.daybook edition-5 edition-6",
                    "The differences between two tags"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, a name that is taken or not allowed, or no such tag."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard let name = arguments[name] else {
            let isBare =
                !arguments[delete] && !arguments[force] && arguments[author] == nil
                && arguments[note] == nil
            guard isBare else { throw ToolError.usage("NAME is missing: the tag.") }
            try list(StoreReading.open(arguments[store]).tags(), on: console)
            return .success
        }
        let store = try StoreWriting.open(arguments[store], console)
        if arguments[delete] {
            guard
                arguments[entry] == nil, arguments[author] == nil, arguments[note] == nil,
                !arguments[force]
            else {
                throw ToolError.usage(
                    "'--delete' takes only a name: no entry, author or note, and no '--force'.")
            }
            let tag = try store.removeTag(named: name)
            try report(tag, "The tag '\(name)' is taken from entry \(tag.sequence).", on: console)
        } else {
            let sequence = try arguments[entry].map { try StoreReading.entry(at: $0, in: store) }
            let tag = try set(
                name, at: sequence, in: store, author: arguments.author(author),
                note: arguments[note],
                existing: arguments[force] ? .replace : .refuse)
            try report(tag, "Entry \(tag.sequence) is tagged '\(name)'.", on: console)
        }
        return .success
    }

    private func set(
        _ name: String, at sequence: SequenceNumber?, in store: Store, author: String?,
        note: String?, existing: TagReplacement
    ) throws -> StoreTag {
        do {
            return try store.setTag(
                name, at: sequence, author: author, note: note, existing: existing)
        } catch let error as StoreError where error.code == .tagName {
            guard try store.tags().contains(where: { $0.name == name }) else { throw error }
            throw ToolError.usage("\(error.message) '--force' replaces it.")
        }
    }

    private func report(_ tag: StoreTag, _ sentence: String, on console: Console) throws {
        try console.format == .text ? console.print(sentence) : console.print(json(of: tag))
    }

    private func list(_ tags: [StoreTag], on console: Console) throws {
        var table = TextTable([
            .init("tag"), .init("entry", .trailing), .init("set"), .init("author"), .init("note"),
        ])
        var listing = Listing(console)
        for tag in tags {
            try listing.append(json(of: tag)) {
                table.append([
                    .init(tag.name, .name), .init(String(describing: tag.sequence)),
                    .init(EntryText.time(tag.time)), .init(tag.author ?? ""),
                    .init(tag.note ?? ""),
                ])
            }
        }
        try listing.close()
        if tags.isEmpty { try console.remark("There are no tags.") }
        if !table.isEmpty { try console.print(table) }
    }

    private func json(of tag: StoreTag) -> JSONText {
        var members: [JSONText.Member] = [
            .init("name", .string(tag.name)), .init("sequence", .unsigned(tag.sequence.rawValue)),
            .init("digest", .string(tag.digest.hexadecimal)),
            .init("time", .string(DateText.text(microseconds: tag.time))),
        ]
        for (name, text) in [("author", tag.author), ("note", tag.note)] {
            if let text { members.append(.init(name, .string(text))) }
        }
        return .object(members)
    }
}
