import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

// A context reads from its parent store. `current…` is what the parent store has with the context's own
// changes, which is what a child of the context reads.

extension ManagedObjectContext {
    /// An object's row in the parent store; nil when there is no such object.
    func underlyingRow(of id: GraphID) throws -> Row? {
        try parentStore.row(of: id, within: stalenessInterval)
    }

    // MARK: - In the context

    /// An object's stored values as the context sees them.
    func currentRow(of id: GraphID) throws -> Row? {
        guard let object = registry[id] else { return try underlyingRow(of: id) }
        // What was found gone stays gone for children, whether it had been read or not.
        guard !object.isDeleted else { return nil }
        if object.isFault { return try underlyingRow(of: id) }
        if let packed = object.packed, packed.since.rawValue == object.since { return Row(packed) }
        return Row(
            since: SequenceNumber(rawValue: object.since),
            values: Array(object.values.prefix(object.binding.schema.storedSlotCount)))
    }

    /// Whether a query may find an object: as it is here where it has changed here, and as it is under the context
    /// otherwise, whatever has been read of it.
    func isFound(_ id: GraphID) throws -> Bool {
        if let item = journal.overlay(of: id) { return !item.object.isDeleted }
        return try parentStore.isFound(id)
    }

    /// The members of a relationship: those in the parent store, with what has joined and left here.
    func currentMembers(
        of property: SchemaProperty, in id: GraphID
    ) throws -> RelationMembers {
        if case .many(let list)? = registry[id]?.relations[property.number] { return list.members }
        return try pendingMembers(of: property, in: id) { try parentStore.members(of: $0, in: $1) }
    }

    /// The members of a relationship as a query sees them: as ``currentMembers(of:in:)``, but read again where a list
    /// is known, here or in a parent. What lies under it may have changed since.
    func freshMembers(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers {
        try pendingMembers(of: property, in: id) { try parentStore.freshMembers(of: $0, in: $1) }
    }

    private func pendingMembers(
        of property: SchemaProperty, in id: GraphID,
        _ read: (SchemaProperty, GraphID) throws -> RelationMembers
    ) throws -> RelationMembers {
        var members = try underlyingMembers(of: property, in: id, read)
        journal.overlay(RelationKey(owner: id, property: property.number), on: &members)
        return members
    }

    /// What is under this context of a relationship, as far as it counts here.
    ///
    /// - Parameters:
    ///   - property: The relationship.
    ///   - id: Its owner.
    ///   - read: Reads the members of a relationship under this context.
    /// - Returns: The members with their orders, without what is pending here.
    /// - Throws: What `read` throws.
    func underlyingMembers(
        of property: SchemaProperty, in id: GraphID,
        _ read: (SchemaProperty, GraphID) throws -> RelationMembers
    ) rethrows -> RelationMembers {
        // Nobody below leads to a new object, but others may to one that has come back and that they know.
        if let status = registry[id]?.status, status.isTemporary,
            !status.isReturned || property.isStoredToMany, !property.mayLeadToNew
        {
            return RelationMembers(read: [])
        }
        let members = try read(property, id)
        guard !property.isStoredToMany, !journal.isAtBase else { return members }
        // An object inserted here has the members it has here, though others have brought it back, too. One
        // deleted here has none, whatever others have given it since.
        return members.filter { member in
            let status = registry[GraphID(store: id.store, object: member)]?.status
            return status?.isTemporary != true && status?.isPendingDelete != true
        }
    }

    /// A value as the context sees it.
    func currentValue(of property: SchemaProperty, in id: GraphID) throws -> Value {
        if let item = journal.overlay(of: id) {
            guard !item.object.isDeleted,
                let slot = item.object.binding.schema.property(property.number)?.slot
            else { return .null }
            if !item.object.isFault { return item.object.value(inSlot: slot) }
        }
        guard property.isPersistent else {
            guard let registered = registry[id], !registered.isFault,
                let slot = registered.binding.schema.property(property.number)?.slot
            else { return property.attribute?.defaultValue ?? .null }
            return registered.value(inSlot: slot)
        }
        return try parentStore.value(of: property, in: id)
    }

    /// The objects of a store that a query finds in the context.
    func currentFetch(_ query: Query, _ store: PersistentStore) throws -> [ObjectID] {
        processPendingChanges()
        return journal.isAtBase
            ? try parentStore.find(query, in: store) : try fetchOverPending(query, store)
    }

    /// How many objects of a store a query finds in the context that are not among some others, whatever
    /// its offset and limit.
    func currentCount(
        _ query: Query, without others: [ObjectID], _ store: PersistentStore
    ) throws -> Int {
        processPendingChanges()
        return journal.isAtBase
            ? try parentStore.count(query, without: others, in: store)
            : try countOverPending(query, without: others, store)
    }

    /// Why an object does not exist in the context.
    func currentAbsence(of id: GraphID) throws -> StoreError {
        registry[id]?.status.isPendingDelete == true
            ? .deletedInParent(coordinator.model.schema.name(of: id.object))
            : try parentStore.absence(of: id)
    }

    // MARK: - Query generations

    /// The state to which the context is held; nil when it reads the newest.
    public var queryGenerationToken: QueryGenerationToken? {
        assertOnQueue()
        return parentStore.generation
    }

    /// Holds the context to a state of its stores, until it saves, merges or is set to another. A
    /// speculative context stops being one.
    ///
    /// Every fetch and every firing fault then reads that state, whatever others save. Objects that have
    /// been read keep their values; refresh them to see the state. A store that is added later is not
    /// seen until the generation is set again.
    ///
    /// - Parameter token: ``QueryGenerationToken/current`` for the state at the next read, another
    ///   context's token for the state that one reads, nil for always the newest.
    /// - Throws: ``StoreError`` with code `generation` for a context with a parent, which always reads
    ///   what its parent has, for one that reads a point in the past, and for a token whose entry has been cut
    ///   off. The context is held to what it was then.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        requireQueue()
        try parentStore.hold(to: token)
        tellListsOfEverything()
    }
}

extension SchemaProperty {
    /// Whether the store may have members of a relationship whose owner is new here.
    ///
    /// Nobody leads to a new object in the store, but to one that has come back they may still: its delete
    /// took no reference back that has no delete rule.
    var mayLeadToNew: Bool {
        !isStoredToMany && relationship?.deleteRule == .noAction
    }
}
