package import DaybookJournalLog
internal import DaybookNewFiles
package import DaybookObjectModel
internal import DaybookSnapshotStore

/// Makes a store from that of a program that used Core Data.
///
/// The new store grows in a folder beside its place and gets its name when it is complete, so that
/// there is the whole store or none. The source is only read.
package struct CoreDataImporter {
    /// What the user wants.
    package struct Options: Sendable {
        /// The author of entries for which the source names none.
        package var author: String?
        /// Why, in words.
        package var note: String?
        /// What else to keep with each entry, by key.
        package var info: [String: String] = [:]
        /// The attributes whose values may stand in files, as `Entity.attribute`.
        package var external: Set<String> = []
        /// Whether entities and columns that the model does not have are left out.
        package var ignoresUnknown = false
        /// Whether only the present state is imported.
        package var leavesOutHistory = false

        /// Takes the usual options.
        package init() {}
    }

    /// An entry that was made.
    package struct ImportedEntry: Sendable {
        /// Its number.
        package let sequence: SequenceNumber
        /// Its digest.
        package let digest: Digest
        /// The number of its inserts.
        package let inserts: Int
        /// The number of its updates.
        package let updates: Int
    }

    /// The result of an import.
    package struct Result: Sendable {
        /// The entries after that of the model.
        package var entries: [ImportedEntry] = []
        /// The number of objects that were deleted, of which the source keeps nothing.
        package var deletedCount = 0
        /// The number of transactions of which nothing is left.
        package var emptyCount = 0
        /// The attributes that look as if their values could stand in files.
        package var suspects: [String] = []
    }

    private let options: Options
    private let progress: () -> Void

    /// - Parameters:
    ///   - options: What the user wants.
    ///   - progress: Called for each object read.
    package init(_ options: Options, progress: @escaping () -> Void = {}) {
        self.options = options
        self.progress = progress
    }

    /// Imports a store.
    ///
    /// - Parameters:
    ///   - source: The SQLite file of the Core Data store.
    ///   - path: The store to make.
    ///   - model: The model of both.
    /// - Returns: The entries that were made, and what was left out.
    /// - Throws: ``CoreDataError`` when the source does not fit; `ModelError`; `StoreError` with code
    ///   `exists` when there is a file already, or when the store cannot be written. No file is left
    ///   behind then.
    package func run(
        from source: String, to path: String, _ model: ManagedObjectModel
    ) throws -> Result {
        let draft = try Store.draft(for: path)
        defer { draft.discard() }
        let schema = try Schema(model)
        let file = try CoreDataFile(source)
        let layout = try CoreDataLayout(
            schema, in: file, external: options.external,
            ignoresUnknown: options.ignoresUnknown)
        let graph = try CoreDataGraph(schema, layout, in: file, progress: progress)
        var history = CoreDataHistory(schema, layout, objectCount: graph.objects.count)
        if file.hasHistory, !options.leavesOutHistory { try history.read(file, graph) }
        try file.finish()

        let plan = CoreDataPlan(graph, history, schema)
        // One sync at the end makes the whole file durable.
        let store = try Store.create(
            at: draft.path, model: model, author: options.author, note: options.note,
            info: options.info,
            options: StoreOptions(durability: .relaxed))
        var result = Result()
        result.deletedCount = history.deletedCount
        result.suspects = graph.suspects
        do {
            try save(plan, history, into: store, &result)
        } catch {
            try store.close()
            throw error
        }
        try store.close()
        try Store.place(draft, at: path)
        return result
    }

    private func save(
        _ plan: CoreDataPlan, _ history: CoreDataHistory, into store: Store,
        _ result: inout Result
    ) throws {
        for position in plan.steps.indices {
            let changes = plan.changes(position)
            guard !changes.isEmpty else {
                if position > 0 { result.emptyCount += 1 }
                continue
            }
            var header = header(position, history)
            header.base = try store.head()
            let inserts = changes.count { $0.isInsert }
            do {
                let saved = try store.commit(SaveRequest(header: header, changes: changes))
                guard let sequence = saved.sequence, let digest = saved.digest else { continue }
                result.entries.append(
                    ImportedEntry(
                        sequence: sequence, digest: digest, inserts: inserts,
                        updates: changes.count - inserts))
            } catch let error as StoreError {
                throw explained(error, position, plan, history)
            }
        }
    }

    /// Objects from before the history have the time of its first transaction, so that times never
    /// go back.
    private func header(_ position: Int, _ history: CoreDataHistory) -> EntryHeader {
        guard position > 0 else {
            return EntryHeader(
                kind: .batch, author: options.author, note: options.note, info: options.info,
                context: "import",
                occurredAt: history.transactions.first?.time)
        }
        let transaction = history.transactions[position - 1]
        return EntryHeader(
            kind: .batch, author: transaction.author ?? options.author, note: options.note,
            info: options.info, context: transaction.context ?? "import",
            occurredAt: transaction.time)
    }

    /// The error of a broken rule, with rows in place of objects that are not made.
    private func explained(
        _ error: StoreError, _ position: Int, _ plan: CoreDataPlan, _ history: CoreDataHistory
    ) -> any Error {
        let objects =
            error.failures.compactMap { failure in failure.object.map { ($0, failure.message) } }
            + error.constraintConflicts.compactMap { conflict in
                let names = conflict.properties.map { "'\($0)'" }.joined(separator: " and ")
                return conflict.objects.last.map { ($0, "\(names) must be unique.") }
            }
        guard !objects.isEmpty else { return error }
        let problems = objects.prefix(10).map { object, message in
            plan.row(of: object).map { "Table \($0.table), row \($0.key): \(message)" } ?? message
        }
        guard position > 0 else {
            return CoreDataError("The objects break rules of the model.", problems: problems)
        }
        return CoreDataError(
            "The history breaks rules of the model in transaction "
                + "\(history.transactions[position - 1].number), because the source does not keep "
                + "earlier values. Import the present state alone, with '--without-history'.",
            problems: problems)
    }
}
