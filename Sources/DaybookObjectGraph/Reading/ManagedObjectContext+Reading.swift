import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

// A context reads from what lies under it: the stores, or a parent context with all that is pending
// there. `underlying…` is what those have, `current…` is that with the context's own changes, and
// so what a child of the context has under it.

extension ManagedObjectContext {
    // MARK: - Under the context

    /// An object's row; nil when there is no such object.
    func underlyingRow(of id: GraphID) throws -> Row? {
        if let parent { return try parent.performForChild { try parent.currentRow(of: id) } }
        if queryGeneration == nil,
            let row = coordinator.rows.row(id, within: stalenessInterval, isHeld: false)
        {
            return Row(row)
        }
        return try storedRow(of: id).map { Row($0) }
    }

    /// An object's row as the store has it.
    func storedRow(of id: GraphID) throws -> EncodedRow? {
        let store = try store(of: id)
        return try store.row(of: id.object, at: position(toRead: store))
    }

    /// The members of a relationship with their order.
    func underlyingMembers(
        of property: SchemaProperty, in id: GraphID
    ) throws -> [ObjectID: Double] {
        if let parent {
            return try parent.performForChild { try parent.currentMembers(of: property, in: id) }
        }
        let store = try store(of: id)
        let stored: [Member] = try store.read(at: position(toRead: store)) {
            try $0.members(of: property, in: id.object)
        }
        return Dictionary(stored.map { ($0.object, $0.order) }) { first, _ in first }
    }

    func underlyingValue(of property: SchemaProperty, in id: GraphID) throws -> Value {
        if let parent {
            return try parent.performForChild { try parent.currentValue(of: property, in: id) }
        }
        let store = try store(of: id)
        return try store.read(at: position(toRead: store)) {
            try $0.value(of: property, in: id.object)
        }
    }

    /// The objects of a store that a query finds.
    func underlyingFetch(_ query: Query, _ store: PersistentStore) throws -> [ObjectID] {
        if let parent {
            return try parent.performForChild { try parent.currentFetch(query, store) }
        }
        return try store.read(at: position(toRead: store)) { try $0.fetch(query) }
    }

    /// How many objects of a store a query finds.
    func underlyingCount(_ query: Query, _ store: PersistentStore) throws -> Int {
        if let parent {
            return try parent.performForChild { try parent.currentFetch(query, store).count }
        }
        return try store.read(at: position(toRead: store)) { try $0.count(query) }
    }

    /// Why an object's row is not there.
    func disappearance(of id: GraphID) throws -> StoreError {
        if let parent {
            return try parent.performForChild {
                parent.identityMap[id]?.status.contains(.deleted) == true
                    ? .deletedInParent(coordinator.model.schema.name(of: id.object))
                    : try parent.disappearance(of: id)
            }
        }
        let store = try store(of: id)
        return try store.disappearance(of: id.object, at: position(toRead: store))
    }

    func store(of id: GraphID) throws -> PersistentStore {
        if storeMark.number == id.store, storeMark.attachments == coordinator.attachmentCount,
            let store = storeInUse
        {
            return store
        }
        let attachments = coordinator.attachmentCount
        guard let store = coordinator.store(id.store) else {
            throw StoreError.noSuchStore(coordinator.storeName(id.store))
        }
        storeInUse = store
        storeMark = StoreMark(of: store, attachments: attachments)
        return store
    }

    /// An identifier among all stores of the coordinator; nil when it belongs to none of them.
    func graphID(of id: ManagedObjectID) -> GraphID? {
        if storeMark.attachments == coordinator.attachmentCount,
            storeMark.identifier == id.storeIdentifier, !id.isDecoded
        {
            return GraphID(store: storeMark.number, object: id.object)
        }
        return coordinator.graphID(of: id)
    }

    // MARK: - In the context

    /// An object's stored values as the context has them.
    func currentRow(of id: GraphID) throws -> Row? {
        guard let object = identityMap[id], !object.isFault else {
            return try underlyingRow(of: id)
        }
        guard !object.isDeleted else { return nil }
        if let packed = object.packed, packed.since.rawValue == object.since { return Row(packed) }
        return Row(
            since: SequenceNumber(rawValue: object.since),
            values: Array(object.values.prefix(object.binding.schema.storedSlotCount)))
    }

    /// The members of a relationship: what lies under the context has, with what has joined and left
    /// here.
    func currentMembers(
        of property: SchemaProperty, in id: GraphID
    ) throws -> [ObjectID: Double] {
        let owner = identityMap[id]
        if case .many(let list)? = owner?.relations[property.number] { return list.orders }
        let isNew = owner?.status.contains(.temporary) == true
        var members = isNew ? [:] : try underlyingMembers(of: property, in: id)
        journal.overlay(RelationKey(owner: id, property: property.number), on: &members)
        return members
    }

    /// A value as the context has it.
    func currentValue(of property: SchemaProperty, in id: GraphID) throws -> Value {
        if let item = journal.net(of: id) {
            guard !item.object.isDeleted,
                let slot = item.object.binding.schema.property(property.number)?.slot
            else { return .null }
            if !item.object.isFault { return item.object.value(inSlot: slot) }
        }
        guard property.isPersistent else {
            guard let registered = identityMap[id], !registered.isFault,
                let slot = registered.binding.schema.property(property.number)?.slot
            else { return property.attribute?.defaultValue ?? .null }
            return registered.value(inSlot: slot)
        }
        return try underlyingValue(of: property, in: id)
    }

    /// The objects of a store that a query finds in the context.
    func currentFetch(_ query: Query, _ store: PersistentStore) throws -> [ObjectID] {
        processPendingChanges()
        return journal.isAtBase
            ? try underlyingFetch(query, store) : try fetchOverPending(query, store)
    }

    // MARK: - Positions

    /// How far the context has followed a store. One that was added after the context was made is
    /// followed from then on.
    func position(in store: PersistentStore) -> StorePosition {
        if let position = positions[store.number] { return position }
        let position = StorePosition(base: store.headWhenAdded)
        positions[store.number] = position
        return position
    }

    /// The entry whose state is read; nil for the newest.
    func position(toRead store: PersistentStore) throws -> SequenceNumber? {
        guard queryGeneration != nil else { return nil }
        if isPinningAtNextRead { try pin() }
        return positions[store.number]?.pinned ?? .zero
    }

    private func pin() throws {
        for store in coordinator.persistentStores {
            var position = position(in: store)
            position.pinned = try store.head()
            positions[store.number] = position
        }
        isPinningAtNextRead = false
    }

    /// What the context reads, if it is held to a state; nil when it reads the newest.
    public var queryGenerationToken: QueryGenerationToken? {
        assertOnQueue()
        guard queryGeneration != nil, !isPinningAtNextRead else { return queryGeneration }
        let pairs = coordinator.persistentStores.compactMap { store in
            positions[store.number]?.pinned.map { (store.identifier, $0) }
        }
        return QueryGenerationToken(sequences: Dictionary(pairs) { first, _ in first })
    }

    /// Holds the context to a state of its stores, until it saves, merges or is told otherwise. A
    /// speculative context is one no more then.
    ///
    /// Every fetch and every firing fault then reads that state, whatever others save. Objects that
    /// have been read keep their values; refresh them to see the state. A store that is added later
    /// is not seen before the generation is set anew.
    ///
    /// - Parameter token: ``QueryGenerationToken/current`` for the state at the next read, another
    ///   context's token for the state that one reads, nil for always the newest.
    /// - Throws: ``StoreError`` with code `generation` for a context with a parent, which always reads
    ///   what its parent has, and for one that reads a point in the past.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        requireQueue()
        guard parent == nil, !isReadOnly else {
            throw StoreError.noGeneration(isChild: parent != nil)
        }
        isSpeculative = false
        queryGeneration = token
        isPinningAtNextRead = token == .current
        for store in coordinator.persistentStores {
            var position = position(in: store)
            position.pin(at: token?.sequence(inStore: store.identifier))
            positions[store.number] = position
        }
    }
}

/// What tells the store that was asked for last, and how often stores had come and gone then.
struct StoreMark {
    let identifier: UUID
    let number: UInt32
    let attachments: UInt64

    /// The mark of no store.
    init() {
        identifier = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        number = 0
        attachments = .max
    }

    init(of store: PersistentStore, attachments: UInt64) {
        identifier = store.identifier
        number = store.number
        self.attachments = attachments
    }
}
