import DaybookObjectModel

/// The stored values of properties that a hook has set to something else.
///
/// What `awakeFromFetch` sets is not an edit. But an edit of the same property starts from the stored
/// value, because otherwise others would seem to have changed it.
struct StoredValues {
    private var values: [RelationKey: Value] = [:]
    private var sweepCount = 64

    /// Whether nothing is remembered, which is the usual case.
    var isEmpty: Bool { values.isEmpty }

    subscript(key: RelationKey) -> Value? {
        values.isEmpty ? nil : values[key]
    }

    /// Remembers the value of a property before a hook first set it.
    mutating func remember(_ value: Value, for key: RelationKey, in objects: IdentityMap) {
        guard values[key] == nil else { return }
        values[key] = value
        guard values.count > sweepCount else { return }
        values = values.filter { objects[$0.key.owner] != nil }
        sweepCount = max(64, values.count * 2)
    }

    /// Forgets the remembered value of a property that has been saved.
    mutating func forget(_ property: PropertyNumber, of object: ManagedObject) {
        guard !values.isEmpty else { return }
        values[RelationKey(owner: object.graphID, property: property)] = nil
    }

    /// Forgets the remembered values of an object that has been read again.
    mutating func forget(_ object: ManagedObject) {
        guard !values.isEmpty else { return }
        for property in object.binding.schema.slots {
            values[RelationKey(owner: object.graphID, property: property.number)] = nil
        }
    }
}
