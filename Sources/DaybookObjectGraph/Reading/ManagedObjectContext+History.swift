import DaybookStopping

extension ManagedObjectContext {
    /// What every entry that touched an object did to it, oldest first.
    ///
    /// A context that reads at a point in the past knows what happened up to there. What is pending is
    /// no part of it: see ``ManagedObject/changedValues()``. Why an object is not there any more is
    /// told as well.
    ///
    /// - Returns: A revision for each entry; none when there never was such an object.
    /// - Throws: ``StoreError`` with code `noSuchObject` when the identifier belongs to a store that the
    ///   coordinator does not have.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of these entries.
    public func history(of id: ManagedObjectID) throws -> [ObjectRevision] {
        requireQueue()
        return try parentStore.history(of: id)
    }

    // MARK: - Blame

    /// Who made each property of an object what it is: one answer for each property that is kept, always
    /// in the same order.
    ///
    /// A context that reads at a point in the past tells who had made the object what it was then. What
    /// is pending has not been saved by anybody and is no part of it.
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

    /// Who made one property of an object what it is.
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - property: The name of an attribute or a relationship.
    /// - Returns: The entry, its author, note and time, the value and the one before.
    /// - Throws: As ``blame(of:)``.
    /// - Complexity: As of ``blame(of:)``, for one property.
    /// - Precondition: The entity has a property of that name, and it is not transient.
    public func blame(of id: ManagedObjectID, property: String) throws -> PropertyBlame {
        requireQueue()
        return try parentStore.blame(of: id, property: property)
    }

    /// Who made one property of an object what it is.
    ///
    /// - Parameters:
    ///   - object: An object of this context.
    ///   - property: An attribute or a relationship of it, such as `\.name`.
    /// - Returns: The entry, its author, note and time, the value and the one before.
    /// - Throws: As ``blame(of:)``.
    /// - Complexity: As of ``blame(of:)``, for one property.
    /// - Precondition: The key path leads to one property that is not transient.
    public func blame<Object: ManagedObject>(
        of object: Object, _ property: PartialKeyPath<Object>
    ) throws -> PropertyBlame {
        let path = object.binding.entity.path(of: property)
        require(path.count == 1, "The key path of one property says whose origin is meant.")
        return try blame(of: object.objectID, property: path[0])
    }
}
