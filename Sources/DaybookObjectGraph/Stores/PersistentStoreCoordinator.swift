// The room of the stores: the container, the coordinator and its stores, which contexts share. What is
// here may be used on any thread. It tells contexts about stores that come and go, and looks into no
// part of them.

import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation
import Synchronization

/// Joins a model with the stores that hold its objects, for any number of contexts.
///
/// With several stores, a new object goes to the first one that can be written and whose
/// configuration has the object's entity, unless
/// ``ManagedObjectContext/assign(_:to:)`` says otherwise. Fetches look into all stores that hold the
/// entity. Objects of different stores cannot be related, and what must be unique is so in each
/// store by itself.
public final class PersistentStoreCoordinator: Sendable {
    /// The model as it is numbered; see ``number(by:)``.
    private let numbered: Mutex<GraphModel>
    /// Whether objects have been made by it, so that its numbers must stay.
    private let isModelInUse = Atomic<Bool>(false)
    private let attached = Mutex(AttachedStores())
    private let contexts = Mutex(WeakContexts())
    private let provisionalNumbers = Atomic<UInt64>(0)
    private let attachments = Atomic<UInt64>(0)
    /// The rows that the contexts share.
    let rows = RowCache()
    /// The identifiers of the stores that are or were attached.
    let identifiers = StoreIdentifiers()

    /// Makes a coordinator for classes.
    ///
    /// - Parameters:
    ///   - classes: The classes.
    ///   - configurations: Some of the classes by the name of a configuration; see
    ///     ``ManagedObjectModel/configurations``.
    ///   - requires: What every entry must say; see ``ManagedObjectModel/requires``.
    ///   - indexesEntries: What the store finds entries by; see ``ManagedObjectModel/indexesEntries``.
    /// - Throws: ``ModelError`` when the declarations of the classes do not fit together.
    public init(
        classes: [ManagedObject.Type], configurations: [String: [ManagedObject.Type]] = [:],
        requires: Set<AttributionRequirement> = [],
        indexesEntries: Set<IndexedAttribution> = []
    ) throws {
        numbered = Mutex(
            try GraphModel(
                classes: classes,
                configurations: configurations.mapValues { $0.map { $0.entityName } },
                requires: requires, indexesEntries: indexesEntries))
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
        numbered = Mutex(try GraphModel(managedObjectModel, classes: classes))
    }

    /// The model, compiled.
    var model: GraphModel { numbered.withLock { $0 } }

    /// The model for objects that are about to be made.
    var modelForObjects: GraphModel {
        isModelInUse.store(true, ordering: .relaxed)
        return model
    }

    /// Numbers the model as a store does. All stores of a coordinator have the same numbers, which the
    /// first one tells.
    ///
    /// - Throws: ``StoreError`` with code `modelMismatch` when there are stores or objects with other
    ///   numbers.
    func number(by version: ModelVersion, of url: URL) throws {
        let hasStores = !persistentStores.isEmpty
        let isInUse = isModelInUse.load(ordering: .relaxed)
        try numbered.withLock { model in
            if model.schema.version.hasSameLayout(as: version) { return }
            guard !hasStores, !isInUse else { throw StoreError.otherNumbers(url, hasStores) }
            model = model.numbered(by: version)
        }
    }

    /// The model, which can no longer change.
    public var managedObjectModel: ManagedObjectModel { model.schema.model }

    /// The stores, in the order they were added.
    public var persistentStores: [PersistentStore] { attached.withLock { $0.current } }

    /// The store at a URL.
    public func persistentStore(for url: URL) -> PersistentStore? {
        persistentStores.first { $0.url.standardizedFileURL == url.standardizedFileURL }
    }

    // MARK: - Stores by number

    /// How often stores have been added or removed: as long as this is the same, so are they.
    var attachmentCount: UInt64 { attachments.load(ordering: .acquiring) }

    func store(_ number: UInt32) -> PersistentStore? {
        attached.withLock { $0[number] }
    }

    /// The name in messages of a store that is or was attached.
    func storeName(_ number: UInt32) -> String {
        store(number)?.name ?? identifiers.identifier(of: number)?.uuidString ?? "store \(number)"
    }

    /// The identifier of the store that has a number, or of none.
    func identifier(ofStore number: UInt32) -> UUID {
        identifiers.identifier(of: number) ?? identifiers.ofNoStore
    }

    /// Whether a store is one of this coordinator's.
    func has(_ store: PersistentStore) -> Bool {
        self.store(store.number) === store
    }

    /// Adds a store.
    ///
    /// - Throws: ``StoreError`` with code `exists` when the store, or a copy of it, is here already.
    func attach(
        _ store: Store, _ location: StoreLocation, endWhenAdded: JournalEnd
    ) throws -> PersistentStore {
        defer { attachments.add(1, ordering: .releasing) }
        let added = try attached.withLock { stores in
            if let other = stores.current.first(where: { $0.identifier == store.uuid }) {
                throw StoreError.alreadyAdded(location.url, as: other)
            }
            return stores.append(
                location, store, endWhenAdded, rows, number: identifiers.number(for: store.uuid))
        }
        added.belong(to: self)
        rows.forgetAll(of: added.number)
        added.beginToWatchOthers()
        return added
    }

    /// Replaces a store with another opening of it; removes it for nil.
    func replace(_ number: UInt32, with store: PersistentStore?) {
        attached.withLock { $0.replace(number, with: store) }
        // Afterwards, so that no row is taken in that was read before.
        rows.forgetAll(of: number)
        attachments.add(1, ordering: .releasing)
    }

    // MARK: - Contexts

    /// Registers a context, which is told when stores are added and removed.
    func register(_ context: ManagedObjectContext) {
        contexts.withLock { $0.append(context) }
    }

    /// Runs `body` in every context, at once in the one that the caller is in.
    func inEveryContext(_ body: @escaping @Sendable (ManagedObjectContext) -> Void) {
        for context in contexts.withLock({ $0.live }) {
            if context.lock.isMine {
                body(context)
            } else {
                context.perform { [weak context] in
                    if let context { body(context) }
                }
            }
        }
    }

    // MARK: - Objects

    /// The store that new objects of an entity go to.
    ///
    /// - Throws: ``StoreError`` with code `readOnly` when the stores that hold the entity cannot be
    ///   written; with `noSuchStore` when none holds it.
    func store(forNew entity: EntityNumber) throws -> PersistentStore {
        if let store = attached.withLock({ $0.first(holding: entity, isWritable: true) }) {
            return store
        }
        guard let store = attached.withLock({ $0.first(holding: entity, isWritable: false) })
        else {
            throw StoreError.noStore(for: model.entity(entity).schema.name)
        }
        throw StoreError.readOnlyStore(store)
    }

    func graphID(of id: ManagedObjectID) -> GraphID? {
        if id.isDecoded {
            // By its number, which stays when the entity is renamed.
            guard let entity = model.schema.entity(id.object.entity), !entity.isAbstract else {
                return nil
            }
        }
        return attached.withLock { $0.number(of: id.storeIdentifier) }.map {
            GraphID(store: $0, object: id.object)
        }
    }

    func endForNewContext(of store: PersistentStore) -> JournalEnd {
        do {
            let end = try store.store.end()
            rows.learn(of: end, in: store.number)
            store.startAnnouncing(from: end)
            return end
        } catch {
            // A store that cannot be read reports it at the first fetch; merging from the beginning is
            // right, only slower.
            return JournalEnd(head: .zero, rewinds: 0)
        }
    }

    /// A number for a new object.
    ///
    /// - Throws: ``StoreError`` when there is no store to write it to; see ``provisionalID(of:)``.
    func newID(of entity: EntityNumber) throws -> GraphID {
        let store = try store(forNew: entity)
        do {
            let number = try store.store.allocateObjectNumber()
            return GraphID(store: store.number, object: ObjectID(entity: entity, number: number))
        } catch  where !has(store) {
            // It was moved or removed a moment ago.
            return try newID(of: entity)
        }
    }

    /// A number for a new object that can never be saved, because its context reads the past or no store
    /// that it could be written to exists. Such numbers lie in the upper half, where no store's numbers
    /// are.
    func provisionalID(of entity: EntityNumber) -> GraphID {
        let number = provisionalNumbers.wrappingAdd(1, ordering: .relaxed).newValue
        let store = attached.withLock { $0.first(holding: entity, isWritable: false) }
        return GraphID(
            store: store?.number ?? 0,
            object: ObjectID(entity: entity, number: number | GraphID.provisionalMark))
    }
}

/// The stores of a coordinator. A number is given once: the slot of a store that was removed stays
/// empty, so that its objects are not taken for those of another store.
private struct AttachedStores {
    private var stores: [PersistentStore?] = []
    private(set) var current: [PersistentStore] = []

    subscript(number: UInt32) -> PersistentStore? {
        stores.indices.contains(Int(number)) ? stores[Int(number)] : nil
    }

    func number(of identifier: UUID) -> UInt32? {
        current.first { $0.identifier == identifier }?.number
    }

    func first(holding entity: EntityNumber, isWritable: Bool) -> PersistentStore? {
        current.first { $0.holds(entity) && !(isWritable && $0.refusesChanges) }
    }

    mutating func append(
        _ location: StoreLocation, _ store: Store, _ endWhenAdded: JournalEnd,
        _ rows: RowCache,
        number: UInt32
    ) -> PersistentStore {
        let added = PersistentStore(
            location, number: number, store: store, endWhenAdded: endWhenAdded, rows: rows)
        while stores.count <= Int(number) { stores.append(nil) }
        stores[Int(number)] = added
        current.append(added)
        return added
    }

    mutating func replace(_ number: UInt32, with store: PersistentStore?) {
        let index = current.firstIndex { $0.number == number }
        stores[Int(number)] = store
        switch (index, store) {
        case (let index?, let store?): current[index] = store
        case (let index?, nil): current.remove(at: index)
        case (nil, let store?): current.append(store)
        case (nil, nil): return
        }
    }
}

/// The identifiers of the stores that a coordinator has or had, by the numbers it gave them.
///
/// Separate from the coordinator, because objects that outlive their context use it as well.
final class StoreIdentifiers: Sendable {
    private let list = Mutex<[UUID]>([])
    /// The identifier given for an object without a store.
    let ofNoStore = UUID()

    /// The identifier of the store that has a number; nil when none has.
    func identifier(of number: UInt32) -> UUID? {
        list.withLock { $0.indices.contains(Int(number)) ? $0[Int(number)] : nil }
    }

    /// The number of a store: the one it had when it was here before, or the next one.
    func number(for identifier: UUID) -> UInt32 {
        list.withLock { list in
            if let index = list.firstIndex(of: identifier) { return UInt32(index) }
            list.append(identifier)
            return UInt32(list.count - 1)
        }
    }
}

/// The contexts that are still alive.
private struct WeakContexts {
    private struct Entry {
        weak var context: ManagedObjectContext?
    }

    private var entries: [Entry] = []
    private var sweepCount = 16

    var live: [ManagedObjectContext] { entries.compactMap(\.context) }

    mutating func append(_ context: ManagedObjectContext) {
        if entries.count >= sweepCount {
            entries.removeAll { $0.context == nil }
            sweepCount = max(16, entries.count * 2)
        }
        entries.append(Entry(context: context))
    }
}
