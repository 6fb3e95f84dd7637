import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// What a save takes back of saved entries, so that its own entry can say so.

extension ManagedObjectContext {
    /// What saved entries changed; nil when they cannot be taken back, as with a model that no longer has what they
    /// changed.
    func netChanges(
        of entries: ClosedRange<SequenceNumber>, in store: PersistentStore
    ) throws -> [Change]? {
        do {
            return try store.store.netChanges(of: entries)
        } catch let error as StoreError where error.code == .undoBlocked {
            return nil
        }
    }

    /// The saved entries that changes take back, if they do nothing else.
    ///
    /// - Parameters:
    ///   - origins: The saved entries that the steps since the last save stand for or take back.
    ///   - changes: What is to be saved.
    ///   - items: The pending changes from which they were made.
    ///   - store: The store to save to.
    /// - Returns: The entries, a run without gaps; nil when there are none.
    /// - Throws: ``StoreError`` when an entry cannot be read.
    func undoneEntries(
        among origins: [UndoneEntries], by changes: [Change], of items: [NetChange],
        in store: PersistentStore
    ) throws -> ClosedRange<SequenceNumber>? {
        guard !changes.isEmpty, let range = UndoneEntries.run(of: origins) else { return nil }
        let schema = store.store.schema
        if origins.count == 1, let inverse = origins[0].changes {
            return changes.pair(with: inverse) { $0.leads(as: $1, in: schema) } ? range : nil
        }
        let isOne = origins.allSatisfy { $0.entries == origins[0].entries }
        let known = isOne ? origins[0].saved : nil
        if let known, changes.count == items.count, items.haveTakenBack(known) { return range }
        guard let saved = try known ?? netChanges(of: range, in: store) else { return nil }
        return changes.pair(with: saved) { $0.takesBack($1, in: schema) } ? range : nil
    }
}

extension [Change] {
    /// Whether there is one change in `others` for each one here, of the same object, and each two
    /// fit together.
    fileprivate func pair(with others: [Change], _ fit: (Change, Change) -> Bool) -> Bool {
        guard count == others.count else { return false }
        let (ours, theirs) = (span, others.span)
        // Both are in the order of an entry, and mostly of the same kinds.
        var index = 0
        while index < ours.count, ours[index].object == theirs[index].object {
            guard fit(ours[index], theirs[index]) else { return false }
            index += 1
        }
        guard index < ours.count else { return true }
        let indexed = others.indices.map { (others[$0].object, $0) }
        let positions = Dictionary(indexed, uniquingKeysWith: { _, last in last })
        return allSatisfy { change in
            positions[change.object].map { fit(change, others[$0]) } ?? false
        }
    }
}

extension Change {
    /// Whether this change leads from the other's end back to its start.
    fileprivate func takesBack(_ other: Change, in schema: Schema) -> Bool {
        // Switched one after the other, because a switch over both would first make a pair of copies.
        switch kind {
        case .insert(let values, let joined):
            guard case .delete(let otherValues, let otherJoined) = other.kind else { return false }
            return values == otherValues && joined.takeBack(otherJoined)
        case .update(let edits, let joined):
            guard case .update(let otherEdits, let otherJoined) = other.kind else { return false }
            return edits.takeBack(otherEdits, schema.merging(object.entity))
                && joined.takeBack(otherJoined)
        case .delete(let values, let joined):
            guard case .insert(let otherValues, let otherJoined) = other.kind else { return false }
            return values == otherValues && joined.takeBack(otherJoined)
        }
    }

    /// Whether this change does what another does, wherever each of them starts.
    fileprivate func leads(as other: Change, in schema: Schema) -> Bool {
        guard let entity = schema.merging(object.entity),
            case .update(let edits, let members) = kind,
            case .update(let otherEdits, let otherMembers) = other.kind
        else { return kind == other.kind }
        return members == otherMembers
            && edits.takeBack(otherEdits.map(\.inverse), entity)
    }
}

extension [Edit] {
    /// Whether these edits lead from the end of others back to their start. For an attribute that
    /// merges, the differences count: `merging` is the entity, if it has such attributes.
    fileprivate func takeBack(_ others: [Edit], _ merging: SchemaEntity?) -> Bool {
        let (ours, theirs) = (span, others.span)
        guard ours.count == theirs.count else { return false }
        for index in ours.indices {
            guard ours[index].property == theirs[index].property else { return false }
            if ours[index].old == theirs[index].new, ours[index].new == theirs[index].old {
                continue
            }
            guard let property = merging?.property(ours[index].property),
                property.merged(
                    base: theirs[index].new, theirs: ours[index].old, ours: theirs[index].old)
                    == ours[index].new
            else { return false }
        }
        return true
    }
}

extension [MembershipEdit] {
    /// Whether these edits lead from the end of others back to their start.
    fileprivate func takeBack(_ others: [MembershipEdit]) -> Bool {
        count == others.count && (isEmpty || self == others.map(\.inverse))
    }
}

extension UndoneEntries {
    /// The entries of several origins, if they follow each other without a gap.
    static func run(of origins: [UndoneEntries]) -> ClosedRange<SequenceNumber>? {
        var run: ClosedRange<SequenceNumber>?
        for next in origins.map(\.entries).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let before = run else {
                run = next
                continue
            }
            guard next.lowerBound <= before.upperBound.next else { return nil }
            run = before.lowerBound...max(before.upperBound, next.upperBound)
        }
        return run
    }
}
