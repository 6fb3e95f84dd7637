import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook record STORE`: entries from the changes on standard input.
struct RecordCommand: Command {
    private let store = Positional("STORE", .path, "The store to record into.")
    private let author = Option(
        "--author", short: "-a", "A", .name, "The author of saves that name none.")
    private let note = Option(
        "--note", "N", .text, "The note of saves that have none.")
    private let info = InfoArguments("Information on saves that have none by that key.")
    private let files = Option(
        "--files", "FOLDER", .path,
        "The folder of the files that values name; without it, no file is read."
    )

    private let isDry = Flag(
        "--dry-run", short: "-n", "Show the changes of one entry without making them.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "record", in: .write,
            summary: "Record changes from standard input, one JSON object a line.",
            discussion: """
                  {"op":"insert","entity":"Country","ref":"fr","values":{"alpha2":"FR"}}
                  {"op":"insert","entity":"Town","values":{"country":{"ref":"fr"}}}
                  {"op":"update","object":"Country/17","values":{"name":"Czechia"}}
                  {"op":"delete","entity":"Country","match":{"alpha2":"AN"}}
                  {"op":"save","author":"A","note":"N","time":"2011-12-15T00:00:00Z",
                   "info":{"request":"77"}}

                The lines up to a save, or to the end of the input, become one entry: all of it or
                none of it. 'ref' names an object within the input; 'match' must find exactly one
                object; a relationship is {"ref":...}, {"match":{...}}, {"object":"Country/17"}
                or null; a to-many relationship is a list of them. 'time' is when it happened;
                the store also keeps its own recording time. 'info' holds any other texts to
                keep with the entry, by key.

                Data are base64 text, or with --files {"file":"dawn.jpg"}: the bytes of that file
                in the folder, of any length. Few of them are in memory at a time.

                With --dry-run the lines are those of one entry. Its changes are shown, with all
                that follows from the rules of the model, and not made.

                A bad line stops the recording; its number and the mistake are reported. Entries
                saved before it stay, the open one is dropped. With --output jsonl a line
                acknowledges each entry once it is durable, and not before.
                """,
            arguments: [store, author, note, info.argument, files, isDry],
            examples: [
                .init(
                    "daybook record iso.daybook --author registry < changes.jsonl", "Record a file"),
                .init(
                    "producer | daybook record iso.daybook --output jsonl",
                    "Record the output of a program, acknowledging each entry"),
                .init(
                    "daybook record album.daybook --files photos < photos.jsonl",
                    "Record changes that name files by {\"file\":\"dawn.jpg\"}"),
            ],
            endings: [
                .init(.success, "Everything is recorded."),
                .init(.usage, "Wrong usage, a bad line, or a value that the model does not allow."),
                .init(.unreadable),
                .init(
                    .conflict,
                    "A value that must be unique is there already, others need what was to be "
                        + "deleted, or a law is broken."),
                .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let recorder = try Recorder(
            path: arguments[store], author: arguments.author(author), note: arguments[note],
            info: info.info(arguments), files: arguments[files], isDry: arguments[isDry], console)
        if arguments[isDry] { return try rehearse(recorder, console) }
        let report = RecordingReport(
            console, deed: "Recorded", nothing: "Nothing was recorded.")
        let progress = console.progress("Recording line")
        defer { progress.finish() }
        let input = console.input
        do {
            while let line = try input.next() {
                progress.advance()
                guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
                let operation = try Operation(parsing: line)
                try report.add(recorder.perform(operation, line: input.lineNumber))
            }
            try report.add(recorder.finish(line: input.lineNumber))
        } catch let problem as LineProblem {
            try report.close()
            throw problem.error(readingLine: input.lineNumber)
        } catch let error as StoreError {
            try report.close()
            throw error
        }
        try report.close()
        return .success
    }

    /// Carries out the lines of one entry, and shows what it would be.
    private func rehearse(_ recorder: Recorder, _ console: Console) throws -> ExitCode {
        let input = console.input
        var isSaved = false
        do {
            while let line = try input.next() {
                guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
                guard !isSaved else {
                    throw LineProblem(
                        "A dry run takes the lines of one entry, and this one is behind its save.")
                }
                let operation = try Operation(parsing: line)
                if case .save = operation {
                    isSaved = true
                } else {
                    _ = try recorder.perform(operation, line: input.lineNumber)
                }
            }
            try PlannedChanges.show(of: recorder, line: input.lineNumber, console)
        } catch let problem as LineProblem {
            throw problem.error(readingLine: input.lineNumber)
        }
        return .success
    }
}
