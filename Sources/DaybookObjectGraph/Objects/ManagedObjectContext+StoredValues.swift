import DaybookObjectModel

// A change starts from what the store has, or what an earlier change has led to. An instance may show
// something else: what a hook has set, a primitive value, an edit of what is deleted already.

extension ManagedObjectContext {
    /// Notes what the store has of an attribute that is about to be set without being recorded.
    func noteStoredValue(of object: ManagedObject, slot: Int) {
        let schema = object.binding.schema
        // Of a new object the store has nothing, and what is set without a record is saved.
        guard slot < schema.storedSlotCount, object.isEditable,
            !object.status.isTemporary
        else { return }
        let key = RelationKey(owner: object.graphID, property: schema.slots[slot].number)
        registry.noteStoredValue(object.value(inSlot: slot), for: key)
    }

    /// Forgets what was noted of attributes that have been saved, unless the object still shows
    /// something else than was saved.
    func settleStoredValues(of object: ManagedObject, _ edits: [Edit]) {
        guard registry.hasStoredValues else { return }
        let schema = object.binding.schema
        for edit in edits {
            registry.forgetStoredValue(of: edit.property, in: object)
            guard let slot = schema.slot(of: edit.property), slot < schema.storedSlotCount,
                !object.has(edit.new, inSlot: slot)
            else { continue }
            let key = RelationKey(owner: object.graphID, property: edit.property)
            registry.noteStoredValue(edit.new, for: key)
        }
    }

    /// The values that a delete of an object takes away, where edits were made before it in the event.
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
        if case .update(let pending, _)? = pending[object.graphID]?.change?.kind {
            for edit in pending { set(edit.property, edit.new) }
        }
        return values
    }
}
