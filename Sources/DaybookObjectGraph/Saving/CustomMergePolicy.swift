public import DaybookJournalLog
public import DaybookObjectModel

/// A program's own way to settle conflicts, for a context's ``ManagedObjectContext/customMergePolicy``.
///
/// A save that meets conflicts asks the policy, on the queue of the context: first about objects that
/// others have changed, then about values that must be unique and are taken. It then starts again with
/// the answers. What the policy leaves open is settled by the context's
/// ``ManagedObjectContext/mergePolicy``.
///
/// ```swift
/// struct LatestWins: CustomMergePolicy {
///     func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
///         for index in conflicts.indices {
///             let (ours, theirs) = (conflicts[index].ours, conflicts[index].theirs)
///             guard case .date(let here)? = ours["updatedAt"],
///                 case .date(let there)? = theirs["updatedAt"]
///             else { continue }
///             conflicts[index].resolve(with: here > there ? .ours : .theirs)
///         }
///     }
/// }
/// ```
public protocol CustomMergePolicy: Sendable {
    /// Settles conflicts with what others have saved, or leaves them open.
    ///
    /// - Parameter conflicts: The objects in conflict; resolve each one that is to be settled.
    /// - Throws: Any error, which ends the save; everything is still pending then.
    func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) throws

    /// Settles clashes of values that must be unique, or leaves them open.
    ///
    /// - Parameter conflicts: The clashes; resolve each one that is to be settled.
    /// - Throws: Any error, which ends the save; everything is still pending then.
    func resolve(constraintConflicts conflicts: inout [ConstraintConflict]) throws
}

extension CustomMergePolicy {
    /// Leaves all conflicts to the context's ``ManagedObjectContext/mergePolicy``.
    public func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) throws {}

    /// Leaves all clashes to the context's ``ManagedObjectContext/mergePolicy``.
    public func resolve(constraintConflicts conflicts: inout [ConstraintConflict]) throws {}
}

/// Which value of a property wins.
public enum ConflictResolution: Sendable, Hashable {
    /// The value both sides started from.
    case base
    /// The store's value.
    case theirs
    /// The context's value.
    case ours
    /// Another value.
    case value(Value)
}

/// An object that a save wants to change and that others have changed: its values where both sides
/// started, in the store, and in the context.
///
/// The values are those of attributes and to-one relationships, by the names of the properties;
/// members of to-many relationships merge one by one and never collide.
public struct ObjectConflict: Sendable {
    /// The object.
    public let objectID: ManagedObjectID
    /// What collided, property by property.
    public let conflicts: [MergeConflict]
    /// The values the context had read; empty for an object that it inserts.
    public let base: [String: Value]
    /// The values in the store; empty when the object was deleted there.
    public let theirs: [String: Value]
    /// The values in the context; empty when the object was deleted here.
    public let ours: [String: Value]
    /// The entry that had last changed the object when the context read it.
    public let oldVersion: SequenceNumber
    /// The entry that has changed it last; zero when the object was deleted.
    public let newVersion: SequenceNumber

    /// The identifiers of the objects that the values refer to.
    let names: [ObjectID: String]

    /// What to save, by the names of the properties.
    private(set) var resolutions: [String: ConflictResolution] = [:]
    /// Which side wins as a whole; nil for neither.
    private(set) var side: ConflictSide?

    init(
        objectID: ManagedObjectID, conflicts: [MergeConflict], base: [String: Value],
        theirs: [String: Value], ours: [String: Value], oldVersion: SequenceNumber,
        newVersion: SequenceNumber, names: [ObjectID: String]
    ) {
        self.objectID = objectID
        self.conflicts = conflicts
        self.base = base
        self.theirs = theirs
        self.ours = ours
        self.oldVersion = oldVersion
        self.newVersion = newVersion
        self.names = names
    }

    /// Settles one property, in conflict or not.
    ///
    /// For an object that one side has deleted, only ``resolve(with:)`` counts.
    ///
    /// - Parameters:
    ///   - property: The name of an attribute or of a to-one relationship.
    ///   - resolution: Which value to save.
    public mutating func resolve(_ property: String, with resolution: ConflictResolution) {
        resolutions[property] = resolution
    }

    /// Settles the object as a whole.
    ///
    /// - Parameter side: Ours saves all that the context has changed, and deletes the object or
    ///   brings it back if that is what the context wants. Theirs drops all of it.
    public mutating func resolve(with side: ConflictSide) {
        self.side = side
    }

    /// Whether the policy has settled anything.
    var isResolved: Bool { side != nil || !resolutions.isEmpty }
}
