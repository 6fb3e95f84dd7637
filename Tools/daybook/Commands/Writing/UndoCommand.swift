import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook undo STORE SEQ[..SEQ]`: the inverse of one or several entries as a new entry.
struct UndoCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entries = Positional(
        "SEQ[..SEQ]", .entries, "The entry to undo, or the first and last of several.")
    private let choice = Option(
        "--on-conflict", "CHOICE", ValueParser<ConflictChoice>.oneOf,
        "What to do with values that later entries have touched.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show the changes without making them.")
    private let author = Option("--author", short: "-a", "A", .name, "Who undoes it.")
    private let note = Option("--note", "N", .text, "Why it is undone.")
    private let info = InfoArguments()

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "undo", in: .past, summary: "Undo entries by appending their inverse.",
            discussion: """
                Nothing is removed from the journal: the undo is an entry of its own, and can be
                undone. Several entries in a row are taken back together. An entry is given by
                its number, as 'head', by a time or by a tag.

                Entries can be undone as long as no later entry has touched the same properties,
                members, objects or unique values; otherwise nothing is changed and everything in
                the way is named. With --on-conflict keep-later, values that later entries have
                touched stay and the rest is taken back; with overwrite, the old values replace
                the later ones, as long as every reference still leads to an object and every
                unique value occurs once. Omissions are reported.
                """,
            arguments: [store, entries, choice, isDry, author, note, info.argument],
            examples: [
                .init("daybook undo iso.daybook 7 --dry-run", "See what undoing entry 7 would do"),
                .init(
                    "daybook undo iso.daybook head --note 'Wrong newsletter'", "Undo the last entry"
                ),
                .init(
                    "daybook undo iso.daybook 7..9 --on-conflict keep-later",
                    "Undo three entries, except for later changes"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
                .init(.conflict, "Later entries are in the way; nothing is changed."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try PlannedEntry.open(arguments[store], isDry: arguments[isDry], console)
        let range = try StoreReading.entries(arguments[entries], in: store)
        let choice = arguments[choice] ?? .refuse
        let plan = try store.undoPlan(
            of: range, policy: choice.policy, author: arguments.author(author),
            note: arguments[note], info: info.info(arguments))
        let entry = PlannedEntry(
            plan, choice, claim: "takes \(range.entryName) back", isDry: arguments[isDry])
        try entry.carryOut(in: store, console)
        return .success
    }
}
