import DaybookObjectModel
import DaybookSnapshotStore
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
    /// The delete rules for related objects are applied when the event ends, or at once when
    /// ``propagatesDeletesAtEndOfEvent`` is false. A cascade spares what an unordered list still has
    /// and others have taken out of it: neither the object nor what lies under the context leads back.
    ///
    /// - Precondition: The object is one of this context.
    public func delete(_ object: ManagedObject) {
        requireQueue()
        require(object.binding.context === self, "An object is deleted in its own context.")
        // Deleting a deleted object again only calls its hook once more.
        guard object.isEditable || object.isPendingDelete else { return }
        object.prepareForDeletion()
        guard object.isEditable else { return }
        delete(object, cause: nil)
        if !propagatesDeletesAtEndOfEvent { propagateDeletes() }
    }

    /// Deletes an object; nil for no cause is a delete that the program asked for. Those who held it
    /// earlier let go of it as well as those who hold it now.
    func delete(
        _ object: ManagedObject, cause: ObjectID?,
        heldBy holders: [PropertyNumber: [ObjectID]] = [:]
    ) {
        guard object.realizeToChange(), !object.status.isGone else { return }
        let members = recordDelete(of: object, cause: cause)
        object.undergo(.deleted)
        undeliveredDeletes.append(
            Deletion(object: object, members: members, holders: holders))
    }

    // MARK: - Recording

    func registerInsert(_ object: ManagedObject) {
        registry.register(object)
        recordInsert(of: object)
        object.awakeFromInsert()
    }

    /// Records that an object is new; what is set in the same event needs no record of its own.
    func recordInsert(of object: ManagedObject) {
        journal.recordInsert(of: object)
    }

    /// Records that a property is about to change, before the new value is set.
    func recordEdit(of object: ManagedObject, slot: Int) {
        assertOnQueue()
        guard object.isEditable else { return }
        let property = object.binding.schema.slots[slot].number
        let key = RelationKey(owner: object.graphID, property: property)
        guard !isRecordingSuspended else { return rememberStoredValue(of: object, slot: slot) }
        let old = registry.storedValue(key) ?? object.value(inSlot: slot)
        journal.recordEdit(property, from: old, of: object)
    }

    /// Records that a member joins, leaves or moves.
    func recordMembership(
        of object: ManagedObject, _ property: SchemaProperty, _ member: ObjectID,
        from old: Double?, to new: Double?
    ) {
        assertOnQueue()
        guard !isRecordingSuspended else { return }
        journal.recordMembership(member, in: property.number, of: object, from: old, to: new)
    }

    /// - Returns: The members that were taken out of the object's own lists.
    private func recordDelete(
        of object: ManagedObject, cause: ObjectID?
    ) -> [PropertyNumber: [ObjectID]] {
        let schema = object.binding.schema
        let lists = schema.storedToMany.map { ($0, object.memberList(of: $0, self)) }
        for (property, list) in lists {
            for (member, order) in list.orders
            where !isDeletedBefore(member, property, object) {
                recordMembership(of: object, property, member, from: order, to: nil)
                followMembership(of: object, property, member, from: order, to: nil)
            }
        }
        for property in schema.referenceSlots {
            let old = property.slot.flatMap { object.value(inSlot: $0).reference }
            followReference(of: object, property, from: old, to: nil)
        }
        var barring: [PropertyNumber: [ObjectID]] = [:]
        for property in schema.properties where property.barsDelete {
            if let slot = property.slot {
                barring[property.number] = [object.value(inSlot: slot).reference].compactMap(\.self)
            } else if let (_, list) = lists.first(where: { $0.0.number == property.number }) {
                barring[property.number] = list.sorted
            }
        }
        registry.rememberBarring(barring, of: object)
        let edits = journal.record(of: object)?.edits ?? []
        journal.recordDelete(of: object, valuesToDelete(of: object, edits), because: cause)
        return Dictionary(uniqueKeysWithValues: lists.map { ($0.number, $1.sorted) })
    }

    /// Whether a member of a list has been deleted here in an earlier event, and others have put it into the list
    /// since: an undo of the owner's delete is not to lead to it.
    private func isDeletedBefore(
        _ member: ObjectID, _ property: SchemaProperty, _ owner: ManagedObject
    ) -> Bool {
        guard !property.isOneWay,
            let other = registry[GraphID(store: owner.graphID.store, object: member)]
        else { return false }
        return other.status.isPendingDelete && journal.record(of: other) == nil
    }

    // MARK: - Events

    /// Ends the event: applies delete rules, and makes the changes since the last event one undo step.
    public func processPendingChanges() {
        requireQueue()
        endEvent()
    }

    /// Ends the event as ``processPendingChanges()`` does.
    ///
    /// - Returns: The changes of the event, including those by delete rules.
    @discardableResult
    func endEvent() -> [RecordedChange] {
        propagateDeletes()
        registry.sweepIfDue()
        defer { postChanges() }
        guard journal.hasEvent else { return [] }
        advanceRevision()
        var records = journal.endEvent()
        var changes: [RecordedChange] = []
        changes.reserveCapacity(records.count)
        for index in records.indices {
            let object = records[index].object
            if records[index].kind == .nothing { detach(object) }
            if let change = records[index].takeChange() {
                news.record(change, of: object)
                changes.append(RecordedChange(object: object, change: change, isNet: true))
            } else if records[index].kind == .update {
                journal.touch(object)
                news.record(object, as: .updated)
            }
        }
        if !changes.isEmpty { append(changes) }
        return changes
    }

    private func append(_ changes: [RecordedChange]) {
        let destination = undoManager?.destination
        if destination != nil || journal.list.redoCount == 0 {
            terms.forgetIdleAttributions(in: journal)
        }
        let (isStep, annihilated) = journal.append(changes, to: destination)
        for object in annihilated { detach(object) }
        if isStep { undoManager?.post(.didCloseGroup) }
    }

    /// Takes an object that no longer exists out of the context.
    func detach(_ object: ManagedObject) {
        let mayBeThere = object.status.isReturned
        registry.remove(object)
        object.undergo(.detached)
        object.letGoOfRow()
        if mayBeThere { forgetLists(showing: object.graphID) }
    }

    /// Lets lists be read again in which an object stands that has come to nothing here, and that others have brought
    /// back as well: what they have of it counts then.
    private func forgetLists(showing id: GraphID) {
        do {
            guard let row = try underlyingRow(of: id) else { return }
            for property in binding(id.object.entity).schema.properties {
                guard let inverse = property.opposite else { continue }
                var destinations: [ObjectID] = []
                if let slot = property.slot {
                    destinations = row.values[slot].reference.map { [$0] } ?? []
                } else if property.isStoredToMany {
                    destinations = try parentStore.members(of: property, in: id).sorted
                }
                for destination in destinations {
                    let holder = registry[GraphID(store: id.store, object: destination)]
                    holder?.relations[inverse] = nil
                }
            }
        } catch {
            mergeFailureHandler?(error)
        }
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

    /// Takes back references without inverse to objects that were inserted and deleted without ever
    /// being saved. The store takes back those to objects that it knows.
    private func releaseAnnihilated(_ objects: [ManagedObject]) {
        let lost = Set(objects.lazy.filter { $0.status.isTemporary }.map(\.graphID))
        guard !lost.isEmpty, coordinator.model.schema.hasOneWayRelationships else { return }
        // Only an object that has changed since the last save can refer to one that has never been
        // saved.
        for holder in journal.net.map(\.object) + journal.records.map(\.object)
        where holder.isEditable {
            for property in holder.binding.schema.properties where property.isOneWay {
                for other in holder.destinations(of: property) where lost.contains(other.graphID) {
                    holder.disown(other, through: property.number, self)
                    journal.record(cause: other.graphID.object, of: holder)
                }
            }
        }
    }

    private func propagate(_ deletion: Deletion) {
        let object = deletion.object
        for (index, property) in object.binding.schema.properties.enumerated() {
            guard let relationship = property.relationship else { continue }
            // Where only this end is stored, no other reference has to be taken back.
            let isStored =
                property.end?.isStored == true && !property.isSelfInverse
            switch relationship.deleteRule {
            case .cascade:
                for other in formerDestinations(of: deletion, index)
                where !other.isDeleted && leads(other, to: object, against: property) {
                    other.prepareForDeletion()
                    guard other.isEditable else { continue }
                    delete(other, cause: object.graphID.object)
                }
            case .nullify where !isStored:
                guard let inverse = property.end?.inverse else { continue }
                for other in formerDestinations(of: deletion, index) where !other.isDeleted {
                    other.disown(object, through: inverse, self)
                    journal.record(cause: object.graphID.object, of: other)
                }
            case .nullify, .deny, .noAction:
                continue
            }
        }
    }

    /// Whether a member of a relationship refers to its owner, where the reference is the member's. If they disagree,
    /// either has been read before others have changed it: what lies under the context decides, so that nothing is
    /// deleted that others have taken out of the list, and all that they have put in.
    private func leads(
        _ member: ManagedObject, to owner: ManagedObject, against property: SchemaProperty
    ) -> Bool {
        guard property.isExclusive, let inverse = property.opposite,
            let slot = member.binding.schema.slot(of: inverse), member.realizeIfNeeded(),
            member.value(inSlot: slot).reference != owner.graphID.object
        else { return true }
        do {
            let below = try underlyingRow(of: member.graphID)
            return below?.values[slot].reference == owner.graphID.object
        } catch {
            // What cannot be read is left to the save, which reports it.
            return true
        }
    }

    /// What a relationship of a deleted object led to when it was deleted.
    private func formerDestinations(of deletion: Deletion, _ index: Int) -> [ManagedObject] {
        let object = deletion.object
        let property = object.binding.schema.properties[index]
        func objects(_ ids: [ObjectID]?) -> [ManagedObject] {
            (ids ?? []).map { self.object(GraphID(store: object.graphID.store, object: $0)) }
        }
        guard !property.isStoredToMany else { return objects(deletion.members[property.number]) }
        let now = object.destinations(ofPropertyAt: index)
        guard let holders = deletion.holders[property.number], !holders.isEmpty else { return now }
        let known = Set(now.map(\.graphID.object))
        return now + objects(holders.filter { !known.contains($0) })
    }
}

extension SchemaProperty {
    /// Whether it is a relationship with the rule `deny` that is kept with the object itself. What it leads to has to
    /// be noted when the object is deleted: the net change starts at the last save.
    fileprivate var barsDelete: Bool {
        relationship?.deleteRule == .deny && (slot != nil || isStoredToMany)
    }
}

extension Schema {
    /// Whether any relationship has no inverse.
    fileprivate var hasOneWayRelationships: Bool {
        entities.contains { $0.properties.contains(where: \.isOneWay) }
    }
}

/// A deleted object with the members its own lists had then: by the time its delete rules are applied,
/// the lists are empty.
struct Deletion {
    let object: ManagedObject
    let members: [PropertyNumber: [ObjectID]]
    /// Who held the object when that was last read, if it is read again.
    let holders: [PropertyNumber: [ObjectID]]
}
