public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// What a crash of the operating system may lose.
///
/// Where a program has one store open several times, all of its saves are as durable as the strictest of those that may
/// write ask for, from then on until the last of them is closed.
public enum StoreDurability: Sendable, Hashable {
    /// Nothing whose save has returned.
    case durable
    /// The last saves, but never the integrity of the store.
    case relaxed
}

/// How a store is opened.
public struct PersistentStoreOptions: Sendable, Hashable {
    /// Whether nothing may be written.
    public var isReadOnly = false
    /// Whether the file comes from an untrusted source.
    ///
    /// Reading never trusts a file. Writing does, so all its pages are checked before the first save of
    /// this program, and a damaged store is refused then. Other files are checked only if they were not
    /// closed in order.
    public var isUntrusted = false
    /// Told how far the check of a file before the first save has come, where there is one: it counts pages. The
    /// check cannot be cancelled; it reads each page in use once. It is told on the thread of the save, while nobody
    /// else can save: who observes it must not. Each store wants one of its own.
    public var checkProgress: Progress?
    /// Whether a save is on the disk when it returns, or soon after.
    public var durability = StoreDurability.durable
    /// What opening may do to a store that has another model.
    public var migration = MigrationPolicy.compatible
    /// When an index that the model wants and the store does not have is built.
    public var indexes = IndexBuilding.immediate
    /// Told how far opening has come when it has to look at every object of an entity: to build an index,
    /// or to see whether objects fit the model. It counts objects; cancelling it ends the opening, which
    /// throws ``StoreError`` with ``StoreError/Code/cancelled`` and leaves the store as it was. Each stage of
    /// a plan counts from zero again; the stages before the one that was cancelled stay.
    public var migrationProgress: Progress?
    private var plan: PlanReference?
    /// The plan by which a store of an earlier version is brought to the program's; nil for none. Without
    /// a plan, or for a read-only store, ``migration`` decides.
    public var migrationPlan: (any SchemaMigrationPlan.Type)? {
        get { plan?.plan }
        set { plan = newValue.map(PlanReference.init) }
    }
    /// When checkpoints are signed automatically; nil for never.
    public var checkpoints: CheckpointPolicy?
    /// How the coordinator learns what other processes and coordinators save. By default it looks when it is told
    /// to, so that nothing is merged at a moment that the program has not chosen.
    public var remoteChanges = RemoteChangeNotice.whenChecked
    /// How long to wait at most for another process: one that writes, at each save; one that opens the
    /// same store at the same moment; and one that was stopped as it began to read. Nil waits as long as
    /// it takes.
    ///
    /// After that, the call throws ``StoreError`` with ``StoreError/Code/busy``; the message names the
    /// other process.
    public var lockTimeout: Duration? = StoreOptions.Waiting.usual.limit
    /// The shared store of which the file is a copy; nil for a store of its own.
    package var sharing: StoreSharing?

    /// Opens for writing, durably.
    public init() {}

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.isUntrusted = isUntrusted
        if let progress = checkProgress {
            options.checking = { done, total in
                progress.totalUnitCount = Int64(total)
                progress.completedUnitCount = Int64(done)
            }
        }
        options.durability = durability == .durable ? .durable : .relaxed
        options.migration = migration
        options.waiting.limit = lockTimeout
        options.indexes = indexes
        options.work = migrationProgress?.handler
        options.link = sharing?.link
        return options
    }
}

extension Progress {
    /// Takes in how far work on a store has come, and ends it when this is cancelled.
    fileprivate var handler: StoreOptions.WorkHandler {
        { done, total in
            self.totalUnitCount = total
            self.completedUnitCount = done
            guard !self.isCancelled else {
                throw StoreError(
                    .cancelled, "The work was ended, because its progress was cancelled.")
            }
        }
    }
}

extension PersistentStore {
    /// The properties whose index was put off and is not complete; queries read all objects for them.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the store's record of them is damaged.
    public func pendingIndexes() throws -> [String] {
        try store.pendingIndexes()
    }

    /// Builds the indexes that were put off, by ``PersistentStoreOptions/indexes``.
    ///
    /// It is done in short writes, between which others save; readers wait for nothing. What has been
    /// built stays when it is cancelled or the program ends, and the next call goes on from there. Call
    /// it on a thread that may take its time.
    ///
    /// - Parameter progress: Counts objects of one index after the other; cancelling it ends the
    ///   building.
    /// - Throws: ``StoreError`` with ``StoreError/Code/cancelled``; with ``StoreError/Code/readOnly``.
    /// - Complexity: O(*n* log *n*) page reads and writes, *n* the number of objects.
    public func buildIndexes(progress: Progress? = nil) throws {
        try store.buildIndexes(progress?.handler)
    }
}

/// A plan, compared by its type.
private struct PlanReference: Sendable, Hashable {
    let plan: any SchemaMigrationPlan.Type

    static func == (left: PlanReference, right: PlanReference) -> Bool {
        left.plan == right.plan
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(plan))
    }
}

/// Whether a store outlives its program.
public enum PersistentStoreType: Sendable, Hashable {
    /// The store is a file, and is there when it is opened again.
    case file
    /// The store begins empty, is in memory, belongs to this process alone, and is gone when it is
    /// closed: for tests and previews.
    ///
    /// Everything else works as in a file: undo, merging, several contexts, the past. The memory is
    /// that of the file system tmpfs at `/dev/shm`; where there is none, the store is refused, and never
    /// made on a disk. The system may move any memory out to its swap space.
    case inMemory
}

/// A store that a container is to load: where it is, what it holds and how it is opened.
public struct PersistentStoreDescription: Sendable, Hashable {
    /// Where the file is. For a store in memory this is only a name: no file is read or made there.
    public var url: URL
    /// Whether the store is a file or in memory.
    public var type = PersistentStoreType.file
    /// The configuration of the model whose entities the store holds; nil for all entities.
    public var configuration: String?
    /// Whether nothing may be written.
    public var isReadOnly = false
    /// Whether the file comes from an untrusted source; see
    /// ``PersistentStoreOptions/isUntrusted``.
    public var isUntrusted = false
    /// Told how far the check of a file before the first save has come; see
    /// ``PersistentStoreOptions/checkProgress``.
    public var checkProgress: Progress?
    /// Whether a save is on the disk when it returns, or soon after.
    public var durability = StoreDurability.durable
    /// What opening may do to a store that has another model.
    public var migration = MigrationPolicy.compatible
    /// When an index that the model wants and the store does not have is built.
    public var indexes = IndexBuilding.immediate
    /// Told how far opening has come; see ``PersistentStoreOptions/migrationProgress``.
    public var migrationProgress: Progress?
    private var plan: PlanReference?
    /// The plan by which a store of an earlier version is brought to the program's; see
    /// ``PersistentStoreOptions/migrationPlan``.
    public var migrationPlan: (any SchemaMigrationPlan.Type)? {
        get { plan?.plan }
        set { plan = newValue.map(PlanReference.init) }
    }
    /// When checkpoints are signed automatically; nil for never.
    public var checkpoints: CheckpointPolicy?
    /// How the coordinator learns what other processes and coordinators save; see
    /// ``PersistentStoreOptions/remoteChanges``.
    public var remoteChanges = RemoteChangeNotice.whenChecked
    /// How long to wait at most for another process; see ``PersistentStoreOptions/lockTimeout``.
    public var lockTimeout: Duration? = StoreOptions.Waiting.usual.limit
    /// Whether ``PersistentContainer/loadPersistentStores(completionHandler:)`` returns before the
    /// store is open and calls back on a queue of its own.
    public var shouldAddStoreAsynchronously = false
    /// The shared store of which the file is a copy; nil for a store of its own.
    package var sharing: StoreSharing?

    /// Describes a store that holds all entities and is opened for writing, durably.
    public init(url: URL, configuration: String? = nil) {
        self.url = url
        self.configuration = configuration
    }

    /// Describes a store in memory that holds all entities, or those of a configuration. Its URL is one at
    /// which no file can be.
    public static func inMemory(configuration: String? = nil) -> PersistentStoreDescription {
        let folder = URL(fileURLWithPath: "/dev/null").appendingPathComponent(UUID().uuidString)
        var description = PersistentStoreDescription(
            url: folder.appendingPathComponent("memory"), configuration: configuration)
        description.type = .inMemory
        return description
    }

    var options: PersistentStoreOptions {
        var options = PersistentStoreOptions()
        options.isReadOnly = isReadOnly
        options.isUntrusted = isUntrusted
        options.checkProgress = checkProgress
        options.durability = durability
        options.migration = migration
        options.indexes = indexes
        options.migrationProgress = migrationProgress
        options.migrationPlan = migrationPlan
        options.checkpoints = checkpoints
        options.remoteChanges = remoteChanges
        options.lockTimeout = lockTimeout
        options.sharing = sharing
        return options
    }
}
