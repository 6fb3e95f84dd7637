import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook browse STORE`: a store on the whole screen.
struct BrowseCommand: Command {
    /// How long a key is waited for before it is looked whether somebody has saved, in milliseconds.
    private static let glance = 250

    private let store = Positional("STORE", .path, "The store to look at.")
    private let moment = Option("--at", "SEQ|TIME", .moment, "Begin with this entry or time.")
    private let edits = Flag("--edit", "Let tags be set and entries be undone.")
    private let author = Option("--author", short: "-a", "A", .name, "Who does that.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "browse", in: .read,
            summary: "Look around on the whole screen: entries, and objects in time.",
            discussion: """
                On the left are all entries, on the right what the chosen one has changed, or the
                entities and objects as they were after it; what it has changed stands out. Keys:
                arrows, Enter and Tab move, ':' goes to an entry, a time, a tag or an object, '/'
                searches through all time, ',' and '.' step one entry on the same page, 'b' shows
                who wrote each value, 'm' and 'd' what differs between two entries, '?' all keys,
                'q' quits. What others save appears at once.
                """,
            arguments: [store, moment, edits, author],
            examples: [
                .init("daybook browse iso.daybook", "Look around"),
                .init("daybook browse iso.daybook --at 2011-12-15", "Begin with what was then"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no terminal."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        let canEdit = arguments[edits]
        guard canEdit || arguments[author] == nil else {
            throw ToolError.usage("'--author' goes only with '--edit'.")
        }
        let store = canEdit ? try StoreWriting.open(path, console) : try StoreReading.open(path)
        var browser = try Browser(
            store, named: path.split(separator: "/").last.map(String.init) ?? path,
            canEdit: canEdit,
            author: arguments.author(author))
        if let moment = arguments[moment] {
            browser.select(try StoreReading.entry(at: moment, in: store))
        }
        try Interruption.watch()
        let screen = try Screen(wantsColor: console.palette.isColored)
        defer { screen.end() }
        while !browser.isEnded, !Interruption.isThere {
            try browser.follow()
            browser.draw(on: screen)
            guard let key = screen.key(within: Self.glance) else { continue }
            browser.take(key, on: screen)
        }
        return .success
    }
}
