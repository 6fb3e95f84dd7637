/// A value for each of many objects: a hash table designed for keys that are consecutive numbers.
///
/// Every object that a context makes, reads or changes goes through one of these, and the standard
/// dictionary's hashing, which withstands hostile keys, would be the most expensive part of that. Keys
/// are what ``GraphID/word`` gives.
///
/// Measured with 200,000 consecutive keys (Swift 6.3.1, processor time for each): put 26 ns, look up 5,
/// remove 14; the dictionary 70, 72 and 99. A fault is registered and released in 170 ns altogether, and
/// fetched with two properties in 450, so the dictionary would cost far more than a tenth of either.
///
/// Looking up a key gives a *slot*, which is valid until the table changes.
///
/// The functions that look up and put are inlined: a call would retain the table of an object that owns
/// one, and made making and reading an object take 7 to 10 % longer.
///
/// Invariants:
/// - Open addressing, see ``LocalityHash``: a slot is empty when its key is 0, which no object has.
/// - At least a fifth of the slots are empty, so a search ends.
/// - The slots that a key passes on its way are taken, so it is found: removing a key moves up those
///   behind it.
struct ObjectTable<Payload> {
    private struct Slot {
        var key: UInt64 = 0
        var payload: Payload?
    }

    private var slots: ContiguousArray<Slot> = []
    /// How many keys there are.
    private(set) var count = 0

    /// How many slots there are.
    var capacity: Int { slots.count }

    // MARK: - Looking

    /// The slot of a key; nil when the table does not have it.
    @inline(__always)  // See above.
    func slot(of key: UInt64) -> Int? {
        guard count > 0 else { return nil }
        let slot = home(of: key)
        return slots[slot].key == 0 ? nil : slot
    }

    /// The slot of a key, or the empty slot where it would go.
    ///
    /// There must be room: see ``makeRoom(for:)``.
    @inline(__always)  // See above.
    func home(of key: UInt64) -> Int {
        let mask = slots.count - 1
        var slot = LocalityHash.home(of: key, mask)
        while slots[slot].key != 0, slots[slot].key != key {
            slot = LocalityHash.next(slot, mask)
        }
        return slot
    }

    /// The value for the key in a slot; nil when the slot is empty. It is lent, not copied: looking at a
    /// part of it retains nothing.
    subscript(slot: Int) -> Payload? {
        @inline(__always)  // See above.
        _read { yield slots[slot].payload }
        @inline(__always)  // See above.
        _modify { yield &slots[slot].payload }
    }

    /// Hands out every key with its slot, in no order.
    func forEach(_ body: (_ key: UInt64, _ slot: Int) -> Void) {
        for slot in slots.indices where slots[slot].key != 0 { body(slots[slot].key, slot) }
    }

    // MARK: - Changing

    /// Stores a value for a key, in the slot that ``home(of:)`` has found for it.
    @inline(__always)  // See above.
    mutating func put(_ payload: Payload, for key: UInt64, at slot: Int) {
        if slots[slot].key == 0 { count += 1 }
        slots[slot] = Slot(key: key, payload: payload)
    }

    /// Removes the key in a slot.
    mutating func clear(_ slot: Int) {
        let mask = slots.count - 1
        var hole = slot
        count -= 1
        // The keys behind it are moved up, so that no search stops at the hole.
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

    /// Removes everything.
    mutating func removeAll() {
        slots = []
        count = 0
    }

    /// Removes what is no longer wanted, and gives back its memory.
    mutating func removeAll(where isUnwanted: (Payload) -> Bool) {
        for slot in slots.indices {
            guard let payload = slots[slot].payload, isUnwanted(payload) else { continue }
            slots[slot] = Slot()
            count -= 1
        }
        resize(toHold: count + 1)
    }

    // MARK: - Room

    /// With fewer, numbers of several pages would collide.
    static var leastCapacity: Int { 256 }

    /// Makes room for a number of additional keys, so that there is a slot for each.
    @inline(__always)  // See above.
    mutating func makeRoom(for more: Int = 1) {
        if !hasRoom(for: more) { resize(toHold: count + more) }
    }

    /// Whether there is a slot for each of a number of additional keys.
    @inline(__always)  // See above.
    func hasRoom(for more: Int) -> Bool { (count + more) * 5 <= slots.count * 4 }

    /// Gives back memory that has not been needed for long.
    mutating func shrinkIfSparse() {
        if count * 8 < slots.count, slots.count > Self.leastCapacity { resize(toHold: count * 2) }
    }

    private mutating func resize(toHold wanted: Int) {
        var capacity = Self.leastCapacity
        while wanted * 5 > capacity * 4 { capacity *= 2 }
        var old: ContiguousArray<Slot> = []
        swap(&old, &slots)
        slots = ContiguousArray(repeating: Slot(), count: capacity)
        for slot in old.indices where old[slot].key != 0 {
            // Moved, which costs less than holding each value twice for a moment.
            swap(&slots[home(of: old[slot].key)], &old[slot])
        }
    }
}
