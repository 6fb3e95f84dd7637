import DaybookStopping

/// The side that wins a conflict.
public enum ConflictSide: Sendable, Hashable {
    /// The context's side.
    case ours
    /// The store's side.
    case theirs
}

/// Objects that would share values that the model wants unique.
///
/// With an ``owner``, the values are taken in the store; without one, the clash is inside the
/// context. A clash is reported once, however many entities inherit the constraint.
public struct ConstraintConflict: Error, Sendable, Hashable {
    /// The properties whose values together must be unique.
    public let properties: [String]
    /// The values that are taken, in the same order.
    public let values: [Value]
    /// The object that has the values in the store; nil when the clash is inside the context.
    public let owner: ObjectID?
    /// The objects of the context that want the values.
    public let objects: [ObjectID]
    /// The names of the objects, such as `Book/7`, as far as they are known.
    package internal(set) var names: [ObjectID: String] = [:]

    /// The side whose values the owner gets when a new object is merged into it.
    package private(set) var side: ConflictSide?
    /// Other values for the context's objects.
    package private(set) var replacements: [ObjectID: [String: Value]] = [:]

    /// Creates a clash.
    package init(
        properties: [String], values: [Value], owner: ObjectID?, objects: [ObjectID]
    ) {
        self.properties = properties
        self.values = values
        self.owner = owner
        self.objects = objects
    }

    /// Merges the new object into the ``owner``, which keeps its identifier; references to the new
    /// object then lead to the owner.
    ///
    /// - Parameter side: The side whose values the merged object gets.
    /// - Precondition: There is an owner.
    public mutating func resolve(with side: ConflictSide) {
        require(owner != nil, "Only an object of the store can take in a new one.")
        self.side = side
    }

    /// Gives one of the context's objects another value.
    ///
    /// - Parameters:
    ///   - property: The name of one of ``properties``.
    ///   - object: One of ``objects``.
    ///   - value: The value to save instead.
    /// - Precondition: The property and the object are in this conflict.
    public mutating func resolve(
        _ property: String, of object: ObjectID, with value: Value
    ) {
        require(
            properties.contains(property) && objects.contains(object),
            "A conflict is resolved by its own properties and objects.")
        replacements[object, default: [:]][property] = value
    }

    /// Whether a policy has resolved the clash.
    package var isResolved: Bool { side != nil || !replacements.isEmpty }
}
