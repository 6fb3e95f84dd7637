import DaybookObjectModel
public import Observation

/// Reading a property inside `withObservationTracking` lets its `onChange` be called when the property
/// changes: when it is set, directly or by name; by undo and rollback; by a refresh or merge; and when
/// the object becomes a fault.
///
/// The context says whether its objects can be watched:
/// ``ManagedObjectContext/tracksObservation``.
extension ManagedObject: Observable {}

/// What is watched of one object. An object that nobody watches has no such record.
final class ObjectObservation {
    fileprivate let registrar = ObservationRegistrar()
    /// The values that were seen, by slot.
    fileprivate var values: [Int: Value] = [:]
    /// The members that were seen.
    fileprivate var members: [PropertyNumber: RelationMembers] = [:]
    /// Whether the object had values when its fault state was seen; nil if nobody has seen it.
    fileprivate var wasRead: Bool?
}

extension ManagedObject {
    /// Stands for a property where the observation library needs a key path.
    private subscript(watched property: PropertyNumber) -> Never? { nil }

    /// Stands for being a fault.
    private var watchedFault: Never? { nil }

    // MARK: - Reading

    /// Tracks a read of an attribute or a stored to-one relationship.
    @inline(__always)
    func trackRead(ofSlot slot: Int) {
        if binding.isWatched, ObservationProbe.isTracking { watch(slot) }
    }

    /// Tracks a read of a list of members.
    @inline(__always)
    func trackRead(of property: SchemaProperty) {
        if binding.isWatched, ObservationProbe.isTracking { watch(property) }
    }

    /// Tracks a read of whether the object is a fault.
    @inline(__always)
    func trackReadOfFault() {
        if binding.isWatched, ObservationProbe.isTracking { watchFault() }
    }

    private func watch(_ slot: Int) {
        guard hasValues else { return }
        let observation = startObservation()
        observation.values[slot] = value(inSlot: slot)
        let number = binding.schema.slots[slot].number
        observation.registrar.access(self, keyPath: \.[watched: number])
    }

    private func watch(_ property: SchemaProperty) {
        guard case .many(let list)? = relations[property.number] else { return }
        let observation = startObservation()
        observation.members[property.number] = list.members
        let number = property.number
        observation.registrar.access(self, keyPath: \.[watched: number])
    }

    private func watchFault() {
        let observation = startObservation()
        observation.wasRead = hasValues
        observation.registrar.access(self, keyPath: \.watchedFault)
    }

    private func startObservation() -> ObjectObservation {
        if let observation { return observation }
        let observation = ObjectObservation()
        self.observation = observation
        return observation
    }

    // MARK: - Telling

    /// Tells observers of values that have changed.
    func tellOfValues(_ observation: ObjectObservation) {
        for (slot, seen) in observation.values where !hasValues || value(inSlot: slot) != seen {
            observation.values[slot] = nil
            let number = binding.schema.slots[slot].number
            observation.registrar.willSet(self, keyPath: \.[watched: number])
            observation.registrar.didSet(self, keyPath: \.[watched: number])
        }
        guard let wasRead = observation.wasRead, wasRead != hasValues else { return }
        observation.wasRead = nil
        observation.registrar.willSet(self, keyPath: \.watchedFault)
        observation.registrar.didSet(self, keyPath: \.watchedFault)
    }

    /// Tells observers of members that have changed or are no longer known.
    func tellOfMembers(_ observation: ObjectObservation) {
        for (number, seen) in observation.members {
            if case .many(let list)? = relations[number], list.members == seen { continue }
            observation.members[number] = nil
            observation.registrar.willSet(self, keyPath: \.[watched: number])
            observation.registrar.didSet(self, keyPath: \.[watched: number])
        }
    }
}
