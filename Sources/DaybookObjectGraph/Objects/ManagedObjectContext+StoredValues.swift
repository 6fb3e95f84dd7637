import DaybookObjectModel

// A change starts from what the store has, or from the result of an earlier change. An instance may show
// something else: what a hook has set, a primitive value, an edit of a deleted object.

extension ManagedObjectContext {
    /// Remembers the stored value of an attribute that is about to be set without being recorded.
    func rememberStoredValue(of object: ManagedObject, slot: Int) {
        let schema = object.binding.schema
        // The store has nothing of a new object, and what is set without a record is saved.
        guard slot < schema.storedSlotCount, object.isEditable,
            !object.status.isTemporary
        else { return }
        let key = RelationKey(owner: object.graphID, property: schema.slots[slot].number)
        registry.rememberStoredValue(object.value(inSlot: slot), for: key)
    }

    /// Forgets the remembered values of attributes that have been saved, unless the object still shows
    /// something other than was saved.
    func settleStoredValues(of object: ManagedObject, _ edits: [Edit]) {
        guard registry.hasStoredValues else { return }
        let schema = object.binding.schema
        for edit in edits {
            registry.forgetStoredValue(of: edit.property, in: object)
            guard let slot = schema.slot(of: edit.property), slot < schema.storedSlotCount,
                !object.has(edit.new, inSlot: slot)
            else { continue }
            let key = RelationKey(owner: object.graphID, property: edit.property)
            registry.rememberStoredValue(edit.new, for: key)
        }
    }

    /// The values that a delete of an object removes, when it was edited earlier in the event.
    func valuesToDelete(of object: ManagedObject, _ edits: [Edit] = []) -> [Value] {
        let schema = object.binding.schema
        var values = object.values
        func set(_ property: PropertyNumber, _ value: Value) {
            if let slot = schema.slot(of: property) { values[slot] = value }
        }
        if registry.hasStoredValues, !object.status.isTemporary {
            for property in schema.slots {
                let key = RelationKey(owner: object.graphID, property: property.number)
                if let stored = registry.storedValue(key) { set(property.number, stored) }
            }
        }
        for edit in edits { set(edit.property, edit.old) }
        if case .update(let pending, _)? = journal.change(of: object.graphID)?.kind {
            for edit in pending { set(edit.property, edit.new) }
        }
        return values
    }
}
