// The room of merging: it brings in what others have changed, under what is pending. It changes objects
// and what pending changes start from, and moves the base in the parent store. It saves nothing.

public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// Merges the save that a notification tells of.
    ///
    /// A context that works with stores merges all entries before it as well. A child merges its
    /// parent's current state of the objects that were saved. A notification from a context of another
    /// coordinator is ignored.
    ///
    /// - Returns: Edits pending here of properties that the others changed, too, and those that
    ///   automatic merges have met and that have not been reported. The pending values are kept and now
    ///   start from the others' values, so that the next save writes them; edits of objects they
    ///   deleted, and references to those, are dropped. For an attribute with a ``MergeStrategy`` the
    ///   context shows the result of both changes, and there is no conflict. Taking the conflicts lets
    ///   ours stand: look at them, or write `_ =` to say that the pending values win.
    /// - Throws: ``StoreError`` when an entry cannot be read; what was read before it has been merged.
    ///   Conflicts met there are kept: the next call returns them, and until then a save under
    ///   ``MergePolicy/error`` refuses with them.
    public func mergeChanges(
        fromContextDidSave notification: Notification
    ) throws -> [MergeConflict] {
        requireQueue()
        guard let context = notification.object as? ManagedObjectContext, context !== self,
            context.coordinator === coordinator
        else { return [] }
        return try parentStore.merge(saved: notification.userInfo ?? [:], into: self)
    }

    /// Replays what others have saved, up to an entry, under what is pending here.
    ///
    /// Merging the same entries again changes nothing. A child merges its parent's current state of all
    /// objects that are registered here. A speculative context is brought forward, and when it has
    /// merged everything, it is like any other.
    ///
    /// - Parameter sequence: The last entry to merge of the coordinator's first store; the newest of
    ///   every store when nil.
    /// - Returns: As ``mergeChanges(fromContextDidSave:)``.
    /// - Throws: As ``mergeChanges(fromContextDidSave:)``.
    /// - Complexity: O(*k*), *k* the number of changes in the entries; for a child, of objects.
    public func mergeChanges(
        through sequence: SequenceNumber? = nil
    ) throws -> [MergeConflict] {
        requireQueue()
        return try parentStore.merge(through: sequence, into: self)
    }

    /// Merges entries of a store, under what is pending here.
    ///
    /// - Parameters:
    ///   - store: The store of the entries.
    ///   - own: The context's own entries between them.
    ///   - doubtful: Its own entry among them that was in doubt; nil for none.
    ///   - walk: Hands out what others have changed, entry after entry.
    /// - Returns: Pending edits that collided; the pending values are kept.
    /// - Throws: What `walk` throws; ``StoreError`` when the store cannot be read. What was handed out
    ///   by then has been merged, and the conflicts are kept.
    func mergeEntries(
        of store: PersistentStore, between own: SequenceRanges,
        settling doubtful: SequenceNumber?,
        _ walk: ((SequenceNumber, [Change]) throws -> Void) throws -> Void
    ) throws -> [MergeConflict] {
        var incoming = IncomingChanges(store: store, between: own)
        var changes: [GraphChange] = []
        defer {
            advanceRevision()
            updateAllLists()
            news.tellFollowers(changes)
            tell(of: incoming)
        }
        let walked = Result {
            try walk { sequence, entry in
                var entry = entry
                if sequence == doubtful {
                    entry = settleDoubt(over: entry, of: store.number)
                } else {
                    terms.forgetDoubt(in: store.number, mergedThrough: sequence)
                }
                for change in entry {
                    let id = GraphID(store: store.number, object: change.object)
                    try collect(change, id, sequence, into: &incoming)
                    let entry = EntryName(store: store.number, sequence: sequence)
                    noteForLists(change, of: id, by: entry)
                    guard news.hasFollowers else { continue }
                    changes.append(GraphChange(id: id, change: change, entry: entry))
                }
            }
        }
        // The context has advanced over everything handed out, even if the walk has ended early.
        var conflicts = incoming.conflicts
        journal.gatheringRebases {
            for update in incoming.readUpdates.values { followRead(update) }
            for update in incoming.updatesInOrder { merge(update, &conflicts) }
        }
        conflicts = try keepingIfUntold(conflicts, of: store) {
            let lost = try incoming.deleted.filter { try !isStillThere($0, in: store) }
            return conflicts + dropReferences(to: lost, inStore: store.number)
        }
        return try keepingIfUntold(conflicts, of: store) {
            try walked.get()
            return conflicts
        }
    }

    /// Continues a merge, and keeps the conflicts it has met when it fails.
    func keepingIfUntold(
        _ conflicts: [MergeConflict], of store: PersistentStore,
        _ body: () throws -> [MergeConflict]
    ) throws -> [MergeConflict] {
        do {
            return try body()
        } catch {
            terms.keep(
                conflicts.named(in: coordinator.model.schema).inStore(store.identifier))
            throw error
        }
    }

    /// Records the outcome of a merge: what others have inserted, what changed here and what is gone.
    private func tell(of incoming: IncomingChanges) {
        recordInserted(incoming.merged)
        for object in incoming.refreshed { news.record(object, as: .refreshed) }
        for object in incoming.gone { news.record(object, as: .deleted) }
        postChanges()
        postDidMerge(incoming.merged)
    }

    /// Takes one change of an entry that is not this context's own. Edits are only gathered: only their
    /// final result counts.
    private func collect(
        _ change: Change, _ id: GraphID, _ sequence: SequenceNumber,
        into incoming: inout IncomingChanges
    ) throws {
        forgetLists(touchedBy: change, id)
        incoming.merged.record(change, of: id, isKnown: isKnown(id, at: sequence))
        if change.isDelete { incoming.deleted.insert(id.object) }
        // An object that is to be inserted again does not depend on what others did with it before.
        guard let object = registry[id], !object.status.isTemporary else { return }
        switch change.kind {
        case .insert:
            // A deleted object that somebody has brought back is read again.
            guard object.status.isGone else { return }
            object.relations = [:]
            object.becomeFault(.anew)
            incoming.refreshed.insert(object)
        case .update(let edits, let members):
            guard !object.status.isGone,
                !object.isFault || object.isJournaled || journal.net(of: id) != nil
            else { return }
            guard object.since < sequence.rawValue else {
                // It has been read since, and its steps do not know yet. What is saved here after theirs started there.
                if object.isJournaled, !incoming.own.contains(SequenceNumber(object.since)) {
                    incoming.appendRead(edits, members, of: object, sequence)
                }
                return
            }
            incoming.append(edits, members, of: object, sequence)
            if !object.isFault { incoming.refreshed.insert(object) }
        case .delete:
            guard object.isFault || object.since < sequence.rawValue else { return }
            incoming.updates[id] = nil
            if try isStored(id.object, in: incoming.store) {
                // A later entry has brought it back.
                incoming.refreshed.insert(object)
                refreshMerging(object)
            } else {
                incoming.gone.insert(object)
                mergeDelete(of: object, &incoming.conflicts)
            }
        }
    }

    private func isStored(_ object: ObjectID, in store: PersistentStore) throws -> Bool {
        try store.read(at: nil) { try $0.exists(object) }
    }

    /// Whether an object that others deleted was brought back, by them or by a pending insert here.
    private func isStillThere(_ object: ObjectID, in store: PersistentStore) throws -> Bool {
        let id = GraphID(store: store.number, object: object)
        if registry[id]?.status.isTemporary == true { return true }
        return try isStored(object, in: store)
    }

    private func merge(_ update: IncomingChanges.Update, _ conflicts: inout [MergeConflict]) {
        let object = update.object
        merge(update.members, into: object)
        guard !object.isFault else {
            // Its values are read when they are asked for; undo leaves theirs alone already.
            return follow(update)
        }
        merge(update.edits, into: object, update.sequence, &conflicts)
        object.since = update.sequence.rawValue
        object.letGoOfPage()
        if !update.edits.isEmpty { awake(object, .refresh) }
    }

    /// Makes the list follow what others have made of an object that shows it already.
    private func followRead(_ update: IncomingChanges.Update) {
        merge(update.members, into: update.object)
        follow(update)
    }

    /// Makes the list follow what others have set. What they have taken back is as it was.
    private func follow(_ update: IncomingChanges.Update) {
        for edit in update.edits where edit.old != edit.new {
            guard let slot = update.object.binding.schema.slot(of: edit.property) else { continue }
            journal.rebase(update.object, edit.property, inSlot: slot, onto: edit.new)
        }
    }

    private func merge(
        _ edits: [Edit], into object: ManagedObject, _ sequence: SequenceNumber,
        _ conflicts: inout [MergeConflict]
    ) {
        let schema = object.binding.schema
        for edit in edits {
            guard let property = schema.property(edit.property), let slot = property.slot,
                edit.new != baseValue(of: edit.property, in: object, slot)
            else { continue }
            journal.rebase(object, edit.property, inSlot: slot, onto: edit.new)
            let pending = journal.change(of: object.graphID)
            if case .delete(var values, let members)? = pending?.kind {
                if !property.isDerived {
                    conflicts.append(
                        object.conflict(
                            .deletedByUs, of: edit.property, base: values[slot], theirs: edit.new))
                }
                values[slot] = edit.new
                object.values[slot] = edit.new
                journal.rebase(
                    object,
                    to: Change(
                        object: object.graphID.object,
                        kind: .delete(values: values, members: members), cause: pending?.cause))
                continue
            }
            guard
                case .update(var pendingEdits, let members)? = journal.change(of: object.graphID)?
                    .kind,
                let index = pendingEdits.firstIndex(where: { $0.property == edit.property })
            else {
                object.values[slot] = edit.new
                object.relations[edit.property] = nil
                continue
            }
            let pendingEdit = pendingEdits[index]
            let change = journal.change(of: object.graphID)
            let (ours, conflict) = object.meeting(
                of: pendingEdit, in: property, with: edit.new, isByRule: change?.cause != nil,
                under: mergePolicy)
            if let conflict { conflicts.append(conflict) }
            object.values[slot] = ours
            pendingEdits[index] = Edit(property: edit.property, old: edit.new, new: ours)
            if ours == edit.new { pendingEdits.remove(at: index) }
            let rebased = Change(
                object: object.graphID.object,
                kind: .update(edits: pendingEdits, members: members), cause: change?.cause)
            journal.rebase(object, to: rebased)
        }
    }

    /// The value of a property before the edits pending here.
    private func baseValue(
        of property: PropertyNumber, in object: ManagedObject, _ slot: Int
    ) -> Value {
        switch journal.change(of: object.graphID)?.kind {
        case .update(let edits, _):
            edits.first { $0.property == property }?.old ?? object.values[slot]
        case .delete(let values, _): values[slot]
        case .insert, nil: object.values[slot]
        }
    }

    /// Makes pending joins, leaves and moves of members start from theirs.
    private func merge(_ theirs: [MembershipEdit], into object: ManagedObject) {
        guard !theirs.isEmpty else { return }
        journal.rebase(object, onto: theirs)
        guard let change = journal.change(of: object.graphID) else { return }
        var rebased = change
        switch change.kind {
        case .insert: return
        case .update(let edits, let members):
            rebased.kind = .update(edits: edits, members: members.rebased(onto: theirs))
        case .delete(let values, let members):
            rebased.kind = .delete(
                values: values, members: members.leavingAll(after: theirs))
        }
        journal.rebase(object, to: rebased)
    }

    func mergeDelete(of object: ManagedObject, _ conflicts: inout [MergeConflict]) {
        conflicts += losses(ofDeleted: object, with: journal.change(of: object.graphID))
        dropPending(of: object)
        object.undergo(.foundGone)
        object.letGoOfRow()
        news.recordMergedDelete(object.graphID) { [registry] in registry[$0] != nil }
    }

    /// What was pending for an object that others have deleted: edits, and members that joined, left or moved. Those
    /// that only a delete rule has taken out are gone in any case.
    func losses(ofDeleted object: ManagedObject, with pending: Change?) -> [MergeConflict] {
        guard let pending, case .update(let edits, let members) = pending.kind else { return [] }
        let lists = pending.cause == nil ? members.filter { !$0.isEmpty } : []
        return edits.map {
            object.conflict(.deletedByThem, of: $0.property, base: $0.old, ours: $0.new)
        } + lists.map { object.conflict(.deletedByThem, of: $0.property, base: .null) }
    }

    /// Forgets everything pending for an object that no longer exists.
    func dropPending(of object: ManagedObject) {
        if let change = journal.change(of: object.graphID) {
            updateLists(touchedBy: change.inverse, of: object)
        }
        journal.forget(object)
        object.undergo(.changesDropped)
    }

    /// Makes lists that a foreign change touches be read again when they are needed.
    func forgetLists(touchedBy change: Change, _ id: GraphID) {
        let schema = binding(id.object.entity).schema
        change.forEachReference(of: schema) { reference in
            if reference.property.slot == nil {
                registry[id]?.relations[reference.property.number] = nil
            }
            guard let inverse = reference.property.end?.inverse else { return }
            let destination = GraphID(store: id.store, object: reference.destination)
            registry[destination]?.relations[inverse] = nil
        }
    }
}
