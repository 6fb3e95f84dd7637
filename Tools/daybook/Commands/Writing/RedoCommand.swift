import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook redo STORE SEQ[..SEQ]`: redoes entries, by undoing their undo.
struct RedoCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entries = Positional(
        "SEQ[..SEQ]", .entries, "The entry that was undone, or the first and last of several.")
    private let choice = Option(
        "--on-conflict", "CHOICE", ValueParser<ConflictChoice>.oneOf,
        "What to do with values that later entries have touched.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show the changes without making them.")
    private let author = Option("--author", short: "-a", "A", .name, "Who redoes it.")
    private let note = Option("--note", "N", .text, "Why it is redone.")
    private let info = InfoArguments()

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "redo", in: .past, summary: "Redo undone entries.",
            discussion: """
                A new entry takes back the one that undid them, as 'undo' would: if no later
                entry has touched the same properties, or as --on-conflict says. Entries that
                were undone together are redone together.
                """,
            arguments: [store, entries, choice, isDry, author, note, info.argument],
            examples: [.init("daybook redo iso.daybook 7", "Redo entry 7")],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
                .init(.conflict, "The entry is not undone, or later entries are in the way."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try PlannedEntry.open(arguments[store], isDry: arguments[isDry], console)
        let range = try StoreReading.entries(arguments[entries], in: store)
        let choice = arguments[choice] ?? .refuse
        let plan = try store.redoPlan(
            of: range, policy: choice.policy, author: arguments.author(author),
            note: arguments[note], info: info.info(arguments))
        let claim = plan.request.header.undoes.map { "takes \($0.entryName) back" } ?? ""
        try PlannedEntry(plan, choice, claim: claim, isDry: arguments[isDry])
            .carryOut(in: store, console)
        return .success
    }
}
