internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

extension JournalGate {
    /// The gate of a linked file; nil for a file that is opened without a link. Nobody is asked yet.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable`` when the file is not linked there; what
    ///   connecting throws.
    static func join(
        _ environment: Environment, _ parts: StoreParts, _ model: StoreModel,
        _ metadata: StoreMetadata, _ options: StoreOptions, _ path: String
    ) throws -> JournalGate? {
        guard let link = options.link, !options.isReadOnly else { return nil }
        let (found, head) = try environment.read { transaction in
            (
                try StoreMetadata.link(parts.tables.meta, in: transaction),
                try parts.journal.head(in: transaction)
            )
        }
        guard let found else { throw StoreError.notLinked(path) }
        guard found.place == link.place else {
            throw StoreError.linkedElsewhere(path, found, link.place)
        }
        // All openings of a file in one process pass the same gate.
        if let gate = environment.gate as? JournalGate { return gate }
        // Before there is a gate: while it lets somebody catch up, no table can be made.
        let chunks = ChunkTable(table: try environment.table(making: ChunkTable.name))
        let foreign = ForeignEntries(ModelsInForce(view: model, parts), parts, chunks, options)
        let gate = JournalGate(
            try link.connect(found, metadata.identity), link, foreign, head: head)
        environment.gate = gate
        return gate
    }

    /// Brings the file up to the shared journal before it is used, if that can be reached. All openings of the file wait
    /// for that.
    ///
    /// - Throws: What writing throws. A journal that cannot be reached, or does not fit, is no error yet: the file can be
    ///   read.
    func begin(with environment: Environment) throws {
        guard !beginning.isDone else { return }
        defer { beginning.finish() }
        do {
            try environment.perform { [beginning] in
                if !beginning.isDone { $0.submit(beginning) }
            }
        } catch let error as StoreError where error.code.isOfSharedStore {
            // The condition of the store says why.
        }
    }
}

extension StoreError.Code {
    /// Whether reading goes on in spite of it, because it is about the shared journal only.
    fileprivate var isOfSharedStore: Bool {
        [.unreachable, .inDoubt, .diverged, .quarantined, .unprotected, .permission].contains(self)
    }
}
