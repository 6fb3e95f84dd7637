package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookNewFiles
package import DaybookObjectModel
internal import Synchronization

/// Only one thread opens stores at a time, because a file is checked before it is opened for good,
/// and LMDB allows a file to be open only once in a process.
private let opening = Mutex(())

extension Store {
    /// Creates a store whose first entry sets the model, and may say who created the store and why.
    ///
    /// Any number of processes may try at once: one of them creates the store, the others are
    /// refused.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/exists`` when a file exists, even one that
    ///   another process has just made; with ``StoreError/Code/model`` when the model is
    ///   inconsistent. No file is left behind then.
    package static func create(
        at path: String, model: ManagedObjectModel, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        options: StoreOptions = StoreOptions()
    ) throws -> Store {
        let version = try wrapping(path) { try ModelVersion(first: model.persistent) }
        return try create(
            at: path, version: version, author: author, note: note, info: info, options: options)
    }

    /// Creates a store whose model has the numbers that it has elsewhere, so that both can be used
    /// together.
    ///
    /// - Throws: As ``create(at:model:author:note:info:options:)``.
    package static func create(
        at path: String, version: ModelVersion, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        options: StoreOptions = StoreOptions()
    ) throws -> Store {
        try create(
            at: path, version: version, options: options,
            EntryHeader(kind: .model, author: author, note: note, info: info), copying: nil)
    }

    /// Creates a store as ``create(at:model:author:note:info:options:)`` does, without opening it.
    ///
    /// - Returns: The digest of its first entry.
    /// - Throws: As ``create(at:model:author:note:info:options:)``.
    package static func make(
        at path: String, model: ManagedObjectModel, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        options: StoreOptions = StoreOptions()
    ) throws -> Digest {
        let version = try wrapping(path) { try ModelVersion(first: model.persistent) }
        return try make(
            at: path, version: version, options: options,
            EntryHeader(kind: .model, author: author, note: note, info: info), copying: nil)
    }

    /// Creates a store whose first entry has the header, and equals the given entry byte for byte,
    /// if there is one.
    static func create(
        at path: String, version: ModelVersion, options: StoreOptions, _ header: EntryHeader,
        copying first: Entry?, readBy view: StoreModel? = nil
    ) throws -> Store {
        _ = try make(at: path, version: version, options: options, header, copying: first)
        return try open(
            at: path, model: nil, options: options, modelSource: .both, readBy: view)
    }

    /// The store is written under another name and gets its own when it is complete, so that a
    /// crash leaves all or nothing at the path, and no process opens part of a store.
    static func make(
        at path: String, version: ModelVersion, options: StoreOptions, _ header: EntryHeader,
        copying first: Entry?, as identity: StoreIdentity? = nil, linkedTo link: FileLink? = nil
    ) throws -> Digest {
        try wrapping(path) {
            let schema = Schema(version)
            let identity =
                identity
                ?? StoreIdentity(uuid: options.makeUUID(), createdAt: options.clock())
            let metadata = StoreMetadata(identity, link: link)
            let draft = try DraftFile(for: path)
            defer { draft.discard() }
            return try wrapping(path, besides: draft) {
                let digest = try write(
                    at: draft.path, schema, metadata, header, copying: first, options)
                try draft.place()
                return digest
            }
        }
    }

    /// Writes the file of a new store and closes it.
    private static func write(
        at path: String, _ schema: Schema, _ metadata: StoreMetadata, _ header: EntryHeader,
        copying first: Entry?, _ options: StoreOptions
    ) throws -> Digest {
        var options = options
        // What is made is brought to the disk before it gets its name.
        options.link = nil
        let environment = try Environment.open(
            at: path, options: options.environment(create: true))
        let parts = try StoreParts(environment, schema)
        return try environment.write { transaction in
            try begin(parts, metadata, header, copying: first, in: transaction)
        }
    }

    private static func begin(
        _ parts: StoreParts, _ metadata: StoreMetadata, _ header: EntryHeader,
        copying first: Entry?, in transaction: borrowing WriteTransaction
    ) throws -> Digest {
        try EntryInfo.check(header.info)
        try metadata.write(parts.tables.meta, in: transaction)
        let entry = try parts.append(
            parts.projection.schema.version, header: header,
            at: first?.recordedAt ?? metadata.createdAt, in: transaction)
        if let first, first.digest != entry.digest {
            throw StoreError.digestMismatch(first.sequence, entry.sequence)
        }
        return entry.digest
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - model: The model the caller knows; nil to take the store's.
    ///   - options: How to open the store.
    /// - Returns: The open store.
    /// - Throws: ``StoreError`` with ``StoreError/Code/modelMismatch`` and every difference; with
    ///   ``StoreError/Code/newerFormat`` or ``StoreError/Code/notAStore`` for a file that is left
    ///   unchanged; with ``StoreError/Code/corrupt`` when it is damaged.
    /// - Complexity: O(log *n*) page reads.
    package static func open(
        at path: String, model: ManagedObjectModel? = nil, options: StoreOptions = StoreOptions()
    ) throws -> Store {
        let store = try open(at: path, model: model, options: options, modelSource: .both)
        guard model != nil, !options.isReadOnly else { return store }
        do {
            try store.buildIndexesNow()
        } catch {
            store.closeQuietly()
            throw error
        }
        return store
    }

    /// Where the model of a store is read from.
    enum ModelSource {
        /// From the first entry, whose digest covers it, and the projection, as usual; both must
        /// agree.
        case both
        /// From the first entry, when the projection is not trusted.
        case journal
        /// From the projection, when the first entry cannot be read.
        case table
    }

    static func open(
        at path: String, model: ManagedObjectModel?, options: StoreOptions,
        modelSource: ModelSource, readBy view: StoreModel? = nil, for stage: ModelStage? = nil
    ) throws -> Store {
        let store = try wrapping(path) {
            let file = try opening.withLock { _ in
                if let model { try model.validate() }
                return try openFile(at: path, options: options, modelSource)
            }
            // Nobody who opens another file waits for servers.
            try file.gate?.begin(with: file.environment)
            return try opening.withLock { _ in
                try open(
                    file, at: path, model: model, options: options, modelSource: modelSource,
                    readBy: stage?.model ?? view, for: stage)
            }
        }
        store.exchangeMarksQuietly()
        return store
    }

    /// A file that is open, and of which nothing was used yet.
    private struct OpenFile: Sendable {
        let environment: Environment
        let tables: StoreTables
        let journal: Journal
        let metadata: StoreMetadata
        let last: StoreModel
        let gate: JournalGate?
    }

    private static func openFile(
        at path: String, options: StoreOptions, _ modelSource: ModelSource
    ) throws -> OpenFile {
        try renewLostCopy(path, options)
        try checkFormat(path, options)
        let environment = try Environment.open(
            at: path, options: options.environment(create: false))
        let tables = try StoreTables(in: environment)
        let (metadata, last) = try environment.read { transaction in
            (
                try StoreMetadata.read(tables.meta, path: path, in: transaction),
                try lastModel(modelSource, environment, tables, path: path, in: transaction)
            )
        }
        let journal = try Journal(in: environment)
        let parts = StoreParts(
            journal: journal, projection: Projection(tables: tables, schema: last.schema))
        return OpenFile(
            environment: environment, tables: tables, journal: journal, metadata: metadata,
            last: last,
            gate: try JournalGate.join(environment, parts, last, metadata, options, path))
    }

    private static func open(
        _ file: OpenFile, at path: String, model: ManagedObjectModel?, options: StoreOptions,
        modelSource: ModelSource, readBy view: StoreModel?, for stage: ModelStage?
    ) throws -> Store {
        func parts(_ model: StoreModel) -> StoreParts {
            StoreParts(
                journal: file.journal,
                projection: Projection(tables: file.tables, schema: model.schema))
        }
        let environment = file.environment
        var (options, last) = (options, file.last)
        if let gate = file.gate {
            options.clock = { gate.now() }
            // What was missing may have set a model.
            last = try environment.read {
                try lastModel(modelSource, environment, file.tables, path: path, in: $0)
            }
        }
        var known = view ?? last
        if let model {
            let migration = ModelMigration(to: model, options: options, path: path)
            known = try migration.resolved(environment, parts(last), last)
        }
        return Store(
            path: path, model: known, metadata: file.metadata, options: options,
            parts: parts(known), environment: environment, stage: stage, sharing: file.gate)
    }

    /// The model in force, read from the given source.
    private static func lastModel(
        _ source: ModelSource, _ environment: Environment, _ tables: StoreTables, path: String,
        in transaction: borrowing ReadTransaction
    ) throws -> StoreModel {
        func stored() throws -> StoreModel {
            let last = try ModelPlace.last(tables, in: transaction)
            let version = try Projection.model(tables, setBy: last.sequence, in: transaction)
            return StoreModel(place: last, schema: Schema(version))
        }
        if source == .table { return try stored() }
        let first = try firstModel(environment, path: path, in: transaction)
        if source == .both {
            guard try storedModelBytes(tables, path: path, in: transaction) == first.canonicalBytes
            else {
                throw StoreError.corrupt(
                    "The model in the tables of '\(path)' is not the one that its first entry sets")
            }
            return try stored()
        }
        do {
            return try stored()
        } catch let error as StoreError where error.code == .corrupt {
            // What is wrong with the table is found by comparing it with the journal.
            let place = ModelPlace(
                sequence: SequenceNumber(1),
                rewinds: try StoreMetadata.rewindsIfSound(tables.meta, in: transaction))
            return StoreModel(place: place, schema: Schema(first))
        }
    }

    /// Checks the format before the file is opened for good, and writes nothing.
    private static func checkFormat(_ path: String, _ options: StoreOptions) throws {
        let environment = try Environment.open(
            at: path,
            options: EnvironmentOptions(
                tables: [StoreLayout.metaName], create: false, readOnly: true,
                patience: options.waiting.patience))
        let meta = try environment.table(StoreLayout.metaName)
        return try environment.read { transaction in
            try StoreMetadata.checkFormat(meta, path: path, in: transaction)
        }
    }

    private static func storedModelBytes(
        _ tables: StoreTables, path: String, in transaction: borrowing ReadTransaction
    ) throws -> [UInt8] {
        let first = SequenceNumber(1)
        let key = StoreKey.sequence(first)
        let bytes = try transaction.get(tables.models, key.span.bytes) {
            try ModelRecord.content($0, at: first)
        }
        guard let bytes else { throw StoreError.corrupt("'\(path)' holds no model") }
        return bytes
    }

    private static func firstModel(
        _ environment: Environment, path: String, in transaction: borrowing ReadTransaction
    ) throws -> ModelVersion {
        let journal = try Journal(in: environment)
        guard let first = try journal.entry(at: SequenceNumber(1), in: transaction) else {
            throw StoreError.corrupt("'\(path)' has no first entry, which would set the model")
        }
        guard let version = try EntryPayload.Encoded(first).version else {
            throw StoreError.corrupt("The first entry of '\(path)' sets no model")
        }
        return version
    }

    static func wrapping<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw StoreError(wrapping: error, path: path)
        }
    }

    /// Runs `body`, which writes a draft file; errors name `path` in its stead.
    static func wrapping<R>(
        _ path: String, besides draft: DraftFile, _ body: () throws -> R
    ) throws -> R {
        do {
            return try wrapping(path, body)
        } catch let error as StoreError {
            let message = error.message.replacing(draft.path, with: path)
            throw StoreError(error.code, message, cause: error.cause, details: error.details)
        }
    }
}

extension StoreParts {
    init(_ environment: Environment, _ schema: Schema) throws {
        journal = try Journal(in: environment)
        projection = Projection(tables: try StoreTables(in: environment), schema: schema)
    }

    /// Appends and folds the first entry, which sets the model.
    func append(
        _ version: ModelVersion, header: EntryHeader, at recordedAt: Int64,
        in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        let payload = EntryPayload.bytes(header, version)
        let entry = try journal.append(
            payload: payload, recordedAt: recordedAt, in: transaction)
        var projector = Projector(StoredState(projection), after: .journal(journal))
        try projector.fold(entry, in: transaction)
        return entry
    }
}

extension StoreOptions {
    /// The servers have all that the copy of a shared store has.
    private var durabilityOfFile: EnvironmentOptions.Durability {
        if let link { return .rebuildable(from: link.place) }
        return durability == .durable ? .durable : .relaxed
    }

    func environment(create: Bool) -> EnvironmentOptions {
        var options = EnvironmentOptions(
            tables: StoreLayout.tableNames, create: create, readOnly: isReadOnly,
            durability: durabilityOfFile, mapSize: initialMapSize,
            patience: waiting.patience)
        options.tablesIfThere = StoreLayout.laterNames
        options.checkedTables = StoreLayout.checkedNames
        options.isUntrusted = isUntrusted
        options.checking = checking
        return options
    }
}
