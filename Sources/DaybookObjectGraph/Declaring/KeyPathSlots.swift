/// Places of properties by their key paths.
///
/// A key path that is written out is one object however often it is used, so its address finds the
/// place without a dictionary. The objects are kept, so that no address comes to stand for another.
/// Where the class or the function is generic, a key path is made anew each time; such are told apart
/// by what they say.
struct KeyPathPlaces {
    private var table = AddressTable()
    private var kept: [(keyPath: AnyKeyPath, place: Int)] = []
    /// The same by what key paths say; empty while there are few.
    private var entries: [AnyKeyPath: Int] = [:]

    /// The place noted for a key path.
    subscript(keyPath: AnyKeyPath) -> Int? {
        if let place = table[keyPath] { return place }
        return place(ofEqualTo: keyPath)
    }

    @inline(never) private func place(ofEqualTo keyPath: AnyKeyPath) -> Int? {
        guard entries.isEmpty else { return entries[keyPath] }
        return kept.first { $0.keyPath == keyPath }?.place
    }

    /// Notes the place of a key path.
    mutating func note(_ place: Int, for keyPath: AnyKeyPath) {
        guard kept.count(where: { $0.keyPath == keyPath }) < Self.equalMaximum else { return }
        if kept.isEmpty { kept.reserveCapacity(Self.fewMaximum) }
        kept.append((keyPath, place))
        table.note(place, for: keyPath)
        if !entries.isEmpty {
            entries[keyPath] = place
        } else if kept.count > Self.fewMaximum {
            for entry in kept { entries[entry.keyPath] = entry.place }
        }
    }

    /// How many equal key paths are kept. Each accessor of a property has its own, and so has each
    /// file that an accessor was inlined into.
    private static let equalMaximum = 16
    /// How many are sooner looked through than hashed.
    private static let fewMaximum = 8
}

/// Places of key paths by their addresses: open addressing, at most half full.
private struct AddressTable {
    private var slots: [(key: UInt, place: Int32)] = []
    private var count = 0

    /// The place noted for a key path.
    subscript(keyPath: AnyKeyPath) -> Int? {
        guard count > 0 else { return nil }
        let key = Self.key(keyPath)
        let mask = slots.count - 1
        var index = Self.start(key) & mask
        while slots[index].key != 0 {
            if slots[index].key == key { return Int(slots[index].place) }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Notes the place of a key path.
    mutating func note(_ place: Int, for keyPath: AnyKeyPath) {
        if (count + 1) * 2 > slots.count { grow() }
        insert(Self.key(keyPath), Int32(place))
    }

    private mutating func insert(_ key: UInt, _ place: Int32) {
        let mask = slots.count - 1
        var index = Self.start(key) & mask
        while slots[index].key != 0, slots[index].key != key { index = (index + 1) & mask }
        if slots[index].key == 0 { count += 1 }
        slots[index] = (key, place)
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: (0, 0), count: max(16, old.count * 2))
        count = 0
        for (key, place) in old where key != 0 { insert(key, place) }
    }

    private static func key(_ keyPath: AnyKeyPath) -> UInt {
        UInt(bitPattern: ObjectIdentifier(keyPath))
    }

    private static func start(_ key: UInt) -> Int {
        Int(truncatingIfNeeded: (key >> 4) ^ (key >> 12))
    }
}
