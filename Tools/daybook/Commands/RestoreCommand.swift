import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook restore STORE OBJECT`: a deleted object brought back, or an object as it was.
struct RestoreCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let object = Positional("OBJECT", .object, "The object, such as Country/17.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment,
        "As of which entry or time; left out, a deleted object is restored as it was last.")
    private let choice = Option(
        "--on-conflict", "CHOICE", ValueParser<ConflictChoice>.oneOf,
        "What becomes of what does not fit any more.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show what would be changed, change nothing.")
    private let author = Option("--author", short: "-a", "A", .text, "Who restores it.")
    private let note = Option(
        "--note", "N", .text, "Why it is restored; left out, what was restored.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "restore", in: .past, summary: "Bring a deleted object back, or set one back.",
            discussion: """
                A deleted object comes back under its own name, with the values it had; with it
                come the objects that were deleted because of it, and the references that led to
                them, where nothing else stands in their place by now. An object that is there
                takes on the values that it had then; what is kept at the other end of its
                relationships stays.

                A reference whose object is gone, a unique value that is taken, a reference that
                leads elsewhere: all are named, and nothing is changed. With --on-conflict
                keep-later they are left out; with overwrite references are taken back all the same.
                """,
            arguments: [store, object, moment, choice, isDry, author, note],
            examples: [
                .init("daybook restore iso.daybook Country/17", "Bring a deleted country back"),
                .init(
                    "daybook restore iso.daybook Country/3 --at 2011-12-15 --dry-run",
                    "See what setting a country back to that day would change"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, or there is no such object or entry."),
                .init(.unreadable),
                .init(.conflict, "Something stands in the way; nothing is changed."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[object]
        let store = try PlannedEntry.open(arguments[store], isDry: arguments[isDry])
        let sequence = try arguments[moment].map { try StoreReading.place(of: $0, in: store) }
        let choice = arguments[choice] ?? .refuse
        let restored = try StoreReading.object(name, in: store.schema)
        let plan: UndoPlan
        do {
            plan = try store.restorePlan(
                of: restored, at: sequence, policy: choice.policy, author: arguments[author],
                note: arguments[note])
        } catch let error as StoreError where error.code == .undoBlocked && sequence == nil {
            let refusal = ToolError(error)
            throw ToolError(
                refusal.code, refusal.message + " Use '--at' for that.", details: refusal.details)
        }
        let entry = PlannedEntry(
            plan, choice, claim: "restores \(name.objectText)", isDry: arguments[isDry],
            members: [.init("restores", .string(name.objectText))])
        try entry.carryOut(in: store, console)
        return .success
    }
}
