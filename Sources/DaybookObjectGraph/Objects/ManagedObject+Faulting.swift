import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping

// None of these reads a record: isFault, objectID, entity, managedObjectContext, isInserted,
// isUpdated, isDeleted, hasChanges, ==, hashValue, hasFault(forRelationshipNamed:).

extension ManagedObject {
    /// Reads the object's record if it is a fault, without reading a property.
    ///
    /// - Parameter key: The property that is about to be used; nil for no particular one. All are read
    ///   together.
    /// - Throws: ``StoreError`` with code `objectDeleted`, naming the entry, its author and time, when
    ///   the record has been deleted and the context does not let such faults count as deleted; with
    ///   `closed` when the context is gone; with others when the store cannot be read. The object
    ///   stays a fault then. With `unreadableValue` and an ``UnreadableValue`` as its cause when the
    ///   store holds a value that the property's type does not have.
    /// - Precondition: The entity has a property of that name.
    /// - Complexity: O(log *n*) page reads for a fault, *n* the number of objects; otherwise O(1).
    public func willAccessValue(forKey key: String?) throws {
        let property = key.map { self.property(named: $0) }
        if isFault {
            guard let context = binding.context, !status.isDetached else {
                throw StoreError.noContext(binding.schema.name)
            }
            if let error = context.failure(firing: self), isFault { throw error }
        }
        if let slot = property?.slot { try checkReadable(slot) }
    }

    /// Ends what ``willAccessValue(forKey:)`` began. It does nothing; it exists for code that calls
    /// both.
    public func didAccessValue(forKey key: String?) {
        if let key { _ = property(named: key) }
    }

    /// Whether reading where a relationship leads would read the store. This call does not read it.
    ///
    /// A to-many relationship has two levels: once its members are known, each may still be a fault.
    ///
    /// - Precondition: The entity has a relationship of that name.
    public func hasFault(forRelationshipNamed name: String) -> Bool {
        let property = relationship(named: name)
        if property.slot != nil { return isFault }
        return relations[property.number] == nil
            && (!status.isTemporary || property.mayLeadToNew)
    }

    /// The identifiers of the objects that a relationship leads to, in order.
    ///
    /// Reads where the relationship leads if that is not known yet, but none of the objects there.
    ///
    /// - Precondition: The entity has a relationship of that name.
    /// - Complexity: O(*k*), *k* the number of members; and O(log *n*) page reads the first time.
    public func objectIDs(forRelationshipNamed name: String) -> [ManagedObjectID] {
        let property = relationship(named: name)
        guard let context = binding.context else {
            reportUnreadable()
            return []
        }
        guard let slot = property.slot else {
            return memberList(of: property, context).sorted.map { id(of: $0, context) }
        }
        realizeIfNeeded()
        return [value(inSlot: slot).reference].compactMap { $0 }
            .map { id(of: $0, context) }
    }

    /// Reports that the object is asked for values that it has not read and can no longer read.
    ///
    /// An object whose context is gone stops a debug build. Otherwise, and for one from before a reset,
    /// this writes to standard error, once for each entity.
    func reportUnreadable() {
        let sentence = StoreError.noContext(binding.schema.name).message
        if binding.context == nil { stopDebugBuild(sentence) }
        Warning.once("without context: \(binding.schema.name)", sentence)
    }

    private func id(of destination: ObjectID, _ context: ManagedObjectContext) -> ManagedObjectID {
        context.managedObjectID(of: GraphID(store: graphID.store, object: destination))
    }

    private func relationship(named name: String) -> SchemaProperty {
        let property = property(named: name)
        require(property.relationship != nil, "hasFault and objectIDs take a relationship.")
        return property
    }
}
