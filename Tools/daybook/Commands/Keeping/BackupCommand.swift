// The room of the commands that keep a store safe: copies, checks, and exports for other programs.
// They change no entry.

import DaybookJournalLog
import DaybookSnapshotStore
import Foundation

/// `daybook backup STORE FILE`: a copy of the store at one moment.
struct BackupCommand: Command {
    private let store = Positional("STORE", .path, "The store to copy.")
    private let file = Positional("FILE", .newPath, "The file to make; it must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "backup", in: .prove, summary: "Copy a store while programs go on writing to it.",
            discussion: """
                The copy holds the store as it was at one moment, and is a store like the first,
                with the same identifier and digests. It is verified, as with 'verify', before
                it gets its name: FILE is either a complete and sound copy, on the disk, or does
                not exist. An existing file is left as it is. An interruption removes the
                unfinished copy. A killed command leaves it, in a folder called 'FILE.' and
                twelve digits, and the next one that makes FILE removes that.

                Programs that save meanwhile do not wait, but the store cannot reuse pages until
                the copy is complete, so it may grow.
                """,
            arguments: [store, file],
            examples: [
                .init(
                    "daybook backup iso.daybook /backup/iso-$(date +%F).daybook", "Copy a store")
            ],
            endings: StoreCopying.endings)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        try StoreCopying(isCompacting: false)
            .copy(arguments[store], to: arguments[file], console)
    }
}

/// `daybook compact STORE --into NEW`: a copy of the store without free pages.
struct CompactCommand: Command {
    private let store = Positional("STORE", .path, "The store to copy.")
    private let file = RequiredOption(
        "--into", short: "-o", "NEW", .newPath, "The file to make; it must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "compact", in: .prove, summary: "Copy a store without the pages that it does not use.",
            discussion: """
                A store does not give back unused pages: it reuses them, and until then they
                keep their old content. The copy has neither those pages nor their content. It
                is verified as with 'backup'. The store itself stays as it is; once no program
                has it open, the copy can replace it.
                """,
            arguments: [store, file],
            examples: [.init("daybook compact iso.daybook --into small.daybook", "Copy a store")],
            endings: StoreCopying.endings)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        try StoreCopying(isCompacting: true).copy(arguments[store], to: arguments[file], console)
    }
}

/// Makes a verified copy of a store.
private struct StoreCopying {
    static let endings: [CommandDeclaration.Ending] = [
        .init(.success, "The copy is there and sound."),
        .init(.usage, "Wrong usage, or the file exists already."),
        .init(.unreadable, "The store is unreadable or damaged, and its copy would be, too."),
    ]

    let isCompacting: Bool

    func copy(_ path: String, to target: String, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(path)
        var outcome = VerificationOutcome()
        try store.copy(to: target, compacting: isCompacting) { draft in
            outcome = try verified(draft, console)
        }
        let before = try store.statistics().fileSize
        let after = try FileManager.default.attributesOfItem(atPath: target)[.size] as? Int ?? 0
        try report(outcome, at: target, before: before, after: after, console)
        return .success
    }

    private func verified(_ draft: String, _ console: Console) throws -> VerificationOutcome {
        switch try VerificationProcess.run(on: draft, console) {
        case .refused(let code):
            throw ToolError(code, "The copy cannot be verified, and was removed.")
        case .checked(let outcome):
            guard outcome.code != .unverifiable else {
                throw ToolError(
                    .unverifiable,
                    "The copy could not be checked as a whole, and was removed. Try again.",
                    details: outcome.gaps)
            }
            guard outcome.code == .success else {
                throw ToolError(
                    .unreadable,
                    "The copy is not sound, and was removed. Run 'daybook verify' to "
                        + "see whether the store itself is damaged.",
                    details: outcome.findings.map { "\($0.place): \($0.message)" } + outcome.gaps)
            }
            return outcome
        }
    }

    private func report(
        _ outcome: VerificationOutcome, at target: String, before: Int, after: Int,
        _ console: Console
    ) throws {
        guard console.format == .text else {
            return try console.print([
                "file": .string(target), "sequence": .unsigned(outcome.head),
                "digest": .optional(outcome.digest), "bytesBefore": .integer(Int64(before)),
                "bytes": .integer(Int64(after)),
            ])
        }
        let entries = outcome.head == 1 ? "1 entry" : "\(outcome.head) entries"
        let name = DisplayText.escaped(target)
        try console.print(
            isCompacting
                ? "Compacted \(entries) into '\(name)': \(after) bytes in place of \(before); verified."
                : "Copied \(entries) to '\(name)': \(after) bytes; verified.")
    }
}
