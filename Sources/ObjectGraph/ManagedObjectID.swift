public import Foundation
public import ObjectModel

/// What identifies an object in every context, from its birth and for ever.
///
/// An identifier is a value: it may cross threads, be kept, compared and hashed. It does not change
/// when the object is saved; only ``isTemporaryID`` does, and that takes no part in equality.
public struct ManagedObjectID: Hashable, Sendable, CustomStringConvertible {
    /// The store the object lives in, or will live in once it is saved.
    public let storeIdentifier: UUID
    /// The object within its store.
    public let object: ObjectID
    /// The name of the object's entity.
    public let entityName: String
    /// Whether the object had not been saved to its store when this identifier was asked for.
    public let isTemporaryID: Bool

    /// Names an object of a store.
    package init(
        storeIdentifier: UUID, object: ObjectID, entityName: String, isTemporaryID: Bool
    ) {
        self.storeIdentifier = storeIdentifier
        self.object = object
        self.entityName = entityName
        self.isTemporaryID = isTemporaryID
    }

    /// Whether both name the same object.
    public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
        left.object == right.object && left.storeIdentifier == right.storeIdentifier
    }

    /// Feeds what equality looks at.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(object)
        hasher.combine(storeIdentifier)
    }

    /// `Country/17`, as the command writes it.
    public var description: String {
        "\(entityName)/\(object.number)"
    }
}

/// What identifies an object among all stores of one coordinator.
struct GraphID: Hashable, Sendable {
    /// The number of the store in its coordinator.
    let store: UInt32
    let object: ObjectID

    /// The highest bit marks numbers that no store has given out; see
    /// ``PersistentStoreCoordinator/provisionalID(of:)``.
    static let provisionalMark: UInt64 = 1 << 63

    /// Whether the object can never be saved.
    var isProvisional: Bool { object.number & Self.provisionalMark != 0 }

    static func == (left: GraphID, right: GraphID) -> Bool {
        left.object.number == right.object.number && left.store == right.store
            && left.object.entity == right.object.entity
    }

    /// Numbers are unique over all entities of a store, so the number alone spreads well.
    func hash(into hasher: inout Hasher) {
        hasher.combine(object.number)
    }
}
