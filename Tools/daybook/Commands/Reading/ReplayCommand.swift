import DaybookJournalLog
import DaybookNewFiles
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook replay STORE`: the journal folded again from its first entry.
struct ReplayCommand: Command {
    private let store = Positional("STORE", .path, "The store whose journal to replay.")
    private let first = Option(
        "--from", or: "--since", "SEQ|TIME", .moment,
        "Stop, check and show from this entry on; earlier ones are replayed silently.")
    private let last = Option(
        "--to", "SEQ|TIME", .moment, "Stop after this entry or time; by default at the head.")
    private let target = Option(
        "--into", "NEW", .newPath, "Replay into a new store; the file must not exist.")
    private let until = Option(
        "--until", "ENTITY:P", .condition,
        "Stop after the first entry with which an object of ENTITY meets the predicate P. "
            + "An entry or a time to stop after is given by --to.")
    private let assertions = RepeatedOption(
        "--assert", "ENTITY:P", .condition,
        "Stop, with exit code 1, after the first entry with which an object of ENTITY does not meet P."
    )
    private let isStepwise = Flag(
        "--step", "Show each entry and wait for a key on the terminal before the next one.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "replay", in: .past,
            summary: "Replay the journal: as a check, step by step, or into a store.",
            discussion: """
                The journal is folded again from its first entry, and the result is compared
                with the store. The new store, or else a temporary one, is in the state after
                the last entry replayed, even if the replay stopped early. It gets its name at
                the end: an interrupted replay leaves no file of that name.

                With --step, Enter or space replays the next entry, n N the next N, c continues
                without stopping, q quits. Predicates are as for 'fetch', and are tested after
                every entry, which takes time for large stores.
                """,
            arguments: [store, first, last, target, until, assertions, isStepwise],
            examples: [
                .init(
                    "daybook replay iso.daybook --to 6 --into then.daybook",
                    "A store as it was at entry 6"),
                .init(
                    "daybook replay iso.daybook --assert 'Country: name != nil'",
                    "Check that no country was ever without a name"),
                .init(
                    "daybook replay iso.daybook --step --from 2011-12-15",
                    "Watch what happened from then on"),
            ],
            endings: [
                .init(.success),
                .init(
                    .finding,
                    "The replay differs from the store, an object does not meet "
                        + "'--assert', or none ever meets '--until'."),
                .init(.usage, "Wrong usage, or the new file exists already."), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let end = try StoreReading.sequence(of: arguments[last] ?? .head, in: store)
        guard end >= SequenceNumber(1) else {
            throw ToolError.usage("There is nothing to replay before entry 1.")
        }
        var replay = Replay(of: store, through: end)
        replay.first =
            try arguments[first].map { try StoreReading.first(from: $0, in: store) }
            ?? SequenceNumber(1)
        guard replay.first <= end else {
            throw ToolError.usage("The range ends before it begins.")
        }
        if let condition = arguments[until] {
            replay.until = try .init(condition, "--until", store.schema)
        }
        replay.assertions = try arguments[assertions].map {
            try .init($0, "--assert", store.schema)
        }
        if arguments[isStepwise] { replay.stepper = try Stepper(console) }

        if let path = arguments[target] {
            let draft = try Store.draft(for: path)
            defer { draft.discard() }
            return try replay.run(into: draft.path, console) { try Store.place(draft, at: path) }
        }
        let folder = try ScratchFolder(for: "replay")
        defer { withExtendedLifetime(folder) {} }
        return try replay.run(into: folder.path("replay"), console)
    }
}
