import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
import Foundation

extension ManagedObjectContext {
    // MARK: - Identity

    /// The registered instance for an identifier, if there is one. Never reads the store.
    public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
        assertOnQueue()
        return parentStore.graphID(of: id).flatMap { registry[$0] }
    }

    /// The instance for an identifier: the registered one or a new fault. Never reads the store; if
    /// there is no such record, that shows when the fault fires.
    ///
    /// - Returns: Nil when the identifier belongs to a store that the coordinator does not have.
    public func object(with id: ManagedObjectID) -> ManagedObject? {
        assertOnQueue()
        guard let id = parentStore.graphID(of: id) else { return nil }
        return object(id)
    }

    /// The object for an identifier, read from the store.
    ///
    /// - Throws: ``StoreError`` with code `noSuchObject` or `objectDeleted` when there is none.
    public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
        requireQueue()
        guard let graphID = parentStore.graphID(of: id) else {
            throw StoreError.noSuchObject(id.description)
        }
        let isNew = registry[graphID] == nil
        let object = object(graphID)
        if object.isFault {
            do {
                try realize(object)
            } catch {
                // An instance without a record must not stay behind.
                if isNew { detach(object) }
                throw error
            }
        }
        if object.status.isGone { throw try parentStore.absence(of: graphID) }
        guard !object.isDeleted else { throw StoreError.noSuchObject(id.description) }
        return object
    }

    func object(_ id: GraphID) -> ManagedObject {
        registry.object(id) { binding(id.object.entity).makeFault(id) }
    }

    func binding(_ number: EntityNumber) -> EntityBinding {
        registry.binding(number, in: self)
    }

    func binding(forInserting entityName: String, as type: ManagedObject.Type) -> EntityBinding {
        requireQueue()
        if let binding = registry[type], binding.schema.name == entityName {
            return binding
        }
        guard let schema = coordinator.model.schema.entity(named: entityName) else {
            stop("Entity '\(entityName)' is not in the model of this context.")
        }
        require(
            !schema.isAbstract,
            "Entity '\(entityName)' is abstract: insert an object of one of its sub-entities.")
        let binding = binding(schema.number)
        require(
            binding.entity.type == type || type == ManagedObject.self,
            "Entity '\(entityName)' is represented by the class \(binding.entity.type).")
        registry[type] = binding
        return binding
    }

    /// What to make an object of a class of.
    func entity(for type: ManagedObject.Type) -> EntityDescription {
        let name = registry[type]?.schema.name ?? type.entityName
        return EntityDescription(name: name)
    }

    /// An identifier for a new object. When the store has none to give, the object gets one that
    /// cannot be saved, and the next save throws the reason.
    func newID(of binding: EntityBinding) -> GraphID {
        let entity = binding.schema.number
        guard !isReadOnly else { return coordinator.provisionalID(of: entity) }
        do {
            return try coordinator.newID(of: entity)
        } catch {
            terms.noteInsertFailure(error)
            return coordinator.provisionalID(of: entity)
        }
    }

    // MARK: - Faults

    /// Reads a fault's record, as a property that is asked for does it.
    ///
    /// - Parameters:
    ///   - object: The fault.
    ///   - origin: Whether a row that another context holds will do.
    /// - Returns: Whether the record was there.
    func fire(_ object: ManagedObject, from origin: ReadSource = .anywhere) -> Bool {
        failure(firing: object, from: origin) == nil
    }

    /// Reads a fault's record.
    ///
    /// - Throws: ``StoreError`` with code `objectDeleted`, naming the entry, its author and time, when
    ///   the record has been deleted.
    func realize(_ object: ManagedObject, from origin: ReadSource = .anywhere) throws {
        assertOnQueue()
        if origin == .anywhere, registry.hasBatches, try fireBatch(of: object) { return }
        let row = try parentStore.row(for: object, from: origin, within: stalenessInterval)
        guard let row else { throw try parentStore.absence(of: object.graphID) }
        install(row, in: object)
    }

    /// Makes a fault an object with the values of a row.
    func install(_ row: Row, in object: ManagedObject) {
        if let packed = row.packed { return install(packed, in: object) }
        let schema = object.binding.schema
        object.values = row.values + schema.defaults[schema.storedSlotCount...]
        finishReading(object, of: row.since)
    }

    /// Makes a fault an object with the values of a row as the store has it.
    func install(_ row: EncodedRow, in object: ManagedObject) {
        object.take(row)
        finishReading(object, of: row.since)
    }

    private func finishReading(_ object: ManagedObject, of since: SequenceNumber) {
        object.since = since.rawValue
        let isRefreshed = object.status.isRefreshed
        object.undergo(.read)
        awakeFromFetch(object, isRefreshed: isRefreshed)
    }

    private func awakeFromFetch(_ object: ManagedObject, isRefreshed: Bool) {
        registry.forgetStoredValues(of: object)
        withoutRecording { object.awakeFromFetch() }
        if isRefreshed { awake(object, .refresh) }
    }

    /// Makes a fault that was prepared an object with values.
    @usableFromInline func awakePrepared(_ object: ManagedObject) {
        let isRefreshed = object.status.isRefreshed
        if object.becomePrepared() { awakeFromFetch(object, isRefreshed: isRefreshed) }
    }

    /// Makes a fault that was prepared one as before.
    @usableFromInline func forgetPrepared(_ object: ManagedObject) { object.forgetPrepared() }

    func withoutRecording(_ body: () -> Void) {
        let outer = isRecordingSuspended
        isRecordingSuspended = true
        defer { isRecordingSuspended = outer }
        body()
    }

    // MARK: - Refreshing

    /// Takes an object's values from the store again.
    ///
    /// - Parameters:
    ///   - object: An object of this context that is not newly inserted.
    ///   - mergeChanges: True keeps what has been edited here and takes everything else from the
    ///     store: the edits then stand on the store's values, and the next save writes them over
    ///     those without a conflict. An attribute with a ``MergeStrategy`` takes both changes. False
    ///     drops what has been edited, turns the object into a fault and lets go of its related
    ///     objects.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
        requireQueue()
        guard !object.status.isTemporary else { return }
        processPendingChanges()
        if mergeChanges { refreshMerging(object) } else { turnIntoFault(object) }
        forgetUntoldConflicts(of: object)
        news.note(object, as: .refreshed)
        postChanges()
    }

    /// Refreshes every registered object: edited ones keep their edits, the others become faults.
    public func refreshAllObjects() {
        requireQueue()
        processPendingChanges()
        for object in registry.objects where !object.status.isTemporary {
            if pending[object.graphID] == nil {
                turnIntoFault(object)
            } else {
                refreshMerging(object)
            }
            news.note(object, as: .refreshed)
        }
        registry.forgetBatches()
        terms.forgetConflicts()
        postChanges()
    }

    func turnIntoFault(_ object: ManagedObject) {
        noteRevision()
        terms.forgetReferences(of: object)
        if let item = pending[object.graphID] {
            if let change = item.change { withdrawReferences(of: change, object) }
            pending.remove(object.graphID)
            undoManager?.forgetUnsaved(object)
        }
        let wasFault = object.isFault
        if !wasFault { object.willTurnIntoFault() }
        object.relations = [:]
        // A refresh asks for what the store has now, also of the row that others share.
        object.binding.rows?.forget(object.graphID)
        object.letGoOfRow()
        object.becomeFault(.refresh)
        if !wasFault { object.didTurnIntoFault() }
    }

    func refreshMerging(_ object: ManagedObject) {
        guard !object.isFault else { return }
        noteRevision()
        let mine = object.values
        let change = pending[object.graphID]?.change
        object.undergo(.outdated)
        guard fire(object, from: .store) else {
            // What was read of a deleted object stays readable.
            object.values = mine
            object.undergo(.read)
            if object.status.isGone { dropPending(of: object) }
            return
        }
        if let change { rebase(change, of: object) }
        object.relations = [:]
        let schema = object.binding.schema
        for slot in schema.storedSlotCount..<schema.slots.count { object.values[slot] = mine[slot] }
        awake(object, .refresh)
    }

    /// Puts pending edits on top of values that have just been read, and notes the values read as
    /// what the edits start from.
    private func rebase(_ change: Change, of object: ManagedObject) {
        let schema = object.binding.schema
        let read = UnderlyingObject(object: object, context: self)
        let kept = change.starting(from: read, of: schema, unmergeable: .kept)
        switch (change.kind, kept.kind) {
        case (.update(let edits, _), .update(let rebased, _)):
            for edit in edits {
                guard let slot = schema.slot(of: edit.property), object.values[slot] != edit.old
                else { continue }
                undoManager?.rebase(
                    object, edit.property, inSlot: slot, onto: object.values[slot])
            }
            object.values.take(rebased, of: schema)
            // Lists that have nothing to do with the object stay as they were read.
            withdrawReferences(of: change, object)
            pending.replace(object.graphID, with: kept.isEmpty ? nil : kept)
            for touching in [change, kept] { forgetLists(touchedBy: touching, object.graphID) }
            noteReferences(of: kept, object)
        case (.delete(let seen, _), _):
            for property in schema.slots.prefix(schema.storedSlotCount) {
                guard let slot = property.slot, seen[slot] != object.values[slot] else { continue }
                undoManager?.rebase(
                    object, property.number, inSlot: slot, onto: object.values[slot])
            }
            pending.replace(object.graphID, with: kept)
            object.undergo(.deleted)
        default: break
        }
    }

    /// The members of a stored relationship as they stand under the context; none when they cannot be
    /// read.
    func readMembers(of property: SchemaProperty, in object: ManagedObject) -> [ObjectID: Double] {
        do {
            return try parentStore.members(of: property, in: object.graphID)
        } catch {
            inaccessibleFaultHandler?(object.objectID, error)
            return [:]
        }
    }

    // MARK: - Relationships

    /// The members of a relationship; none when they cannot be read.
    func loadMembers(of property: SchemaProperty, in object: ManagedObject) -> [ObjectID: Double] {
        do {
            return try currentMembers(of: property, in: object.graphID)
        } catch {
            inaccessibleFaultHandler?(object.objectID, error)
            var members: [ObjectID: Double] = [:]
            deltas.overlay(
                RelationKey(owner: object.graphID, property: property.number), on: &members)
            return members
        }
    }

    /// Makes the inverse of a stored to-one relationship follow.
    func noteReference(
        of owner: ManagedObject, _ property: SchemaProperty, from old: ObjectID?, to new: ObjectID?
    ) {
        guard let inverse = property.opposite else { return }
        if let old { note(owner, in: old, inverse, from: 0, to: nil) }
        if let new { note(owner, in: new, inverse, from: nil, to: 0) }
    }

    /// Makes the owner's own list and the inverse of a stored to-many relationship follow.
    func noteMembership(
        of owner: ManagedObject, _ property: SchemaProperty, _ member: ObjectID,
        from old: Double?, to new: Double?
    ) {
        let key = RelationKey(owner: owner.graphID, property: property.number)
        deltas.note(key, member, from: old, to: new)
        owner.updateList(of: property.number, member, order: new)
        guard let inverse = property.opposite else { return }
        note(owner, in: member, inverse, from: old.map { _ in 0 }, to: new.map { _ in 0 })
    }

    private func note(
        _ owner: ManagedObject, in destination: ObjectID, _ inverse: PropertyNumber,
        from old: Double?, to new: Double?
    ) {
        let id = GraphID(store: owner.graphID.store, object: destination)
        let key = RelationKey(owner: id, property: inverse)
        deltas.note(key, owner.graphID.object, from: old, to: new)
        registry[id]?.updateList(of: inverse, owner.graphID.object, order: new)
    }

    /// Notes anew what all pending changes do to relationships, after some of them have come to
    /// stand on other values than they were made from.
    func noteAllReferences() {
        deltas.removeAll()
        for item in Array(pending.items) {
            guard let change = item.change else { continue }
            forgetLists(touchedBy: change, item.object.graphID)
            noteReferences(of: change, item.object)
        }
    }

    /// Takes back from the inverses what a change that is being dropped had noted there.
    func withdrawReferences(of change: Change, _ object: ManagedObject) {
        noteReferences(of: change.inverse, object)
    }

    /// Makes all inverses follow a change that was made as a whole, by undo, rollback or merge.
    func noteReferences(of change: Change, _ object: ManagedObject) {
        let schema = object.binding.schema
        guard !schema.referenceSlots.isEmpty || !change.members.isEmpty else { return }
        if case .update(let edits, _) = change.kind {
            for edit in edits where schema.property(edit.property)?.end != nil {
                object.relations[edit.property] = nil
            }
        }
        change.forEachReference(of: schema) { reference in
            note(
                object, reference.property, reference.destination, from: reference.old,
                to: reference.new)
        }
    }

    /// Makes the inverse of a stored relationship follow, and the owner's own list where there may be
    /// many.
    private func note(
        _ owner: ManagedObject, _ property: SchemaProperty, _ destination: ObjectID,
        from old: Double?, to new: Double?
    ) {
        guard property.slot != nil else {
            return noteMembership(of: owner, property, destination, from: old, to: new)
        }
        noteReference(
            of: owner, property, from: old.map { _ in destination },
            to: new.map { _ in destination })
    }
}

extension ManagedObject {
    /// Keeps a list that has been read up to date; one that has not will be read right.
    fileprivate func updateList(of property: PropertyNumber, _ member: ObjectID, order: Double?) {
        guard case .many(var list)? = relations[property] else { return }
        if let order { list.add(member, order: order) } else { list.remove(member) }
        relations[property] = .many(list)
    }
}
