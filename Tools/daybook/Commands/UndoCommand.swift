import AuditTrail
import JournalLog
import ObjectModel
import SnapshotStore

/// `daybook undo STORE SEQ`: the inverse of an entry as a new entry.
struct UndoCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entry = Positional("SEQ", .sequence, "The entry to undo.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show what would be changed, change nothing.")
    private let author = Option("--author", short: "-a", "A", .text, "Who undoes it.")
    private let note = Option("--note", "N", .text, "Why it is undone.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "undo", in: .past, summary: "Undo an entry by appending its inverse.",
            discussion: """
                Nothing is removed from the journal: the undo is an entry of its own, and can be
                undone. An entry can be undone as long as no later entry has touched the same
                properties; otherwise nothing is changed and the later entries are named.
                """,
            arguments: [store, entry, isDry, author, note],
            examples: [
                .init("daybook undo iso.daybook 7 --dry-run", "See what undoing entry 7 would do"),
                .init("daybook undo iso.daybook 7 --note 'Wrong newsletter'", "Undo it"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
                .init(.conflict, "Later entries stand on it; nothing is changed."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try Store.open(at: arguments[store])
        let undoing = Undoing(
            author: arguments[author], note: arguments[note], isDry: arguments[isDry])
        try undoing.undo(SequenceNumber(arguments[entry]), in: store, console)
        return .success
    }
}

/// Takes an entry back, or shows what taking it back would change.
struct Undoing {
    let author: String?
    let note: String?
    let isDry: Bool

    func undo(_ sequence: SequenceNumber, in store: Store, _ console: Console) throws {
        let draft = try store.undoDraft(of: sequence, author: author, note: note)
        guard !isDry else { return try show(draft.changes, in: store.schema, console) }
        let receipt = try store.commit(draft)
        guard let made = receipt.sequence, let digest = receipt.digest else {
            return try console.talk("Entry \(sequence) has left nothing to take back.")
        }
        guard console.format == .text else {
            return try console.print(
                [
                    "sequence": .unsigned(made.rawValue), "digest": .string(digest.description),
                    "undoes": .unsigned(sequence.rawValue),
                ] as JSONText)
        }
        let count = receipt.changes.count
        try console.print(
            "Entry \(made) takes entry \(sequence) back: \(count == 1 ? "1 change" : "\(count) changes")."
        )
    }

    private func show(
        _ changes: [Change], in schema: Schema, _ console: Console
    ) throws {
        var listing = Listing(console)
        let text = EntryText(console.palette)
        for change in changes {
            let audit = AuditChange(change, in: schema)
            try listing.append(members: { $0.append(audit) }) {
                try console.printLines(text.lines(of: audit, indentation: ""))
            }
        }
        try listing.close()
        try console.talk("Nothing was changed: this was a dry run.")
    }
}
