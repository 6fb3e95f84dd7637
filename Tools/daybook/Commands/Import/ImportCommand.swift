import DaybookAudit
import DaybookNewFiles
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook import STORE [FILE] --format FORMAT`: entries from the data of other programs.
struct ImportCommand: Command {
    /// The format of the input.
    enum Form: String, CaseIterable, Sendable {
        case debezium
        case jsonl
        case csv
        case coredata
    }

    private let store = Positional(
        "STORE", .path, "The store to import into; with coredata, the file to create.")
    private let file = OptionalPositional(
        "FILE", .path, "The file to import; standard input if there is none, or '-'.")
    private let form = RequiredOption<Form>(
        "--format", short: "-f", "FORMAT", .oneOf, "The format of the input.")
    private let author = Option(
        "--author", short: "-a", "A", .name, "The author, if the input names none.")
    private let note = Option(
        "--note", "N", .text, "The note, if the input has none.")
    private let info = InfoArguments("Information on entries, besides what the input has.")
    private let isDry = Flag(
        "--dry-run", short: "-n",
        "Import into a temporary copy; the store stays as it is."
    )
    private let streams = StreamArguments()
    private let tables = TableArguments()
    private let coreData = CoreDataArguments()

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "import", in: .prove,
            summary: "Import a change stream, a table or a Core Data store.",
            discussion: """
                debezium: a Debezium envelope on each line, as it is or behind its schema.
                Consecutive events with the same txId (or the same transaction.id) become one
                entry, and so does each event that has none. The operations c, u, d and r are
                carried out; r inserts or updates. Tombstones, heartbeats and the bounds of
                transactions are skipped.

                jsonl: the complete output of 'daybook export --format jsonl' of another store.
                Each line becomes an entry; objects get new names. An entry that undoes others
                says so here, too, if those were imported in the same run. No export has tags or
                cursors.

                Tables of a stream are entities of the same name unless --table says otherwise,
                columns are properties. The unique attribute of its entity identifies a row;
                --key names it if there are several. '_id' identifies rows that 'daybook export'
                wrote, within their tables. A relationship is the key of its destination, or a
                list of keys.

                A step of the source becomes one entry: all of it or none of it. A bad line
                stops the import; its number and the mistake are reported. Entries made before
                it stay, the open one is dropped. Time, author, note and information
                of the input are kept.

                The old values of a line must equal those in the store. The events of a stream
                must come in order (sequence, lsn, file and pos, commit_lsn, commit_scn, else the
                time). The store keeps the position reached in each table, so importing the same
                stream again adds nothing, and an interrupted stream continues; a warning counts
                the events skipped. Late events, at a position before the last imported one of
                their table, are among these. With --forget-positions all events are imported. No
                position is kept for a stream whose events have only the time, or of PostgreSQL's
                without their sequence, which is the order of commits. Another copy of the store
                that was imported, as its digests show, is refused.

                csv: a table of comma-separated values (RFC 4180) in UTF-8, whose first line
                names the columns. Each further line becomes an object of --entity, and all of
                them one entry, or each N of them with --batch N. A column goes to the property
                of its name, or to the one that --map names; --skip leaves a column out. A
                to-one relationship is given by a unique attribute of its destination, as in
                --map 'Country code=country.alpha2', and may lead to a row of the same entry.

                Values have the form that they have in JSON: 2011-12-15T08:30:00Z for a date,
                base64 for data; true, false, 1 and 0 are truth values. An empty field is no
                value, or an empty text where there must be one. With --null only that text is
                no value, and an empty field is an empty text.

                Rows that do not fit are listed with line, column and reason. Nothing of an
                entry with such a row is saved, nor of what comes after it, and the command ends
                with 1. With --skip-refused the other rows are saved.

                coredata: the SQLite file of a Core Data store, FILE, which is only read. With
                its model, as JSON, it becomes the new store STORE: all of it or nothing. Each
                transaction of its history becomes an entry with author and time; what was
                there before, or everything if there is no history, is one entry. The history
                has no old values, so a value stands in the last transaction that set it. See
                'Moving from Core Data' in the documentation.
                """,
            arguments: [store, file, form, author, note, info.argument, isDry] + streams.all
                + tables.all
                + coreData.all,
            examples: [
                .init(
                    "daybook import shop.daybook -f debezium --table customers=Customer < cdc.jsonl",
                    "Import the output of a connector"),
                .init(
                    "daybook export a.daybook -f jsonl | daybook import b.daybook -f jsonl",
                    "Repeat the changes of one store in another"),
                .init(
                    "daybook import iso.daybook towns.csv -f csv -e Town "
                        + "--map in=country.alpha2",
                    "Import a table, with a relationship"),
                .init(
                    "daybook import new.daybook Old.sqlite -f coredata -m model.json",
                    "Make a store from a Core Data store"),
            ],
            endings: [
                .init(.success, "Everything is imported, now or before."),
                .init(.finding, "Rows of the table were refused."),
                .init(
                    .usage,
                    "Wrong usage, a bad line, a file that is not a table, or a Core Data store that "
                        + "does not fit its model."),
                .init(.unreadable),
                .init(
                    .conflict,
                    "The stream does not fit what is in the store, is out of order, or breaks a rule "
                        + "of the model."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard arguments[isDry] else {
            return try perform(on: arguments[store], arguments, console)
        }
        let code = try rehearse(in: ScratchFolder(for: "import"), arguments, console)
        try console.talk("Nothing was changed: this was a dry run.")
        return code
    }

    private func rehearse(
        in folder: ScratchFolder, _ arguments: ParsedArguments, _ console: Console
    ) throws -> ExitCode {
        defer { withExtendedLifetime(folder) {} }
        let copy = folder.path("copy.daybook")
        guard arguments[form] != .coredata else {
            return try perform(on: copy, arguments, console)
        }
        let original = try StoreReading.open(arguments[store])
        let isLinked = try original.link() != nil
        try original.copy(to: copy)
        try original.close()
        if isLinked { try part(copy) }
        return try perform(on: copy, arguments, console)
    }

    /// Makes a copy a store of its own: with its link, what is imported would go into the shared journal.
    private func part(_ copy: String) throws {
        let store = try Store.open(at: copy)
        try store.unlink()
        try store.close()
    }

    private func perform(
        on path: String, _ arguments: ParsedArguments, _ console: Console
    ) throws -> ExitCode {
        let report = RecordingReport(
            console, deed: arguments[isDry] ? "Would import" : "Imported",
            nothing: arguments[isDry]
                ? "Nothing would be imported." : "Nothing was imported.")
        switch arguments[form] {
        case .debezium: return try importStream(.debezium, path, arguments, report, console)
        case .jsonl: return try importStream(.jsonl, path, arguments, report, console)
        case .csv: return try importTable(path, arguments, report, console)
        case .coredata: return try importCoreData(path, arguments, report, console)
        }
    }

    /// Refuses the arguments that have no meaning for the format.
    private func refuse(_ others: [any Argument], _ arguments: ParsedArguments) throws {
        guard let first = others.first(where: { arguments.count(of: $0.declaration) > 0 }) else {
            return
        }
        throw ToolError.usage(
            "'\(first.declaration.name)' has no meaning with '--format "
                + "\(arguments[form].rawValue)'.")
    }

    private func importStream(
        _ form: StreamImport.Form, _ path: String, _ arguments: ParsedArguments,
        _ report: RecordingReport, _ console: Console
    ) throws -> ExitCode {
        try refuse(tables.all + coreData.all, arguments)
        let options = try streams.options(arguments)
        let input = try InputFile(arguments[file])
        let recorder = try Recorder(
            path: path, author: arguments.author(author), note: arguments[note],
            info: info.info(arguments), console)
        try StreamImport(form: form, options: options, console: console)
            .run(input.lines, into: recorder, report)
        return .success
    }

    private func importTable(
        _ path: String, _ arguments: ParsedArguments, _ report: RecordingReport,
        _ console: Console
    ) throws -> ExitCode {
        try refuse(streams.all + coreData.all, arguments)
        var options = try tables.options(arguments)
        options.author = arguments.author(author)
        options.note = arguments[note]
        options.info = try info.info(arguments)
        let input = try InputFile(arguments[file])
        var table = try TableImport(
            into: StoreWriting.open(path, console), options, report, console)
        return try table.run(input)
    }

    private func importCoreData(
        _ path: String, _ arguments: ParsedArguments, _ report: RecordingReport,
        _ console: Console
    ) throws -> ExitCode {
        try refuse(streams.besidesCoreData + tables.all, arguments)
        guard let source = arguments[file], source != "-" else {
            throw ToolError.usage("'--format coredata' needs FILE: the SQLite file of the store.")
        }
        let model = try ModelText(coreData.model(arguments)).read(console)
        var options = coreData.options(arguments)
        options.ignoresUnknown = streams.skipsUnknown(arguments)
        options.author = arguments.author(author)
        options.note = arguments[note]
        options.info = try info.info(arguments)
        try CoreDataImport(options: options, console: console)
            .run(from: source, to: path, model, report)
        return .success
    }
}
