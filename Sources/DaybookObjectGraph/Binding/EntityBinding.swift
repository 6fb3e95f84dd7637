// The room of binding: how a class, its properties and their key paths are joined with an entity of a model,
// once for all contexts, and in one of them. It reads no store and records nothing.

import DaybookObjectModel
import DaybookStopping
import Foundation
import Synchronization

/// What all objects of one entity in one context share: the entity, the context, and the slots of the
/// properties that have been used.
///
/// Confined to the context's queue, like the objects that hold it.
final class EntityBinding {
    let entity: GraphEntity
    let schema: SchemaEntity
    /// The context; nil after it has gone, and for objects without one.
    private(set) weak var context: ManagedObjectContext?
    /// Whether the objects are prototypes, which hold declarations instead of values.
    let isPrototype: Bool
    // Unchecked because each use of a property would pay for the check; a look-up calls no other code.
    @exclusivity(unchecked) private(set) var slots: KeyPathSlots
    /// The slots of the elements of each composite attribute, at the index that ``slots`` has for it.
    private(set) var composites: [[Int]] = []
    /// Whether reads inside `withObservationTracking` are detected.
    var isWatched: Bool
    /// The rows that objects share with other contexts; nil where they share none.
    let rows: RowCache?
    /// Where the objects are registered; nil for objects without a context.
    private let registry: IdentityMap?
    /// The right to work in the context; nil for objects without one.
    private let lock: ContextLock?
    /// The identifiers of the objects' stores; known even after the context has gone.
    private let storeIdentifiers: StoreIdentifiers
    /// What the objects' identifiers have in common, for each store looked up so far.
    // Locked because an object's identifier may be read on any thread.
    private let groups = Mutex<[(store: UInt32, identifiers: IdentifierGroup)]>([])
    /// The declarations of a prototype; nil for other objects.
    let definitions: DefinitionList?

    init(_ entity: GraphEntity, in context: ManagedObjectContext, registry: IdentityMap) {
        self.entity = entity
        schema = entity.schema
        slots = entity.knownSlots
        self.context = context
        isWatched = context.tracksObservation
        rows = context.parentStore.sharedRows
        self.registry = registry
        lock = context.lock
        storeIdentifiers = context.coordinator.identifiers
        definitions = nil
        isPrototype = false
    }

    /// The binding of a prototype, which belongs to no entity yet.
    init(prototypeOf type: ManagedObject.Type, _ definitions: DefinitionList) {
        entity = GraphEntity(schema: Self.noEntity, type: type, prototype: nil)
        schema = Self.noEntity
        slots = KeyPathSlots()
        rows = nil
        registry = nil
        lock = nil
        storeIdentifiers = StoreIdentifiers()
        self.definitions = definitions
        isWatched = false
        isPrototype = true
    }

    /// Remembers the index of a property, also for other contexts.
    func remember(_ index: Int, of storage: AnyKeyPath) {
        slots.set(index, for: storage)
        entity.remember(index, of: storage)
    }

    /// Remembers the slots of a composite attribute.
    func remember(_ elements: [Int], ofComposite storage: AnyKeyPath) {
        slots.set(composites.count, for: storage)
        composites.append(elements)
    }

    /// What the identifiers of objects in a store have in common.
    func identifiers(inStore store: UInt32, areTemporary: Bool) -> IdentifierGroup {
        let group = groups.withLock { groups in
            groups.first { $0.store == store && $0.identifiers.isTemporary == areTemporary }
        }
        if let group { return group.identifiers }
        let known = storeIdentifiers.identifier(of: store)
        let identifiers = IdentifierGroup(
            storeIdentifier: known ?? storeIdentifiers.ofNoStore, entity: schema.number,
            entityName: schema.name, isTemporary: areTemporary)
        // The number may still be given to a store.
        if known != nil { groups.withLock { $0.append((store, identifiers)) } }
        return identifiers
    }

    /// Takes an object that goes away out of the registry: at once where the registry may be touched, so
    /// that the next object gets its memory; elsewhere it is swept later.
    ///
    /// - Returns: Whether the registry may be touched.
    func handleEnd(of object: ManagedObject) -> Bool {
        guard lock?.isOfThisThread == true else {
            registry?.countEnd()
            return false
        }
        registry?.forget(object)
        return true
    }

    /// Releases what an object that goes away has held, where the registry may be touched.
    func letGo(of relations: consuming [PropertyNumber: RelationCache]) {
        registry?.release.letGo(of: consume relations)
    }

    /// Makes the fault for a record.
    func makeFault(_ id: GraphID) -> ManagedObject {
        entity.type.init(FaultSeed(binding: self, graphID: id))
    }

    private static let noEntity: SchemaEntity = {
        do {
            return try Schema(ManagedObjectModel(entities: [EntityDescription(name: "Prototype")]))
                .entities[0]
        } catch {
            stop("A model of one entity without properties is always valid.")
        }
    }()
}
