public import DaybookJournalLog
public import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation
import Synchronization

/// One store of a coordinator: a file with a journal and its projection.
public final class PersistentStore: Sendable {
    /// Where the file is; for a store in memory, what its description says.
    public let url: URL
    /// Whether the store is a file or in memory.
    public let type: PersistentStoreType
    /// The store's own identifier, kept in the file. A copy of the file has the same one.
    public let identifier: UUID
    /// The configuration of the model whose entities the store holds; nil when it holds all.
    public let configurationName: String?
    /// How the store was opened.
    public let options: PersistentStoreOptions
    /// The store's number in its coordinator.
    let number: UInt32
    package let store: Store
    /// The end of the journal from which contexts that were made before the store was added begin to follow it.
    let endWhenAdded: JournalEnd
    /// The end of the journal that has been announced.
    let announced = Mutex<JournalEnd?>(nil)
    private let entities: Set<EntityNumber>?
    private let owner = Mutex(StoreOwner())
    private let keptValues = Mutex(KeptValues())
    private let traffic = Mutex(Traffic())
    /// Tells what others save, where the options ask for it.
    private let watch = Mutex<StoreWatch?>(nil)
    /// The rows that contexts of the coordinator share.
    private let rows: RowCache
    /// The large data read last.
    let recentData = RecentData()
    /// How often the store has been read, for tests that prove what needs no reading.
    private let reads = Atomic<Int>(0)

    /// Metadata of the store that has not been written yet.
    private struct KeptValues {
        var values: [String: Value]?
        /// How often they have been set, so that a save knows whether it wrote the last of them.
        var version = 0
    }

    init(
        _ location: StoreLocation, number: UInt32, store: Store, endWhenAdded: JournalEnd,
        rows: RowCache
    ) {
        url = location.url
        type = location.type
        configurationName = location.configurationName
        entities = location.entities
        options = location.options
        self.number = number
        self.store = store
        self.endWhenAdded = endWhenAdded
        self.rows = rows
        identifier = store.uuid
        options.checkpoints?.begin(self, at: endWhenAdded.head)
    }

    /// The coordinator that the store was added to; nil when it has gone.
    var coordinator: PersistentStoreCoordinator? { owner.withLock(\.coordinator) }

    /// Sets the coordinator that the store was added to.
    func belong(to coordinator: PersistentStoreCoordinator) {
        owner.withLock { $0.coordinator = coordinator }
    }

    /// Begins to announce what others save, where the options ask for it.
    func beginToWatchOthers() {
        guard options.remoteChanges == .immediate else { return }
        startAnnouncing(from: endWhenAdded)
        watch.withLock { $0 = watchOthers() }
        store.followSharedJournal()
        // What was saved before the watch began.
        noticeOthers()
    }

    /// Whether nothing may be written.
    public var isReadOnly: Bool { options.isReadOnly }

    /// Whether nothing can be changed in it, not even for a preview.
    var refusesChanges: Bool { isReadOnly && !store.hasImaginedNumbers }

    /// How often the store has been read by contexts.
    package var readCount: Int { reads.load(ordering: .relaxed) }

    /// The number of the last entry.
    ///
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func head() throws -> SequenceNumber {
        try store.head()
    }

    /// Whether the store holds objects of an entity.
    func holds(_ entity: EntityNumber) -> Bool {
        entities?.contains(entity) ?? true
    }

    /// Where the store is and what it holds.
    var location: StoreLocation {
        StoreLocation(
            url: url, type: type, configurationName: configurationName, entities: entities,
            options: options)
    }

    /// Closes the file once the last checkpoint is signed.
    func close() throws {
        // Its end asks for locks of the store.
        withExtendedLifetime(watch.withLock { $0.take() }) {}
        options.checkpoints?.end(self)
        try store.close()
    }

    /// The store's name in messages.
    var name: String { url.lastPathComponent }

    /// Reads the state after an entry; nil for the newest. What is read may be counted.
    func read<Result>(
        at sequence: SequenceNumber?, watchedBy watch: ReadWatch? = nil,
        _ body: (borrowing Snapshot) throws -> Result
    ) throws -> Result {
        reads.add(1, ordering: .relaxed)
        return try store.read(at: sequence, watchedBy: watch, body)
    }

    /// Reads the row of an object as it is now: the most frequent read of all, so it is one function.
    func row(of object: ObjectID) throws -> EncodedRow? {
        reads.add(1, ordering: .relaxed)
        return try store.packedRow(of: object, at: nil)
    }

    /// Appends an entry, announces it, and makes sure that no context gets a row from before it.
    func commit(_ request: SaveRequest) throws -> SaveResult {
        rows.beginSaving()
        do {
            let result = try store.commit(request)
            rows.endSaving(result.sequence, of: result.changes, in: number)
            if let sequence = result.sequence { announceSave(sequence) }
            return result
        } catch {
            rows.endSaving(nil, of: [], in: number)
            throw error
        }
    }

    /// Why an object's record does not exist after an entry, or now: the entry that deleted it, who and
    /// when.
    func disappearance(of id: ObjectID, at position: SequenceNumber?) throws -> StoreError {
        let name = store.schema.name(of: id)
        guard let sequence = try store.read(at: position, { try $0.deletion(of: id) }) else {
            return .noSuchObject(name)
        }
        let entry = try store.entry(sequence)
        return .objectDeleted(name, in: entry)
    }
}

/// The coordinator of a store, which holds its stores.
private struct StoreOwner {
    weak var coordinator: PersistentStoreCoordinator?
}

/// Where a store is, and which part of the model it holds.
struct StoreLocation: Sendable {
    let url: URL
    let type: PersistentStoreType
    let configurationName: String?
    /// The entities of the configuration; nil for all.
    let entities: Set<EntityNumber>?
    let options: PersistentStoreOptions
}

// MARK: - Moving

/// Who is working on a store's file.
private struct Traffic {
    var writers = 0
    var isMoving = false
}

extension PersistentStore {
    /// Runs `body`, which writes, unless the store is being moved or has been moved.
    ///
    /// - Throws: ``StoreError`` with code `busy`; what `body` throws.
    func whileNotMoving<Result>(_ body: () throws -> Result) throws -> Result {
        try traffic.withLock { traffic in
            guard !traffic.isMoving else { throw StoreError.isMoving(self) }
            traffic.writers += 1
        }
        defer { traffic.withLock { $0.writers -= 1 } }
        return try body()
    }

    /// Runs `body`, which moves the store, unless somebody is writing. After it has succeeded, nothing
    /// is written here any more.
    ///
    /// - Throws: ``StoreError`` with code `busy`; what `body` throws.
    func whileNobodyWrites<Result>(_ body: () throws -> Result) throws -> Result {
        try traffic.withLock { traffic in
            guard !traffic.isMoving, traffic.writers == 0 else {
                throw StoreError.changedWhileCopied(self)
            }
            traffic.isMoving = true
        }
        do {
            return try body()
        } catch {
            traffic.withLock { $0.isMoving = false }
            throw error
        }
    }
}

// MARK: - Metadata

/// What a store says about itself, apart from its journal.
public struct PersistentStoreMetadata: Sendable, Hashable {
    /// The identifier of the store. A copy of the file has the same one.
    public let identifier: UUID
    /// When the store was made.
    public let createdAt: Date
    /// For each entity of the model in the store, a digest of what it declares. Equal digests mean
    /// equal declarations; transient attributes do not count.
    public let entityDigests: [String: Digest]
    /// Values that users keep about the store, by name.
    public var values: [String: Value]

    init(_ store: Store, values: [String: Value]) {
        identifier = store.uuid
        createdAt = Date(timeIntervalSince1970: Double(store.createdAt) / 1_000_000)
        entityDigests = store.schema.model.entityDigests
        self.values = values
    }
}

extension ManagedObjectModel {
    fileprivate var entityDigests: [String: Digest] {
        persistent.entitiesByName.mapValues {
            Digest.of(ManagedObjectModel(entities: [$0]).canonicalBytes)
        }
    }
}

extension PersistentStore {
    /// The metadata of the store, with values that wait to be written.
    func metadata() throws -> PersistentStoreMetadata {
        let waiting = keptValues.withLock(\.values)
        return PersistentStoreMetadata(store, values: try waiting ?? store.userValues())
    }

    /// Keeps values that the next save writes.
    func keep(_ values: [String: Value]) {
        keptValues.withLock { kept in
            kept.values = values
            kept.version += 1
        }
    }

    /// Hands values that wait to be written to `body`; they are done with once it has written them.
    /// Without any, runs `body` with nil.
    func writingValues<Result>(
        _ body: ([String: Value]?) throws -> (result: Result, isWritten: Bool)
    ) throws -> Result {
        let waiting = keptValues.withLock { $0 }
        let outcome = try whileNotMoving { try body(waiting.values) }
        guard outcome.isWritten, waiting.values != nil else { return outcome.result }
        keptValues.withLock { kept in
            if kept.version == waiting.version { kept.values = nil }
        }
        return outcome.result
    }

    /// Writes waiting values when a save has nothing else for this store.
    func writeKeptValues() throws {
        try writingValues { values in
            guard let values else { return ((), false) }
            try store.setUserValues(values)
            return ((), true)
        }
    }

    /// Takes over the values that wait to be written for the same store at another location.
    func takeKeptValues(of other: PersistentStore) {
        guard let values = other.keptValues.withLock(\.values) else { return }
        keep(values)
    }
}
