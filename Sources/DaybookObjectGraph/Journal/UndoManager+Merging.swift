import DaybookJournalLog
import DaybookObjectModel

extension UndoManager {
    /// Notes that everything made so far has been saved.
    ///
    /// - Parameter saves: In which entry of each store, and what it changed.
    /// - Complexity: O(*k*), *k* the number of changes since the last save and after the cursor.
    func noteSave(as saves: [UInt32: UndoneEntries]) {
        let count = movedSteps.reduce(0) { $0 + groups[$1].changes.count }
        let origins = saves.mapValues { $0.keeping(atMost: count) }
        for index in movedSteps { groups[index].origins = origins }
        for index in min(savedCursor, cursor)..<groups.count {
            groups[index].changes.mark(isSaved: index < cursor)
        }
        open.changes.mark(isSaved: true)
        open.origins.removeAll()
        savedCursor = cursor
        settledCount = groups.count
    }

    /// Forgets every change of an object that is no more.
    func forget(_ object: ManagedObject) {
        guard object.isJournaled else { return }
        rewrite { _, recorded in recorded.object === object ? nil : recorded }
    }

    /// Forgets the changes of an object whose edits since the last save were dropped. What was saved
    /// before can still be undone.
    func forgetUnsaved(_ object: ManagedObject) {
        guard object.isJournaled else { return }
        rewrite { place, recorded in
            recorded.object === object && !recorded.isSaved ? nil : recorded
        }
    }

    /// A value that somebody else has set, and that the journal is to follow.
    struct Rebase {
        let property: PropertyNumber
        let slot: Int
        let theirs: Value
        /// Whether the first unsaved edit has been found.
        var isMade = false
        /// Where the unsaved edits found so far lead, of an attribute that merges.
        var reached: Value?
    }

    /// Makes the journal follow a value that somebody else has set, now or at the end of
    /// ``gatheringRebases(_:)``.
    ///
    /// The first unsaved edit of the property then starts from their value. Edits before it, which
    /// theirs has overtaken, are dropped: undoing them must not undo what somebody else did. Where the
    /// attribute merges, they stay, since undoing them takes away only what they have added.
    func rebase(
        _ object: ManagedObject, _ property: PropertyNumber, inSlot slot: Int, onto theirs: Value
    ) {
        guard object.isJournaled else { return }
        gatheringRebases {
            gathered?[object, default: []].append(
                Rebase(property: property, slot: slot, theirs: theirs))
        }
    }

    /// Runs `body`, and lets the journal follow everything that it rebases in one walk.
    func gatheringRebases(_ body: () -> Void) {
        guard gathered == nil else { return body() }
        gathered = [:]
        body()
        guard var rebases = gathered else { return }
        gathered = nil
        guard !rebases.isEmpty else { return }
        rewrite { place, recorded in
            guard let index = rebases.index(forKey: recorded.object) else { return recorded }
            var kept: RecordedChange? = recorded
            for number in rebases.values[index].indices {
                kept = kept.flatMap {
                    rebases.values[index][number].made(
                        to: $0, place.isSettled, isMade: place.isMade)
                }
            }
            return kept
        }
    }

    /// Makes the journal follow an object to the identifier that it has now, and forget what it was
    /// related to.
    func move(_ object: ManagedObject, from old: GraphID) {
        dropReferences(to: [old.object], inStore: old.store)
        rewrite { _, recorded in
            guard recorded.object === object else { return recorded }
            var rewritten = recorded
            rewritten.change = Change(
                object: object.graphID.object,
                kind: recorded.change.unrelated(of: object.binding.schema),
                cause: recorded.change.cause)
            return rewritten
        }
    }

    /// Makes the journal as if some objects that others have deleted had never been referred to.
    ///
    /// Objects that were deleted here as well stay: undo brings them back before it comes to what
    /// refers to them.
    func dropReferences(to deleted: Set<ObjectID>, inStore store: UInt32) {
        let ours = steps(thatDelete: Set(deleted.map { GraphID(store: store, object: $0) }))
        let lost = deleted.filter { ours[GraphID(store: store, object: $0)] == nil }
        guard !lost.isEmpty else { return }
        // What a reference was before it came to lead to a lost object.
        var earlier: [RelationKey: Value] = [:]
        rewrite { _, recorded in
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
            case .delete(let values, let members):
                rewritten.change.kind = .delete(
                    values: emptied(values), members: members.without(lost))
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
    }

    /// A place in the journal.
    private struct Place {
        /// Whether the change there has been made, and not taken back since.
        let isMade: Bool
        /// Whether it was recorded before the last save.
        let isSettled: Bool
    }

    private func rewrite(_ transform: (Place, RecordedChange) -> RecordedChange?) {
        var kept: [ChangeGroup] = []
        var counts = (cursor: 0, saved: 0, settled: 0)
        for (index, group) in groups.enumerated() {
            var group = group
            group.changes = group.changes.compactMap {
                rewrite($0, index < cursor, index < settledCount, transform)
            }
            guard !group.isEmpty else { continue }
            kept.append(group)
            if index < cursor { counts.cursor += 1 }
            if index < savedCursor { counts.saved += 1 }
            if index < settledCount { counts.settled += 1 }
        }
        groups = kept
        (cursor, savedCursor, settledCount) = counts
        rewriteOpenGroup(transform)
    }

    private func rewriteOpenGroup(_ transform: (Place, RecordedChange) -> RecordedChange?) {
        var kept: [RecordedChange] = []
        // Where each change, and the end, has moved to.
        var places: [Int] = []
        for recorded in open.changes {
            places.append(kept.count)
            if let recorded = rewrite(recorded, true, false, transform) { kept.append(recorded) }
        }
        places.append(kept.count)
        open.changes = kept
        for index in levels.indices { levels[index].start = places[levels[index].start] }
        nested = nested.map { places[$0.lowerBound]..<places[$0.upperBound] }
            .filter { !$0.isEmpty }
    }

    /// Rewrites one change. One that goes no longer counts as pending.
    private func rewrite(
        _ recorded: RecordedChange, _ isMade: Bool, _ isSettled: Bool,
        _ transform: (Place, RecordedChange) -> RecordedChange?
    ) -> RecordedChange? {
        let place = Place(isMade: isMade, isSettled: isSettled || recorded.isSaved)
        let kept = transform(place, recorded)
        let weight = (isMade ? 1 : 0) - (recorded.isSaved ? 1 : 0)
        if kept == nil, weight != 0 { context?.noteForgotten(recorded.object, weight) }
        return kept
    }
}

extension UndoManager.Rebase {
    /// What becomes of a change of the object; nil when nothing is left.
    fileprivate mutating func made(
        to recorded: RecordedChange, _ isSettled: Bool, isMade isInForce: Bool
    ) -> RecordedChange? {
        var rewritten = recorded
        if let merging = recorded.object.binding.schema.property(property), merging.merge != nil,
            case .update(let edits, let members) = recorded.change.kind
        {
            guard !isSettled, isInForce else { return recorded }
            rewritten.change.kind = .update(edits: merged(edits, of: merging), members: members)
            return rewritten.change.isEmpty ? nil : rewritten
        }
        switch recorded.change.kind {
        case .insert:
            return recorded
        case .update(var edits, let members):
            guard let index = edits.firstIndex(where: { $0.property == property }) else {
                return recorded
            }
            if isSettled {
                edits.remove(at: index)
            } else if !isMade {
                edits[index].old = theirs
                isMade = true
            }
            rewritten.change.kind = .update(edits: edits, members: members)
            return rewritten.change.isEmpty ? nil : rewritten
        case .delete(var values, let members):
            guard !isSettled else { return recorded }
            values[slot] = theirs
            rewritten.change.kind = .delete(values: values, members: members)
            return rewritten
        }
    }
}

extension UndoManager.Rebase {
    /// Edits of which the one of the property leads on from where those before it lead now.
    private mutating func merged(_ edits: [Edit], of property: SchemaProperty) -> [Edit] {
        edits.compactMap { edit in
            guard edit.property == self.property else { return edit }
            let old = reached ?? theirs
            let moved = edit.starting(from: old, of: property, unmergeable: .kept)
            reached = moved?.new ?? old
            return moved
        }
    }
}

extension [RecordedChange] {
    fileprivate mutating func mark(isSaved: Bool) {
        for place in indices { self[place].isSaved = isSaved }
    }
}
