import DaybookObjectModel

/// What others have made of an object, and a list of changes must follow.
protocol StepRebase {
    /// Makes a change of the object start from it. Called for all its changes, in the order of the list.
    ///
    /// - Parameters:
    ///   - recorded: The change.
    ///   - isSettled: Whether it has been saved.
    ///   - isInForce: Whether it has been made, and not been taken back.
    /// - Returns: What is left of it; nil for nothing.
    mutating func made(
        to recorded: RecordedChange, _ isSettled: Bool, isMade isInForce: Bool
    ) -> RecordedChange?
}

/// A value that somebody else has set, and that a list of changes must follow.
///
/// The first unsaved edit of the property then starts from their value. Edits before it, which theirs
/// has overtaken, are dropped: undoing them must not undo what somebody else did. If the attribute
/// merges, they stay, since undoing them takes away only what they have added. A delete that is undone, and
/// an insert that is redone, bring back their value where they would have brought back the one that theirs
/// has replaced.
struct Rebase: StepRebase {
    let property: PropertyNumber
    let slot: Int
    let theirs: Value
    /// What they have replaced, for an object whose delete is pending; nil for others.
    let replaced: Value?
    /// Whether the first unsaved edit has been found.
    private var isMade = false
    /// The value to which the unsaved edits found so far lead.
    private var reached: Value?

    init(
        _ property: PropertyNumber, inSlot slot: Int, onto theirs: Value, insteadOf replaced: Value?
    ) {
        self.property = property
        self.slot = slot
        self.theirs = theirs
        self.replaced = replaced
    }
}

extension Rebase {
    mutating func made(
        to recorded: RecordedChange, _ isSettled: Bool, isMade isInForce: Bool
    ) -> RecordedChange? {
        var rewritten = recorded
        let described = recorded.object.binding.schema.property(property)
        if let merging = described, merging.merge != nil,
            case .update(let edits, let members) = recorded.change.kind
        {
            guard !isSettled, isInForce else { return recorded }
            rewritten.change.kind = .update(edits: merged(edits, of: merging), members: members)
            return rewritten.change.isEmpty ? nil : rewritten
        }
        switch recorded.change.kind {
        case .insert(var values, let members):
            // Only a saved insert that has been taken back is of an object whose delete is pending.
            guard !isInForce, replaced != nil else { return recorded }
            values[slot] = broughtBack(values[slot], of: described)
            rewritten.change.kind = .insert(values: values, members: members)
            return rewritten
        case .update(var edits, let members):
            guard let index = edits.firstIndex(where: { $0.property == property }) else {
                return recorded
            }
            if isSettled {
                edits.remove(at: index)
            } else {
                if !isMade { edits[index].old = theirs }
                isMade = true
                if edits[index].old == edits[index].new { edits.remove(at: index) }
            }
            rewritten.change.kind = .update(edits: edits, members: members)
            return rewritten.change.isEmpty ? nil : rewritten
        case .delete(var values, let members):
            guard !isSettled else { return recorded }
            values[slot] = isInForce ? broughtBack(values[slot], of: described) : theirs
            rewritten.change.kind = .delete(values: values, members: members)
            return rewritten
        }
    }

    /// What a change brings back that would have brought back a value: ours where it differs from what they have
    /// replaced.
    private func broughtBack(_ value: Value, of property: SchemaProperty?) -> Value {
        guard let replaced, value != replaced else { return theirs }
        guard let property, property.merge != nil else { return value }
        return property.merged(base: replaced, theirs: theirs, ours: value) ?? value
    }
}

extension Rebase {
    /// The edits, with the one of the property starting from the result of those before it.
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

/// Members that others have put into, moved in or taken out of lists of an object.
///
/// The first unsaved move of a member starts from where they have put it; moves before it, which theirs have overtaken,
/// are dropped, as edits are.
struct MoveRebase: StepRebase {
    /// By relationship, where they have put members; nil for out of it.
    private let theirs: [PropertyNumber: [ObjectID: Double?]]
    /// The members of which the first unsaved move has been found.
    private var found: [PropertyNumber: Set<ObjectID>] = [:]

    init(onto theirs: [MembershipEdit]) {
        self.theirs = theirs.reduce(into: [:]) { lists, edit in
            for move in edit.moves where move.old != move.new {
                lists[edit.property, default: [:]].updateValue(move.new, forKey: move.object)
            }
        }
    }

    mutating func made(
        to recorded: RecordedChange, _ isSettled: Bool, isMade isInForce: Bool
    ) -> RecordedChange? {
        guard case .update(let edits, let members) = recorded.change.kind, !members.isEmpty else {
            return recorded
        }
        var isChanged = false
        let kept = members.map { edit in
            guard let theirs = theirs[edit.property] else { return edit }
            return MembershipEdit(
                property: edit.property,
                moves: edit.moves.compactMap { move in
                    guard let their = theirs[move.object],
                        // What they have taken out stays out, whatever is undone.
                        their != nil || move.new == nil
                    else { return move }
                    isChanged = true
                    guard !isSettled else { return nil }
                    var move = move
                    if found[edit.property, default: []].insert(move.object).inserted {
                        move.old = their
                    }
                    return move.old == move.new ? nil : move
                })
        }
        guard isChanged else { return recorded }
        var rewritten = recorded
        rewritten.change.kind = .update(edits: edits, members: kept.filter { !$0.isEmpty })
        return rewritten.change.isEmpty ? nil : rewritten
    }
}

/// Members that others have put into, moved in or taken out of the lists of an object whose delete is pending.
///
/// Undoing the delete, or redoing the insert that was taken back, brings back the lists as the others have left them,
/// but for members that it would have brought back otherwise than they were before.
struct MemberRebase: StepRebase {
    /// By relationship, the members before and after.
    private let lists: [PropertyNumber: (before: [ObjectID: Double], after: [ObjectID: Double])]

    /// The difference between a pending delete as it was and as it starts from what others have made of the lists; nil
    /// for none, and for other changes.
    init?(from old: Change, to new: Change) {
        guard case .delete(_, let earlier) = old.kind, case .delete(_, let later) = new.kind,
            earlier != later
        else { return nil }
        // A delete takes out all members.
        let (before, after) = (earlier.orders(\.removed), later.orders(\.removed))
        let properties = Set(before.keys).union(after.keys)
        lists = Dictionary(
            uniqueKeysWithValues: properties.map { ($0, (before[$0] ?? [:], after[$0] ?? [:])) })
    }

    mutating func made(
        to recorded: RecordedChange, _ isSettled: Bool, isMade isInForce: Bool
    ) -> RecordedChange? {
        var rewritten = recorded
        switch recorded.change.kind {
        case .insert(let values, let members):
            guard !isInForce else { return recorded }
            let kept = broughtBack(members.orders(\.added)).map {
                MembershipEdit(property: $0, from: [:], to: $1)
            }
            rewritten.change.kind = .insert(values: values, members: kept.inOrder)
        case .update: return recorded
        case .delete(let values, let members):
            guard !isSettled, isInForce else { return recorded }
            let kept = broughtBack(members.orders(\.removed)).map {
                MembershipEdit(property: $0, from: $1, to: [:])
            }
            rewritten.change.kind = .delete(values: values, members: kept.inOrder)
        }
        return rewritten
    }

    /// The members that a change brings back that would have brought back some.
    private func broughtBack(
        _ members: [PropertyNumber: [ObjectID: Double]]
    ) -> [PropertyNumber: [ObjectID: Double]] {
        var members = members
        for (property, (before, after)) in lists {
            for member in Set(before.keys).union(after.keys)
            where members[property]?[member] == before[member] {
                members[property, default: [:]][member] = after[member]
            }
        }
        return members
    }
}

extension [MembershipEdit] {
    /// By relationship, the members that these edits add or remove, with their orders.
    fileprivate func orders(
        _ members: KeyPath<MembershipEdit, [Member]>
    ) -> [PropertyNumber: [ObjectID: Double]] {
        reduce(into: [:]) { lists, edit in
            for member in edit[keyPath: members] {
                lists[edit.property, default: [:]][member.object] = member.order
            }
        }
    }

    /// These edits as they stand in a change.
    fileprivate var inOrder: [MembershipEdit] {
        filter { !$0.isEmpty }.sorted { $0.property < $1.property }
    }
}
