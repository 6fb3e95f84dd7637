// The room of the registry: the instances and their identifiers, one instance for one record. It knows
// objects by their identity. It reads no store, records nothing and calls no hook.

import DaybookObjectModel

/// The instances of a context, with what is known about them besides their values: one record, one
/// instance.
///
/// Objects are held weakly unless the program wants them kept. Confined to the context's queue.
final class ObjectRegistry {
    private let map = IdentityMap()
    // Unchecked because each fault would pay for the checks. Outside code never runs while one of these
    // is being changed; it may after that, when objects that were retained go away and run their
    // deinitializers.
    @exclusivity(unchecked) private var retained: Set<ManagedObject> = []
    /// By the number of the entity.
    @exclusivity(unchecked) private var bindings: [EntityBinding?] = []
    /// The binding used last for each class, so that making an object needs no look-up by name.
    private var bindingsByType = ClassBindings()
    /// The stored values of properties that a hook has set to something else.
    @exclusivity(unchecked) private var storedValues = StoredValues()
    @exclusivity(unchecked) private var barring: [GraphID: [PropertyNumber: [ObjectID]]] = [:]
    /// Faults that were fetched in batches and have not fired yet.
    @exclusivity(unchecked) private var batches = FaultBatches()

    @exclusivity(unchecked) private var isRetaining = false

    // MARK: - Instances

    /// Whether the objects are kept alive.
    var retainsObjects: Bool { isRetaining }

    /// Begins or ends to keep the objects alive.
    func retainObjects(_ isRetaining: Bool) {
        self.isRetaining = isRetaining
        retained = isRetaining ? Set(map.objects) : []
    }

    /// The live instance for a record.
    subscript(id: GraphID) -> ManagedObject? { map[id] }

    /// The live instances, in no order.
    var objects: [ManagedObject] { map.objects }

    /// How many instances are registered, including those that have gone and are not swept yet.
    var count: Int { map.count }

    /// The live instance for a record, or a new one, which is registered.
    @inline(__always)  // Like what it calls, for the loop of a fetch.
    func object(_ id: GraphID, orMake make: () -> ManagedObject) -> ManagedObject {
        let object = map.object(id, orMake: make)
        if isRetaining { retained.insert(object) }
        return object
    }

    /// Registers an instance, in place of another one.
    func register(_ object: ManagedObject) {
        map.register(object)
        if isRetaining { retained.insert(object) }
    }

    /// Forgets an instance. Another one that has replaced it stays, with what is known of it.
    func remove(_ object: ManagedObject) {
        let isReplaced = map[object.graphID].map { $0 !== object } ?? false
        map.remove(object)
        retained.remove(object)
        if !isReplaced, !barring.isEmpty { barring[object.graphID] = nil }
    }

    /// Registers an instance under another identifier.
    func move(_ object: ManagedObject, to id: GraphID) {
        map.remove(object)
        object.graphID = id
        map.register(object)
    }

    /// Makes room for a number of additional keys.
    func reserve(_ more: Int) {
        map.reserve(more)
    }

    /// Gives back the memory of objects that have gone, once there are many.
    func sweepIfDue() {
        map.sweepIfDue()
    }

    /// Forgets all instances and what was known about them.
    func reset() {
        map.removeAll()
        retained.removeAll()
        storedValues = StoredValues()
        barring = [:]
        batches.removeAll()
    }

    // MARK: - Bindings

    private static let bindingsMaximum = 1 << 20

    /// What all objects of an entity share in a context.
    func binding(_ number: EntityNumber, in context: ManagedObjectContext) -> EntityBinding {
        let index = Int(number.rawValue)
        if index < bindings.count, let binding = bindings[index] { return binding }
        let binding = EntityBinding(
            context.coordinator.modelForObjects.entity(number), in: context, registry: map)
        // Numbers are small; one that is not comes from a damaged reference.
        guard index < Self.bindingsMaximum else { return binding }
        if index >= bindings.count {
            bindings += Array(repeating: nil, count: index + 1 - bindings.count)
        }
        bindings[index] = binding
        return binding
    }

    /// The binding that was used last for a class.
    subscript(type: ManagedObject.Type) -> EntityBinding? {
        get { bindingsByType[type] }
        set { bindingsByType[type] = newValue }
    }

    /// Whether observation tracks reads of the objects' properties.
    func setWatched(_ isWatched: Bool) {
        for binding in bindings { binding?.isWatched = isWatched }
    }

    // MARK: - Stored values

    /// Whether hooks have set anything that differs from the store.
    var hasStoredValues: Bool { !storedValues.isEmpty }

    /// The stored value of a property that a hook has set to something else.
    func storedValue(_ key: RelationKey) -> Value? { storedValues[key] }

    /// Remembers the value of a property before a hook first set it.
    func rememberStoredValue(_ value: Value, for key: RelationKey) {
        storedValues.remember(value, for: key, in: map)
    }

    /// Forgets the remembered value of a property that has been saved.
    func forgetStoredValue(of property: PropertyNumber, in object: ManagedObject) {
        storedValues.forget(property, of: object)
    }

    /// Forgets the remembered values of an object that has been read again.
    func forgetStoredValues(of object: ManagedObject) {
        storedValues.forget(object)
    }

    // MARK: - Deletes

    /// Remembers what relationships with the rule `deny` led to when an object was deleted; see
    /// ``barring(deleteOf:)``.
    func rememberBarring(_ destinations: [PropertyNumber: [ObjectID]], of object: ManagedObject) {
        if !destinations.isEmpty { barring[object.graphID] = destinations }
    }

    /// What relationships with the rule `deny` that are kept with an object led to when it was deleted; none where it
    /// has none of them.
    func barring(deleteOf object: ManagedObject) -> [PropertyNumber: [ObjectID]] {
        barring[object.graphID] ?? [:]
    }

    // MARK: - Batches

    /// Whether there are faults that are read together.
    var hasBatches: Bool { !batches.isEmpty }

    /// Remembers which faults were fetched in batches.
    func rememberBatches(of objects: [ManagedObject], size: Int) {
        batches.sweep { map[$0]?.isFault == true }
        batches.add(objects.filter(\.isFault).map(\.graphID), size: size)
    }

    /// Removes the batch that an object is in, and returns its live faults.
    func takeBatch(of object: ManagedObject) -> [ManagedObject]? {
        batches.take(object.graphID)?.compactMap { map[$0] }
    }

    /// Forgets all batches.
    func forgetBatches() {
        batches.removeAll()
    }
}
