import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook show STORE SEQ...`: entries with all their changes.
struct ShowCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entries = SeveralPositionals(
        "SEQ", .moment, "The entry: its sequence number, 'head', or a time.")
    private let counts = Flag(
        "--stat", "Show how many objects of each entity are inserted, updated and deleted.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "show", in: .read, summary: "Show entries with all their changes, old values and new.",
            discussion: """
                In a text that changes in part, removed [-words-] and new {+words+} are marked,
                and a long text is shown only around its changes.
                """,
            arguments: [store, entries, counts],
            examples: [
                .init("daybook show iso.daybook 7", "Entry 7"),
                .init("daybook show iso.daybook head --stat", "The size of the newest entry"),
            ],
            endings: [
                .init(.success), .init(.usage, "Wrong usage, or there is no such entry."),
                .init(.unreadable),
            ], isPaged: true)
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let sequences = try arguments[entries].map { try StoreReading.entry(at: $0, in: store) }
        let reader = AuditReader(store)
        if sequences.count == 1 || console.format == .text {
            for (index, sequence) in sequences.enumerated() {
                if index > 0, console.format == .text { try console.print() }
                try print(try reader.record(at: sequence), arguments[counts], on: console)
            }
            return .success
        }
        var listing = Listing(console)
        let layout = EntryLayout(showsCounts: arguments[counts])
        for sequence in sequences {
            try layout.append(try reader.record(at: sequence), to: &listing, console)
        }
        try listing.close()
        return .success
    }

    /// Prints an entry in the form of `--output`.
    func print(_ record: AuditRecord, on console: Console) throws {
        try print(record, false, on: console)
    }

    private func print(_ record: AuditRecord, _ isCounted: Bool, on console: Console) throws {
        guard console.format == .text else {
            guard isCounted else { return try console.print(record) }
            return try console.print(EntryLayout.countsDocument(of: record))
        }
        try printHead(of: record, on: console)
        if isCounted, record.entry.model == nil {
            let columns = min(console.columns ?? 80, 100)
            try console.print()
            return try console.printLines(
                EntryCounts(record).lines(fitting: columns, console.palette))
        }
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
        for (key, text) in EntryInfo.ordered(header.info) {
            let lines = EntryText.lines(of: text, indentation: "")
            try line("info", "\(DisplayText.escaped(key))=\(lines.first ?? "")")
            for rest in lines.dropFirst() {
                try console.print(rest.isEmpty ? "" : String(repeating: " ", count: 12) + rest)
            }
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
