/// Slots of properties by their key paths.
///
/// A key path that is written out is one object however often it is used, so its address finds the slot
/// without a dictionary. The objects are kept, so that no address comes to stand for another. Where the
/// class or the function is generic, a key path is made anew each time; those are compared by value.
struct KeyPathSlots {
    private var table = AddressTable()
    private var kept: [(keyPath: AnyKeyPath, slot: Int)] = []
    /// The same by the value of the key path; empty while there are few.
    private var entries: [AnyKeyPath: Int] = [:]

    /// The slot of a key path.
    subscript(keyPath: AnyKeyPath) -> Int? {
        if let slot = table[keyPath] { return slot }
        return slot(ofEqualTo: keyPath)
    }

    @inline(never) private func slot(ofEqualTo keyPath: AnyKeyPath) -> Int? {
        guard entries.isEmpty else { return entries[keyPath] }
        return kept.first { $0.keyPath == keyPath }?.slot
    }

    /// Sets the slot of a key path.
    mutating func set(_ slot: Int, for keyPath: AnyKeyPath) {
        guard kept.count(where: { $0.keyPath == keyPath }) < Self.equalMaximum else { return }
        if kept.isEmpty { kept.reserveCapacity(Self.fewMaximum) }
        kept.append((keyPath, slot))
        table.set(slot, for: keyPath)
        if !entries.isEmpty {
            entries[keyPath] = slot
        } else if kept.count > Self.fewMaximum {
            for entry in kept { entries[entry.keyPath] = entry.slot }
        }
    }

    /// How many equal key paths are kept. Each accessor of a property has its own, and so has each
    /// file that an accessor was inlined into.
    private static let equalMaximum = 16
    /// Up to how many a search is faster than hashing.
    private static let fewMaximum = 8
}

/// Slots of key paths by their addresses: open addressing, at most half full.
private struct AddressTable {
    private var cells: [(key: UInt, slot: Int32)] = []
    private var count = 0

    /// The slot of a key path.
    subscript(keyPath: AnyKeyPath) -> Int? {
        guard count > 0 else { return nil }
        let key = Self.key(keyPath)
        let mask = cells.count - 1
        var index = Self.start(key) & mask
        while cells[index].key != 0 {
            if cells[index].key == key { return Int(cells[index].slot) }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Sets the slot of a key path.
    mutating func set(_ slot: Int, for keyPath: AnyKeyPath) {
        if (count + 1) * 2 > cells.count { grow() }
        insert(Self.key(keyPath), Int32(slot))
    }

    private mutating func insert(_ key: UInt, _ slot: Int32) {
        let mask = cells.count - 1
        var index = Self.start(key) & mask
        while cells[index].key != 0, cells[index].key != key { index = (index + 1) & mask }
        if cells[index].key == 0 { count += 1 }
        cells[index] = (key, slot)
    }

    private mutating func grow() {
        let old = cells
        cells = Array(repeating: (0, 0), count: max(16, old.count * 2))
        count = 0
        for (key, slot) in old where key != 0 { insert(key, slot) }
    }

    private static func key(_ keyPath: AnyKeyPath) -> UInt {
        UInt(bitPattern: ObjectIdentifier(keyPath))
    }

    private static func start(_ key: UInt) -> Int {
        Int(truncatingIfNeeded: (key >> 4) ^ (key >> 12))
    }
}
