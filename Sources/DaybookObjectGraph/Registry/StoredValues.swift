import DaybookObjectModel

/// What the store has of properties that a hook has set to something else.
///
/// What `awakeFromFetch` sets is no edit. But an edit of the same property starts from what the store
/// has, or others would seem to have changed it.
struct StoredValues {
    private var values: [RelationKey: Value] = [:]
    private var sweepCount = 64

    /// Whether nothing is noted, as is usual.
    var isEmpty: Bool { values.isEmpty }

    subscript(key: RelationKey) -> Value? {
        values.isEmpty ? nil : values[key]
    }

    /// Notes what a property was before a hook set it first.
    mutating func note(_ value: Value, for key: RelationKey, in objects: IdentityMap) {
        guard values[key] == nil else { return }
        values[key] = value
        guard values.count > sweepCount else { return }
        values = values.filter { objects[$0.key.owner] != nil }
        sweepCount = max(64, values.count * 2)
    }

    /// Forgets what was noted of a property that has been saved.
    mutating func forget(_ property: PropertyNumber, of object: ManagedObject) {
        guard !values.isEmpty else { return }
        values[RelationKey(owner: object.graphID, property: property)] = nil
    }

    /// Forgets what was noted of an object that has been read again.
    mutating func forget(_ object: ManagedObject) {
        guard !values.isEmpty else { return }
        for property in object.binding.schema.slots {
            values[RelationKey(owner: object.graphID, property: property.number)] = nil
        }
    }
}
