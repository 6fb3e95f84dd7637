public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// What a crash of the operating system may lose.
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
    /// Whether a save is on the disk when it returns, or soon after.
    public var durability = StoreDurability.durable
    /// What opening may do to a store that has another model.
    public var migration = MigrationPolicy.compatible
    /// When checkpoints are signed automatically; nil for never.
    public var checkpoints: CheckpointPolicy?
    /// How long to wait at most for another process: one that writes, at each save; one that opens the
    /// same store at the same moment; and one that was stopped as it began to read. Nil waits as long as
    /// it takes.
    ///
    /// After that, the call throws ``StoreError`` with ``StoreError/Code/busy``; the message names the
    /// other process.
    public var lockTimeout: Duration? = StoreOptions.Waiting.usual.limit

    /// Opens for writing, durably.
    public init() {}

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.durability = durability == .durable ? .durable : .relaxed
        options.migration = migration
        options.waiting.limit = lockTimeout
        return options
    }
}

/// A store that a container is to load: where it is, what it holds and how it is opened.
public struct PersistentStoreDescription: Sendable, Hashable {
    /// Where the file is.
    public var url: URL
    /// The configuration of the model whose entities the store holds; nil for all entities.
    public var configuration: String?
    /// Whether nothing may be written.
    public var isReadOnly = false
    /// Whether a save is on the disk when it returns, or soon after.
    public var durability = StoreDurability.durable
    /// What opening may do to a store that has another model.
    public var migration = MigrationPolicy.compatible
    /// When checkpoints are signed automatically; nil for never.
    public var checkpoints: CheckpointPolicy?
    /// How long to wait at most for another process; see ``PersistentStoreOptions/lockTimeout``.
    public var lockTimeout: Duration? = StoreOptions.Waiting.usual.limit
    /// Whether ``PersistentContainer/loadPersistentStores(completionHandler:)`` returns before the
    /// store is open and calls back on a queue of its own.
    public var shouldAddStoreAsynchronously = false

    /// Describes a store that holds all entities and is opened for writing, durably.
    public init(url: URL, configuration: String? = nil) {
        self.url = url
        self.configuration = configuration
    }

    var options: PersistentStoreOptions {
        var options = PersistentStoreOptions()
        options.isReadOnly = isReadOnly
        options.durability = durability
        options.migration = migration
        options.checkpoints = checkpoints
        options.lockTimeout = lockTimeout
        return options
    }
}
