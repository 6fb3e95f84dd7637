/// Places of properties by their key paths.
///
/// A key path that is written out is one object however often it is used, so its address finds the
/// place without a dictionary. The objects are kept, so that no address comes to stand for another.
/// Where the class or the function is generic, a key path is made anew each time; such are told apart
/// by what they say.
struct KeyPathPlaces {
    private var table = AddressTable()
    private var kept: [AnyKeyPath] = []
    private var entries: [AnyKeyPath: (place: Int, keptCount: Int)] = [:]

    /// The place noted for a key path.
    subscript(keyPath: AnyKeyPath) -> Int? {
        if let place = table[keyPath] { return place }
        return place(ofEqualTo: keyPath)
    }

    @inline(never) private func place(ofEqualTo keyPath: AnyKeyPath) -> Int? {
        entries.isEmpty ? nil : entries[keyPath]?.place
    }

    /// Notes the place of a key path.
    mutating func note(_ place: Int, for keyPath: AnyKeyPath) {
        if entries.isEmpty { reserve() }
        let keptCount = entries[keyPath]?.keptCount ?? 0
        entries[keyPath] = (place, min(keptCount + 1, Self.equalMaximum))
        guard keptCount < Self.equalMaximum, table[keyPath] == nil else { return }
        kept.append(keyPath)
        table.note(place, for: keyPath)
    }

    /// Makes room at once for the properties that most entities have.
    private mutating func reserve() {
        kept.reserveCapacity(32)
        entries.reserveCapacity(16)
    }

    /// How many equal key paths are kept. Each accessor of a property has its own, and so has each
    /// file that an accessor was inlined into.
    private static let equalMaximum = 16
}

/// Places of key paths by their addresses: open addressing, at most half full.
private struct AddressTable {
    private var keys: [UInt] = []
    private var places: [Int32] = []
    private var count = 0

    /// The place noted for a key path.
    subscript(keyPath: AnyKeyPath) -> Int? {
        guard count > 0 else { return nil }
        let key = Self.key(keyPath)
        let mask = keys.count - 1
        var index = Self.start(key) & mask
        while keys[index] != 0 {
            if keys[index] == key { return Int(places[index]) }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Notes the place of a key path.
    mutating func note(_ place: Int, for keyPath: AnyKeyPath) {
        if (count + 1) * 2 > keys.count { grow() }
        insert(Self.key(keyPath), Int32(place))
    }

    private mutating func insert(_ key: UInt, _ place: Int32) {
        let mask = keys.count - 1
        var index = Self.start(key) & mask
        while keys[index] != 0, keys[index] != key { index = (index + 1) & mask }
        if keys[index] == 0 { count += 1 }
        keys[index] = key
        places[index] = place
    }

    private mutating func grow() {
        let old = Array(zip(keys, places))
        let capacity = max(16, keys.count * 2)
        keys = Array(repeating: 0, count: capacity)
        places = Array(repeating: 0, count: capacity)
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
