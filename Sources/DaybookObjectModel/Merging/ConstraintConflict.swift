import DaybookStopping

/// Which of two sides has its way.
public enum ConflictSide: Sendable, Hashable {
    /// What the context wants.
    case ours
    /// What the store has.
    case theirs
}

/// Objects that would have the same values where the model wants them unique.
///
/// With an ``owner`` the values are taken in the store; without one the clash is inside the context.
/// However many entities inherit a constraint, a clash is reported once.
public struct ConstraintConflict: Error, Sendable, Hashable {
    /// The properties whose values together must be unique.
    public let properties: [String]
    /// The values that are taken, in the same order.
    public let values: [Value]
    /// The object that has the values in the store; nil when the clash is inside the context.
    public let owner: ObjectID?
    /// The objects of the context that want the values.
    public let objects: [ObjectID]
    /// What the objects are called, such as `Book/7`, as far as it is known.
    package internal(set) var names: [ObjectID: String] = [:]

    /// Whose values a new object and the owner, become one, shall have.
    package private(set) var side: ConflictSide?
    /// Other values for the context's objects.
    package private(set) var replacements: [ObjectID: [String: Value]] = [:]

    /// Describes a clash.
    package init(
        properties: [String], values: [Value], owner: ObjectID?, objects: [ObjectID]
    ) {
        self.properties = properties
        self.values = values
        self.owner = owner
        self.objects = objects
    }

    /// Makes the new object and the ``owner`` one, which keeps the owner's identifier; whatever
    /// refers to the new object refers to the owner then.
    ///
    /// - Parameter side: Whose values the one object has.
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

    /// Whether a policy has said what to do.
    package var isResolved: Bool { side != nil || !replacements.isEmpty }
}
