import DaybookJournalLog
import DaybookObjectModel

extension StepList {
    /// Forgets changes of an object that no longer exists; if only its edits were dropped, those that are not as the
    /// store has them: those made since the last save, and saved ones that have been taken back since. Redo could only
    /// make these again where they are in force already.
    mutating func forget(
        _ object: ManagedObject, onlyUnsaved: Bool, _ leaving: Leaving
    ) {
        let transform: (Position, RecordedChange) -> RecordedChange? = { position, recorded in
            let stays = onlyUnsaved && recorded.isSaved && position.isMade
            let goes = recorded.object === object && !stays
            return goes ? nil : recorded
        }
        rewrite(transform, leaving)
        forgetLeft(of: object)
    }

    /// Makes the list follow what others have set.
    mutating func rebase(_ rebases: [ManagedObject: [any StepRebase]], _ leaving: Leaving) {
        var rebases = rebases
        let transform: (Position, RecordedChange) -> RecordedChange? = { position, recorded in
            guard let index = rebases.index(forKey: recorded.object) else { return recorded }
            var kept: RecordedChange? = recorded
            for number in rebases.values[index].indices {
                kept = kept.flatMap {
                    rebases.values[index][number].made(
                        to: $0, position.isSettled, isMade: position.isMade)
                }
            }
            return kept
        }
        rewrite(transform, leaving)
    }

    /// Makes the list follow an object to its current identifier, and forget what it was related to.
    mutating func move(_ object: ManagedObject, from old: GraphID, _ leaving: Leaving) {
        dropReferences(to: [old.object], inStore: old.store, keeping: { _ in false }, leaving)
        let transform: (Position, RecordedChange) -> RecordedChange? = { _, recorded in
            guard recorded.object === object else { return recorded }
            var rewritten = recorded
            rewritten.change = Change(
                object: object.graphID.object,
                kind: recorded.change.unrelated(of: object.binding.schema),
                cause: recorded.change.cause)
            return rewritten
        }
        rewrite(transform, leaving)
    }

    /// Rewrites the list as if objects that others have deleted had never been referred to.
    ///
    /// Objects that were deleted here as well stay: undo brings them back before it reaches what refers to
    /// them.
    ///
    /// This is not what ``Change/leaveOut(of:where:unlessTaken:)`` does. That takes back what one change
    /// begins; here both ends of every change in a chain lose the reference, so that each still starts
    /// where the one before it ends, and a member that left the list is not to come back either.
    ///
    /// - Parameters:
    ///   - deleted: The objects.
    ///   - store: Their store.
    ///   - isKept: Whether a deleted object that comes back has a reference as it was, since the store leaves it, too.
    ///   - leaving: Called for each change that leaves the list.
    mutating func dropReferences(
        to deleted: Set<ObjectID>, inStore store: UInt32, keeping isKept: (SchemaProperty) -> Bool,
        _ leaving: Leaving
    ) {
        let ours = steps(thatDelete: Set(deleted.map { GraphID(store: store, object: $0) }))
        let lost = deleted.filter { ours[GraphID(store: store, object: $0)] == nil }
        guard !lost.isEmpty else { return }
        // The value of a reference before it led to a lost object.
        var earlier: [RelationKey: Value] = [:]
        let transform: (Position, RecordedChange) -> RecordedChange? = { _, recorded in
            guard recorded.object.graphID.store == store else { return recorded }
            var rewritten = recorded
            let entity = recorded.object.binding.schema
            func emptied(_ values: [Value]) -> [Value] {
                values.map { $0.leads(to: lost) ? .null : $0 }
            }
            switch recorded.change.kind {
            case .insert(let values, let members):
                rewritten.change.kind = .insert(
                    values: emptied(values), members: members.without(lost))
                return rewritten
            case .delete(var values, let members):
                for slot in values.indices
                where values[slot].leads(to: lost) && !isKept(entity.slots[slot]) {
                    values[slot] = .null
                }
                let lists = members.flatMap { edit in
                    entity.property(edit.property).map(isKept) == true
                        ? [edit] : [edit].without(lost)
                }
                rewritten.change.kind = .delete(values: values, members: lists)
                return rewritten
            case .update(var edits, let members):
                for index in edits.indices {
                    let key = RelationKey(
                        owner: recorded.object.graphID, property: edits[index].property)
                    if edits[index].old.leads(to: lost) {
                        edits[index].old = earlier[key] ?? .null
                    }
                    if edits[index].new.leads(to: lost) {
                        let isExclusive = entity.property(key.property)?.isExclusive == true
                        let back = isExclusive ? .null : edits[index].old
                        edits[index].new = back
                        earlier[key] = back
                    }
                }
                let kept = Change(
                    object: recorded.change.object,
                    kind: .update(
                        edits: edits.filter { $0.old != $0.new }, members: members.without(lost)),
                    cause: recorded.change.cause)
                guard kept != recorded.change else { return recorded }
                rewritten.change = kept
                return kept.isEmpty ? nil : rewritten
            }
        }
        rewrite(transform, leaving)
    }
}
