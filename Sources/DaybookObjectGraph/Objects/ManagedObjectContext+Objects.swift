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

    /// The instance for an identifier: the registered one or a new fault. Never reads the store; a
    /// missing record shows when the fault fires.
    ///
    /// - Returns: Nil when the identifier belongs to a store that the coordinator does not have.
    public func object(with id: ManagedObjectID) -> ManagedObject? {
        assertOnQueue()
        guard let id = parentStore.graphID(of: id) else { return nil }
        return object(id)
    }

    /// The object for an identifier, read from the store.
    ///
    /// - Throws: ``StoreError`` with code `noSuchObject` or `objectDeleted` when there is none; with
    ///   another code when the store cannot be read.
    /// - Complexity: O(log *n*) page reads for a fault, *n* the number of objects; otherwise O(1).
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
                // An instance without a record must not stay registered.
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
            "Entity '\(entityName)' is abstract: insert an object of one of its subentities.")
        let binding = binding(schema.number)
        require(
            binding.entity.type == type || type == ManagedObject.self,
            "Entity '\(entityName)' is represented by the class \(binding.entity.type).")
        registry[type] = binding
        return binding
    }

    /// The entity of which to make an object of a class.
    func entity(for type: ManagedObject.Type) -> EntityDescription {
        let name = registry[type]?.schema.name ?? type.entityName
        return EntityDescription(name: name)
    }

    /// An identifier for a new object. When the store cannot give one, the object gets one that cannot
    /// be saved, and the next save throws the reason.
    func newID(of binding: EntityBinding) -> GraphID {
        let entity = binding.schema.number
        guard !isReadOnly else { return coordinator.provisionalID(of: entity) }
        do {
            return try coordinator.newID(of: entity)
        } catch {
            terms.rememberInsertFailure(error)
            return coordinator.provisionalID(of: entity)
        }
    }

    // MARK: - Faults

    /// Reads a fault's record, as reading a property does.
    ///
    /// - Parameters:
    ///   - object: The fault.
    ///   - origin: Whether a row that another context holds will do.
    /// - Returns: Whether the record exists.
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

    /// Gives a fault the values of a row.
    func install(_ row: Row, in object: ManagedObject) {
        if let packed = row.packed { return install(packed, in: object) }
        let schema = object.binding.schema
        object.values = row.values + schema.defaults[schema.storedSlotCount...]
        finishReading(object, of: row.since)
    }

    /// Gives a fault the values of a row from the store.
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

    /// Gives a prepared fault its values.
    @usableFromInline func awakePrepared(_ object: ManagedObject) {
        let isRefreshed = object.status.isRefreshed
        if object.becomePrepared() { awakeFromFetch(object, isRefreshed: isRefreshed) }
    }

    /// Reverts the preparation of a fault.
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
    ///   - mergeChanges: True keeps what has been edited here and takes everything else from the store:
    ///     the edits then start from the store's values, and the next save overwrites those without a
    ///     conflict. An attribute with a ``MergeStrategy`` takes both changes. False drops what has been
    ///     edited, turns the object into a fault and releases its related objects. Either way undo leaves
    ///     alone what others have changed.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
        requireQueue()
        guard !object.status.isTemporary else { return }
        processPendingChanges()
        if mergeChanges { refreshMerging(object) } else { turnIntoFault(object) }
        forgetUntoldConflicts(of: object)
        news.record(object, as: .refreshed)
        postChanges()
    }

    /// Refreshes every registered object: edited ones keep their edits, the others become faults.
    public func refreshAllObjects() {
        requireQueue()
        processPendingChanges()
        for object in registry.objects where !object.status.isTemporary {
            if journal.net(of: object.graphID) == nil {
                turnIntoFault(object)
            } else {
                refreshMerging(object)
            }
            news.record(object, as: .refreshed)
        }
        registry.forgetBatches()
        terms.forgetConflicts()
        postChanges()
    }

    func turnIntoFault(_ object: ManagedObject) {
        advanceRevision()
        terms.forgetReferences(of: object)
        let wasFault = object.isFault
        let item = journal.net(of: object.graphID)
        let seen = wasFault || !object.isJournaled ? nil : item?.valuesSeen ?? object.values
        if let item {
            if let change = item.change { updateLists(touchedBy: change.inverse, of: object) }
            journal.forget(object, onlyUnsaved: true)
        }
        if let seen { followRefresh(of: object, from: seen) }
        if !wasFault { object.willTurnIntoFault() }
        object.relations = [:]
        // A refresh reads what the store has now, without the row that others share.
        object.binding.rows?.forget(object.graphID)
        object.letGoOfRow()
        object.becomeFault(.refresh)
        if !wasFault { object.didTurnIntoFault() }
    }

    /// Puts the list on what others have made of an object that is about to become a fault.
    private func followRefresh(of object: ManagedObject, from seen: [Value]) {
        do {
            let row = try parentStore.row(for: object, from: .store, within: stalenessInterval)
            if let row { followRefresh(of: object, from: seen, to: row.values) { _ in true } }
        } catch {
            inaccessibleFaultHandler?(object.objectID, error)
        }
    }

    /// Puts the list on the values of an object that others have changed.
    private func followRefresh(
        of object: ManagedObject, from seen: [Value], to theirs: [Value],
        where isConcerned: (PropertyNumber) -> Bool
    ) {
        let schema = object.binding.schema
        journal.gatheringRebases {
            for property in schema.slots.prefix(schema.storedSlotCount) {
                guard let slot = property.slot, seen[slot] != theirs[slot],
                    isConcerned(property.number)
                else { continue }
                journal.rebase(object, property.number, inSlot: slot, onto: theirs[slot])
            }
        }
    }

    func refreshMerging(_ object: ManagedObject) {
        guard !object.isFault else { return }
        advanceRevision()
        let mine = object.values
        let change = journal.change(of: object.graphID)
        object.undergo(.outdated)
        guard fire(object, from: .store) else {
            // What was read of a deleted object stays readable.
            object.values = mine
            object.undergo(.read)
            if object.status.isGone { dropPending(of: object) }
            return
        }
        followRefresh(of: object, from: mine, to: object.values) { change?.concerns($0) != true }
        if let change { rebase(change, of: object) }
        object.relations = [:]
        let schema = object.binding.schema
        for slot in schema.storedSlotCount..<schema.slots.count { object.values[slot] = mine[slot] }
        awake(object, .refresh)
    }

    /// Makes pending joins, leaves and moves of the members of a fault start from what lies below now.
    func rebasePending(ofFault object: ManagedObject) {
        guard let change = journal.change(of: object.graphID),
            case .update(_, let members) = change.kind, !members.isEmpty,
            fire(object, from: .store)
        else { return }
        rebase(change, of: object)
    }

    /// Puts pending edits on top of values that have just been read, and makes the edits start from
    /// these.
    private func rebase(_ change: Change, of object: ManagedObject) {
        let schema = object.binding.schema
        let read = UnderlyingObject(object: object, context: self)
        let kept = change.starting(from: read, of: schema, unmergeable: .kept)
        switch (change.kind, kept.kind) {
        case (.update(let edits, _), .update(let rebased, _)):
            for edit in edits {
                guard let slot = schema.slot(of: edit.property), object.values[slot] != edit.old
                else { continue }
                journal.rebase(
                    object, edit.property, inSlot: slot, onto: object.values[slot])
            }
            object.values.take(rebased, of: schema)
            // Lists that have nothing to do with the object stay as they were read.
            updateLists(touchedBy: change.inverse, of: object)
            journal.rebase(object, to: kept)
            for touching in [change, kept] { forgetLists(touchedBy: touching, object.graphID) }
            updateLists(touchedBy: kept, of: object)
        case (.delete(let seen, _), _):
            for property in schema.slots.prefix(schema.storedSlotCount) {
                guard let slot = property.slot, seen[slot] != object.values[slot] else { continue }
                journal.rebase(
                    object, property.number, inSlot: slot, onto: object.values[slot])
            }
            journal.rebase(object, to: kept)
            object.undergo(.deleted)
        default: break
        }
    }

    /// The members of a stored relationship in the parent store; none when they cannot be read.
    func readMembers(of property: SchemaProperty, in object: ManagedObject) -> [ObjectID: Double] {
        do {
            return try parentStore.members(of: property, in: object.graphID).orders
        } catch {
            inaccessibleFaultHandler?(object.objectID, error)
            return [:]
        }
    }

    // MARK: - Relationships

    /// The members of a relationship; none when they cannot be read.
    func loadMembers(of property: SchemaProperty, in object: ManagedObject) -> RelationMembers {
        do {
            return try currentMembers(of: property, in: object.graphID)
        } catch {
            inaccessibleFaultHandler?(object.objectID, error)
            var members = RelationMembers(read: [])
            journal.overlay(
                RelationKey(owner: object.graphID, property: property.number), on: &members)
            return members
        }
    }

    /// Makes the inverse of a stored to-one relationship follow an edit.
    func followReference(
        of owner: ManagedObject, _ property: SchemaProperty, from old: ObjectID?, to new: ObjectID?
    ) {
        RelationLink.ofReference(property, of: owner.graphID, from: old, to: new) { link in
            journal.record(link)
            updateList(over: link, of: owner)
        }
    }

    /// Makes the owner's own list and the inverse of a stored to-many relationship follow an edit.
    func followMembership(
        of owner: ManagedObject, _ property: SchemaProperty, _ member: ObjectID,
        from old: Double?, to new: Double?
    ) {
        RelationLink.ofMember(member, in: property, of: owner.graphID, from: old, to: new) { link in
            journal.record(link)
            updateList(over: link, of: owner)
        }
    }

    /// Makes lists follow what all pending changes do to relationships, after some changes have got
    /// other values to start from.
    func updateAllLists() {
        for item in journal.net {
            guard let change = item.change else { continue }
            forgetLists(touchedBy: change, item.object.graphID)
            updateLists(touchedBy: change, of: item.object)
        }
    }

    /// Makes lists that have been read follow a change that was made as a whole, by undo, rollback or
    /// merge.
    func updateLists(touchedBy change: Change, of object: ManagedObject) {
        if case .update(let edits, _) = change.kind {
            let schema = object.binding.schema
            for edit in edits where schema.property(edit.property)?.end != nil {
                object.relations[edit.property] = nil
            }
        }
        change.forEachLink(of: object) { updateList(over: $0, of: object) }
    }

    private func updateList(over link: RelationLink, of owner: ManagedObject) {
        let holder = link.key.owner == owner.graphID ? owner : registry[link.key.owner]
        holder?.updateList(of: link.key.property, link.member, order: link.new)
    }
}

extension Change {
    /// Whether the change says what becomes of a property's value, as a delete does of all.
    fileprivate func concerns(_ property: PropertyNumber) -> Bool {
        guard case .update(let edits, _) = kind else { return true }
        return edits.contains { $0.property == property }
    }
}

extension ManagedObject {
    /// Keeps a list that has been read up to date; one that has not will be read correctly.
    fileprivate func updateList(of property: PropertyNumber, _ member: ObjectID, order: Double?) {
        guard case .many? = relations[property] else { return }
        // An object that goes away with the list does so after the change: it may run code of the program.
        let objects = relations[property]?.objects
        relations[property]?.set(member, order: order)
        withExtendedLifetime(objects) {}
    }
}
