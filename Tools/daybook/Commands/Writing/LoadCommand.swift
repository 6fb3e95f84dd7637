import DaybookAudit
import DaybookJournalLog

/// `daybook load NEW`: a store from an export.
struct LoadCommand: Command {
    private let store = Positional("NEW", .newPath, "The file to create.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "load", in: .prove, summary: "Make a new store from an export on standard input.",
            discussion: """
                Each entry keeps its digest; one that does not match stops the loading, its line
                number is reported, and the new store is removed. An existing file is left as it
                is. Tags and cursors are in no export. An export that was cut off between two
                lines is that of a shorter journal, and every digest matches: what is missing
                shows when 'verify' compares the store with a checkpoint kept elsewhere.

                The store grows in a folder beside NEW, called 'NEW.' and twelve digits, and
                gets its name when it is complete and on the disk. An interruption removes that
                folder; what a killed command leaves goes with the next one that makes NEW.
                """,
            arguments: [store],
            examples: [.init("daybook load copy.daybook < export.jsonl", "Load an export")],
            endings: [
                .init(.success),
                .init(.usage, "Wrong usage, a bad line, or the file exists already."),
                .init(.unreadable, "An entry does not match its digest or those before it."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let loader = try StoreLoader(creating: arguments[store])
        let progress = console.progress("Loading entries")
        defer { progress.finish() }
        do {
            while let line = try console.input.next() {
                try loader.load(line)
                progress.advance()
            }
            try loader.finish()
        } catch {
            progress.finish()
            try abandon(loader, console)
            guard let error = error as? ExportError else { throw error }
            throw ToolError(
                error.kind == .mismatch ? .unreadable : .usage,
                "\(error) Nothing was loaded.")
        }
        try report(loader.head, on: console)
        return .success
    }

    private func abandon(_ loader: StoreLoader, _ console: Console) throws {
        do {
            try loader.abandon()
        } catch {
            try console.warn("What was written could not be removed: \(error).")
        }
    }

    private func report(
        _ head: (sequence: SequenceNumber, digest: Digest), on console: Console
    ) throws {
        guard console.format == .text else {
            return try console.print([
                "entries": .unsigned(head.sequence.rawValue),
                "digest": .string(head.digest.hexadecimal),
            ])
        }
        let count = head.sequence.rawValue
        try console.talk(
            "Loaded \(count) \(count == 1 ? "entry" : "entries"); every digest matches.")
    }
}
