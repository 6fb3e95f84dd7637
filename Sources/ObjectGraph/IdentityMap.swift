import ObjectModel

/// The objects of a context by identity: one record, one instance.
///
/// Objects are held weakly, except new ones until they are saved. Entries of objects that have gone
/// are swept when the map has doubled, so registering is O(1) amortized.
struct IdentityMap {
    private struct Entry {
        let id: GraphID
        // A weak reference gives its object a side table, which makes every later reference to it
        // dearer. So a new object is held strongly until it is saved: it is pending till then, and
        // lives anyway.
        var held: ManagedObject?
        weak var loose: ManagedObject?

        var object: ManagedObject? { held ?? loose }
    }

    private var entries: ContiguousArray<Entry> = []
    private var places = GraphTable()
    private var sweepCount = 64

    /// The live instance for a record.
    subscript(id: GraphID) -> ManagedObject? {
        places[id].flatMap { entries[$0].object }
    }

    /// Registers an instance.
    mutating func register(_ object: ManagedObject) {
        set(Entry(id: object.graphID, loose: object))
    }

    /// Registers a new instance, and holds it until ``loosen(_:)`` or ``remove(_:)``.
    mutating func registerNew(_ object: ManagedObject) {
        set(Entry(id: object.graphID, held: object))
    }

    /// Lets go of a new instance that has been saved.
    mutating func loosen(_ object: ManagedObject) {
        set(Entry(id: object.graphID, loose: object))
    }

    /// Forgets an instance.
    mutating func remove(_ id: GraphID) {
        guard let place = places.remove(id) else { return }
        let last = entries.removeLast()
        guard place < entries.count else { return }
        entries[place] = last
        places.set(last.id, to: place)
    }

    /// Forgets all instances.
    mutating func removeAll() {
        entries.removeAll()
        places.removeAll()
    }

    /// The live instances, in no order.
    var objects: [ManagedObject] {
        entries.compactMap(\.object)
    }

    private mutating func set(_ entry: Entry) {
        if let place = places[entry.id] {
            entries[place] = entry
            return
        }
        places.set(entry.id, to: entries.count)
        entries.append(entry)
        if entries.count > sweepCount { sweep() }
    }

    private mutating func sweep() {
        entries.removeAll { $0.object == nil }
        places.removeAll()
        for (place, entry) in entries.enumerated() { places.set(entry.id, to: place) }
        sweepCount = max(64, entries.count * 2)
    }
}
