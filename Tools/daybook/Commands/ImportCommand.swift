import DaybookAudit
import DaybookNewFiles
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook import STORE --format FORMAT`: entries from the change stream of another store.
struct ImportCommand: Command {
    /// The format of the input lines.
    enum Form: String, CaseIterable, Sendable {
        case debezium
        case jsonl
    }

    private let store = Positional("STORE", .path, "The store to import into.")
    private let form = RequiredOption<Form>(
        "--format", short: "-f", "FORMAT", .oneOf, "The format of the input.")
    private let keys = RepeatedOption(
        "--key", "ENTITY=ATTRIBUTE", .assignment,
        "The unique attribute that identifies the objects of this entity.")
    private let tables = RepeatedOption(
        "--table", "TABLE=ENTITY", .assignment, "The entity of this table of the source.")
    private let author = Option(
        "--author", short: "-a", "A", .text, "The author, if the input names none.")
    private let note = Option(
        "--note", "N", .text, "The note, if the input has none.")
    private let ignoresUnknown = Flag(
        "--ignore-unknown", "Skip unknown columns and members.")
    private let ignoresBefore = Flag(
        "--ignore-before", "Import even if the old values of the input differ from the store's.")
    private let skipsRepeated = Flag(
        "--skip-repeated", "Skip events at or before a position already reached.")
    private let isDry = Flag(
        "--dry-run", short: "-n",
        "Import into a temporary copy; the store stays as it is."
    )

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "import", in: .prove,
            summary: "Import a change stream from standard input.",
            discussion: """
                debezium: a Debezium envelope on each line, as it is or behind its schema.
                Consecutive events with the same transaction (or the same txId) become one
                entry, and so does each event that has none. The operations c, u, d and r are
                carried out; r inserts or updates. Tombstones, heartbeats and the bounds of
                transactions are skipped.

                jsonl: the complete output of 'daybook export --format jsonl' of another store.
                Each line becomes an entry; objects get new names. An entry that undoes others
                says so here, too, if those were imported in the same run. No export has tags or
                cursors.

                Tables are entities of the same name unless --table says otherwise, columns are
                properties. The unique attribute of its entity identifies a row; --key names it
                if there are several. '_id' identifies rows that 'daybook export' wrote, within
                their tables. A relationship is the key of its destination, or a list of keys.

                A step of the source becomes one entry: all of it or none of it. A bad line
                stops the import; its number and the mistake are reported. Entries made before
                it stay, the open one is dropped. Time, author and note of the input are kept.

                The old values of a line must equal those in the store. The events of a stream
                must come in order (lsn, file and pos, commit_lsn, scn, else the time). The
                store keeps the position reached in each table, so importing the same stream
                again adds nothing, and an interrupted stream continues; a warning counts the
                events skipped. Late events, at a position before the last imported one of their
                table, are among these. No position is kept for a stream whose events have only
                the time.
                """,
            arguments: [
                store, form, keys, tables, author, note, ignoresUnknown, ignoresBefore,
                skipsRepeated, isDry,
            ],
            examples: [
                .init(
                    "daybook import shop.daybook -f debezium --table customers=Customer < cdc.jsonl",
                    "Import the output of a connector"),
                .init(
                    "daybook export a.daybook -f jsonl | daybook import b.daybook -f jsonl",
                    "Repeat the changes of one store in another"),
            ],
            endings: [
                .init(.success, "Everything is imported, now or before."),
                .init(.usage, "Wrong usage or a bad line."), .init(.unreadable),
                .init(
                    .conflict,
                    "The input does not fit what is in the store, is out of order, or breaks a rule "
                        + "of the model."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard arguments[isDry] else {
            try perform(on: arguments[store], arguments, console)
            return .success
        }
        try rehearse(in: ScratchFolder(for: "import"), arguments, console)
        try console.talk("Nothing was changed: this was a dry run.")
        return .success
    }

    private func rehearse(
        in folder: ScratchFolder, _ arguments: ParsedArguments, _ console: Console
    ) throws {
        defer { withExtendedLifetime(folder) {} }
        let copy = folder.path("copy.daybook")
        let original = try StoreReading.open(arguments[store])
        try original.copy(to: copy)
        try original.close()
        try perform(on: copy, arguments, console)
    }

    private func perform(
        on path: String, _ arguments: ParsedArguments, _ console: Console
    ) throws {
        let recorder = try Recorder(
            path: path, author: arguments[author], note: arguments[note])
        let importer = try Importer(into: recorder, options(arguments))
        var lines = ForeignLines(arguments[form], ignoringUnknown: arguments[ignoresUnknown])
        var report = RecordingReport(
            console, deed: arguments[isDry] ? "Would import" : "Imported",
            nothing: arguments[isDry]
                ? "Nothing would be imported." : "Nothing was imported.")
        let progress = console.progress("Importing line")
        defer { progress.finish() }
        let input = console.input
        do {
            while let line = try input.next() {
                progress.advance()
                guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
                for event in try lines.events(from: line) {
                    try report.add(importer.take(event, line: input.lineNumber))
                }
                if arguments[form] == .jsonl { try report.add(importer.save()) }
            }
            try report.add(importer.finish())
        } catch let problem as LineProblem {
            try report.close()
            throw problem.error(readingLine: input.lineNumber)
        } catch let error as StoreError {
            try report.close()
            throw error
        }
        try report.close()
        try tellPassedOver(importer, console)
    }

    private func tellPassedOver(_ importer: Importer, _ console: Console) throws {
        for (table, position, count) in importer.passages {
            let events = count == 1 ? "1 event" : "\(count) events"
            let (stand, were) = count == 1 ? ("stands", "was") : ("stand", "were")
            try console.warn(
                "\(events) of '\(table.name)' in '\(table.stream)' \(stand) at or before \(position), "
                    + "up to which this table was imported, and \(were) passed over.")
        }
        let count = importer.repeated
        guard count > 0 else { return }
        try console.talk(
            count == 1
                ? "1 event repeats an earlier one and was passed over."
                : "\(count) events repeat earlier ones and were passed over.")
    }

    private func options(_ arguments: ParsedArguments) throws -> Importer.Options {
        var options = Importer.Options()
        for (name, value) in arguments[keys] {
            guard options.keys.updateValue(value, forKey: name) == nil else {
                throw ToolError.usage("'--key' names '\(name)' twice.")
            }
        }
        for (name, value) in arguments[tables] {
            guard options.tables.updateValue(value, forKey: name) == nil else {
                throw ToolError.usage("'--table' names '\(name)' twice.")
            }
        }
        options.ignoresUnknown = arguments[ignoresUnknown]
        options.ignoresBefore = arguments[ignoresBefore]
        options.skipsRepeated = arguments[skipsRepeated]
        return options
    }
}

/// Reads the lines of a change stream.
private enum ForeignLines {
    case debezium(DebeziumReader)
    case jsonl(EntryReader)

    init(_ form: ImportCommand.Form, ignoringUnknown: Bool) {
        self =
            switch form {
            case .debezium: .debezium(DebeziumReader(ignoringUnknown: ignoringUnknown))
            case .jsonl: .jsonl(EntryReader(ignoringUnknown: ignoringUnknown))
            }
    }

    /// - Throws: ``LineProblem``.
    mutating func events(from line: [UInt8]) throws -> [ForeignEvent] {
        do {
            switch self {
            case .debezium(let reader): return [try reader.event(from: line)].compactMap { $0 }
            case .jsonl(var reader):
                let events = try reader.events(from: line)
                self = .jsonl(reader)
                return events
            }
        } catch {
            // The text has only one line; the caller adds its number in the input.
            let location = error.location.replacing("line 1, ", with: "", maxReplacements: 1)
            throw LineProblem(error.message, location: location.isEmpty ? nil : location)
        }
    }
}

extension ValueParser where Value == (name: String, value: String) {
    /// Two names separated by an equals sign.
    fileprivate static var assignment: ValueParser {
        ValueParser("two names such as A=B") { text in
            guard let sign = text.firstIndex(of: "=") else { return nil }
            let name = String(text[..<sign])
            let value = String(text[text.index(after: sign)...])
            return name.isEmpty || value.isEmpty ? nil : (name, value)
        }
    }
}
