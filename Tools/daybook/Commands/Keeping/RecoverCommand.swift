import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook recover DAMAGED --into NEW`: a new store of what is left of a damaged one.
struct RecoverCommand: Command {
    private let store = Positional("DAMAGED", .path, "The damaged store. It stays as it is.")
    private let file = RequiredOption(
        "--into", short: "-o", "NEW", .newPath, "The file to make; it must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "recover", in: .prove, summary: "Make a new store of what is left of a damaged one.",
            discussion: """
                Looks through every page of the file, whatever the trees in it say, for entries
                that have the digest which stands beside them, or in the entry after. As far as
                none is missing, they are in the new store as they were, byte for byte; all
                else follows from them. If that is all, the new store can replace the damaged
                one.

                Entries after a gap are carried out again on what is there, with their authors,
                notes and times; each says under 'recovered', in its information, which entry
                it was. The tag 'recovered' stands at the last entry that is as it was; where
                the name is taken it is 'recovered-2', and so on. What could not be carried out
                is listed. Such a store has an identifier of its own, and proofs about the
                damaged one hold up to that tag. A model whose entry is lost is taken from the
                tables; where that was entry 1, no entry is as it was.

                Restore a backup instead if there is one, and clone a copy of a shared store
                anew. Stop the programs that write to the store before.
                """,
            arguments: [store, file],
            examples: [
                .init("daybook recover iso.daybook --into new.daybook", "Recover a damaged store")
            ],
            endings: [
                .init(.success, "Everything was recovered."),
                .init(.finding, "Something is missing, and is named."),
                .init(.usage, "Wrong usage, or the file exists already."),
                .init(
                    .unreadable,
                    "Nothing can be recovered: the file cannot be read, or has no model any more."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[file]
        let recovery = try Store.recover(from: arguments[store], into: path)
        if console.format == .text {
            try console.print(Self.text(of: recovery, at: path).joined(separator: "\n"))
        } else {
            try console.print(Self.json(of: recovery))
        }
        return recovery.isComplete ? .success : .finding
    }

    private static func text(of recovery: Recovery, at path: String) -> [String] {
        let name = DisplayText.escaped(path)
        guard !recovery.isComplete else {
            return [
                "Recovered all \(recovery.head) entries into '\(name)'; the journal is the same, with the "
                    + "digest \(recovery.digest.hexadecimal)."
            ]
        }
        var lines = [
            recovery.unchanged == .zero
                ? "Recovered into '\(name)' without entry 1: no entry is as it was."
                : "Recovered \(count(recovery.unchanged.rawValue, "entry", "entries")) as they were into "
                    + "'\(name)'; the tag '\(recovery.tag ?? "recovered")' stands at the last of them."
        ]
        for range in recovery.missing { lines.append("Missing: \(range.entryName).") }
        for sequence in recovery.models {
            lines.append("The model of entry \(sequence) was taken from the tables.")
        }
        if recovery.repeated > 0 {
            lines.append(
                "Carried out again: \(count(UInt64(recovery.repeated), "entry", "entries")), up to entry "
                    + "\(recovery.last), which is entry \(recovery.head) now.")
        }
        if recovery.said == nil {
            lines.append("The file does not say any more how many entries there were.")
        }
        if !recovery.hasMarks {
            lines.append(
                "Tags, cursors and kept values were lost, and the store has a new identifier.")
        }
        if !recovery.lostMarks.isEmpty {
            lines.append("Lost: the \(recovery.lostMarks.joined(separator: " and ")).")
        }
        for data in recovery.lostData {
            lines.append(
                "Lost: \(data.count) bytes of large data with the digest \(data.digest.hexadecimal)."
            )
        }
        for loss in recovery.losses.prefix(lossesShown) {
            lines.append("Entry \(loss.sequence): \(DisplayText.escaped(loss.text))")
        }
        if recovery.losses.count > lossesShown {
            lines.append(
                "... and \(recovery.losses.count - lossesShown) more, which '--output json' lists.")
        }
        return lines
    }

    private static let lossesShown = 50

    private static func count(_ count: UInt64, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }

    private static func json(of recovery: Recovery) -> JSONText {
        .object([
            .init("complete", .bool(recovery.isComplete)),
            .init("unchanged", .unsigned(recovery.unchanged.rawValue)),
            .init("found", .unsigned(recovery.last.rawValue)),
            .init("said", recovery.said.map { .unsigned($0.rawValue) } ?? .null),
            .init(
                "missing",
                .array(
                    recovery.missing.map { range in
                        .object([
                            .init("from", .unsigned(range.lowerBound.rawValue)),
                            .init("through", .unsigned(range.upperBound.rawValue)),
                        ])
                    })),
            .init("models", .array(recovery.models.map { .unsigned($0.rawValue) })),
            .init("repeated", .integer(Int64(recovery.repeated))),
            .init(
                "losses",
                .array(
                    recovery.losses.map { loss in
                        .object([
                            .init("sequence", .unsigned(loss.sequence.rawValue)),
                            .init("text", .string(loss.text)),
                        ])
                    })),
            .init(
                "lostData",
                .array(
                    recovery.lostData.map { data in
                        .object([
                            .init("bytes", .integer(Int64(data.count))),
                            .init("digest", .string(data.digest.hexadecimal)),
                        ])
                    })),
            .init("tag", recovery.tag.map { .string($0) } ?? .null),
            .init("marks", .bool(recovery.hasMarks && recovery.lostMarks.isEmpty)),
            .init("sequence", .unsigned(recovery.head.rawValue)),
            .init("digest", .string(recovery.digest.hexadecimal)),
        ])
    }
}
