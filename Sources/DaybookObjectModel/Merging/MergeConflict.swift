public import Foundation

/// Something that two sides have both changed.
///
/// It names the value both started from, those of the store and the context, and the entry that
/// made the store's: see `sequence`, ``author`` and `time`.
public struct MergeConflict: Error, Sendable, Hashable {
    /// What collided.
    public enum Kind: String, Sendable, Hashable {
        /// Both changed the value of one property.
        case value
        /// Our side changed an object that their side deleted.
        case deletedByThem
        /// Our side deleted an object that their side changed.
        case deletedByUs
        /// One side refers to an object that the other side deleted, or both refer to one that only
        /// one object may hold.
        case reference
    }

    /// What collided.
    public let kind: Kind
    /// The object.
    public let object: ObjectID
    /// The identifier of the object's present or future store; nil in a conflict that has not been
    /// reported yet.
    ///
    /// Objects of different stores may have the same ``object``.
    public package(set) var storeIdentifier: UUID?
    /// The property; nil when the object as a whole is in conflict.
    public let property: PropertyNumber?
    /// The value both started from.
    public let base: Value
    /// The value in the store.
    public let theirs: Value
    /// The value in the context.
    public let ours: Value
    /// The property's name; nil when the object as a whole is in conflict.
    public package(set) var propertyName: String?
    /// The object's name, such as `Employee/3`; nil in a conflict that has not been reported yet.
    public package(set) var objectName: String?
    /// The entry that made "theirs"; nil when no store has it yet.
    package var origin: Origin?

    /// The entry that made one side of a conflict.
    package struct Origin: Sendable, Hashable {
        /// The entry's number.
        package let entry: UInt64
        /// Who saved it.
        package let author: String?
        /// When it happened, in microseconds since 1970.
        package let time: Int64

        /// Creates the origin of one side.
        package init(entry: UInt64, author: String?, time: Int64) {
            self.entry = entry
            self.author = author
            self.time = time
        }
    }

    /// The author of the entry that made "theirs"; nil when it names none.
    public var author: String? { origin?.author }

    /// Creates a conflict.
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

extension MergeConflict {
    /// This conflict with its store, if it names none yet.
    package func inStore(_ identifier: UUID) -> MergeConflict {
        var placed = self
        placed.storeIdentifier = storeIdentifier ?? identifier
        return placed
    }
}

extension Sequence<MergeConflict> {
    /// These conflicts with their store, where they name none yet.
    package func inStore(_ identifier: UUID) -> [MergeConflict] { map { $0.inStore(identifier) } }
}
