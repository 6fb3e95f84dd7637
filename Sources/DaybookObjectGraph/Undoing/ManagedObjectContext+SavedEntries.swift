public import DaybookJournalLog
import DaybookObjectModel
public import DaybookSnapshotStore
import DaybookStopping

/// Which saves an undo stack continues with.
public enum SaveSelection: Sendable, Hashable {
    /// The saves of an author, from any context.
    case author(String)
    /// The saves of contexts with a name, whoever the author was.
    case context(String)
}

extension ManagedObjectContext {
    // MARK: - Steps made before

    /// Continues the undo stack of an earlier run: the last saves of an author or of a context become
    /// steps that ``undo()`` takes back, the newest first.
    ///
    /// The steps go below those that are there already. Saves that have been undone, undos themselves,
    /// and saves that are steps here already are left out. An entry is read when its step is undone, and
    /// undone only if no later entry has touched the same and the context has merged what it starts
    /// from; otherwise nothing changes, and ``undoFailureHandler`` is called. A step that later entries
    /// block is dropped; one that waits for a merge or a save of this context, or whose entry cannot be
    /// read just now, stays.
    ///
    /// ```swift
    /// context.undoFailureHandler = { error in print(error) }
    /// try context.continueUndo(savesBy: .author("ada"))
    /// context.undo()  // the last thing that Ada saved, whenever that was
    /// try context.save()
    /// ```
    ///
    /// - Parameters:
    ///   - selection: Which saves.
    ///   - limit: The largest number of steps.
    ///   - store: The store; the first one when nil.
    /// - Returns: How many steps were added, less those that ``UndoManager/levelsOfUndo`` had no room
    ///   for; 0 in a context without an undo manager.
    /// - Throws: ``StoreError`` with code `noSuchStore`, `readOnly`, or `corrupt` when an entry cannot
    ///   be read. The undo stack is as it was then.
    /// - Precondition: The context works with stores and not with a parent; `limit` is not negative.
    /// - Complexity: O(*e*), *e* the size of the entries from the newest back to the oldest one found.
    @discardableResult
    public func continueUndo(
        savesBy selection: SaveSelection, limit: Int = 20, in store: PersistentStore? = nil
    ) throws -> Int {
        let store = try storeForUndo(store)
        guard undoManager != nil else { return 0 }
        require(limit >= 0, "The limit of steps must not be negative.")
        processPendingChanges()
        let known = journal.entriesKnown(inStore: store.number)
        let found = try store.store.lastSaves(limit: limit) { sequence, header in
            guard !known.contains(where: { $0.contains(sequence) }) else { return false }
            return switch selection {
            case .author(let name): header.author == name
            case .context(let name): header.context == name
            }
        }
        let steps = found.map { save in
            ChangeGroup(
                actionName: save.header.note ?? "",
                unread: UnreadEntry(store: store.number, sequence: save.sequence))
        }
        return journal.insertBelow(steps.reversed())
    }

    /// What an entry changed for which a step stands, if it can be undone in spite of entries that have been taken back
    /// here and not saved yet.
    ///
    /// - Throws: ``StoreError`` with code `undoBlocked` and every obstacle, or since there is nothing left to undo;
    ///   `noSuchStore`; or when the entry cannot be read.
    func savedChanges(of unread: UnreadEntry) throws -> [Change] {
        guard let store = coordinator.store(unread.store) else {
            throw StoreError.noSuchStore(coordinator.storeName(unread.store))
        }
        let ignored = try entriesTakenBack(in: store)
        let range = unread.sequence...unread.sequence
        let plan = try store.store.undoPlan(of: range, ignoring: ignored)
        // Even if nothing is to change in the store, there may still be something to undo here.
        let isBlocked = !plan.obstacles.isEmpty || ignored.isEmpty || plan.takenBackBy != nil
        if isBlocked, let refusal = plan.refusal {
            throw refusal
        }
        return try store.store.netChanges(of: range).compactMap {
            $0.without(plan.takenBack[$0.object] ?? [])
        }
    }

    /// What ``savedChanges(of:)`` has found as the changes of the step, if they can be undone here as things stand.
    ///
    /// - Throws: ``StoreError`` with code `undoBlocked` where the context has to merge or to save first, `noSuchStore`,
    ///   or when the store cannot be read.
    func changes(_ saved: [Change], of unread: UnreadEntry) throws -> [RecordedChange] {
        guard let store = coordinator.store(unread.store) else {
            throw StoreError.noSuchStore(coordinator.storeName(unread.store))
        }
        let range = unread.sequence...unread.sequence
        try refuseUnmerged(saved, of: range, in: store)
        return try notTakenBackHere(saved.map(\.inverse), of: range, in: store).map {
            recorded($0.inverse, comesBack: $0.isInsert, isSaved: true, in: store)
        }
    }

    /// Refuses changes that start from what others have saved and this context has not merged.
    private func refuseUnmerged(
        _ changes: [Change], of entries: ClosedRange<SequenceNumber>, in store: PersistentStore
    ) throws {
        let unmerged = try parentStore.unmergedTouches(of: changes, in: store)
        if !unmerged.isEmpty { throw StoreError.undoNotMerged(entries, unmerged) }
    }

    /// Reports that an undo was blocked.
    func rememberUndoFailure(_ error: any Error) {
        if let undoFailureHandler {
            undoFailureHandler(error)
        } else {
            undoFailure = error
        }
    }

    // MARK: - Undoing an entry here

    /// Takes a saved entry back in this context, as one step that can be undone: a pending change, which
    /// the next save appends as an entry that names what it undoes.
    ///
    /// Only what is saved counts: a pending undo of a later entry does not clear the way. What others
    /// have saved to the same must have been merged, by ``mergeChanges(through:)`` or automatically; so
    /// a speculative context takes back what had been saved up to its point in the past. A container's
    /// `undo(_:policy:author:note:info:)` saves at once.
    ///
    /// - Parameters:
    ///   - entry: The entry. Undoing an undo is a redo.
    ///   - policy: What happens to what later entries have touched.
    ///   - store: The store of the entry; the first one when nil.
    /// - Returns: What was left out.
    /// - Throws: ``StoreError`` with code `undoBlocked` and every ``UndoObstacle``, also when what the
    ///   undo starts from has not been merged, the entry is already taken back here, or it sets a model;
    ///   `noSuchEntry`, `noSuchStore` or `readOnly`. Nothing has changed then.
    /// - Precondition: The context works with stores and not with a parent.
    /// - Complexity: O(*k* log *n*), *k* the number of changes and of later versions of their objects.
    @discardableResult
    public func undo(
        entry: SequenceNumber, policy: UndoPolicy = .refuse, in store: PersistentStore? = nil
    ) throws -> [UndoObstacle] {
        try undo(entries: entry...entry, policy: policy, in: store)
    }

    /// Takes several saved entries in a row back in this context, as one step.
    ///
    /// - Throws: As for a single one.
    /// - Complexity: As for a single one.
    @discardableResult
    public func undo(
        entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        in store: PersistentStore? = nil
    ) throws -> [UndoObstacle] {
        try carryOut(in: store) { try $0.undoPlan(of: entries, policy: policy) }
    }

    /// Redoes saved entries in this context that were undone together, as one step.
    ///
    /// - Throws: ``StoreError`` with code `undoBlocked` when they are not undone, and as
    ///   ``undo(entries:policy:in:)``.
    @discardableResult
    public func redo(
        entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        in store: PersistentStore? = nil
    ) throws -> [UndoObstacle] {
        try carryOut(in: store) { try $0.redoPlan(of: entries, policy: policy) }
    }

    private func carryOut(
        in store: PersistentStore?, _ makePlan: (Store) throws -> UndoPlan
    ) throws -> [UndoObstacle] {
        let store = try storeForUndo(store)
        processPendingChanges()
        let plan = try makePlan(store.store)
        let request = try plan.permitted()
        guard let undone = request.header.undoes else { return plan.obstacles }
        // A context has no part in the model, and could save only what the entry changed besides.
        guard request.version == nil else { throw StoreError.undoOfModel(undone) }
        try refuseUnmerged(request.changes, of: undone, in: store)
        let changes = try notTakenBackHere(request.changes, of: undone, in: store).map {
            recorded($0, comesBack: $0.isInsert, isSaved: false, in: store)
        }
        // What is forbidden would make no difference either, so it is checked first.
        if let blockade = blockade(of: changes) { throw blockade }
        let wanted = changes.filter(makesDifference)
        guard !wanted.isEmpty else { throw StoreError.undoPending(undone) }
        let destination = undoManager?.destination
        if destination != nil { journal.forgetRedo() }
        var group = ChangeGroup(actionName: request.header.note ?? "")
        group.changes = wanted.compactMap {
            journal.make($0, as: destination == nil ? .unrecorded : .forward, in: self)
        }
        let origin = UndoneEntries(entries: undone, changes: request.changes)
        group.origins = [store.number: origin]
        awake(after: group.changes, .forward)
        if journal.append(group, to: destination) { undoManager?.post(.didCloseGroup) }
        postChanges()
        return plan.obstacles
    }

    /// Changes that take entries back, without the edits of attributes that merge which have been made here already
    /// and are not saved yet: such an edit would count a second time.
    ///
    /// - Throws: ``StoreError`` with code `undoBlocked` where only a part of such a difference has been taken back.
    private func notTakenBackHere(
        _ changes: [Change], of entries: ClosedRange<SequenceNumber>, in store: PersistentStore
    ) throws -> [Change] {
        let done = journal.editsMovedOver(of: entries, inStore: store.number)
        guard !done.isEmpty else { return changes }
        return try changes.compactMap { change in
            guard case .update(let edits, _) = change.kind,
                let entity = store.store.schema.merging(change.object.entity)
            else { return change }
            let owner = GraphID(store: store.number, object: change.object)
            var made: Set<PropertyNumber> = []
            for edit in edits {
                guard let property = entity.property(edit.property), property.merge != nil,
                    let done = done[RelationKey(owner: owner, property: edit.property)]
                else { continue }
                guard edit.isMade(by: done, of: property) else {
                    throw StoreError.undoPartlyPending(entries)
                }
                made.insert(edit.property)
            }
            return change.without(made)
        }
    }

    /// The store of the entries.
    private func storeForUndo(_ store: PersistentStore?) throws -> PersistentStore {
        requireQueue()
        require(
            parentStore.keepsEntries,
            "Saved entries are undone in a context that works with stores.")
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        guard let found = store ?? coordinator.persistentStores.first else {
            throw StoreError.noStore()
        }
        guard coordinator.has(found) else { throw StoreError.noSuchStore(found.name) }
        return found
    }

    /// A change of the store as one of this context; `comesBack` tells whether it brings the object back,
    /// now or when it is undone.
    private func recorded(
        _ change: Change, comesBack: Bool, isSaved: Bool, in store: PersistentStore
    ) -> RecordedChange {
        let object = object(GraphID(store: store.number, object: change.object))
        // An object without a record comes back as it was, not as it is here.
        if comesBack, journal.net(of: object.graphID) == nil { detach(object) }
        let schema = object.binding.schema
        let transient = schema.defaults.dropFirst(schema.storedSlotCount)
        var full = change
        switch change.kind {
        case .insert(let values, let members):
            full.kind = .insert(values: values + transient, members: members)
        case .delete(let values, let members):
            full.kind = .delete(values: values + transient, members: members)
        case .update: break
        }
        return RecordedChange(object: object, change: full, isSaved: isSaved)
    }
}

extension Change {
    /// This change without the edits of some properties; nil when nothing is left.
    fileprivate func without(_ properties: Set<PropertyNumber>) -> Change? {
        guard !properties.isEmpty, case .update(let edits, let members) = kind else { return self }
        var kept = self
        kept.kind = .update(
            edits: edits.filter { !properties.contains($0.property) }, members: members)
        return kept.isEmpty ? nil : kept
    }
}

extension Schema {
    /// The entity, if it has attributes that merge; otherwise nil.
    func merging(_ number: EntityNumber) -> SchemaEntity? {
        entity(number).flatMap { $0.mergingSlots.isEmpty ? nil : $0 }
    }
}

extension Edit {
    /// Whether other edits of an attribute that merges, made one after the other, come to the same difference.
    fileprivate func isMade(by others: [Edit], of property: SchemaProperty) -> Bool {
        var value: Value? = old
        for other in others {
            value = value.flatMap {
                property.merged(base: other.old, theirs: $0, ours: other.new)
            }
        }
        return value == new
    }
}
