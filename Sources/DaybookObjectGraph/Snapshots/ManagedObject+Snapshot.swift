import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// What ``ManagedObject`` and its subclasses are, so that a method can return a value of the class that it is
/// called on.
public protocol SnapshotSource: ManagedObject {}

extension ManagedObject: SnapshotSource {}

extension SnapshotSource {
    /// The object as a value that may go anywhere, with what is pending.
    ///
    /// - Parameter relationships: Key paths of relationships, or through to-one relationships to others, whose
    ///   objects become snapshots as well. Of all others there are the identifiers.
    /// - Returns: The snapshot.
    /// - Throws: ``StoreError`` with code `objectDeleted`, naming the entry, its author and time, when the
    ///   object is a fault whose record has been deleted; with `unreadableValue` when an attribute has a
    ///   value that its type does not have; with others when the store cannot be read. ``QueryError`` when
    ///   a key path does not lead along relationships.
    /// - Complexity: O(*p*), *p* the number of properties, and a read for a fault and each to-many
    ///   relationship whose members are not known yet; the same for each object that is included.
    public func snapshot(
        including relationships: PartialKeyPath<Self>...
    ) throws -> ObjectSnapshot<Self> {
        guard let context = managedObjectContext else {
            throw StoreError.noContext(binding.schema.name)
        }
        context.requireQueue()
        var tree = InclusionTree()
        for keyPath in relationships {
            let path = try binding.entity.filterPath(keyPath, in: context.coordinator.model.schema)
            guard !path.steps.isEmpty, path.steps.allSatisfy({ $0.relationship != nil }) else {
                throw QueryError(
                    "A key path of '\(binding.schema.name)' does not lead along relationships, so a "
                        + "snapshot cannot include what is there.")
            }
            tree.include(path.steps[...])
        }
        return ObjectSnapshot(try content(including: tree))
    }
}

/// Which relationships a snapshot includes, and those of the snapshots there.
private struct InclusionTree {
    private(set) var branches: [PropertyNumber: InclusionTree] = [:]

    mutating func include(_ steps: ArraySlice<SchemaProperty>) {
        guard let first = steps.first else { return }
        branches[first.number, default: InclusionTree()].include(steps.dropFirst())
    }
}

extension ManagedObject {
    fileprivate func content(including tree: InclusionTree) throws -> SnapshotContent {
        try willAccessValue(forKey: nil)
        guard let context = binding.context else {
            throw StoreError.noContext(binding.schema.name)
        }
        if status.isGone { throw try context.parentStore.absence(of: graphID) }
        let schema = binding.schema
        var values: [Value] = []
        values.reserveCapacity(schema.slots.count)
        for slot in schema.slots.indices {
            try checkReadable(slot)
            values.append(readableValue(inSlot: slot))
        }
        var destinations: [PropertyNumber: [ManagedObjectID]] = [:]
        var included: [PropertyNumber: [SnapshotContent]] = [:]
        for property in schema.properties where property.relationship != nil {
            destinations[property.number] = objectIDs(forRelationshipNamed: property.name)
            guard let branch = tree.branches[property.number] else { continue }
            let objects = relatedObjects(forKey: property.name)
            try context.realize(objects)
            included[property.number] = try objects.map { try $0.content(including: branch) }
        }
        return SnapshotContent(
            objectID, of: binding.entity,
            sequence: since == 0 ? nil : SequenceNumber(rawValue: since),
            isEdited: isInserted || hasPersistentChangedValues, values, destinations,
            including: included)
    }
}
