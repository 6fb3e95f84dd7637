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
        var lines = ForeignLines(
            form, into: recorder.store, ignoringUnknown: options.ignoresUnknown)
        let progress = console.progress("Importing line")
        defer { progress.finish() }
        do {
            while let line = try input.next() {
                progress.advance()
                guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
                for event in try lines.events(from: line, input.lineNumber) {
                    try report.add(importer.take(event, line: input.lineNumber))
                }
                if form == .jsonl { try report.add(importer.save()) }
            }
            try lines.finish()
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
            let were = count == 1 ? "was" : "were"
            try console.warn(
                "\(events) of '\(table.name)' in '\(table.stream)' at or before \(position) \(were) "
                    + "passed over: this table was imported up to there.")
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
private struct ForeignLines {
    private enum Reader {
        case debezium(DebeziumReader)
        case jsonl(EntryReader)
    }

    private var reader: Reader
    private let store: Store
    /// The bytes that come before the entries that refer to them.
    private var intake = LargeDataIntake()

    init(_ form: StreamImport.Form, into store: Store, ignoringUnknown: Bool) {
        self.store = store
        reader =
            switch form {
            case .debezium: .debezium(DebeziumReader(ignoringUnknown: ignoringUnknown))
            case .jsonl: .jsonl(EntryReader(ignoringUnknown: ignoringUnknown))
            }
    }

    /// The events of a line; none for one that has bytes, which are in the store then.
    ///
    /// - Throws: ``LineProblem``; ``StoreError``.
    mutating func events(from line: [UInt8], _ number: Int) throws -> [ForeignEvent] {
        do {
            switch reader {
            case .debezium(let reader): return [try reader.event(from: line)].compactMap { $0 }
            case .jsonl(var entries):
                let read = try entries.read(line)
                reader = .jsonl(entries)
                return try events(of: read, number)
            }
        } catch let error as JSONError {
            // The text has only one line; the caller adds its number in the input.
            let location = error.location.replacing("line 1, ", with: "", maxReplacements: 1)
            throw LineProblem(error.message, location: location.isEmpty ? nil : location)
        } catch let error as ExportError {
            throw LineProblem(error.message)
        }
    }

    private mutating func events(of line: EntryReader.Line, _ number: Int) throws -> [ForeignEvent]
    {
        switch line {
        case .data(let part):
            try intake.take(part, into: store, line: number)
            return []
        case .events(let events):
            try intake.expectNothing(line: number)
            return events
        }
    }

    /// Makes sure that nothing is missing at the end.
    ///
    /// - Throws: ``LineProblem``.
    func finish() throws {
        do {
            try intake.expectNothing(line: nil)
        } catch {
            throw LineProblem(error.message)
        }
    }
}
