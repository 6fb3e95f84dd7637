import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook redo STORE SEQ[..SEQ]`: undone entries made again, by taking back what undid them.
struct RedoCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entries = Positional(
        "SEQ[..SEQ]", .entries, "The entry that was undone, or the first and last of several.")
    private let choice = Option(
        "--on-conflict", "CHOICE", ValueParser<ConflictChoice>.oneOf,
        "What becomes of what later entries have touched.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show what would be changed, change nothing.")
    private let author = Option("--author", short: "-a", "A", .text, "Who makes it again.")
    private let note = Option("--note", "N", .text, "Why it is made again.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "redo", in: .past, summary: "Make undone entries again.",
            discussion: """
                The entry that undid them is taken back by a new entry, as 'undo' would do it: as
                long as no later entry has touched the same properties, or by the choice that is
                made with --on-conflict. Entries that were undone together are made again together.
                """,
            arguments: [store, entries, choice, isDry, author, note],
            examples: [.init("daybook redo iso.daybook 7", "Make entry 7 again")],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
                .init(.conflict, "The entry is not undone, or later entries stand in the way."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try PlannedEntry.open(arguments[store], isDry: arguments[isDry])
        let range = try StoreReading.entries(arguments[entries], in: store)
        let choice = arguments[choice] ?? .refuse
        let plan = try store.redoPlan(
            of: range, policy: choice.policy, author: arguments[author],
            note: arguments[note])
        let claim = plan.request.header.undoes.map { "takes \($0.entryName) back" } ?? ""
        try PlannedEntry(plan, choice, claim: claim, isDry: arguments[isDry])
            .carryOut(in: store, console)
        return .success
    }
}
