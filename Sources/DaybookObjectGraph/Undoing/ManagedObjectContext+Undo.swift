import DaybookObjectModel

extension ManagedObjectContext {
    /// Undoes the last step. Does nothing when there is none, or no undo manager.
    public func undo() {
        requireQueue()
        undoManager?.undo()
        postChanges()
    }

    /// Redoes the last undone step. Does nothing when there is none, or no undo manager.
    public func redo() {
        requireQueue()
        undoManager?.redo()
        postChanges()
    }

    /// Drops everything that has changed since the last save and forgets what could be undone.
    ///
    /// Objects go back to the values they had; nothing is read from the store.
    public func rollback() {
        requireQueue()
        processPendingChanges()
        // An observer of the event may edit once more.
        for _ in 0..<Self.hookRoundLimit where journal.hasEvent { processPendingChanges() }
        let items = journal.net
        for item in items {
            if let change = item.change {
                apply(change.inverse, to: item.object)
                updateLists(touchedBy: change.inverse, of: item.object)
                noteForLists(change, of: item.object.graphID)
            }
            news.record(item.object, as: item.object.isInserted ? .deleted : .refreshed)
            settle(item.object, nil)
        }
        undoManager?.requireRest()
        journal.rollback()
        undoFailure = nil
        terms.clear()
        news.rollback()
        for item in items where item.object.isEditable { awake(item.object, .rollback) }
        postChanges()
    }

    /// Forgets all objects and everything that has changed, as if the context were new. Objects that are
    /// still held elsewhere have left the context, and are faults that cannot be read: they read as
    /// empty, which is reported on standard error once for each entity.
    public func reset() {
        requireQueue()
        undoManager?.requireRest()
        journal.rollback()
        undeliveredDeletes.removeAll()
        undoFailure = nil
        let objects = registry.objects
        for object in objects {
            object.relations = [:]
            object.eventIndex = -1
            object.letGoOfRow()
            object.becomeFault(.reset)
        }
        registry.reset()
        terms.clear()
        news.reset()
        defer {
            tellListsOfEverything(isReset: true)
            postReset(of: objects)
        }
        parentStore.reset()
    }

    // MARK: - Applying changes to objects

    /// The outcome of taking back a recorded change.
    enum TakenBack {
        /// Its edits were taken back as they were recorded, by this change.
        case edits(Change, [Edit])
        /// This change took it back, which is the inverse of what was recorded or, from where its object
        /// stood, another one.
        case change(Change, isAsRecorded: Bool)
        /// Its object has meanwhile been deleted, or brought back, by a change that was not registered
        /// for undo.
        case passedOver
    }

    /// Takes a recorded change of an object back.
    // Inlined into the one loop that calls it, because each change would be copied for a call.
    @inline(__always)
    func takeBack(_ recorded: RecordedChange) -> TakenBack {
        let object = recorded.object
        if case .update(let edits, let members) = recorded.change.kind, members.isEmpty,
            let back = takeBack(edits, areNet: recorded.isNet, of: object)
        {
            return .edits(back, edits)
        }
        guard let target = retarget(recorded.change.inverse, onto: object) else {
            return .passedOver
        }
        make(target.change, of: object)
        return .change(target.change, isAsRecorded: target.isAsRecorded)
    }

    /// Takes edits back if the object is still as they have left it, which is nearly always the case.
    ///
    /// - Returns: The inverse change; nil when that is not the case and nothing has changed.
    private func takeBack(
        _ edits: [Edit], areNet: Bool, of object: ManagedObject
    ) -> Change? {
        guard !edits.isEmpty, object.isEditable, object.realizeIfNeeded(), object.isEditable,
            areNet || edits.allChangeSomething, let back = object.takeBack(edits)
        else { return nil }
        advanceRevision()
        if !object.relations.isEmpty {
            for index in back.indices { object.relations[back[index].property] = nil }
        }
        let change = Change(
            object: object.graphID.object, kind: .update(edits: back, members: []))
        // Lists follow references only.
        if !object.binding.schema.referenceSlots.isEmpty {
            updateLists(touchedBy: change, of: object)
        }
        news.record(change, of: object)
        return change
    }

    /// Applies a change to an object, from its current state.
    ///
    /// - Returns: The change that was made; nil when it was passed over, as by ``takeBack(_:)``.
    func make(_ recorded: RecordedChange) -> Change? {
        guard let target = retarget(recorded.change, onto: recorded.object) else { return nil }
        make(target.change, of: recorded.object)
        return target.change
    }

    private func make(_ change: Change, of object: ManagedObject) {
        advanceRevision()
        apply(change, to: object)
        updateLists(touchedBy: change, of: object)
        news.record(change, of: object)
    }

    /// Whether a change would change anything in the current state of its object.
    func makesDifference(_ recorded: RecordedChange) -> Bool {
        retarget(recorded.change, onto: recorded.object)?.change.isEmpty == false
    }

    /// A change with the result of a recorded one, from the object's current state: saves and merges may
    /// have given it other values since.
    ///
    /// - Returns: Nil when the change is to be skipped; otherwise the change, and whether it is the
    ///   recorded one.
    private func retarget(
        _ change: Change, onto object: ManagedObject
    ) -> (change: Change, isAsRecorded: Bool)? {
        if case .insert = change.kind {
            let isBarred = object.isEditable || object.status.isGone
            return isBarred || isBroughtBack(object) ? nil : (change, true)
        }
        guard object.isEditable, object.realizeIfNeeded(), object.isEditable else { return nil }
        if case .update(let edits, let members) = change.kind, members.isEmpty,
            object.isBefore(edits)
        {
            return (change, true)
        }
        let shown = ShownObject(object: object, context: self)
        // Where only a difference is made, what others have added stays.
        return (
            change.starting(from: shown, of: object.binding.schema, unmergeable: .dropped), false
        )
    }

    /// Whether somebody else has brought back the record of an object deleted here, with or without
    /// another instance for it.
    private func isBroughtBack(_ object: ManagedObject) -> Bool {
        if let other = registry[object.graphID], other !== object { return isThere(other) }
        let net = journal.net(of: object.graphID)
        // What was inserted here and deleted again was there with what others have of it.
        if net?.kind == .delete || net?.isAnnihilated == true { return false }
        return isUnderlying(object.graphID)
    }

    /// Whether an instance has a record; a dangling reference makes one that does not.
    private func isThere(_ object: ManagedObject) -> Bool {
        object.isFault ? fire(object) : !object.status.isGone
    }

    /// Applies a change to an object's values.
    func apply(_ change: Change, to object: ManagedObject) {
        switch change.kind {
        case .insert(let values, _):
            object.values = values
            if object.status.isDetached { object.relations = [:] }
            object.undergo(.broughtBack)
            registry.register(object)
        case .update(let edits, _):
            guard object.realizeIfNeeded(), !object.status.isGone else { return }
            object.values.take(edits, of: object.binding.schema)
            guard !object.relations.isEmpty else { return }
            for edit in edits { object.relations[edit.property] = nil }
        case .delete:
            object.undergo(.deleted)
        }
    }

    /// Makes an object's status agree with its pending change; nil when it has none.
    func settle(_ object: ManagedObject, _ kind: NetChange.Kind?) {
        switch kind {
        case .insert: object.undergo(.settled(.insert))
        case .update: object.undergo(.settled(.update))
        case .delete: object.undergo(.settled(.delete))
        case .nothing, nil:
            if object.status.isTemporary { return detach(object) }
            object.undergo(.settled(kind == nil ? .nothing : .update))
        }
    }
}

extension [Edit] {
    /// Whether each edit ends with a different value than it starts with.
    fileprivate var allChangeSomething: Bool {
        let edits = span
        for index in edits.indices where edits[index].old == edits[index].new { return false }
        return true
    }
}

extension ManagedObject {
    /// Whether the values are those from which edits start, each of which changes something.
    fileprivate func isBefore(_ edits: [Edit]) -> Bool {
        let entity = binding.schema
        for index in edits.indices {
            guard let slot = entity.slot(of: edits[index].property),
                has(edits[index].old, inSlot: slot), edits[index].old != edits[index].new
            else { return false }
        }
        return true
    }
}
