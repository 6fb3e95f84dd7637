import DaybookAudit
import DaybookJournalLog
import Foundation

/// `daybook tiles STORE --into DIR --checkpoint FILE`: the journal as a folder that others can
/// check.
struct TilesCommand: Command {
    private let store = Positional("STORE", .path, "The store to export.")
    private let folder = RequiredOption(
        "--into", "DIR", .newPath, "The folder; it may hold an earlier export.")
    private let checkpoint = RequiredOption(
        "--checkpoint", "FILE", .path, "A signed checkpoint; later entries are left out.")
    private let key = Option(
        "--key", short: "-k", "FILE", .path,
        "The public key that must have signed the checkpoint.")
    private let secrecy = Option<WholeEntries>(
        "--confidential", "WHAT", .oneOf,
        "show: write whole entries although the model calls some of it confidential.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "tiles", in: .prove,
            summary: "Export the journal as a folder to be checked without the store.",
            discussion: """
                The folder has the layout of C2SP's tlog-tiles: the checkpoint, the hashes of the
                tree in tiles, and the entries in bundles. Any web server can serve it, and tools
                for transparency logs read it. A later export with a newer checkpoint only adds
                files; run an interrupted export again.

                A bundle cannot hold an entry longer than 65,535 bytes. The up to 256 entries of
                such a tile are single files instead, in 'entry'.
                """,
            arguments: [store, folder, checkpoint, key, secrecy],
            examples: [
                .init(
                    "daybook tiles iso.daybook --into public --checkpoint now "
                        + "--key ledger.pub", "Export the entries of a checkpoint")
            ],
            endings: [
                .init(.success, "The folder fits the checkpoint."),
                .init(
                    .finding,
                    "The journal or the folder does not fit the checkpoint."),
                .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let note = try CheckpointFile.read(arguments[checkpoint])
        if let path = arguments[key] { _ = try CheckpointFile.verified(note, byKeyIn: path) }
        let store = try StoreReading.open(arguments[store])
        try WholeEntries.check(arguments[secrecy], in: store)
        let reader = AuditReader(store)
        let export = try TilesExport(reader, into: arguments[folder], checkpoint: note)
        let progress = console.progress("Exporting entries", of: nil)
        defer { progress.finish() }
        var reached: UInt64 = 0
        let summary: TilesExport.Summary
        do {
            summary = try export.write { done, _ in
                progress.advance(by: Int(clamping: done - min(reached, done)))
                reached = done
            }
        } catch let error as CocoaError {
            throw ToolError.usage(
                "The folder '\(arguments[self.folder])' cannot be written: "
                    + "\(ToolError.words(for: error)).")
        }
        try print(summary, console)
        return .success
    }

    private func print(_ summary: TilesExport.Summary, _ console: Console) throws {
        if console.format == .text {
            try console.print(
                "The folder covers \(summary.size) entries, \(summary.previousSize) before. "
                    + "Tiles written: \(summary.tiles). Bundles written: \(summary.bundles).")
            if summary.singleEntries > 0 {
                try console.print(
                    "Entries written to files of their own, because a bundle holds none longer than "
                        + "65,535 bytes: \(summary.singleEntries).")
            }
        } else {
            try console.print(
                [
                    "size": .unsigned(summary.size),
                    "previousSize": .unsigned(summary.previousSize),
                    "tiles": .integer(Int64(summary.tiles)),
                    "bundles": .integer(Int64(summary.bundles)),
                    "singleEntries": .integer(Int64(summary.singleEntries)),
                ] as JSONText)
        }
    }
}
