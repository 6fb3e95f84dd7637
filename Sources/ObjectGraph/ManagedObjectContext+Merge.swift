public import Foundation
public import JournalLog
public import ObjectModel
import SnapshotStore

extension ManagedObjectContext {
    /// Merges the save that a notification tells of, and all entries before it.
    ///
    /// A notification from a context of another coordinator is ignored.
    ///
    /// - Returns: Edits pending here of properties that the others changed, too. The pending values
    ///   are kept and now stand on the others' values; edits of objects they deleted are dropped.
    @discardableResult
    public func mergeChanges(
        fromContextDidSave notification: Notification
    ) throws -> [MergeConflict] {
        guard let context = notification.object as? ManagedObjectContext,
            context.coordinator === coordinator,
            let sequence = notification.userInfo?[Self.sequenceKey] as? SequenceNumber
        else { return [] }
        return try mergeChanges(through: sequence)
    }

    /// Replays what others have saved, up to an entry, under what is pending here.
    ///
    /// Merging the same entries again changes nothing.
    ///
    /// - Parameter sequence: The last entry to merge; the newest when nil.
    /// - Returns: As ``mergeChanges(fromContextDidSave:)``.
    /// - Throws: ``StoreError`` when an entry cannot be read; entries before it have been merged.
    /// - Complexity: O(*k*), *k* the number of changes in the entries.
    @discardableResult
    public func mergeChanges(
        through sequence: SequenceNumber? = nil
    ) throws -> [MergeConflict] {
        assertOnQueue()
        guard case .latest = readingMode else { return [] }
        processPendingChanges()
        let store = coordinator.defaultStore.store
        let target = try sequence ?? store.head()
        guard base < target else { return [] }
        var conflicts: [MergeConflict] = []
        var refreshed: Set<ManagedObject> = []
        let first = SequenceNumber(rawValue: base.rawValue + 1)
        try store.entries(from: first, through: target) { entry in
            if ownEntries.remove(entry.sequence) == nil {
                for change in entry.changes {
                    let id = GraphID(store: coordinator.defaultStore.number, object: change.object)
                    merge(change, id, entry.sequence, &conflicts, &refreshed)
                }
            }
            base = entry.sequence
            return .proceed
        }
        if !refreshed.isEmpty { postDidChange(refreshed: refreshed) }
        return conflicts
    }

    /// Whether the context merges what others save as they save it.
    public var automaticallyMergesChangesFromParent: Bool {
        get { subscription != nil }
        set {
            guard newValue != (subscription != nil) else { return }
            guard newValue else {
                subscription = nil
                return
            }
            subscription = coordinator.defaultStore.store.subscribe { [weak self] sequence in
                self?.perform { [weak self] in self?.mergeAsTheyCome(sequence) }
            }
        }
    }

    private func mergeAsTheyCome(_ sequence: SequenceNumber) {
        do {
            try mergeChanges(through: sequence)
        } catch {
            mergeFailureHandler?(error)
        }
    }

    /// Takes one change of an entry that is not this context's own into the registered objects.
    func merge(
        _ change: Change, _ id: GraphID, _ sequence: SequenceNumber,
        _ conflicts: inout [MergeConflict], _ refreshed: inout Set<ManagedObject>
    ) {
        forgetLists(touchedBy: change, id)
        guard let object = identityMap[id] else { return }
        switch change.kind {
        case .insert:
            // A deleted object that somebody has brought back is read again.
            guard object.status.contains(.gone) else { return }
            object.values = []
            object.status = .fault
            refreshed.insert(object)
        case .update(let edits, _):
            guard !object.isFault, object.since < sequence.rawValue else { return }
            merge(edits, into: object, sequence, &conflicts)
            object.since = sequence.rawValue
            refreshed.insert(object)
        case .delete:
            mergeDelete(of: object, &conflicts)
            refreshed.insert(object)
        }
    }

    private func merge(
        _ edits: [Edit], into object: ManagedObject, _ sequence: SequenceNumber,
        _ conflicts: inout [MergeConflict]
    ) {
        let schema = object.binding.schema
        for edit in edits {
            guard let slot = schema.property(edit.property)?.slot else { continue }
            undoManager?.rebase(object, edit.property, onto: edit.new)
            guard
                case .update(var pendingEdits, let members)? = pending[object.graphID]?.change?.kind,
                let index = pendingEdits.firstIndex(where: { $0.property == edit.property })
            else {
                object.values[slot] = edit.new
                object.relations[edit.property] = nil
                continue
            }
            let ours = pendingEdits[index].new
            if ours == edit.new {
                pendingEdits.remove(at: index)
            } else {
                conflicts.append(
                    MergeConflict(
                        kind: .value, object: object.graphID.object, property: edit.property,
                        base: pendingEdits[index].old, theirs: edit.new, ours: ours))
                pendingEdits[index].old = edit.new
            }
            let rebased = Change(
                object: object.graphID.object,
                kind: .update(edits: pendingEdits, members: members))
            pending.replace(object.graphID, with: rebased.isEmpty ? nil : rebased)
        }
    }

    private func mergeDelete(of object: ManagedObject, _ conflicts: inout [MergeConflict]) {
        if case .update(let edits, _)? = pending[object.graphID]?.change?.kind {
            for edit in edits {
                conflicts.append(
                    MergeConflict(
                        kind: .deletedByThem, object: object.graphID.object,
                        property: edit.property, base: edit.old, ours: edit.new))
            }
        }
        if let change = pending[object.graphID]?.change { withdrawReferences(of: change, object) }
        pending.remove(object.graphID)
        undoManager?.forget(object)
        object.status.subtract([.inserted, .updated, .deleted])
        object.status.insert(.gone)
    }

    /// Lets lists that a foreign change touches be read again when they are asked for.
    func forgetLists(touchedBy change: Change, _ id: GraphID) {
        let schema = binding(id.object.entity).schema
        func forget(_ destination: ObjectID?, _ property: SchemaProperty) {
            guard let destination, let inverse = property.end?.inverse else { return }
            identityMap[GraphID(store: id.store, object: destination)]?.relations[inverse] = nil
        }
        switch change.kind {
        case .insert(let values, _), .delete(let values, _):
            for property in schema.referenceSlots {
                forget(property.slot.flatMap { values[$0].reference }, property)
            }
        case .update(let edits, _):
            for edit in edits {
                guard let property = schema.property(edit.property) else { continue }
                forget(edit.old.reference, property)
                forget(edit.new.reference, property)
            }
        }
        for edit in change.members {
            guard let property = schema.property(edit.property) else { continue }
            identityMap[id]?.relations[edit.property] = nil
            for member in edit.added + edit.removed { forget(member.object, property) }
        }
    }
}
