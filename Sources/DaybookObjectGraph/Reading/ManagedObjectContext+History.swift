import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
import Foundation

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
        if let parent { return try parent.performForChild { try parent.history(of: id) } }
        let (object, store) = try place(of: id)
        let end = try position(toRead: store) ?? store.head()
        return try store.store.history(of: object).filter { $0.sequence <= end }.compactMap {
            guard let kind = ObjectChangeKind(from: $0.before, to: $0.after) else { return nil }
            let heading = try store.store.heading(of: $0.sequence)
            return ObjectRevision(
                sequence: $0.sequence, author: heading.author, note: heading.note,
                time: Date(microseconds: heading.time), kind: kind,
                changes: store.propertyChanges(of: object, from: $0.before, to: $0.after))
        }
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
        if let parent { return try parent.performForChild { try parent.blame(of: id) } }
        let (object, store) = try place(of: id)
        let answers = try store.store.blame(of: object, at: position(toRead: store))
        guard let answers else { throw StoreError.noSuchObject(id.description) }
        return answers.map { PropertyBlame($0, in: store) }
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
        if let parent {
            return try parent.performForChild { try parent.blame(of: id, property: property) }
        }
        let (object, store) = try place(of: id)
        guard let asked = store.store.schema.entity(object.entity)?.property(named: property),
            asked.isPersistent
        else {
            stop("Only a property that the entity has, and keeps, is in an entry.")
        }
        let answer = try store.store.blame(of: asked, in: object, at: position(toRead: store))
        guard let answer else { throw StoreError.noSuchObject(id.description) }
        return PropertyBlame(answer, in: store)
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

    /// Where an identifier leads.
    private func place(of id: ManagedObjectID) throws -> (ObjectID, PersistentStore) {
        guard let graphID = coordinator.graphID(of: id) else {
            throw StoreError.noSuchObject(id.description)
        }
        return (graphID.object, try store(of: graphID))
    }
}
