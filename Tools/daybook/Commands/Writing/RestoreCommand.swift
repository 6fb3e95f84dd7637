import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook restore STORE OBJECT`: a deleted object brought back, or an object as it was.
struct RestoreCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let object = Positional("OBJECT", .object, "The object, such as Country/17.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment,
        "As of this entry or time; by default a deleted object is restored as it was last.")
    private let choice = Option(
        "--on-conflict", "CHOICE", ValueParser<ConflictChoice>.oneOf,
        "What to do with values that no longer fit.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show the changes without making them.")
    private let author = Option("--author", short: "-a", "A", .name, "Who restores it.")
    private let note = Option(
        "--note", "N", .text, "Why it is restored; by default 'Restored' and the object.")
    private let info = InfoArguments()

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "restore", in: .past, summary: "Bring a deleted object back, or set one back.",
            discussion: """
                A deleted object comes back under its own name, with the values it had, together
                with the objects that were deleted because of it, and the references to them,
                unless those have been set to something else since. An existing object gets back
                its values of that time; data kept at the other end of its relationships stays.

                A reference whose object is gone, a unique value that is taken, a reference that
                leads elsewhere: all are named, and nothing is changed. With --on-conflict
                keep-later they are left out; with overwrite references are taken back
                nevertheless.
                """,
            arguments: [store, object, moment, choice, isDry, author, note, info.argument],
            examples: [
                .init("daybook restore iso.daybook Country/17", "Bring a deleted country back"),
                .init(
                    "daybook restore iso.daybook Country/3 --at 2011-12-15 --dry-run",
                    "Show how setting a country back to that day would change it"),
            ],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, or there is no such object or entry."),
                .init(.unreadable),
                .init(.conflict, "Something is in the way; nothing is changed."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[object]
        let store = try PlannedEntry.open(arguments[store], isDry: arguments[isDry], console)
        let sequence = try arguments[moment].map { try StoreReading.sequence(of: $0, in: store) }
        let choice = arguments[choice] ?? .refuse
        let restored = try StoreReading.object(name, in: store.schema)
        let plan: UndoPlan
        do {
            plan = try store.restorePlan(
                of: restored, at: sequence, policy: choice.policy, author: arguments.author(author),
                note: arguments[note], info: info.info(arguments))
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
