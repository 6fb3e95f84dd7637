public import Foundation
import JournalLog
public import ObjectModel
import SnapshotStore
import Synchronization

/// Joins a model with the stores that hold its objects, for any number of contexts.
public final class PersistentStoreCoordinator: Sendable {
    let model: GraphModel
    private let storesByNumber = Mutex<[PersistentStore]>([])
    private let provisionalNumbers = Atomic<UInt64>(0)
    /// The rows that the contexts share.
    let rows = RowCache()

    /// Makes a coordinator for classes.
    ///
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together.
    public init(classes: [ManagedObject.Type]) throws {
        model = try GraphModel(classes: classes)
    }

    /// Makes a coordinator for a model that was built or read at run time.
    ///
    /// - Parameters:
    ///   - managedObjectModel: The model.
    ///   - classes: Classes for some of its entities, found by name; the others are represented by
    ///     ``ManagedObject``.
    /// - Throws: ``ModelError`` when the model does not hold together.
    public init(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = []
    ) throws {
        model = try GraphModel(managedObjectModel, classes: classes)
    }

    /// The model, which can no longer change.
    public var managedObjectModel: ManagedObjectModel { model.schema.model }

    /// The stores, in the order they were added.
    public var persistentStores: [PersistentStore] { storesByNumber.withLock { $0 } }

    /// Opens a store, making it when there is none, and adds it.
    ///
    /// - Throws: ``StoreError`` with code `modelMismatch`, listing the differences, when the store was
    ///   written with another model; with the code of the trouble when the file cannot be used.
    @discardableResult
    public func addPersistentStore(
        at url: URL, options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentStore {
        let path = url.path
        let storeOptions = options.storeOptions
        let exists = FileManager.default.fileExists(atPath: path)
        let store =
            exists || options.isReadOnly
            ? try Store.open(at: path, model: managedObjectModel, options: storeOptions)
            : try Store.create(at: path, model: managedObjectModel, options: storeOptions)
        return storesByNumber.withLock { stores in
            let added = PersistentStore(
                url: url, number: UInt32(stores.count), store: store, rows: rows)
            stores.append(added)
            return added
        }
    }

    /// The store at a place.
    public func persistentStore(for url: URL) -> PersistentStore? {
        persistentStores.first { $0.url.standardizedFileURL == url.standardizedFileURL }
    }

    func store(_ number: UInt32) -> PersistentStore? {
        storesByNumber.withLock { $0.indices.contains(Int(number)) ? $0[Int(number)] : nil }
    }

    /// The store that new objects go to.
    var defaultStore: PersistentStore {
        guard let store = storesByNumber.withLock({ $0.first }) else {
            preconditionFailure("Add a store to the coordinator before making a context.")
        }
        return store
    }

    func graphID(of id: ManagedObjectID) -> GraphID? {
        persistentStores.first { $0.identifier == id.storeIdentifier }.map {
            GraphID(store: $0.number, object: id.object)
        }
    }

    func headForNewContext(of store: PersistentStore) -> SequenceNumber {
        do {
            let head = try store.head()
            rows.learn(of: head, in: store.number)
            store.startAnnouncing(from: head)
            return head
        } catch {
            // A store that cannot be read says so at the first fetch; merging from the beginning is
            // right, only slower.
            return .zero
        }
    }

    /// A number for a new object.
    ///
    /// - Throws: ``StoreError`` when the store cannot be written; see ``provisionalID(of:)``.
    func newID(of entity: EntityNumber) throws -> GraphID {
        let store = defaultStore
        let number = try store.store.allocateObjectNumber()
        return GraphID(store: store.number, object: ObjectID(entity: entity, number: number))
    }

    /// A number for a new object that can never be saved, because its context reads the past or its
    /// store cannot be written. Such numbers lie in the upper half, where no store's numbers are.
    func provisionalID(of entity: EntityNumber) -> GraphID {
        let number = provisionalNumbers.wrappingAdd(1, ordering: .relaxed).newValue
        return GraphID(
            store: defaultStore.number,
            object: ObjectID(entity: entity, number: number | GraphID.provisionalMark))
    }
}

/// What an operating-system crash may take away.
public enum StoreDurability: Sendable, Hashable {
    /// Nothing that a save has returned from.
    case durable
    /// The last saves, never the soundness of the store.
    case relaxed
}

/// How a store is opened.
public struct PersistentStoreOptions: Sendable {
    /// Whether nothing may be written.
    public var isReadOnly = false
    /// Whether a save is on the disk when it returns, or soon after.
    public var durability = StoreDurability.durable

    /// Opens for writing, durably.
    public init() {}

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.durability = durability == .durable ? .durable : .relaxed
        return options
    }
}
