import DaybookObjectModel
import Synchronization

/// The objects of a context by identity: one record, one instance.
///
/// Objects are held weakly; a new one that has not been saved is pending, which keeps it alive. One that
/// goes away on the context's queue is removed at once. The remains of those that have gone elsewhere
/// are swept when they are about as many as the live ones, so registering is O(1) amortized.
///
/// Invariant: the map has one claim on the memory of the object at each slot.
///
/// Confined to the context's queue, but for ``countEnd()``.
final class IdentityMap {
    // Unchecked because a fault would pay for the checks more than once, and no outside code runs while
    // one of these is being changed.
    @exclusivity(unchecked) private var table = ObjectTable<ObjectReference<ManagedObject>>()
    /// How many slots there are.
    var capacity: Int { table.capacity }
    /// How many slots are taken.
    var count: Int { table.count }
    /// Changes whenever something is put in a slot or moved to another.
    @exclusivity(unchecked) private var arrangement: UInt64 = 0
    /// Releases what objects hold that go away on the context's queue.
    let release = RelationRelease()
    /// How many objects have gone since the last sweep and were not removed, give or take those that
    /// were in no map.
    private let ends = Atomic<Int>(0)

    deinit { releaseAll() }

    /// The live instance for a record.
    subscript(id: GraphID) -> ManagedObject? {
        guard table.count > 0, let object = table[table.home(of: id.word)]?.object,
            object.graphID == id
        else { return nil }
        return object
    }

    /// The live instance for a record, or a new one, which is registered.
    ///
    /// - Parameters:
    ///   - id: The record.
    ///   - make: Makes the new one. It may use the map.
    /// - Returns: The instance.
    @inline(__always)
    func object(_ id: GraphID, orMake make: () -> ManagedObject) -> ManagedObject {
        makeRoom()
        let key = id.word
        let slot = table.home(of: key)
        if let object = table[slot]?.object {
            if object.graphID == id { return object }
            let object = make()
            register(object)
            return object
        }
        let arrangement = arrangement
        let object = make()
        guard arrangement == self.arrangement, object.graphID == id else {
            register(object)
            return object
        }
        put(object, key, at: slot)
        return object
    }

    /// Registers an instance, in place of another one.
    func register(_ object: ManagedObject) {
        makeRoom()
        let key = object.graphID.word
        let slot = table.home(of: key)
        let other = table[slot]?.object
        // An identifier that names the wrong entity has no record, and its fault must not replace the
        // object whose number it has.
        if let other,
            other === object || (other.graphID != object.graphID && !other.status.isFault)
        {
            return
        }
        put(object, key, at: slot)
        // An object that goes away removes itself, and must find the table consistent.
        withExtendedLifetime(other) {}
    }

    private func put(_ object: ManagedObject, _ key: UInt64, at slot: Int) {
        let reference = ObjectReference(to: object)
        table[slot]?.release()
        table.put(reference, for: key, at: slot)
        arrangement &+= 1
    }

    /// Makes room for one more.
    @inline(__always)  // Like the look-up, see ``ObjectTable``.
    private func makeRoom() {
        sweepIfDue()
        reserve(1)
    }

    /// Makes room for a number of additional keys.
    func reserve(_ more: Int) {
        guard !table.hasRoom(for: more) else { return }
        table.makeRoom(for: more)
        arrangement &+= 1
    }

    /// Forgets an instance, unless another one has replaced it.
    func remove(_ object: ManagedObject) {
        if let slot = slot(of: object) { clear(slot) }
    }

    /// Forgets an instance that goes away, unless another one has replaced it.
    func forget(_ object: ManagedObject) {
        guard let slot = slot(of: object) else { return }
        clear(slot)
        table.shrinkIfSparse()
    }

    /// Where an instance is; nil when it is in no slot.
    private func slot(of object: ManagedObject) -> Int? {
        guard let slot = table.slot(of: object.graphID.word),
            table[slot]?.refers(to: object) == true
        else { return nil }
        return slot
    }

    private func clear(_ slot: Int) {
        table[slot]?.release()
        table.clear(slot)
        arrangement &+= 1
    }

    /// Forgets all instances.
    func removeAll() {
        releaseAll()
        table.removeAll()
        arrangement &+= 1
        ends.store(0, ordering: .relaxed)
    }

    private func releaseAll() {
        table.forEach { _, slot in table[slot]?.release() }
    }

    /// The live instances, in no order.
    var objects: [ManagedObject] {
        var found: [ManagedObject] = []
        found.reserveCapacity(count)
        table.forEach { _, slot in
            if let object = table[slot]?.object { found.append(object) }
        }
        return found
    }

    /// Gives back the memory of objects that have gone, once there are many.
    func sweepIfDue() {
        if ends.load(ordering: .relaxed) > max(Self.sweepMinimum, count / 2) { sweep() }
    }

    /// Counts an object that goes away without being removed; called on the thread that releases it
    /// last.
    func countEnd() {
        ends.wrappingAdd(1, ordering: .relaxed)
    }

    private static let sweepMinimum = 64

    /// Removes what has gone.
    private func sweep() {
        ends.store(0, ordering: .relaxed)
        // What is alive stays alive until the table is consistent again: the last release of an object
        // runs its deinitializer, which may ask for another one.
        var alive: [ManagedObject] = []
        table.removeAll { reference in
            if let object = reference.object {
                alive.append(object)
                return false
            }
            reference.release()
            return true
        }
        arrangement &+= 1
        withExtendedLifetime(alive) {}
    }
}
