/// Something for each of many objects: a hash table made for keys that are consecutive numbers.
///
/// Every object that a context makes, reads or changes goes through one of these, and hashing for
/// strangers, which the standard dictionary does, is the dearest part of that. Keys are what
/// ``GraphID/word`` gives.
///
/// Whoever looks for a key gets a *place*, which is right until the table changes.
///
/// What looks and puts is inlined: a call would retain the table of an object that owns one, and making
/// and reading an object took 7 to 10 % longer for that.
///
/// Invariants:
/// - Open addressing, see ``LocalityHash``: a place is empty when its key is 0, which no object has.
/// - At least a fifth of the places are empty, so a search ends.
/// - The places that a key passes on its way are taken, so it is found: what is taken out lets those
///   behind it move up.
struct ObjectTable<Payload> {
    private struct Slot {
        var key: UInt64 = 0
        var payload: Payload?
    }

    private var slots: ContiguousArray<Slot> = []
    /// How many keys there are.
    private(set) var count = 0

    /// How many places there are.
    var capacity: Int { slots.count }

    // MARK: - Looking

    /// Where a key stands; nil when it is not there.
    @inline(__always)  // See above.
    func place(of key: UInt64) -> Int? {
        guard count > 0 else { return nil }
        let place = home(of: key)
        return slots[place].key == 0 ? nil : place
    }

    /// Where a key stands, or the empty place where it would.
    ///
    /// There must be room: see ``makeRoom(for:)``.
    @inline(__always)  // See above.
    func home(of key: UInt64) -> Int {
        let mask = slots.count - 1
        var place = LocalityHash.home(of: key, mask)
        while slots[place].key != 0, slots[place].key != key {
            place = LocalityHash.next(place, mask)
        }
        return place
    }

    /// The key at a place; 0 when none stands there.
    func key(at place: Int) -> UInt64 { slots[place].key }

    /// What is kept for the key at a place; nil when none stands there. Lent, not copied: to look at a part
    /// of it retains nothing.
    subscript(place: Int) -> Payload? {
        @inline(__always)  // See above.
        _read { yield slots[place].payload }
        @inline(__always)  // See above.
        _modify { yield &slots[place].payload }
    }

    /// Hands out every key with its place, in no order.
    func forEach(_ body: (_ key: UInt64, _ place: Int) -> Void) {
        for place in slots.indices where slots[place].key != 0 { body(slots[place].key, place) }
    }

    // MARK: - Changing

    /// Keeps something for a key, at the place that ``home(of:)`` has found for it.
    @inline(__always)  // See above.
    mutating func put(_ payload: Payload, for key: UInt64, at place: Int) {
        if slots[place].key == 0 { count += 1 }
        slots[place] = Slot(key: key, payload: payload)
    }

    /// Takes out the key at a place.
    mutating func clear(_ place: Int) {
        let mask = slots.count - 1
        var hole = place
        count -= 1
        // The run behind is moved up, so that no search stops short at the hole.
        var next = LocalityHash.next(hole, mask)
        while slots[next].key != 0 {
            let home = LocalityHash.home(of: slots[next].key, mask)
            if LocalityHash.steps(from: home, to: next, mask)
                >= LocalityHash.steps(from: hole, to: next, mask)
            {
                slots.swapAt(hole, next)
                hole = next
            }
            next = LocalityHash.next(next, mask)
        }
        slots[hole] = Slot()
    }

    /// Takes out everything.
    mutating func removeAll() {
        slots = []
        count = 0
    }

    /// Takes out what is no longer wanted, and gives back the room it had.
    mutating func removeAll(where isUnwanted: (Payload) -> Bool) {
        for place in slots.indices {
            guard let payload = slots[place].payload, isUnwanted(payload) else { continue }
            slots[place] = Slot()
            count -= 1
        }
        resize(toHold: count + 1)
    }

    // MARK: - Room

    static var leastCapacity: Int { 64 }

    /// Makes room for so many more, so that there is a place for each.
    @inline(__always)  // See above.
    mutating func makeRoom(for more: Int = 1) {
        if !hasRoom(for: more) { resize(toHold: count + more) }
    }

    /// Whether there is a place for each of so many more.
    @inline(__always)  // See above.
    func hasRoom(for more: Int) -> Bool { (count + more) * 5 <= slots.count * 4 }

    /// Gives room back that has not been needed for long.
    mutating func shrinkIfSparse() {
        if count * 8 < slots.count, slots.count > Self.leastCapacity { resize(toHold: count * 2) }
    }

    private mutating func resize(toHold wanted: Int) {
        var capacity = Self.leastCapacity
        while wanted * 5 > capacity * 4 { capacity *= 2 }
        var old: ContiguousArray<Slot> = []
        swap(&old, &slots)
        slots = ContiguousArray(repeating: Slot(), count: capacity)
        for place in old.indices where old[place].key != 0 {
            // Moved, which costs less than if what is kept were held twice for a moment.
            swap(&slots[home(of: old[place].key)], &old[place])
        }
    }
}
