import DaybookObjectModel

/// Places by object identifier: a hash table made for keys that are consecutive numbers.
///
/// Every object a context makes, reads or changes goes through one of these, and hashing for
/// strangers, which the standard dictionary does, is the dearest part of that. Object numbers are
/// given out by the store, so a multiplication spreads them well enough. Open addressing, at most half
/// full; see ``LocalityHash``.
struct GraphTable {
    /// 0 stands for an empty slot: object numbers start at 1.
    private var keys: ContiguousArray<UInt64> = []
    private var places: ContiguousArray<Int32> = []
    private(set) var count = 0

    /// The place noted for an object.
    subscript(id: GraphID) -> Int? {
        guard count > 0 else { return nil }
        let slot = slot(of: id.word)
        return keys[slot] == 0 ? nil : Int(places[slot])
    }

    /// Notes the place of an object.
    mutating func set(_ id: GraphID, to place: Int) {
        if (count + 1) * 2 > keys.count { grow() }
        let key = id.word
        let slot = slot(of: key)
        if keys[slot] == 0 { count += 1 }
        keys[slot] = key
        places[slot] = Int32(place)
    }

    /// Notes the place of an object, unless one is noted.
    ///
    /// - Returns: The place that was noted; nil when there was none.
    mutating func insert(_ id: GraphID, at place: Int) -> Int? {
        if (count + 1) * 2 > keys.count { grow() }
        let key = id.word
        let slot = slot(of: key)
        guard keys[slot] == 0 else { return Int(places[slot]) }
        count += 1
        keys[slot] = key
        places[slot] = Int32(place)
        return nil
    }

    /// Forgets an object.
    ///
    /// - Returns: Its place; nil when none was noted.
    mutating func remove(_ id: GraphID) -> Int? {
        guard count > 0 else { return nil }
        var hole = slot(of: id.word)
        guard keys[hole] != 0 else { return nil }
        let place = Int(places[hole])
        count -= 1
        // The run behind is moved up, so that no probe stops short at the hole.
        var next = LocalityHash.next(hole, mask)
        while keys[next] != 0 {
            let home = LocalityHash.home(of: keys[next], mask)
            if LocalityHash.steps(from: home, to: next, mask)
                >= LocalityHash.steps(from: hole, to: next, mask)
            {
                keys[hole] = keys[next]
                places[hole] = places[next]
                hole = next
            }
            next = LocalityHash.next(next, mask)
        }
        keys[hole] = 0
        return place
    }

    private var mask: Int { keys.count - 1 }

    /// Where a key stands, or the empty slot where it would.
    private func slot(of key: UInt64) -> Int {
        let mask = mask
        var slot = LocalityHash.home(of: key, mask)
        while keys[slot] != 0, keys[slot] != key {
            slot = LocalityHash.next(slot, mask)
        }
        return slot
    }

    /// Makes room for so many more.
    mutating func reserve(_ more: Int) {
        guard (count + more) * 2 > keys.count else { return }
        var capacity = 64
        while (count + more) * 2 > capacity { capacity *= 2 }
        resize(to: capacity)
    }

    private mutating func grow() {
        resize(to: max(64, keys.count * 2))
    }

    private mutating func resize(to capacity: Int) {
        let oldKeys = keys
        let oldPlaces = places
        keys = ContiguousArray(repeating: 0, count: capacity)
        places = ContiguousArray(repeating: 0, count: capacity)
        for (key, place) in zip(oldKeys, oldPlaces) where key != 0 {
            let slot = slot(of: key)
            keys[slot] = key
            places[slot] = place
        }
    }
}
