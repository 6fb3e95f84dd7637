import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook tail STORE`: the last entries, or those that are new to a reader.
struct TailCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let cursor = Option(
        "--cursor", short: "-c", "NAME", .cursor,
        "Continue after this cursor, and move it; it is kept in the store.")
    private let follow = Flag(
        "--follow", short: "-f", "Continue with each new entry as it is saved.")
    private let limit = Option(
        "--limit", short: "-n", "N", .count,
        "The last N entries, 10 by default; with --cursor, stop after N.")
    private let filters = FilterArguments()
    private let changes = Flag(
        "--changes", short: "-p", "Show the changes of each entry, with old and new values.")
    private let isShort = Flag("--oneline", "Show each entry on one line.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "tail", in: .read,
            summary: "Print the last entries, or those that are new to a reader.",
            discussion: """
                With --cursor, reading continues where it ended the last time, or at entry 1 if
                the cursor is new. The cursor moves only after its entries have been handed
                over, so each is delivered at least once: a reader that must not act twice
                checks the sequence number. Entries that do not pass the filters count as read.
                Two readers need two cursors.

                --follow also shows the saves of other programs. It ends when it is interrupted,
                or when the reader of the output is gone.
                """,
            arguments: [store, cursor, follow, limit] + filters.all + [changes, isShort],
            examples: [
                .init("daybook tail iso.daybook -n 3", "The last three entries, oldest first"),
                .init(
                    "daybook tail iso.daybook --cursor mailer --follow --output jsonl | mailer",
                    "Deliver every entry to a program, even those saved while it was down"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, or the cursor is of another journal."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if arguments[follow] { try JournalFollower.check(console) }
        try Interruption.watch()
        let layout = EntryLayout(
            isShort: arguments[isShort], showsChanges: arguments[changes])
        let filter = filters.filter(arguments)
        guard let name = arguments[cursor] else {
            return try printLast(arguments, filter, layout, console)
        }
        let store = try StoreWriting.open(arguments[store], console)
        let reader = CursorReader(named: name, of: store, filter)
        if arguments[follow] {
            guard arguments[limit] == nil else {
                throw ToolError.usage("With '--cursor', give '--follow' or '--limit', not both.")
            }
            try reader.follow(layout, console)
        } else {
            try reader.read(atMost: arguments[limit] ?? .max, layout, console)
        }
        return .success
    }

    private func printLast(
        _ arguments: ParsedArguments, _ filter: AuditFilter, _ layout: EntryLayout,
        _ console: Console
    ) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let follower = JournalFollower(of: store, filter)
        let count = arguments[limit] ?? JournalFollower.tailLength
        if arguments[follow] {
            try follower.follow(from: count, layout, console)
            return .success
        }
        let head = try store.head()
        let first = try follower.position(beforeLast: count).next
        var listing = Listing(console)
        if first <= head {
            let range = filter.narrowed(to: first...head)
            try AuditReader(store).recordsLookedUp(matching: range) { record in
                try layout.append(record, to: &listing, console)
                return Interruption.isThere ? .stop : .proceed
            }
        }
        try listing.close()
        if listing.count == 0 { try console.remark("There is no such entry.") }
        return .success
    }
}

/// Hands entries to the reader of the output and keeps its position in the store.
///
/// Invariant: the cursor never passes an entry that has not left this process.
private struct CursorReader {
    /// Moving the cursor is a write to the disk, so it is done once for many entries.
    private static let entriesBetweenMoves = 1_000

    private let name: String
    private let store: Store
    private let filter: AuditFilter

    init(named name: String, of store: Store, _ filter: AuditFilter) {
        self.name = name
        self.store = store
        self.filter = filter
    }

    /// Hands over the existing entries.
    func read(atMost limit: Int, _ layout: EntryLayout, _ console: Console) throws {
        var listing = Listing(console)
        let head = try store.head()
        var reached = try position()
        var isEnded = limit == 0
        while reached < head, !isEnded {
            let start = listing.count
            var last = head
            try AuditReader(store).records(matching: filter.narrowed(to: reached.next...head)) {
                try layout.append($0, to: &listing, console)
                isEnded = listing.count == limit || Interruption.isThere
                guard isEnded || listing.count - start == Self.entriesBetweenMoves else {
                    return .proceed
                }
                last = $0.sequence
                return .stop
            }
            reached = last
            // A JSON array is complete only at its end.
            if console.format != .json { try move(to: reached, console) }
        }
        try listing.close()
        try move(to: reached, console)
        if listing.count == 0 { try console.remark("Nothing is new.") }
    }

    /// Hands over the existing entries and then new ones.
    func follow(_ layout: EntryLayout, _ console: Console) throws {
        var listing = Listing(console)
        var place = try store.place(after: try position())
        var moved = 0
        let follower = JournalFollower(of: store, filter)
        try follower.eachBatch(after: &place) { record in
            try layout.append(record, to: &listing, console)
            if listing.count - moved >= Self.entriesBetweenMoves {
                moved = listing.count
                try move(to: record.sequence, console)
            }
        } end: { reached in
            moved = listing.count
            try move(to: reached, console)
        }
    }

    private func position() throws -> SequenceNumber {
        try store.position(ofCursor: name) ?? .zero
    }

    /// Moves the cursor once everything before it has been handed over.
    private func move(to sequence: SequenceNumber, _ console: Console) throws {
        try console.flush()
        guard try store.position(ofCursor: name) != sequence else { return }
        try store.setCursor(name, to: sequence)
    }
}
