public import Foundation
public import JournalLog
import ObjectModel
import SnapshotStore

extension ManagedObjectContext {
    /// Appends everything that has changed since the last save to the journal, as one entry.
    ///
    /// - Parameters:
    ///   - author: Who saves; the context's ``author`` when nil.
    ///   - note: Why, in words.
    ///   - date: When it happened, if not now. The store keeps its own recording time beside it.
    /// - Returns: The number of the entry; nil when nothing was left to append.
    /// - Throws: ``StoreError`` with code `validation` and every failure, `duplicate`, `conflict` with
    ///   every ``MergeConflict``, `readOnly`, `full` or `io`. Everything is then still pending: mend
    ///   it and save again.
    /// - Complexity: O(*k* log *n*), *k* the number of changes, *n* of objects in the store.
    @discardableResult
    public func save(
        author: String? = nil, note: String? = nil, at date: Date? = nil
    ) throws -> SequenceNumber? {
        assertOnQueue()
        guard case .latest = readingMode else { throw StoreError.readOnlyContext() }
        processPendingChanges()
        for object in pending.items.map(\.object) { object.willSave() }
        processPendingChanges()
        guard !pending.isEmpty else { return nil }
        if let insertFailure, pending.items.contains(where: \.isUnsavable) { throw insertFailure }
        try validate()
        let draft = draft(author: author ?? self.author, note: note, date)
        guard !draft.changes.isEmpty else {
            finishSave(nil)
            return nil
        }
        let receipt = try coordinator.defaultStore.store.commit(draft)
        finishSave(receipt)
        return receipt.sequence
    }

    private func draft(author: String?, note: String?, _ date: Date?) -> Draft {
        var changes: [Change] = []
        var seen: [ObjectID: [Value]] = [:]
        var seenSince: [ObjectID: SequenceNumber] = [:]
        let needsValues =
            mergePolicy == .overwrite || mergePolicy == .mergeByPropertyObjectTrump
        for item in pending.items {
            guard let change = item.change?.persistent(of: item.object.binding.schema) else {
                continue
            }
            changes.append(change)
            if conflictGranularity == .row {
                seenSince[change.object] = SequenceNumber(rawValue: item.object.since)
            }
            if needsValues, case .update = change.kind { seen[change.object] = item.valuesSeen }
        }
        let header = EntryHeader(
            kind: .save, author: author, note: note, context: name,
            occurredAt: date?.microseconds, base: base, undoes: nil)
        return Draft(
            header: header, changes: changes, seen: seen, seenSince: seenSince,
            policy: mergePolicy, detection: conflictGranularity == .row ? .perRow : .perProperty)
    }

    private func finishSave(_ receipt: Receipt?) {
        let items = pending.items
        pending.removeAll()
        deltas.removeAll()
        undoManager?.noteSave()
        let sequence = receipt?.sequence
        let objects = items.map(\.object)
        let summary = ChangeSummary(objects)
        lazy var saved = Set((receipt?.changes ?? []).map(\.object))
        let isAsSent = receipt?.conflicts.isEmpty != false && !hasForeignEntries(before: sequence)
        for item in items where !item.isAnnihilated {
            let wasSaved =
                isAsSent && item.isWhollyPersistent
                || saved.contains(item.object.graphID.object)
            settleSaved(item, wasSaved: wasSaved, sequence, isAsSent)
        }
        // A reference without inverse to a deleted object is taken back by the store alone.
        let sentCount = items.count { $0.change != nil }
        if let receipt, sequence != nil, !isAsSent || receipt.changes.count > sentCount {
            mergeAdditions(of: receipt.changes, to: items)
        }
        if let sequence {
            if sequence.rawValue == base.rawValue + 1 {
                base = sequence
            } else {
                ownEntries.insert(sequence)
            }
        }
        for object in objects { object.didSave() }
        postDidSave(summary, sequence)
    }

    /// Whether others have saved entries that this context has not merged, before its own.
    private func hasForeignEntries(before sequence: SequenceNumber?) -> Bool {
        guard let sequence else { return false }
        return sequence.rawValue - base.rawValue - 1 > UInt64(ownEntries.count)
    }

    /// Makes an object agree with what the store has made of its change.
    private func settleSaved(
        _ item: PendingChanges.Item, wasSaved: Bool, _ sequence: SequenceNumber?,
        _ isAsSent: Bool
    ) {
        let object = item.object
        if case .delete? = item.change?.kind, wasSaved || isAsSent {
            detach(object)
            return
        }
        if object.status.contains(.temporary) { identityMap.loosen(object) }
        object.status.subtract([.inserted, .updated, .deleted, .temporary])
        if let sequence, wasSaved { object.since = sequence.rawValue }
        guard !isAsSent, item.change != nil else { return }
        readAgain(object)
        // Others have deleted it as well.
        if case .delete? = item.change?.kind, object.status.contains(.gone) { detach(object) }
    }

    /// Takes the values that others have saved or that a policy has settled.
    private func readAgain(_ object: ManagedObject) {
        let schema = object.binding.schema
        let mine = object.values
        object.status.insert(.fault)
        object.relations = [:]
        guard fire(object) else {
            object.values = mine
            return
        }
        for property in schema.slots {
            guard let slot = property.slot, mine[slot] != object.values[slot] else { continue }
            if slot < schema.storedSlotCount {
                undoManager?.rebase(
                    object, property.number, inSlot: slot, onto: object.values[slot])
            } else {
                object.values[slot] = mine[slot]
            }
        }
    }

    /// Makes the rest of the context follow where the store has saved something else than was sent.
    private func mergeAdditions(
        of saved: [Change], to items: [PendingChanges.Item]
    ) {
        let sent = Set(items.map(\.object.graphID))
        for item in items {
            if let change = item.change { forgetLists(touchedBy: change, item.object.graphID) }
        }
        for change in saved {
            let id = GraphID(store: coordinator.defaultStore.number, object: change.object)
            forgetLists(touchedBy: change, id)
            // A reference to a deleted object that the store has emptied.
            guard !sent.contains(id), let object = identityMap[id], !object.isFault else {
                continue
            }
            readAgain(object)
        }
    }
}

extension PendingChanges.Item {
    /// Whether the object was made when the store had no number to give.
    fileprivate var isUnsavable: Bool {
        change != nil && object.graphID.isProvisional
    }

    /// Whether there is a change of which all is sent to the store.
    fileprivate var isWhollyPersistent: Bool {
        let schema = object.binding.schema
        return change != nil && schema.slots.count == schema.storedSlotCount
    }

    /// All stored values as they were before the pending edits.
    fileprivate var valuesSeen: [Value] {
        let schema = object.binding.schema
        var values = Array(object.values.prefix(schema.storedSlotCount))
        if case .update(let edits, _)? = change?.kind {
            for edit in edits {
                if let slot = schema.property(edit.property)?.slot, slot < values.count {
                    values[slot] = edit.old
                }
            }
        }
        return values
    }
}

extension Change {
    /// This change without transient properties; nil when nothing is left.
    fileprivate func persistent(of entity: SchemaEntity) -> Change? {
        guard entity.slots.count > entity.storedSlotCount else { return isEmpty ? nil : self }
        var change = self
        switch kind {
        case .insert(let values, let members):
            change.kind = .insert(
                values: Array(values.prefix(entity.storedSlotCount)), members: members)
        case .update(let edits, let members):
            let kept = edits.filter { entity.property($0.property)?.isPersistent == true }
            change.kind = .update(edits: kept, members: members)
        case .delete(let values, let members):
            change.kind = .delete(
                values: Array(values.prefix(entity.storedSlotCount)), members: members)
        }
        return change.isEmpty ? nil : change
    }
}
