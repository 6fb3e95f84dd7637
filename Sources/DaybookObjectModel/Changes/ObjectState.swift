/// The state of one object at one point: its values and members.
public struct ObjectState: Sendable, Hashable {
    /// The values in slot order.
    public var values: [Value]
    /// The members of each stored to-many relationship that has any, with their order.
    public var members: [PropertyNumber: [ObjectID: Double]]

    /// Creates a state.
    public init(values: [Value], members: [PropertyNumber: [ObjectID: Double]] = [:]) {
        self.values = values
        self.members = members
    }
}

/// A change that does not fit the state it was applied to.
public struct ChangeMismatch: Error, Sendable, Hashable {
    /// The object.
    public let object: ObjectID
    /// The property that differs; nil when the object exists and should not, or the reverse.
    public let property: PropertyNumber?

    /// Creates a mismatch.
    package init(object: ObjectID, property: PropertyNumber?) {
        self.object = object
        self.property = property
    }
}
