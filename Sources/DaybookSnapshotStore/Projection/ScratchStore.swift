internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookNewFiles
internal import DaybookObjectModel

/// A projection without a journal, in the system's temporary folder, removed with this object.
final class ScratchStore {
    /// Why there is no scratch store, or it cannot grow: the temporary folder may be full, for
    /// example.
    struct Failure: Error {
        /// A full sentence.
        let message: String
    }

    private let folder: ScratchFolder
    private let environment: Environment
    private var projection: Projection
    private var recentTimes: [Int64] = []
    private let pending: PendingIndexes
    private let source: Store

    /// - Parameters:
    ///   - source: The store whose journal is folded.
    ///   - pending: Indexes that are to have as much as those of that store.
    /// - Throws: ``Failure``.
    init(of source: Store, _ pending: PendingIndexes) throws {
        self.source = source
        self.pending = pending
        do {
            folder = try ScratchFolder(for: "verify")
            var options = EnvironmentOptions(
                tables: StoreLayout.projectionNames + [StoreLayout.metaName],
                durability: .relaxed)
            options.checkedTables = Set(StoreLayout.projectionNames)
            environment = try Environment.open(at: folder.path("scratch"), options: options)
        } catch {
            throw Failure(message: "\(error)")
        }
        projection = Projection(tables: try StoreTables(in: environment), schema: source.schema)
    }

    /// Folds the next entries together: all of them or none.
    ///
    /// - Throws: ``Failure`` when there is no room; what folding throws for an entry that does not
    ///   fit.
    func fold(_ entries: [JournalEntry]) throws {
        do {
            (projection, recentTimes) = try environment.write {
                [projection, recentTimes, pending, source] transaction in
                var projector = Projector(
                    StoredState(projection), after: .store(source), recentTimes: recentTimes)
                projector.pending = pending
                for entry in entries { try projector.fold(entry, in: transaction) }
                return (projector.projection, projector.recentTimes)
            }
        } catch let error as LMDBError where error.concernsFile {
            throw Failure(message: error.message)
        }
    }

    func table(_ name: String) throws -> Table {
        try environment.table(name)
    }

    func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        try environment.read(body)
    }
}

extension LMDBError {
    /// Whether the file or the system is at fault, and not the data to be written.
    fileprivate var concernsFile: Bool {
        switch code {
        case .diskFull, .mapFull, .inputOutput, .noMemory, .noPermission, .closedToWrites,
            .replaced,
            .locked, .other:
            true
        default: false
        }
    }
}
