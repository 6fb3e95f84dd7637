import DaybookObjectModel
import Synchronization

/// The objects of a context by identity: one record, one instance.
///
/// Objects are held loosely; a new one that has not been saved is pending, and lives for that. One
/// that goes on the context's queue is taken out at once. What is left of those that have gone
/// elsewhere is swept when they are about as many as those that live, so registering is O(1)
/// amortized.
///
/// Invariants:
/// - Open addressing, see ``LocalityHash``; a slot is empty when its key is 0, and at least a
///   fifth of them is.
/// - The map has one claim on the memory of the object in each slot.
///
/// Confined to the context's queue, but for ``noteEnd()``.
final class IdentityMap {
    private struct Slot {
        var key: UInt64
        var reference: LivenessReference<ManagedObject>?

        static var empty: Slot { Slot(key: 0, reference: nil) }
    }

    // Unchecked because a fault would pay for the checks more than once, and nothing that is done here
    // runs code of others while one of these is being changed.
    @exclusivity(unchecked) private var slots: ContiguousArray<Slot> = []
    /// How many slots there are.
    var capacity: Int { slots.count }
    /// How many slots are not empty.
    @exclusivity(unchecked) private(set) var count = 0
    /// Changes with whatever is put into a slot or moved to another.
    @exclusivity(unchecked) private var arrangement: UInt64 = 0
    /// Lets go of what the objects hold that go on the context's queue.
    let release = RelationRelease()
    /// How many objects have gone since the last sweep and were not taken out, give or take those that
    /// were in no map.
    private let ends = Atomic<Int>(0)

    deinit {
        for slot in slots { slot.reference?.release() }
    }

    /// The live instance for a record.
    subscript(id: GraphID) -> ManagedObject? {
        guard count > 0, let object = slots[place(of: id.word)].reference?.object,
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
        let place = place(of: key)
        let isKnown = slots[place].key != 0
        if isKnown, let object = slots[place].reference?.object {
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
        let place = place(of: key)
        let other = slots[place].key == 0 ? nil : slots[place].reference?.object
        // An identifier that names the wrong entity stands for no record, and its fault must not take
        // the place of the object whose number it has.
        if let other,
            other === object
                || (other.graphID != object.graphID && !other.status.isFault)
        {
            return
        }
        put(object, key, at: place)
        // Whoever goes takes itself out, and must find the table whole.
        withExtendedLifetime(other) {}
    }

    private func put(_ object: ManagedObject, _ key: UInt64, at place: Int) {
        let reference = LivenessReference(to: object)
        if slots[place].key == 0 { count += 1 }
        slots[place].reference?.release()
        slots[place] = Slot(key: key, reference: reference)
        arrangement &+= 1
    }

    /// Makes room for one more.
    private func makeRoom() {
        sweepIfDue()
        if (count + 1) * 5 > slots.count * 4 { resize(toHold: count + 1) }
    }

    /// Makes room for so many more.
    func reserve(_ more: Int) {
        guard (count + more) * 5 > slots.count * 4 else { return }
        resize(toHold: count + more)
    }

    /// Forgets an instance.
    func remove(_ id: GraphID) {
        guard count > 0 else { return }
        let place = place(of: id.word)
        if slots[place].key != 0 { clear(place) }
    }

    /// Forgets an instance that goes, unless another one has taken its place.
    func forget(_ object: ManagedObject) {
        guard count > 0 else { return }
        let place = place(of: object.graphID.word)
        guard let reference = slots[place].reference, reference.refers(to: object) else { return }
        clear(place)
        if count * 8 < slots.count, slots.count > Self.sweepMinimum { resize(toHold: count * 2) }
    }

    private func clear(_ place: Int) {
        var hole = place
        slots[hole].reference?.release()
        count -= 1
        arrangement &+= 1
        // The run behind is moved up, so that no probe stops short at the hole.
        var next = LocalityHash.next(hole, mask)
        while slots[next].key != 0 {
            let home = LocalityHash.home(of: slots[next].key, mask)
            if LocalityHash.steps(from: home, to: next, mask)
                >= LocalityHash.steps(from: hole, to: next, mask)
            {
                slots[hole] = slots[next]
                hole = next
            }
            next = LocalityHash.next(next, mask)
        }
        slots[hole] = .empty
    }

    /// Forgets all instances.
    func removeAll() {
        for slot in slots { slot.reference?.release() }
        slots = []
        count = 0
        arrangement &+= 1
        ends.store(0, ordering: .relaxed)
    }

    /// The live instances, in no order.
    var objects: [ManagedObject] {
        var found: [ManagedObject] = []
        found.reserveCapacity(count)
        for slot in slots {
            if let object = slot.reference?.object { found.append(object) }
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

    // MARK: - Room

    private static let sweepMinimum = 64

    /// Leaves out what has gone.
    private func sweep() {
        ends.store(0, ordering: .relaxed)
        // What is alive stays so until the table is whole again: the last one to let go of an object
        // runs its deinitializer, which may ask for another one.
        var alive: [ManagedObject] = []
        for place in slots.indices {
            guard let reference = slots[place].reference else { continue }
            if let object = reference.object {
                alive.append(object)
            } else {
                reference.release()
                slots[place].reference = nil
                count -= 1
            }
        }
        resize(toHold: count + 1)
        withExtendedLifetime(alive) {}
    }

    /// Makes the table anew, of a size for so many instances.
    private func resize(toHold wanted: Int) {
        var capacity = Self.sweepMinimum
        while wanted * 5 > capacity * 4 { capacity *= 2 }
        let old = slots
        slots = ContiguousArray(repeating: .empty, count: capacity)
        arrangement &+= 1
        for slot in old where slot.reference != nil { slots[place(of: slot.key)] = slot }
    }

    private var mask: Int { slots.count - 1 }

    /// Where a key stands, or the empty slot where it would.
    private func place(of key: UInt64) -> Int {
        let mask = mask
        var place = LocalityHash.home(of: key, mask)
        while slots[place].key != 0, slots[place].key != key {
            place = LocalityHash.next(place, mask)
        }
        return place
    }
}
