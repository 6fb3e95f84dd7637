/// A place where two sides changed the same thing to different values.
public struct MergeConflict: Error, Sendable, Hashable {
    /// What collided.
    public enum Kind: String, Sendable, Hashable {
        /// Both changed the value of one property.
        case value
        /// Ours changed an object that theirs deleted.
        case deletedByThem
        /// Ours deleted an object that theirs changed.
        case deletedByUs
        /// Ours refers to an object that theirs deleted, or theirs refers to one that ours deleted.
        case reference
    }

    /// What collided.
    public let kind: Kind
    /// The object.
    public let object: ObjectID
    /// The property; nil when the object as a whole is in conflict.
    public let property: PropertyNumber?
    /// The value both started from.
    public let base: Value
    /// The value in the store.
    public let theirs: Value
    /// The value in the context.
    public let ours: Value

    /// Describes a conflict.
    package init(
        kind: Kind, object: ObjectID, property: PropertyNumber? = nil, base: Value = .null,
        theirs: Value = .null, ours: Value = .null
    ) {
        self.kind = kind
        self.object = object
        self.property = property
        self.base = base
        self.theirs = theirs
        self.ours = ours
    }
}
