public import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping

// MARK: - Which store an object goes to

extension ManagedObjectContext {
    /// Assigns a new object to a store, where the next save puts it. Otherwise an object goes to the
    /// first store that can be written and holds its entity.
    ///
    /// The object gets its final identifier. Assign an object before relating it, and before a child of
    /// this context has seen it.
    ///
    /// - Parameters:
    ///   - object: An object of this context that has never been saved and is related to none.
    ///   - store: A store of the coordinator.
    /// - Throws: ``StoreError`` with code `assignment` when the object has been saved, is related, or
    ///   the store does not hold its entity; with `readOnly` or `noSuchStore` for a store that cannot
    ///   be used. The object is as it was then.
    /// - Complexity: O(*k*), *k* the number of objects that have changed and of steps to undo.
    /// - Precondition: The object belongs to this context.
    public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
        requireQueue()
        require(
            object.binding.context === self, "An object is assigned in its own context.")
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        guard coordinator.has(store) else { throw StoreError.noSuchStore(store.name) }
        let name = object.objectID.description
        guard object.isInserted, object.isEditable else {
            throw StoreError.notAssignable(
                name, because: "it has been saved, and an object stays in the store it is in.")
        }
        let entity = object.binding.schema
        guard store.holds(entity.number) else {
            throw StoreError.notAssignable(
                name, because: "'\(store.name)' holds no objects of '\(entity.name)'.")
        }
        guard !store.isReadOnly else { throw StoreError.readOnlyStore(store) }
        guard store.number != object.graphID.store || object.graphID.isProvisional else { return }
        try refuseRelated(object)
        let number = try store.store.allocateObjectNumber()
        move(object, to: ObjectID(entity: entity.number, number: number), in: store)
    }

    /// Makes the identifiers of new objects count as permanent before the objects are saved.
    ///
    /// Identifiers are the same from birth, so nothing but ``ManagedObjectID/isTemporaryID`` changes,
    /// unless there was no store for an object when it was made: it then gets its store and identifier
    /// now. The objects are still pending inserts. Saved objects are skipped.
    ///
    /// - Throws: ``StoreError`` with code `noSuchStore` or `readOnly` when there is still no store for
    ///   an object; with `assignment` when such an object is related already. Objects before it have
    ///   permanent identifiers then.
    /// - Precondition: The objects belong to this context.
    public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
        requireQueue()
        for object in objects {
            require(
                object.binding.context === self,
                "Permanent identifiers are obtained in the objects' own context.")
            guard object.isInserted else { continue }
            if object.graphID.isProvisional {
                guard !isReadOnly else { throw StoreError.readOnlyContext() }
                let store = try coordinator.store(forNew: object.binding.schema.number)
                try assign(object, to: store)
            }
            object.undergo(.promisedIdentifier)
        }
    }

    /// Refuses an object that others refer to by its identifier, or that refers to others.
    private func refuseRelated(_ object: ManagedObject) throws {
        let related = object.binding.schema.properties.first { property in
            guard property.end != nil else { return false }
            if let slot = property.slot { return object.value(inSlot: slot).reference != nil }
            return object.memberList(of: property, self).count > 0
        }
        guard related == nil, !isReferredTo(object.graphID) else {
            throw StoreError.notAssignable(
                object.objectID.description,
                because: "it is related to others. Assign objects first, and relate them then.")
        }
    }

    /// Whether another changed object refers to a new one over a relationship without inverse, of which the
    /// new one knows nothing.
    private func isReferredTo(_ id: GraphID) -> Bool {
        let changed = journal.net.map(\.object) + journal.records.map(\.object)
        return changed.contains { other in
            guard other.graphID.store == id.store, other.isEditable, !other.isFault else {
                return false
            }
            return other.binding.schema.properties.contains { property in
                guard property.isOneWay else { return false }
                if let slot = property.slot {
                    return other.value(inSlot: slot).reference == id.object
                }
                return other.memberList(of: property, self).order(of: id.object) != nil
            }
        }
    }

    /// Gives a new object another identifier everywhere it is known.
    private func move(_ object: ManagedObject, to id: ObjectID, in store: PersistentStore) {
        let old = object.graphID
        advanceRevision()
        registry.move(object, to: GraphID(store: store.number, object: id))
        object.relations = [:]
        journal.move(object, from: old)
        terms.moveReferences(of: object)
    }
}

extension Change {
    /// This change without its changes to relationships.
    func unrelated(of entity: SchemaEntity) -> Kind {
        func emptied(_ values: [Value]) -> [Value] {
            values.map { $0.reference == nil ? $0 : .null }
        }
        return switch kind {
        case .insert(let values, _): .insert(values: emptied(values), members: [])
        case .update(let edits, _):
            .update(edits: edits.filter { entity.property($0.property)?.end == nil }, members: [])
        case .delete(let values, _): .delete(values: emptied(values), members: [])
        }
    }
}

// MARK: - Stores that come and go

extension ManagedObjectContext {
    /// Refuses another coordinator or nil.
    ///
    /// To disconnect a context, let it go.
    ///
    /// - Throws: ``StoreError`` with code `coordinator`, unless it is the context's own.
    public func setPersistentStoreCoordinator(
        _ coordinator: PersistentStoreCoordinator?
    ) throws {
        guard coordinator === self.coordinator else { throw StoreError.keepsCoordinator() }
    }

    /// Follows a store that was added to the coordinator.
    func beginFollowing(_ store: PersistentStore) {
        parentStore.add(store, for: self)
        tellListsOfEverything(isReset: true)
    }

    /// Makes the objects of a store that was removed from the coordinator unreadable. Their pending changes
    /// stay, and the next save refuses them.
    func endFollowing(_ store: PersistentStore) {
        guard !coordinator.has(store) else { return }
        parentStore.remove(store)
        guard coordinator.store(store.number) == nil else { return }
        processPendingChanges()
        for object in registry.objects
        where object.graphID.store == store.number && journal.net(of: object.graphID) == nil {
            turnIntoFault(object)
            news.record(object, as: .invalidated)
        }
        tellListsOfEverything(isReset: true)
        postChanges()
    }

    /// Follows a store at another location.
    func follow(_ store: PersistentStore, insteadOf old: PersistentStore) {
        parentStore.replace(old, with: store, for: self)
        tellListsOfEverything(isReset: true)
    }
}

extension EntityDescription {
    /// The description of an entity in the model of a context's coordinator; nil when it has none of
    /// that name.
    public static func entity(
        forEntityName name: String, in context: ManagedObjectContext
    ) -> EntityDescription? {
        context.coordinator.managedObjectModel.entitiesByName[name]
    }
}
