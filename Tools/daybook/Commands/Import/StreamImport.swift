import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook import STORE --format debezium` and `jsonl`: entries from the change stream of another
/// store.
struct StreamImport {
    /// The form of the lines.
    enum Form {
        case debezium
        case jsonl
    }

    let form: Form
    let options: Importer.Options
    let console: Console

    /// Imports all lines.
    func run(_ input: LineReader, into recorder: Recorder, _ report: RecordingReport) throws {
        let importer = try Importer(into: recorder, options)
        var lines = ForeignLines(form, ignoringUnknown: options.ignoresUnknown)
        let progress = console.progress("Importing line")
        defer { progress.finish() }
        do {
            while let line = try input.next() {
                progress.advance()
                guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
                for event in try lines.events(from: line) {
                    try report.add(importer.take(event, line: input.lineNumber))
                }
                if form == .jsonl { try report.add(importer.save()) }
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
        try tellPassedOver(importer)
    }

    private func tellPassedOver(_ importer: Importer) throws {
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
}

/// Reads the lines of a change stream.
private enum ForeignLines {
    case debezium(DebeziumReader)
    case jsonl(EntryReader)

    init(_ form: StreamImport.Form, ignoringUnknown: Bool) {
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
