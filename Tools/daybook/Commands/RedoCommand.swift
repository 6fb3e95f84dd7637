import JournalLog
import SnapshotStore

/// `daybook redo STORE SEQ`: an undone entry made again, by taking back what undid it.
struct RedoCommand: Command {
    private let store = Positional("STORE", .path, "The store to change.")
    private let entry = Positional("SEQ", .sequence, "The entry that was undone.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show what would be changed, change nothing.")
    private let author = Option("--author", short: "-a", "A", .text, "Who makes it again.")
    private let note = Option("--note", "N", .text, "Why it is made again.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "redo", in: .past, summary: "Make an undone entry again.",
            discussion: """
                The entry that undid it is taken back by a new entry, as long as no later entry
                has touched the same properties.
                """,
            arguments: [store, entry, isDry, author, note],
            examples: [.init("daybook redo iso.daybook 7", "Make entry 7 again")],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
                .init(.conflict, "The entry is not undone, or later entries stand in the way."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try Store.open(at: arguments[store])
        let sequence = SequenceNumber(arguments[entry])
        guard let undo = try undo(of: sequence, in: store) else {
            throw ToolError(
                .conflict, "Entry \(sequence) is not undone, so it cannot be made again.")
        }
        let undoing = Undoing(
            author: arguments[author], note: arguments[note], isDry: arguments[isDry])
        try undoing.undo(undo, in: store, console)
        return .success
    }

    /// The entry that undid another and still stands.
    private func undo(
        of sequence: SequenceNumber, in store: Store
    ) throws -> SequenceNumber? {
        _ = try store.entry(sequence)
        var undo: SequenceNumber?
        try store.entries(from: SequenceNumber(sequence.rawValue + 1)) { entry in
            if entry.header.undoes == sequence {
                undo = entry.sequence
            } else if let standing = undo, entry.header.undoes == standing {
                undo = nil
            }
            return .proceed
        }
        return undo
    }
}
