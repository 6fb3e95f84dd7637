public import DaybookObjectModel
import DaybookStopping

// What has changed comes from the context's journal; nothing else is kept about it.

extension ManagedObject {
    /// The values of the properties that differ from what was last read or saved.
    ///
    /// A to-one relationship gives a ``ManagedObject``, a to-many one an array of them, as
    /// ``value(forKey:)`` does; a property that has been cleared is included with nil. A new object's
    /// values are compared with the defaults in the model, so that a default which is evaluated for each
    /// object counts as changed. Transient properties are included.
    ///
    /// - Complexity: O(*p*), *p* the number of properties; relationships that have not changed are not
    ///   read.
    public func changedValues() -> [String: Any?] {
        guard !isFault, !isDeleted, !status.isDetached else { return [:] }
        let compared = isInserted ? binding.schema.defaults : committedSlots
        var changed: [String: Any?] = [:]
        for property in binding.schema.properties where differs(property, from: compared) {
            changed.updateValue(value(forKey: property.name), forKey: property.name)
        }
        return changed
    }

    /// The values that properties had when they were last read or saved; nil for all properties of an
    /// object that has never been saved.
    ///
    /// - Parameter keys: The names of properties; all when nil.
    /// - Returns: A value for each name, in the forms of ``changedValues()``.
    /// - Precondition: The entity has properties of these names.
    /// - Complexity: O(*p*), and a read of each relationship asked for that is still a fault.
    public func committedValues(forKeys keys: [String]? = nil) -> [String: Any?] {
        let properties = keys?.map { property(named: $0) } ?? binding.schema.properties
        guard !isInserted else {
            return Dictionary(properties.map { ($0.name, nil) }) { first, _ in first }
        }
        realizeIfNeeded()
        let committed = committedSlots
        var found: [String: Any?] = [:]
        for property in properties {
            found.updateValue(committedValue(of: property, committed), forKey: property.name)
        }
        return found
    }

    /// The values that properties had before the event that is being recorded, of those that have
    /// changed in it.
    ///
    /// An event ends with ``ManagedObjectContext/processPendingChanges()``, which a save, a fetch and
    /// undo begin with.
    ///
    /// - Complexity: O(*k*), *k* the number of objects changed in the event.
    public func changedValuesForCurrentEvent() -> [String: Any?] {
        var changed = derivedValuesForCurrentEvent()
        guard let record = currentRecord else { return changed }
        for edit in record.edits {
            guard let property = binding.schema.property(edit.property), let slot = property.slot,
                edit.old != value(inSlot: slot)
            else { continue }
            changed.updateValue(payload(of: edit.old, property), forKey: property.name)
        }
        for (number, moves) in record.moves {
            guard let property = binding.schema.property(number), let context = binding.context,
                moves.contains(where: { $0.value.old != $0.value.new })
            else { continue }
            var orders = memberList(of: property, context).orders
            for (member, move) in moves { orders[member] = move.old }
            changed.updateValue(objects(MemberList(orders), context), forKey: property.name)
        }
        return changed
    }

    /// The relationships whose other end is stored, as they were before the event.
    private func derivedValuesForCurrentEvent() -> [String: Any?] {
        guard let context = binding.context else { return [:] }
        var changed: [String: Any?] = [:]
        for property in binding.schema.properties {
            guard let end = property.end, !end.isStored, let inverse = end.inverse else { continue }
            var orders: [ObjectID: Double]?
            for record in context.journal.records {
                let link = record.link(over: inverse, to: graphID.object)
                guard link.before != link.after else { continue }
                orders = orders ?? memberList(of: property, context).orders
                orders?[record.object.graphID.object] = link.before ? 0 : nil
            }
            guard let orders else { continue }
            let objects = objects(MemberList(orders), context)
            let isToMany = property.relationship?.isToMany == true
            changed.updateValue(isToMany ? objects : objects.first, forKey: property.name)
        }
        return changed
    }

    /// Whether a save of the object would change what the store has: whether any property but
    /// transient ones differs from what was last read or saved. Fires no relationship.
    ///
    /// This differs from ``hasChanges``, which stays true until the save when a value was changed and
    /// changed back.
    public var hasPersistentChangedValues: Bool {
        guard hasChanges, !isFault else { return false }
        if isInserted || status.isPendingDelete { return true }
        let committed = committedSlots
        return binding.schema.properties.contains {
            $0.isPersistent && differs($0, from: committed)
        }
    }

    // MARK: - Primitive values

    /// The stored form of an attribute, without firing the object: null while it is a fault.
    ///
    /// - Precondition: The entity has an attribute of that name.
    public func primitiveValue(forKey key: String) -> Value {
        let slot = attributeSlot(named: key)
        return isFault ? .null : readableValue(inSlot: slot)
    }

    /// Sets an attribute without recording a change: the object does not become dirty, undo does not
    /// take it back, and it alone does not make a save save the object.
    ///
    /// It is meant for transient attributes that are derived from other values. Does nothing while the
    /// object is a fault.
    ///
    /// - Precondition: The entity has an attribute of that name, which is not derived.
    public func setPrimitiveValue(_ value: Value, forKey key: String) {
        let slot = attributeSlot(named: key)
        refuseDerived(slot)
        guard !isFault else { return }
        binding.context?.rememberStoredValue(of: self, slot: slot)
        values[slot] = normalized(value, inSlot: slot)
    }

    private func attributeSlot(named key: String) -> Int {
        let property = property(named: key)
        guard let slot = property.slot, property.attribute != nil else {
            stop("Only attributes have primitive values.")
        }
        return slot
    }

    // MARK: - Working it out

    /// The object's record in the event being recorded.
    private var currentRecord: EventRecord? { binding.context?.journal.record(of: self) }

    /// All values as they were last read or saved: the current values with the event undone, and then
    /// the pending changes.
    private var committedSlots: [Value] {
        if let deleted = currentRecord?.valuesDeleted { return deleted }
        var committed = values
        func takeBack(_ edits: [Edit]) {
            for edit in edits {
                guard let slot = binding.schema.property(edit.property)?.slot else { continue }
                committed[slot] = edit.old
            }
        }
        takeBack(currentRecord?.edits ?? [])
        switch binding.context?.journal.change(of: graphID)?.kind {
        case .update(let edits, _): takeBack(edits)
        case .delete(let values, _): committed = values
        case .insert, nil: break
        }
        return committed
    }

    private func differs(_ property: SchemaProperty, from committed: [Value]) -> Bool {
        guard let slot = property.slot else {
            let key = RelationKey(owner: graphID, property: property.number)
            return binding.context?.journal.hasMoves(key) ?? false
        }
        return value(inSlot: slot) != committed[slot]
    }

    private func committedValue(of property: SchemaProperty, _ committed: [Value]) -> Any? {
        if let slot = property.slot { return payload(of: committed[slot], property) }
        guard let context = binding.context else { return nil }
        var orders = memberList(of: property, context).orders
        context.journal.takeBack(
            RelationKey(owner: graphID, property: property.number), from: &orders)
        let objects = objects(MemberList(orders), context)
        return property.relationship?.isToMany == true ? objects : objects.first
    }

    private func payload(of value: Value, _ property: SchemaProperty) -> Any? {
        guard let reference = value.reference else {
            return property.slot.flatMap {
                binding.entity.payload(attached(value, inSlot: $0), inSlot: $0)
            }
        }
        return binding.context?.object(GraphID(store: graphID.store, object: reference))
    }

    private func objects(
        _ members: MemberList, _ context: ManagedObjectContext
    ) -> [ManagedObject] {
        members.sorted.map { context.object(GraphID(store: graphID.store, object: $0)) }
    }
}

extension EventRecord {
    /// Whether the object led to another over a stored relationship before the event, and does so
    /// after it.
    fileprivate func link(
        over number: PropertyNumber, to target: ObjectID
    ) -> (before: Bool, after: Bool) {
        guard let property = object.binding.schema.property(number) else { return (false, false) }
        guard let slot = property.slot else {
            let move = moves[number]?[target]
            return (move?.old != nil, move?.new != nil)
        }
        let now = object.values[slot].reference == target
        let edit = edits.first { $0.property == number }
        switch kind {
        case .nothing: return (false, false)
        case .insert: return (false, now)
        case .update: return (edit.map { $0.old.reference == target } ?? now, now)
        case .delete: return (edit.map { $0.old.reference == target } ?? now, false)
        }
    }
}
