import DaybookAudit
import DaybookNewFiles
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook import STORE --format FORMAT`: a change stream of another store becomes entries.
struct ImportCommand: Command {
    /// What the lines of the input are.
    enum Form: String, CaseIterable, Sendable {
        case debezium
        case jsonl
    }

    private let store = Positional("STORE", .path, "The store to import into.")
    private let form = RequiredOption<Form>(
        "--format", short: "-f", "FORMAT", .oneOf, "What the lines of the input are.")
    private let keys = RepeatedOption(
        "--key", "ENTITY=ATTRIBUTE", .assignment,
        "The unique attribute that tells the objects of this entity apart.")
    private let tables = RepeatedOption(
        "--table", "TABLE=ENTITY", .assignment, "The entity of this table of the source.")
    private let author = Option(
        "--author", short: "-a", "A", .text, "Who made the changes, where the input does not say.")
    private let note = Option(
        "--note", "N", .text, "What they are about, where the input does not say.")
    private let ignoresUnknown = Flag(
        "--ignore-unknown", "Pass over columns and members that are not known.")
    private let ignoresBefore = Flag(
        "--ignore-before", "Import although the store has other values than the input says.")
    private let skipsRepeated = Flag(
        "--skip-repeated", "Pass over events at or before a place that was reached already.")
    private let isDry = Flag(
        "--dry-run", short: "-n",
        "Import into a copy that is thrown away; the store stays as it is."
    )

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "import", in: .prove,
            summary: "Bring in a change stream from standard input.",
            discussion: """
                debezium: a Debezium envelope on each line, as it is or behind its schema. An entry
                is made of the events that follow on one another with the same transaction (or the
                same txId), and of each event that has none. The operations c, u, d and r are
                carried out; r inserts or updates. Tombstones, heartbeats and the bounds of
                transactions are passed over.

                jsonl: what 'daybook export --format jsonl' writes of another store, whole and from
                its first line on. Each line becomes an entry; objects get names of this store. An
                entry that undoes others says so here, too, if those were imported in the same run.
                No export has tags or cursors.

                Tables are entities of the same name unless --table says otherwise, columns are
                properties. A row is told by the unique attribute of its entity, which --key names
                where there are several; rows that 'daybook export' wrote are told by '_id', each
                within its table. A relationship is the key of its destination, and to many of them
                a list.

                A step of the source becomes one entry: all of it or none of it. A bad line stops
                the import with its number and what is wrong. Entries made before it stay, the open
                one is dropped. Time, author and note are kept where the input tells them.

                What a line says was there before must be there. The events of a stream must come
                in order (lsn, file and pos, commit_lsn, scn, else the time). How far each table was
                imported is kept in the store with its entries, so the same stream again adds
                nothing, and one that was cut off goes on when it is imported again; a warning
                tells how many events were passed over so. An event that comes late, at a place
                before the last one of its table that was imported, is among these. A stream whose
                events tell only the time is not remembered.
                """,
            arguments: [
                store, form, keys, tables, author, note, ignoresUnknown, ignoresBefore,
                skipsRepeated, isDry,
            ],
            examples: [
                .init(
                    "daybook import shop.daybook -f debezium --table customers=Customer < cdc.jsonl",
                    "Bring in what a connector has written"),
                .init(
                    "daybook export a.daybook -f jsonl | daybook import b.daybook -f jsonl",
                    "Do again in one store what was done in another"),
            ],
            endings: [
                .init(.success, "Everything is imported, or was before."),
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
        for (table, place, count) in importer.passages {
            let events = count == 1 ? "1 event" : "\(count) events"
            let (stand, were) = count == 1 ? ("stands", "was") : ("stand", "were")
            try console.warn(
                "\(events) of '\(table.name)' in '\(table.stream)' \(stand) at or before \(place), "
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
            // The line is a text of one line; which one it is of the input is told further out.
            let place = error.place.replacing("line 1, ", with: "", maxReplacements: 1)
            throw LineProblem(error.message, place: place.isEmpty ? nil : place)
        }
    }
}

extension ValueParser where Value == (name: String, value: String) {
    /// Two names with an equals sign between them.
    fileprivate static var assignment: ValueParser {
        ValueParser("two names such as A=B") { text in
            guard let sign = text.firstIndex(of: "=") else { return nil }
            let name = String(text[..<sign])
            let value = String(text[text.index(after: sign)...])
            return name.isEmpty || value.isEmpty ? nil : (name, value)
        }
    }
}
