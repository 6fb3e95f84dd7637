import AuditTrail
import JournalLog
import ObjectModel
import SnapshotStore

/// `daybook show STORE SEQ`: one entry and all its changes.
struct ShowCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entry = Positional(
        "SEQ", .moment, "The entry: its sequence number, 'head', or a time.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "show", in: .read, summary: "Show one entry with all its changes, old values and new.",
            arguments: [store, entry],
            examples: [.init("daybook show iso.daybook 7", "Entry 7")],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let sequence = try StoreReading.place(of: arguments[entry], in: store)
        if sequence == .zero, case .time = arguments[entry] {
            throw ToolError.usage("No entry is as old as that.")
        }
        try print(try AuditReader(store).record(at: sequence), on: console)
        return .success
    }

    /// Prints an entry in the form that `--output` asks for.
    func print(_ record: AuditRecord, on console: Console) throws {
        guard console.format == .text else { return try console.print(record) }
        try printHead(of: record, on: console)
        let text = EntryText(console.palette)
        for change in record.shown {
            try console.print()
            try console.printLines(
                text.lines(of: AuditChange(change, in: record.schema), indentation: ""))
        }
    }

    private func printHead(of record: AuditRecord, on console: Console) throws {
        let header = record.entry.header
        try console.print(console.palette("entry \(record.sequence)", .name))
        func line(_ name: String, _ text: String?) throws {
            guard let text else { return }
            let title = name + String(repeating: " ", count: 10 - name.count)
            try console.print("  " + console.palette(title, .faint) + text)
        }
        if let occurredAt = header.occurredAt { try line("happened", EntryText.time(occurredAt)) }
        try line("recorded", EntryText.time(record.entry.recordedAt))
        try line("author", header.author.map { DisplayText.escaped($0) })
        let note = EntryText.lines(of: header.note, indentation: "")
        if let first = note.first { try line("note", first) }
        for rest in note.dropFirst() {
            try console.print(rest.isEmpty ? "" : String(repeating: " ", count: 12) + rest)
        }
        try line("context", header.context.map { DisplayText.escaped($0) })
        if header.kind == .batch { try line("made by", "a batch") }
        try line("undoes", header.undoes?.entryName)
        if header.base != record.sequence.previous {
            try line("based on", header.base == .zero ? "no entry" : "entry \(header.base)")
        }
        try line("changes", EntryText.count(of: record))
        try line("digest", record.digest.hexadecimal)
    }
}
