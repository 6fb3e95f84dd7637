import DaybookObjectModel
public import Observation

/// Reading a property inside `withObservationTracking` lets its `onChange` be called when the
/// property changes: by being set, by name or by its own; by undo and rollback; by a refresh or merge;
/// and when the object becomes a fault.
///
/// The context says whether its objects can be watched:
/// ``ManagedObjectContext/tracksObservation``.
extension ManagedObject: Observable {}

/// What somebody watches of one object. An object that nobody watches has none.
final class ObjectObservation {
    fileprivate let registrar = ObservationRegistrar()
    /// The values that were seen, by slot.
    fileprivate var values: [Int: Value] = [:]
    /// The members that were seen.
    fileprivate var members: [PropertyNumber: [ObjectID: Double]] = [:]
    /// Whether the object was seen to have been read, if somebody asked.
    fileprivate var wasRead: Bool?
}

extension ManagedObject {
    /// Stands for a property where the observation library wants a key path.
    private subscript(watched property: PropertyNumber) -> Never? { nil }

    /// Stands for being a fault.
    private var watchedFault: Never? { nil }

    // MARK: - Reading

    /// Notes that an attribute or a stored to-one relationship is read.
    @inline(__always)
    func noteRead(ofSlot slot: Int) {
        if binding.isWatched, ObservationProbe.isTracking { watch(slot) }
    }

    /// Notes that a list of members is read.
    @inline(__always)
    func noteRead(of property: SchemaProperty) {
        if binding.isWatched, ObservationProbe.isTracking { watch(property) }
    }

    /// Notes that somebody asks whether the object is a fault.
    @inline(__always)
    func noteReadOfFault() {
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
        observation.members[property.number] = list.orders
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

    /// Tells those who watch values that are not what they were.
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

    /// Tells those who watch members that are not what they were, or not known any more.
    func tellOfMembers(_ observation: ObjectObservation) {
        for (number, seen) in observation.members {
            if case .many(let list)? = relations[number], list.orders == seen { continue }
            observation.members[number] = nil
            observation.registrar.willSet(self, keyPath: \.[watched: number])
            observation.registrar.didSet(self, keyPath: \.[watched: number])
        }
    }
}
