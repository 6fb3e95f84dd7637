import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    /// Whether the context merges automatically what others save to its stores or, for a child, what its
    /// parent saves and merges and what siblings save into the parent. With a parent's save come the
    /// objects whose edits there came to nothing, since a child may have read those edits.
    ///
    /// A context that is held to a query generation stays there in any case.
    public var automaticallyMergesChangesFromParent: Bool {
        get { parentStore.isFollowing }
        set { parentStore.follow(newValue, for: self) }
    }

    /// Whether an object that others have inserted was in use here before that is merged.
    ///
    /// For a fault this depends on the parent store.
    func isKnown(_ id: GraphID, at sequence: SequenceNumber? = nil) -> Bool {
        guard let object = registry[id], !object.status.isGone else { return false }
        return !object.status.isFault || parentStore.knewFault(id, before: sequence)
    }

    /// Merges what the parent has just announced.
    func mergeAsTheyCome(_ changes: [GraphChange]) {
        tell(of: mergeParent(changes))
    }

    /// Merges what has changed in the parent, under what is pending here.
    ///
    /// - Returns: Pending edits that collided; the pending values are kept.
    func mergeParent(_ changes: [GraphChange]) -> [MergeConflict] {
        processPendingChanges()
        var conflicts: [MergeConflict] = []
        var merged = MergedIdentifiers()
        var lost: [UInt32: Set<ObjectID>] = [:]
        for change in changes {
            forgetLists(touchedBy: change.change, change.id)
            noteForLists(change.change, of: change.id, by: change.entry)
        }
        let destinations = pendingDestinations
        let faults = journaledFaults(among: changes)
        let steps = faults.isEmpty ? [:] : journal.list.valuesReached(of: faults)
        journal.gatheringRebases {
            for change in changes {
                let object = registry[change.id]
                merged.record(change.change, of: change.id, isKnown: isKnown(change.id))
                // An object that is to be inserted again does not depend on what others did with it
                // before.
                if object?.status.isTemporary == true { continue }
                // An inserted or updated object may have gone since.
                let isDoubtful = change.change.isDelete || destinations.contains(change.id)
                let isThere = !isDoubtful || isUnderlying(change.id)
                if !isThere { lost[change.id.store, default: []].insert(change.id.object) }
                guard let object else { continue }
                guard isThere else {
                    if !object.status.isGone {
                        mergeDelete(of: object, &conflicts)
                        news.record(object, as: .deleted)
                    }
                    continue
                }
                if object.status.isGone {
                    object.relations = [:]
                    object.becomeFault(.anew)
                    news.record(object, as: .refreshed)
                } else if !object.isFault {
                    conflicts += mergeAgain(object)
                    news.record(object, as: .refreshed)
                } else {
                    if let reached = steps[object] { rebase(object, from: reached) }
                    rebasePending(ofFault: object)
                }
            }
        }
        for (store, lost) in lost.sorted(by: { $0.key < $1.key }) {
            conflicts += dropReferences(to: lost, inStore: store)
                .inStore(coordinator.identifier(ofStore: store))
        }
        updateAllLists()
        advanceRevision()
        news.tellFollowers(changes)
        recordInserted(merged)
        postChanges()
        postDidMerge(merged)
        return conflicts.named(in: coordinator.model.schema)
    }

    /// The faults with changes in the list, which does not say what others have made of them.
    private func journaledFaults(among changes: [GraphChange]) -> Set<ManagedObject> {
        var faults: Set<ManagedObject> = []
        for change in changes {
            guard let object = registry[change.id], object.isFault, object.isJournaled,
                !object.status.isTemporary, !object.status.isGone
            else { continue }
            faults.insert(object)
        }
        return faults
    }

    /// Makes the list follow a fault, where what lies below has other values than those to which the list leads.
    private func rebase(_ object: ManagedObject, from reached: [PropertyNumber: Value]) {
        let schema = object.binding.schema
        do {
            guard let values = try underlyingRow(of: object.graphID)?.values else { return }
            for property in schema.slots.prefix(schema.storedSlotCount) {
                guard let slot = property.slot, let value = reached[property.number],
                    value != values[slot]
                else { continue }
                journal.rebase(object, property.number, inSlot: slot, onto: values[slot])
            }
        } catch {
            mergeFailureHandler?(error)
        }
    }

    /// Merges the parent's state of every object that is registered here or that pending changes lead
    /// to.
    func mergeWholeParent() -> [MergeConflict] {
        // What the parent has that is not registered here is not named below.
        news.noteForLists { $0.takeEverything() }
        // In an order of their own, so that conflicts always come in the same one.
        let objects = registry.objects.filter { !$0.status.isTemporary }.sorted {
            ($0.graphID.store, $0.graphID.object) < ($1.graphID.store, $1.graphID.object)
        }
        for object in objects { object.relations = [:] }
        // What others have made of an object that has come back here does not count, but who leads to it does.
        for object in registry.objects where object.status.isReturned { object.relations = [:] }
        let registered = objects.map { object in
            change(of: object.graphID, isThere: isUnderlying(object.graphID))
        }
        let lost = pendingDestinations.filter { registry[$0] == nil && !isUnderlying($0) }
        return mergeParent(registered + lost.map { change(of: $0, isThere: false) })
    }

    private func change(of id: GraphID, isThere: Bool) -> GraphChange {
        let values = binding(id.object.entity).schema.defaults.map { _ in Value.null }
        return GraphChange(
            id: id,
            change: Change(
                object: id.object,
                kind: isThere
                    ? .update(edits: [], members: []) : .delete(values: values, members: [])))
    }

    /// The objects that pending changes newly refer to.
    private var pendingDestinations: Set<GraphID> {
        var found: Set<GraphID> = []
        for item in journal.net {
            item.change?.forEachReference(of: item.object.binding.schema) { reference in
                guard reference.new != nil else { return }
                found.insert(
                    GraphID(store: item.object.graphID.store, object: reference.destination))
            }
        }
        return found
    }

    /// Reads an object's values again, under what is pending for it and what can be undone.
    private func mergeAgain(_ object: ManagedObject) -> [MergeConflict] {
        let before = object.values
        let pending = journal.change(of: object.graphID)
        let edits = pendingEdits(of: object)
        let isByRule = journal.change(of: object.graphID)?.cause != nil
        var isDeleted = false
        if case .delete? = journal.change(of: object.graphID)?.kind { isDeleted = true }
        refreshMerging(object)
        if object.status.isGone {
            // It was updated, and has been deleted since.
            news.recordMergedDelete(object.graphID) { [registry] in registry[$0] != nil }
            return losses(ofDeleted: object, with: pending)
        }
        guard !object.isFault else { return [] }
        let after = pendingEdits(of: object)
        var conflicts: [MergeConflict] = []
        for property in object.binding.schema.slots.prefix(before.count) {
            guard let slot = property.slot else { continue }
            if let base = edits[property.number] {
                let theirs = after[property.number]?.old ?? object.values[slot]
                guard theirs != base.old else { continue }
                let meeting = object.meeting(
                    of: base, in: property, with: theirs, isByRule: isByRule, under: mergePolicy)
                if let conflict = meeting.conflict { conflicts.append(conflict) }
            } else if isDeleted, !property.isDerived, before[slot] != object.values[slot],
                slot < object.binding.schema.storedSlotCount
            {
                // The delete was made with another value.
                conflicts.append(
                    object.conflict(
                        .deletedByUs, of: property.number, base: before[slot],
                        theirs: object.values[slot]))
            }
        }
        return conflicts
    }

    private func pendingEdits(of object: ManagedObject) -> [PropertyNumber: Edit] {
        guard case .update(let edits, _)? = journal.change(of: object.graphID)?.kind else {
            return [:]
        }
        return Dictionary(edits.map { ($0.property, $0) }) { first, _ in first }
    }

    /// Whether an object exists in the parent context and in no store yet.
    func isUnsavedAbove(_ id: GraphID) -> Bool {
        do {
            return try parentStore.isUnsaved(id)
        } catch {
            mergeFailureHandler?(error)
            return true
        }
    }

    func isUnderlying(_ id: GraphID) -> Bool {
        do {
            return try underlyingRow(of: id) != nil
        } catch {
            mergeFailureHandler?(error)
            return true
        }
    }
}
