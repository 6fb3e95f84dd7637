import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook import STORE FILE --format csv --entity ENTITY`: objects from the rows of a table.
struct TableImport {
    /// What the user asks for.
    struct Options {
        var entity = ""
        var columns = ColumnMapping.Options()
        /// What stands for no value; nil if an empty field does.
        var null: String?
        /// The rows of one entry; nil for all.
        var batch: Int?
        /// The rest of an entry is saved without its refused rows.
        var skipsRefused = false
        var author: String?
        var note: String?
        var info: [String: String] = [:]
    }

    private let store: Store
    private let options: Options
    private let console: Console
    private let entity: SchemaEntity
    private var report: RecordingReport
    /// The number of refused rows, of all and of the open entry.
    private let tally = RefusalTally()

    /// - Throws: ``ToolError`` when the entity is none that objects can be of.
    init(
        into store: Store, _ options: Options, _ report: RecordingReport, _ console: Console
    ) throws {
        self.store = store
        self.options = options
        self.console = console
        self.report = report
        entity = try Self.entity(options.entity, in: store.schema)
    }

    private static func entity(_ name: String, in schema: Schema) throws -> SchemaEntity {
        guard let entity = schema.entity(named: name) else {
            let names = schema.entities.map(\.name)
            throw ToolError.usage(
                "There is no entity '\(name)'\(Suggestion.clause(for: name, among: names))")
        }
        guard !entity.isAbstract else {
            let names = entity.family.compactMap { schema.entity($0) }
                .filter { !$0.isAbstract }.map(\.name)
            throw ToolError.usage(
                "'\(name)' is abstract, so there can be no object of it; there is "
                    + "\(Operation.list(names)).")
        }
        return entity
    }

    /// Imports the table.
    mutating func run(_ input: InputFile) throws -> ExitCode {
        var table = CSVReader { try input.read(into: &$0) }
        let progress = console.progress("Importing row")
        defer { progress.finish() }
        do {
            try importRows(&table, progress)
        } catch let error as CSVError {
            try report.close()
            throw ToolError.usage(error.description)
        } catch {
            try report.close()
            throw error
        }
        try report.close()
        guard tally.count > 0 else { return .success }
        try console.talk(
            tally.count == 1
                ? "1 row was refused and left out."
                : "\(tally.count) rows were refused and left out.")
        return .finding
    }

    private mutating func importRows(_ table: inout CSVReader, _ progress: Progress) throws {
        guard try table.next() else {
            throw ToolError.usage(
                "The table is empty: a line with the names of the columns was "
                    + "expected.")
        }
        let mapping = try ColumnMapping(
            table.record, to: entity, in: store.schema, options.columns)
        let reader = RowReader(mapping, null: options.null)
        if let objection = reader.objection { throw ToolError.usage(objection) }
        let refuse: (RowRefusal) throws -> Void = { [report, tally] refusal in
            progress.finish()
            tally.add(refusal)
            try report.refuse(refusal)
        }
        let batch = RowBatch(of: mapping, in: store, refuse: refuse)
        var count = 0
        while try table.next() {
            progress.advance()
            tally.lines = (tally.lines?.lowerBound ?? table.record.line)...table.record.line
            if let row = try reader.row(of: table.record, refuse: refuse) { batch.append(row) }
            count += 1
            guard let limit = options.batch, count == limit else { continue }
            try save(batch)
            count = 0
        }
        try save(batch)
    }

    private mutating func save(_ batch: RowBatch) throws {
        let scope: RowBatch.Scope =
            options.skipsRefused ? .rest : tally.isOpenEntrySpoiled ? .nothing : .whole
        let header = EntryHeader(
            kind: .batch, author: options.author, note: options.note, info: options.info,
            context: "import",
            base: try store.head())
        if let (result, count) = try batch.save(header, scope), let sequence = result.sequence,
            let digest = result.digest
        {
            try report.add(
                Recorder.RecordedEntry(
                    sequence: sequence, digest: digest, inserts: count, updates: 0, deletes: 0))
        }
        if tally.isOpenEntrySpoiled, !options.skipsRefused { throw refusal() }
        tally.beginEntry()
    }

    private func refusal() -> ToolError {
        let rows = tally.count == 1 ? "1 row was refused" : "\(tally.count) rows were refused"
        let lines = tally.lines.map { lines in
            lines.count == 1
                ? "line \(lines.lowerBound)" : "lines \(lines.lowerBound) to \(lines.upperBound)"
        }
        return ToolError(
            .finding,
            "\(rows), so nothing of \(lines ?? "the table") was saved. Correct the rows, or use '--skip-refused' "
                + "to import the others.")
    }
}

/// Counts the refused rows of a table.
final class RefusalTally {
    /// The number of refused rows.
    private(set) var count = 0
    /// Whether there is one in the open entry.
    private(set) var isOpenEntrySpoiled = false
    /// The first and the last line of the open entry.
    var lines: ClosedRange<Int>?
    /// The lines of the refused rows of the open entry, because a row may be refused for several reasons.
    private var refused: Set<Int> = []

    func add(_ refusal: RowRefusal) {
        isOpenEntrySpoiled = true
        if refused.insert(refusal.line).inserted { count += 1 }
    }

    func beginEntry() {
        isOpenEntrySpoiled = false
        lines = nil
        refused.removeAll()
    }
}
