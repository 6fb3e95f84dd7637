// The room of the commands that read: the entries of a journal, and the objects as they are or
// were. They open a store for reading only, except that `cursors` and `tail --cursor` set and
// remove cursors.

import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook log STORE`: the entries of the journal.
struct LogCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let range = OptionalPositional(
        "A..B", .range, "Only entries from A to B, both included; either may be left out.")
    private let filters = FilterArguments()
    private let since = Option(
        "--since", or: "--from", "SEQ|TIME", .moment, "Only entries from this one or this time on.")
    private let until = Option(
        "--until", or: "--to", "SEQ|TIME", .moment,
        "Only entries up to this one or this time; a date alone includes its day.")
    private let limit = Option("--limit", short: "-n", "N", .count, "Stop after N entries.")
    private let reverse = Flag("--reverse", short: "-r", "Oldest first.")
    private let changes = Flag(
        "--changes", short: "-p", "Show the changes of each entry, with old and new values.")
    private let counts = Flag(
        "--stat", "Show how many objects of each entity are inserted, updated and deleted.")
    private let isShort = Flag("--oneline", "Show each entry on one line.")
    private let follow = Flag(
        "--follow", short: "-f",
        "Show the last 10 entries, or N, oldest first, and then each new one as it is saved.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "log", in: .read, summary: "List the entries of the journal, newest first.",
            discussion: """
                If several authors, entities or objects are given, one must match; all other
                filters must match, too. --since and --until compare a time with the time at which an entry
                happened, if its author gave it, or else with its recording time.

                With --output json or jsonl each entry is as 'export' writes it, with all
                changes; with --stat it has counts instead of the changes.

                --follow also shows the saves of other programs. It ends when it is interrupted,
                or when the reader of the output is gone.
                """,
            arguments: [store, range] + filters.all
                + [since, until, limit, reverse, changes, counts, isShort, follow],
            examples: [
                .init("daybook log iso.daybook -n 5", "The newest five entries"),
                .init(
                    "daybook log iso.daybook --entity Country --since 2011-01-01 -p",
                    "Changes of countries since 2011, value by value"),
                .init("daybook log iso.daybook 20..30 --oneline", "Eleven entries at a glance"),
                .init(
                    "daybook log iso.daybook -S Türkiye",
                    "The entries that added or removed a name"),
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)], isPaged: true)
    }

    func isPaged(_ arguments: ParsedArguments) -> Bool {
        !arguments[follow]
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let layout = EntryLayout(
            isShort: arguments[isShort], showsCounts: arguments[counts],
            showsChanges: arguments[changes])
        if arguments[follow] {
            try checkFollowing(arguments, console)
            try Interruption.watch()
        }
        let store = try StoreReading.open(arguments[store])
        let filter = try filter(arguments, in: store)
        if arguments[follow] {
            let follower = JournalFollower(of: store, filter)
            try follower.follow(
                from: arguments[limit] ?? JournalFollower.tailLength, layout, console)
            return .success
        }
        let limit = arguments[limit] ?? .max
        var listing = Listing(console)
        if limit > 0 {
            let direction: AuditReader.Direction =
                arguments[reverse] ? .oldestFirst : .newestFirst
            try AuditReader(store).recordsLookedUp(matching: filter, direction) { record in
                try layout.append(record, to: &listing, console)
                return listing.count < limit ? .proceed : .stop
            }
        }
        try listing.close()
        if listing.count == 0 { try console.remark(try absence(arguments, in: store)) }
        return .success
    }

    /// Why there is nothing to show. Digits alone are never a year.
    private func absence(_ arguments: ParsedArguments, in store: Store) throws -> String {
        let head = try store.head()
        guard case .sequence(let number)? = arguments[range]?.first ?? arguments[since],
            number > head.rawValue
        else { return "There is no such entry." }
        return "There is no entry \(number): the journal has entries 1 to \(head)."
    }

    private func filter(_ arguments: ParsedArguments, in store: Store) throws -> AuditFilter {
        var filter = filters.filter(arguments)
        let range = arguments[range]
        guard range == nil || (arguments[since] == nil && arguments[until] == nil) else {
            throw ToolError.usage("Give either A..B, or '--since' and '--until'.")
        }
        try StoreReading.restrict(
            &filter, since: range?.first ?? arguments[since],
            until: range?.last ?? arguments[until], in: store)
        return filter
    }

    private func checkFollowing(_ arguments: ParsedArguments, _ console: Console) throws {
        guard arguments[until] == nil, arguments[range]?.last == nil else {
            throw ToolError.usage("'--follow' has no last entry: leave out the end of the list.")
        }
        try JournalFollower.check(console)
    }
}
