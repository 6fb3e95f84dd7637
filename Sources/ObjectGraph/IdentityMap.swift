import ObjectModel

/// The objects of a context by identity: one record, one instance.
///
/// Objects are held weakly, except new ones until they are saved. Entries of objects that have gone are swept when the map has doubled, so
/// registering is O(1) amortized.
struct IdentityMap {
    private struct Entry {
        // A weak reference gives its object a side table, which makes every later reference to it
        // dearer. So a new object is held strongly until it is saved: it is pending till then, and
        // lives anyway.
        var held: ManagedObject?
        weak var loose: ManagedObject?

        var object: ManagedObject? { held ?? loose }
    }

    private var entries: [GraphID: Entry] = [:]
    private var sweepCount = 64

    /// The live instance for a record.
    subscript(id: GraphID) -> ManagedObject? {
        entries[id]?.object
    }

    /// Registers an instance.
    mutating func register(_ object: ManagedObject) {
        entries[object.graphID] = Entry(loose: object)
        if entries.count > sweepCount { sweep() }
    }

    /// Registers a new instance, and holds it until ``loosen(_:)`` or ``remove(_:)``.
    mutating func registerNew(_ object: ManagedObject) {
        entries[object.graphID] = Entry(held: object)
        if entries.count > sweepCount { sweep() }
    }

    /// Lets go of a new instance that has been saved.
    mutating func loosen(_ object: ManagedObject) {
        entries[object.graphID] = Entry(loose: object)
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
