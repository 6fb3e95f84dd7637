import ObjectModel

extension ManagedObjectContext {
    /// Reverses the last step. Does nothing when there is none, or no undo manager.
    public func undo() {
        assertOnQueue()
        undoManager?.undo()
    }

    /// Makes the last undone step again.
    public func redo() {
        assertOnQueue()
        undoManager?.redo()
    }

    /// Drops everything that has changed since the last save and forgets what could be undone.
    ///
    /// Objects go back to the values they had; nothing is read from the store.
    public func rollback() {
        assertOnQueue()
        processPendingChanges()
        for item in pending.items {
            if let change = item.change {
                apply(change.inverse, to: item.object)
                noteReferences(of: change.inverse, item.object)
            }
            settle(item.object, nil)
        }
        pending.removeAll()
        deltas.removeAll()
        undoManager?.removeAllActions()
    }

    /// Forgets all objects and everything that has changed, as if the context were new. Objects that
    /// are still held elsewhere have left the context.
    public func reset() {
        assertOnQueue()
        event.removeAll()
        undeliveredDeletes.removeAll()
        pending.removeAll()
        deltas.removeAll()
        undoManager?.removeAllActions()
        for object in identityMap.objects {
            object.values = object.binding.schema.defaults
            object.relations = [:]
            object.eventIndex = -1
            object.status = .detached
        }
        identityMap.removeAll()
        retainedObjects.removeAll()
        base = coordinator.headForNewContext()
        ownEntries.removeAll()
    }

    /// Moves the cursor over one recorded change: the one path of undo and redo.
    ///
    /// A change is passed over when its object has meanwhile been deleted, or brought back, by a
    /// change that was not registered for undo.
    func move(_ recorded: RecordedChange, isRewinding: Bool) {
        let isAlive = recorded.object.isEditable
        if case .insert = recorded.change.kind {
            guard !isAlive else { return }
        } else {
            guard isAlive else { return }
        }
        apply(recorded.change, to: recorded.object)
        noteReferences(of: recorded.change, recorded.object)
        settle(recorded.object, pending.append(recorded, isRewinding: isRewinding))
    }

    /// Takes an object's values over a change.
    func apply(_ change: Change, to object: ManagedObject) {
        switch change.kind {
        case .insert(let values, _):
            object.values = values
            object.status.subtract([.fault, .deleted, .detached])
            identityMap.register(object)
        case .update(let edits, _):
            guard object.realizeIfNeeded(), !object.status.contains(.gone) else { return }
            for edit in edits {
                guard let slot = object.binding.schema.property(edit.property)?.slot else {
                    continue
                }
                object.values[slot] = edit.new
                object.relations[edit.property] = nil
            }
        case .delete:
            object.status.insert(.deleted)
        }
    }

    /// Makes an object's status agree with what is pending for it.
    func settle(_ object: ManagedObject, _ item: PendingChanges.Item?) {
        object.status.subtract([.inserted, .updated])
        switch item?.change?.kind {
        case .insert:
            object.status.insert([.inserted])
            object.status.remove(.deleted)
        case .update:
            object.status.insert(.updated)
            object.status.remove(.deleted)
        case .delete:
            object.status.insert(.deleted)
        case nil:
            if object.status.contains(.temporary) {
                detach(object)
            } else {
                object.status.remove(.deleted)
                if item != nil { object.status.insert(.updated) }
            }
        }
    }
}
