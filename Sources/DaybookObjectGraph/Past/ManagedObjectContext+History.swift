// The room of the past: moments, and what each entry did to an object. It only reads saved entries.

import DaybookStopping

extension ManagedObjectContext {
    /// What every entry that touched an object did to it, oldest first.
    ///
    /// A context that reads at a point in the past sees what happened up to there. Pending changes are
    /// not included: see ``ManagedObject/changedValues()``. Why an object is not there any more is told
    /// as well.
    ///
    /// - Returns: A revision for each entry; none when there has never been such an object.
    /// - Throws: ``StoreError`` with code `noSuchObject` when the identifier belongs to a store that the
    ///   coordinator does not have.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of these entries.
    public func history(of id: ManagedObjectID) throws -> [ObjectRevision] {
        requireQueue()
        return try parentStore.history(of: id)
    }

    // MARK: - Blame

    /// Who last changed each property of an object: one answer for each stored property, always in the
    /// same order.
    ///
    /// A context that reads at a point in the past tells who had changed the object last by then.
    /// Pending changes have not been saved and are not included.
    ///
    /// - Returns: The answers, without those for transient properties.
    /// - Throws: ``StoreError`` with code `noSuchObject` or `objectDeleted`, which names the entry,
    ///   its author and time, when there is no such object.
    /// - Complexity: O(log *n*) page reads for each value and to-one relationship, however many times
    ///   the object has been changed; for a to-many relationship also O(*k*), *k* the number of objects
    ///   that it ever led to.
    public func blame(of id: ManagedObjectID) throws -> [PropertyBlame] {
        requireQueue()
        return try parentStore.blame(of: id)
    }

    /// Who last changed one property of an object.
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - property: The name of an attribute or a relationship.
    /// - Returns: The entry, its author, note and time, the value and the one before.
    /// - Throws: As ``blame(of:)``.
    /// - Complexity: As for ``blame(of:)``, for one property.
    /// - Precondition: The entity has a property of that name, and it is not transient.
    public func blame(of id: ManagedObjectID, property: String) throws -> PropertyBlame {
        requireQueue()
        return try parentStore.blame(of: id, property: property)
    }

    /// Who last changed one property of an object.
    ///
    /// - Parameters:
    ///   - object: An object of this context.
    ///   - property: An attribute or a relationship of it, such as `\.name`.
    /// - Returns: The entry, its author, note and time, the value and the one before.
    /// - Throws: As ``blame(of:)``.
    /// - Complexity: As for ``blame(of:)``, for one property.
    /// - Precondition: The key path leads to one property that is not transient.
    public func blame<Object: ManagedObject>(
        of object: Object, _ property: PartialKeyPath<Object>
    ) throws -> PropertyBlame {
        let path = object.binding.entity.path(of: property)
        require(path.count == 1, "The key path must lead to one property.")
        return try blame(of: object.objectID, property: path[0])
    }
}
