/// The number of an entity in a store, from 1. In the first version of a model, entities are
/// numbered in the order of their names; later ones get the next number, and a number never
/// changes.
public struct EntityNumber: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number itself.
    public let rawValue: UInt32

    /// Wraps a number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Orders entities by number.
    public static func < (left: EntityNumber, right: EntityNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The number of a property in a store, from 1. In the first version of a model, properties are
/// numbered in the order of (entity name, property name); later ones get the next number. Transient
/// attributes have numbers of their own, far above.
public struct PropertyNumber: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number itself.
    public let rawValue: UInt32

    /// Wraps a number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Orders properties by number.
    public static func < (left: PropertyNumber, right: PropertyNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The permanent identifier of an object within one store, from its creation on.
///
/// Object numbers are unique over all entities of a store and are never used twice, so an
/// identifier outlives the object: the journal refers to deleted objects by the same name.
public struct ObjectID: Hashable, Comparable, Sendable {
    /// The entity the object belongs to.
    public let entity: EntityNumber
    /// The number of the object, from 1, unique in its store.
    public let number: UInt64

    /// Names an object.
    public init(entity: EntityNumber, number: UInt64) {
        self.entity = entity
        self.number = number
    }

    /// Orders objects by entity and then by number: the order of their rows in a store.
    public static func < (left: ObjectID, right: ObjectID) -> Bool {
        left.entity == right.entity
            ? left.number < right.number : left.entity.rawValue < right.entity.rawValue
    }
}
