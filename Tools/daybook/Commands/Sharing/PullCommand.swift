import DaybookAudit
import DaybookJournalLog
import DaybookNewFiles
import DaybookSnapshotStore

/// `daybook pull STORE [--rewind FILE]`: brings this machine's copy of a shared store up.
struct PullCommand: Command {
    private let store = Positional("STORE", .path, "The copy.")
    private let rewind = Option(
        "--rewind", "FILE", .path,
        "If the copy has gone another way, write what only it has into FILE, as JSON Lines, and take it off."
    )

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "pull", in: .write, summary: "Bring this machine's copy of a shared store up.",
            discussion: """
                Other commands do so, too, before they begin; this one says what came. A copy that
                was restored from an older file and gone on with, or whose servers were, has entries
                that the shared store does not have. It is left alone then, unless '--rewind' names
                a file for these entries.
                """,
            arguments: [store, rewind],
            examples: [
                .init("daybook pull iso.daybook", "Bring a copy up"),
                .init(
                    "daybook pull iso.daybook --rewind lost.jsonl",
                    "Give up entries that only this copy has, and keep a record of them"),
            ],
            endings: [
                .init(.success), .init(.usage), .init(.unreadable),
                .init(.conflict, "The copy has gone another way, or the next entry does not fit."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        let before = try head(path)
        let store = try SharedStores.open(path)
        var cut: ClosedRange<SequenceNumber>?
        do {
            try store.pull()
        } catch let error as StoreError where error.code == .diverged {
            guard let file = arguments[rewind] else { throw error }
            cut = try takeBack(store, file)
            try store.pull()
        }
        let head = try store.head()
        try store.close()
        try tell(
            console, path, from: min(before, cut?.lowerBound.previous ?? before), to: head, cut: cut
        )
        return .success
    }

    private func head(_ path: String) throws -> SequenceNumber {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { store.closeQuietly() }
        return try store.head()
    }

    /// Writes what only the copy has into a file, and then takes it off.
    private func takeBack(_ store: Store, _ path: String) throws -> ClosedRange<SequenceNumber>? {
        let common = try store.lastCommonEntry()
        let head = try store.head()
        guard common < head else { return nil }
        let own = common.next...head
        var export = AuditExport(of: AuditReader(store))
        export.filter.range = own
        export.confidentiality = Confidentiality(.show, properties: [])
        let file = try NewFile(path)
        guard let format = AuditFormats.format(named: "jsonl") else {
            throw ToolError.usage("There is no format 'jsonl'.")
        }
        _ = try export.write(format, progress: { _ in }) { try file.write($0) }
        try file.finish()
        try store.cutBack(to: common)
        return own
    }

    private static func name(of entries: ClosedRange<SequenceNumber>) -> String {
        entries.lowerBound == entries.upperBound
            ? "entry \(entries.lowerBound)"
            : "entries \(entries.lowerBound) to \(entries.upperBound)"
    }

    private func tell(
        _ console: Console, _ path: String, from before: SequenceNumber, to head: SequenceNumber,
        cut: ClosedRange<SequenceNumber>?
    ) throws {
        switch console.format {
        case .text:
            if let cut {
                try console.print("Took off \(Self.name(of: cut)).")
            }
            try console.print(
                head > before
                    ? "Brought in \(Self.name(of: before.next...head))."
                    : "'\(path)' has everything: entries 1 to \(head).")
        case .json, .jsonl:
            try console.print(
                [
                    "sequence": .unsigned(head.rawValue),
                    "came": .unsigned(head.rawValue - before.rawValue),
                    "takenOff": .unsigned(
                        cut.map { $0.upperBound.rawValue - $0.lowerBound.rawValue + 1 } ?? 0),
                ] as JSONText)
        }
    }
}
