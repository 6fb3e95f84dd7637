import DaybookAudit
import DaybookJournalLog
import DaybookNewFiles
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook export STORE --format FORMAT`: the journal for other programs.
struct ExportCommand: Command {
    /// The treatment of confidential values.
    enum Secrecy: String, CaseIterable, Sendable {
        case omit
        case hash
        case show
    }

    private let store = Positional("STORE", .path, "The store to export.")
    private let form = RequiredOption(
        "--format", short: "-f", "FORMAT", .word(among: AuditFormats.names), "The format to write.")
    private let first = Option(
        "--from", or: "--since", "SEQ|TIME", .moment, "Begin with this entry or time.")
    private let last = Option(
        "--to", or: "--until", "SEQ|TIME", .moment,
        "End with this entry or time; a date alone includes its day.")
    private let filters = FilterArguments()
    private let cursor = Option(
        "--resume", "CURSOR", .cursor,
        "Continue after this cursor, and move it; it is kept in the store.")
    private let secrecy = Option<Secrecy>(
        "--confidential", "WHAT", .oneOf,
        "What to do with confidential values: omit (the default), hash or show.")
    private let secret = Option(
        "--secret", "FILE", .path, "The file with the secret for '--confidential hash'.")
    private let hidden = RepeatedOption(
        "--hide", "ENTITY.PROPERTY", .name,
        "Treat this property as confidential even if the model does not.")
    private let source = Option(
        "--source", "URI", .text, "The source of the events, for formats that have one.")
    private let host = Option(
        "--host", "NAME", .text, "The name of the machine, for formats that have one.")
    private let checkpoint = Option(
        "--checkpoint", "FILE", .path, "A signed checkpoint for formats that report on it.")
    private let key = Option(
        "--key", short: "-k", "FILE", .path,
        "The public key that must have signed the checkpoint.")
    private let file = Option(
        "--into", short: "-o", "FILE", .path, "Write into this new file, not to standard output.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "export", in: .prove, summary: "Write the journal for other programs.",
            discussion: """
                The formats:

                \(Self.formats)

                From a complete jsonl export 'daybook load' makes the same store again, digests
                included. With --entity, --object and other filters jsonl still writes entries
                with all their changes, because the digest covers them all; the other formats
                write only the changes that pass the filters.

                The file of '--into' gets its name when it is complete, and is on the disk when
                the command ends with 0.

                A cursor of '--resume' stops before the first entry that is left out because it
                is later than the time of '--to'. The next export begins with that entry, so it
                repeats what was written of those behind it.

                Values of properties that the model calls confidential are left out. With hash,
                a keyed hash replaces them, the same for the same value. From the first entry on
                in which a value is left out, digests are left out, too, because a value with
                few possible forms could be found by trying. A checkpoint, a proof or the digest
                of a later entry still makes that possible; so do not give those to readers of
                such exports.

                The name of '--hide' may be one of an earlier model. What is derived from the
                property is treated as it is, and so is what it was before its type changed.
                """,
            arguments: [store, form, first, last] + filters.all
                + [cursor, secrecy, secret, hidden, source, host, checkpoint, key, file],
            formats: [],
            examples: [
                .init(
                    "daybook export iso.daybook --format jsonl | daybook load copy.daybook",
                    "Copy a store by way of its export"),
                .init(
                    "daybook export iso.daybook -f html --checkpoint today.checkpoint",
                    "A report for an auditor, with the result of the checkpoint"),
                .init(
                    "daybook export iso.daybook --format csv --author registry --resume weekly",
                    "New entries since the last time, for a spreadsheet"),
                .init(
                    "daybook export iso.daybook -f git | git -C iso.git fast-import",
                    "A repository with a commit for each entry, for git log and git blame"),
                .init(
                    "daybook export iso.daybook -f sqlite --into iso.sqlite",
                    "A database with every state of every object"),
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    /// The formats with their descriptions, one on each line.
    private static var formats: String {
        let width = AuditFormats.names.map(\.count).max() ?? 0
        return AuditFormats.all.map { format in
            let kind = type(of: format)
            let padding = String(repeating: " ", count: width - kind.name.count + 2)
            return "  \(kind.name)\(padding)\(kind.summary)"
        }.joined(separator: "\n")
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard let format = AuditFormats.format(named: arguments[form]) else {
            throw ToolError.usage("There is no format '\(arguments[form])'.")
        }
        guard arguments[file] != "-" else {
            throw ToolError.usage(
                "'--into' takes the path of a new file: leave it out to write to standard output, "
                    + "or write './-'.")
        }
        if arguments[cursor] != nil, !type(of: format).canResume {
            throw ToolError.usage(
                "'--resume' cannot be used with the format \(arguments[form]), "
                    + "which is one whole document.")
        }
        try checkOptions(of: type(of: format).name, arguments)
        let store = try open(arguments, console)
        var export = AuditExport(of: AuditReader(store))
        export.filter = filters.filter(arguments)
        try StoreReading.restrict(
            &export.filter, since: arguments[first], until: arguments[last], in: store)
        export.confidentiality = try confidentiality(arguments)
        export.options = try options(arguments)
        export.resumesAfter = try arguments[cursor].flatMap { try store.position(ofCursor: $0) }

        let reached = try write(export, format, arguments, of: store, console)
        if let name = arguments[cursor] {
            // The buffer is flushed before the cursor moves, so an interrupted export is repeated
            // and never skipped.
            try console.flush()
            try store.setCursor(name, to: reached)
        }
        return .success
    }

    /// Refuses what the format would not heed: a checkpoint above all, which somebody would take for checked.
    private func checkOptions(of format: String, _ arguments: ParsedArguments) throws {
        let given: [(option: String, isGiven: Bool, formats: [String])] = [
            (
                "--source", arguments[source] != nil, ["cloudevents", "debezium", "ocsf", "prov"]
            ),
            ("--host", arguments[host] != nil, ["journald", "syslog"]),
            ("--checkpoint", arguments[checkpoint] != nil, ["html"]),
            ("--key", arguments[key] != nil, ["html"]),
        ]
        for (option, isGiven, formats) in given where isGiven && !formats.contains(format) {
            throw ToolError.usage(
                "'\(option)' means nothing to the format \(format); it does to "
                    + "\(formats.joined(separator: ", ")).")
        }
        guard arguments[key] == nil || arguments[checkpoint] != nil else {
            throw ToolError.usage("A key is for a checkpoint: add '--checkpoint FILE'.")
        }
    }

    /// Only an export that moves a cursor writes to the store.
    private func open(_ arguments: ParsedArguments, _ console: Console) throws -> Store {
        arguments[cursor] == nil
            ? try StoreReading.open(arguments[store])
            : try StoreWriting.open(arguments[store], console)
    }

    private func confidentiality(_ arguments: ParsedArguments) throws -> Confidentiality {
        let properties = Set(arguments[hidden])
        guard arguments[secret] == nil || arguments[secrecy] == .hash else {
            throw ToolError.usage("'--secret' goes only with '--confidential hash'.")
        }
        guard properties.isEmpty || arguments[secrecy] != .show else {
            throw ToolError.usage(
                "'--hide' contradicts '--confidential show': leave one of them out.")
        }
        switch arguments[secrecy] ?? .omit {
        case .omit: return Confidentiality(.omit, properties: properties)
        case .show: return Confidentiality(.show, properties: properties)
        case .hash:
            guard let path = arguments[secret] else {
                throw ToolError.usage(
                    "'--confidential hash' needs a secret: name a file of at least 16 random bytes "
                        + "with '--secret'.")
            }
            let secret = try TextFile.data(path, "secret")
            guard secret.count >= 16 else {
                throw ToolError.usage(
                    "The secret '\(path)' is too short: it needs at least 16 "
                        + "bytes, such as those that 'head -c 32 /dev/urandom' makes.")
            }
            return Confidentiality(.hash(secret: Array(secret)), properties: properties)
        }
    }

    private func options(_ arguments: ParsedArguments) throws -> AuditOptions {
        var options = AuditOptions()
        options.source = arguments[source]
        options.host = arguments[host]
        options.path = arguments[file]
        options.checkpoint = try arguments[checkpoint].map { try TextFile.read($0, "checkpoint") }
        options.key = try arguments[key].map { try TextFile.read($0, "public key") }
        return options
    }

    private func write(
        _ export: AuditExport, _ format: any AuditFormat, _ arguments: ParsedArguments,
        of store: Store, _ console: Console
    ) throws -> SequenceNumber {
        let progress = console.progress(
            "Exporting entries", of: Int(clamping: try store.head().rawValue))
        defer { progress.finish() }
        guard let path = arguments[file], !type(of: format).writesFile else {
            return try export.write(format, progress: { _ in progress.advance() }) {
                try console.write($0)
            }
        }
        let output = try NewFile(path)
        let reached = try export.write(format, progress: { _ in progress.advance() }) {
            try output.write($0)
        }
        try output.finish()
        return reached
    }
}
