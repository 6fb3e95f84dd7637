import DaybookObjectModel
import DaybookStopping

extension ManagedObjectContext {
    /// Makes a new object of an entity.
    ///
    /// - Precondition: The model has an entity of that name, and it is not abstract.
    public func insertNewObject(forEntityName entityName: String) -> ManagedObject {
        let binding = binding(forInserting: entityName, as: ManagedObject.self)
        return binding.entity.type.init(
            entity: EntityDescription(name: entityName), insertInto: self)
    }

    /// Deletes an object. The record stays in the store until the context is saved.
    ///
    /// What becomes of related objects (the delete rules) is carried out when the event ends, or at
    /// once when ``propagatesDeletesAtEndOfEvent`` is false.
    public func delete(_ object: ManagedObject) {
        requireQueue()
        require(object.binding.context === self, "An object is deleted in its own context.")
        // Deleting a deleted object again does no more than ask it once more to prepare itself.
        guard object.isEditable || object.isPendingDelete else { return }
        object.prepareForDeletion()
        guard object.isEditable else { return }
        delete(object, cause: nil)
        if !propagatesDeletesAtEndOfEvent { propagateDeletes() }
    }

    func delete(_ object: ManagedObject, cause: ObjectID?) {
        guard object.realizeIfNeeded(), !object.status.isGone else { return }
        let members = recordDelete(of: object, cause: cause)
        object.undergo(.deleted)
        undeliveredDeletes.append(Deletion(object: object, members: members))
    }

    // MARK: - Recording

    func registerInsert(_ object: ManagedObject) {
        registry.register(object)
        recordInsert(of: object)
        object.awakeFromInsert()
    }

    /// Notes that an object is new; what is set in the same event needs no record of its own.
    func recordInsert(of object: ManagedObject) {
        object.eventIndex = Int32(event.count)
        object.undergo(.inserted)
        event.append(EventRecord(object: object, kind: .insert))
    }

    /// Notes that a property is about to change, before the new value is set.
    func recordEdit(of object: ManagedObject, slot: Int) {
        assertOnQueue()
        guard object.isEditable else { return }
        let property = object.binding.schema.slots[slot].number
        let key = RelationKey(owner: object.graphID, property: property)
        guard !isRecordingSuspended else { return noteStoredValue(of: object, slot: slot) }
        let old = registry.storedValue(key) ?? object.value(inSlot: slot)
        event[record(of: object)].touch(property, old)
    }

    /// Notes that a member joins, leaves or moves.
    func recordMembership(
        of object: ManagedObject, _ property: SchemaProperty, _ member: ObjectID,
        from old: Double?, to new: Double?
    ) {
        assertOnQueue()
        guard !isRecordingSuspended else { return }
        let index = record(of: object)
        let first = event[index].moves[property.number]?[member]
        event[index].moves[property.number, default: [:]][member] =
            EventRecord.Move(old: first.map(\.old) ?? old, new: new)
    }

    /// The object's record in the event, made if there is none.
    private func record(of object: ManagedObject) -> Int {
        if object.eventIndex < 0 {
            object.eventIndex = Int32(event.count)
            var record = EventRecord(object: object, kind: .update)
            // Objects that are edited one after the other are mostly edited alike.
            let expected = event.isEmpty ? 0 : event[event.count - 1].edits.count
            if expected > 1 { record.edits.reserveCapacity(expected) }
            event.append(record)
            object.undergo(.edited)
        }
        return Int(object.eventIndex)
    }

    /// - Returns: The members that were taken out of the object's own lists.
    private func recordDelete(
        of object: ManagedObject, cause: ObjectID?
    ) -> [PropertyNumber: [ObjectID]] {
        let schema = object.binding.schema
        let lists = schema.storedToMany.map { ($0, object.memberList(of: $0, self)) }
        let index = record(of: object)
        for (property, list) in lists {
            for (member, order) in list.orders {
                recordMembership(of: object, property, member, from: order, to: nil)
                noteMembership(of: object, property, member, from: order, to: nil)
            }
        }
        for property in schema.referenceSlots {
            let old = property.slot.flatMap { object.value(inSlot: $0).reference }
            noteReference(of: object, property, from: old, to: nil)
        }
        event[index].delete(valuesToDelete(of: object, event[index].edits), because: cause)
        return Dictionary(uniqueKeysWithValues: lists.map { ($0.number, $1.sorted) })
    }

    // MARK: - Events

    /// Ends the event: carries out delete rules, and makes what was changed since the last event one
    /// step for undo.
    public func processPendingChanges() {
        requireQueue()
        endEvent()
    }

    /// Ends the event as ``processPendingChanges()`` does.
    ///
    /// - Returns: What was changed in it, by delete rules as well.
    @discardableResult
    func endEvent() -> [RecordedChange] {
        propagateDeletes()
        registry.sweepIfDue()
        defer { postChanges() }
        guard !event.isEmpty else { return [] }
        noteRevision()
        var group: [RecordedChange] = []
        group.reserveCapacity(event.count)
        var records = event
        event = []
        eventCount += 1
        for index in records.indices {
            let object = records[index].object
            object.eventIndex = -1
            object.undergo(.eventEnded)
            if records[index].kind == .nothing { detach(object) }
            if let change = records[index].takeChange() {
                news.note(change, of: object)
                group.append(RecordedChange(object: object, change: change, isNet: true))
            } else if records[index].kind == .update {
                markTouched(object)
                news.note(object, as: .updated)
            }
        }
        guard !group.isEmpty else { return [] }
        undoManager?.prepareToRegister()
        if undoManager?.canRedo != true { terms.forgetIdleAttributions(in: pending) }
        let move = undoManager?.isRecording == true ? PendingChanges.Move.forward : .unrecorded
        for object in pending.append(group, move) { detach(object) }
        undoManager?.register(group)
        return group
    }

    /// An edit that came to nothing (A→B→A) leaves the object dirty until the next save.
    private func markTouched(_ object: ManagedObject) {
        guard pending[object.graphID] == nil else { return }
        let empty = Change(object: object.graphID.object, kind: .update(edits: [], members: []))
        pending.append(empty, of: object, .unrecorded)
    }

    /// Lets an object go that was inserted here and is no more.
    func detach(_ object: ManagedObject) {
        registry.remove(object)
        object.undergo(.detached)
        object.letGoOfRow()
    }

    // MARK: - Delete rules

    private func propagateDeletes() {
        while !undeliveredDeletes.isEmpty {
            let deletions = undeliveredDeletes
            undeliveredDeletes = []
            for deletion in deletions { propagate(deletion) }
            releaseAnnihilated(deletions.map(\.object))
        }
    }

    /// Takes back references without inverse to objects that were inserted and are deleted before
    /// they were ever saved. The store takes back those to objects that it knows.
    private func releaseAnnihilated(_ objects: [ManagedObject]) {
        let lost = Set(objects.lazy.filter { $0.status.isTemporary }.map(\.graphID))
        guard !lost.isEmpty, coordinator.model.schema.hasOneWayRelationships else { return }
        // Only who has changed since the last save can refer to what has never been saved.
        for holder in pending.items.map(\.object) + event.map(\.object) where holder.isEditable {
            for property in holder.binding.schema.properties where property.isOneWay {
                for other in holder.destinations(of: property) where lost.contains(other.graphID) {
                    holder.disown(other, through: property.number, self)
                    noteCause(other.graphID.object, of: holder)
                }
            }
        }
    }

    private func propagate(_ deletion: Deletion) {
        let object = deletion.object
        for (index, property) in object.binding.schema.properties.enumerated() {
            guard let relationship = property.relationship else { continue }
            // Nobody else's reference has to be taken back where only this end is stored.
            let isStored =
                property.end?.isStored == true && !property.isSelfInverse
            switch relationship.deleteRule {
            case .cascade:
                for other in formerDestinations(of: deletion, index) where !other.isDeleted {
                    other.prepareForDeletion()
                    guard other.isEditable else { continue }
                    delete(other, cause: object.graphID.object)
                }
            case .nullify where !isStored:
                guard let inverse = property.end?.inverse else { continue }
                for other in formerDestinations(of: deletion, index) where !other.isDeleted {
                    other.disown(object, through: inverse, self)
                    noteCause(object.graphID.object, of: other)
                }
            case .nullify, .deny, .noAction:
                continue
            }
        }
    }

    private func noteCause(_ cause: ObjectID, of object: ManagedObject) {
        guard object.eventIndex >= 0 else { return }
        event[Int(object.eventIndex)].cause = cause
    }

    /// What a relationship of a deleted object led to when it was deleted.
    private func formerDestinations(of deletion: Deletion, _ index: Int) -> [ManagedObject] {
        let object = deletion.object
        let property = object.binding.schema.properties[index]
        guard property.isStoredToMany else { return object.destinations(ofPropertyAt: index) }
        return (deletion.members[property.number] ?? []).map {
            self.object(GraphID(store: object.graphID.store, object: $0))
        }
    }
}

extension Schema {
    /// Whether any relationship has no inverse.
    fileprivate var hasOneWayRelationships: Bool {
        entities.contains { $0.properties.contains(where: \.isOneWay) }
    }
}

/// A deleted object with the members its own lists had then: by the time its delete rules are carried
/// out, the lists are empty.
struct Deletion {
    let object: ManagedObject
    let members: [PropertyNumber: [ObjectID]]
}
