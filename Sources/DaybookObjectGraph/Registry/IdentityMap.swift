import DaybookObjectModel
import Synchronization

/// The objects of a context by identity: one record, one instance.
///
/// Objects are held loosely; a new one that has not been saved is pending, and lives for that. One
/// that goes on the context's queue is taken out at once. What is left of those that have gone
/// elsewhere is swept when they are about as many as those that live, so registering is O(1)
/// amortized.
///
/// Invariant: the map has one claim on the memory of the object at each place.
///
/// Confined to the context's queue, but for ``noteEnd()``.
final class IdentityMap {
    // Unchecked because a fault would pay for the checks more than once, and nothing that is done here
    // runs code of others while one of these is being changed.
    @exclusivity(unchecked) private var table = ObjectTable<ObjectReference<ManagedObject>>()
    /// How many places there are.
    var capacity: Int { table.capacity }
    /// How many places are taken.
    var count: Int { table.count }
    /// Changes with whatever is put in a place or moved to another.
    @exclusivity(unchecked) private var arrangement: UInt64 = 0
    /// Lets go of what the objects hold that go on the context's queue.
    let release = RelationRelease()
    /// How many objects have gone since the last sweep and were not taken out, give or take those that
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
        let place = table.home(of: key)
        if let object = table[place]?.object {
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
        put(object, key, at: place)
        return object
    }

    /// Registers an instance, in place of another one.
    func register(_ object: ManagedObject) {
        makeRoom()
        let key = object.graphID.word
        let place = table.home(of: key)
        let other = table[place]?.object
        // An identifier that names the wrong entity stands for no record, and its fault must not take
        // the place of the object whose number it has.
        if let other,
            other === object || (other.graphID != object.graphID && !other.status.isFault)
        {
            return
        }
        put(object, key, at: place)
        // Whoever goes takes itself out, and must find the table whole.
        withExtendedLifetime(other) {}
    }

    private func put(_ object: ManagedObject, _ key: UInt64, at place: Int) {
        let reference = ObjectReference(to: object)
        table[place]?.release()
        table.put(reference, for: key, at: place)
        arrangement &+= 1
    }

    /// Makes room for one more.
    @inline(__always)  // As the looking, see ``ObjectTable``.
    private func makeRoom() {
        sweepIfDue()
        reserve(1)
    }

    /// Makes room for so many more.
    func reserve(_ more: Int) {
        guard !table.hasRoom(for: more) else { return }
        table.makeRoom(for: more)
        arrangement &+= 1
    }

    /// Forgets an instance.
    func remove(_ id: GraphID) {
        if let place = table.place(of: id.word) { clear(place) }
    }

    /// Forgets an instance that goes, unless another one has taken its place.
    func forget(_ object: ManagedObject) {
        guard let place = table.place(of: object.graphID.word),
            table[place]?.refers(to: object) == true
        else { return }
        clear(place)
        table.shrinkIfSparse()
    }

    private func clear(_ place: Int) {
        table[place]?.release()
        table.clear(place)
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
        table.forEach { _, place in table[place]?.release() }
    }

    /// The live instances, in no order.
    var objects: [ManagedObject] {
        var found: [ManagedObject] = []
        found.reserveCapacity(count)
        table.forEach { _, place in
            if let object = table[place]?.object { found.append(object) }
        }
        return found
    }

    /// Gives the memory of objects back that have gone, once they are many.
    func sweepIfDue() {
        if ends.load(ordering: .relaxed) > max(Self.sweepMinimum, count / 2) { sweep() }
    }

    /// Notes that an object goes that is not taken out; called on whatever thread lets go of it last.
    func noteEnd() {
        ends.wrappingAdd(1, ordering: .relaxed)
    }

    private static let sweepMinimum = 64

    /// Leaves out what has gone.
    private func sweep() {
        ends.store(0, ordering: .relaxed)
        // What is alive stays so until the table is whole again: the last one to let go of an object
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
