import ObjectModel

/// The objects of a context by identity: one record, one instance.
///
/// Objects are held weakly. Entries of objects that have gone are swept when the map has doubled, so
/// registering is O(1) amortized.
struct IdentityMap {
    private struct Entry {
        weak var object: ManagedObject?
    }

    private var entries: [GraphID: Entry] = [:]
    private var sweepCount = 64

    /// The live instance for a record.
    subscript(id: GraphID) -> ManagedObject? {
        entries[id]?.object
    }

    /// Registers an instance.
    mutating func register(_ object: ManagedObject) {
        entries[object.graphID] = Entry(object: object)
        if entries.count > sweepCount { sweep() }
    }

    /// Forgets an instance.
    mutating func remove(_ id: GraphID) {
        entries[id] = nil
    }

    /// Forgets all instances.
    mutating func removeAll() {
        entries.removeAll()
    }

    /// The live instances, in no order.
    var objects: [ManagedObject] {
        entries.values.compactMap(\.object)
    }

    private mutating func sweep() {
        entries = entries.filter { $0.value.object != nil }
        sweepCount = max(64, entries.count * 2)
    }
}
