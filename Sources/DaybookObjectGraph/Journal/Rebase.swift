import DaybookObjectModel

/// What others have made of an object, and a list of changes must follow.
protocol ListRebase {
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
/// merges, they stay, since undoing them takes away only what they have added.
struct Rebase: ListRebase {
    let property: PropertyNumber
    let slot: Int
    let theirs: Value
    /// Whether the first unsaved edit has been found.
    private var isMade = false
    /// The value to which the unsaved edits found so far lead.
    private var reached: Value?

    init(_ property: PropertyNumber, inSlot slot: Int, onto theirs: Value) {
        self.property = property
        self.slot = slot
        self.theirs = theirs
    }
}

extension Rebase {
    mutating func made(
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
            } else {
                if !isMade { edits[index].old = theirs }
                isMade = true
                if isInForce { reached = edits[index].new }
            }
            rewritten.change.kind = .update(edits: edits, members: members)
            return rewritten.change.isEmpty ? nil : rewritten
        case .delete(var values, let members):
            guard !isSettled else { return recorded }
            // Undoing the delete brings back what the edits before it led to.
            values[slot] = isInForce ? reached ?? theirs : theirs
            rewritten.change.kind = .delete(values: values, members: members)
            return rewritten
        }
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

/// Members that others have put into, moved in or taken out of the lists of an object that is deleted here.
///
/// Undoing the delete brings back what the lists were then: as the others have left them, with what the changes before
/// the delete have made of them.
struct MemberRebase: ListRebase {
    private let theirs: [MembershipEdit]
    /// What the unsaved changes found so far have made of members.
    private var reached: [MembershipEdit] = []

    /// The difference between a pending delete as it was and as it starts from what others have made of the lists; nil
    /// for none, and for other changes.
    init?(from old: Change, to new: Change) {
        guard case .delete(_, let earlier) = old.kind, case .delete(_, let later) = new.kind,
            earlier != later
        else { return nil }
        // A delete takes out all members.
        let (before, after) = (earlier.membersRemoved, later.membersRemoved)
        theirs = Set(before.keys).union(after.keys).sorted().map {
            MembershipEdit(property: $0, from: before[$0] ?? [:], to: after[$0] ?? [:])
        }
    }

    mutating func made(
        to recorded: RecordedChange, _ isSettled: Bool, isMade isInForce: Bool
    ) -> RecordedChange? {
        guard !isSettled, isInForce else { return recorded }
        switch recorded.change.kind {
        case .insert: return recorded
        case .update(_, let members):
            reached = reached.then(members)
            return recorded
        case .delete(let values, let members):
            var rewritten = recorded
            rewritten.change.kind = .delete(
                values: values, members: members.leavingAll(after: theirs.under(reached)))
            return rewritten
        }
    }
}

extension [MembershipEdit] {
    /// By relationship, the members that these edits remove.
    fileprivate var membersRemoved: [PropertyNumber: [ObjectID: Double]] {
        reduce(into: [:]) { lists, edit in
            for member in edit.removed {
                lists[edit.property, default: [:]][member.object] = member.order
            }
        }
    }

    /// What these edits come to with others made after them, for the members of these.
    fileprivate func under(_ later: [MembershipEdit]) -> [MembershipEdit] {
        map { edit in
            guard let others = later.first(where: { $0.property == edit.property }) else {
                return edit
            }
            let reached = Dictionary(uniqueKeysWithValues: others.moves.map { ($0.object, $0.new) })
            return MembershipEdit(
                property: edit.property,
                moves: edit.moves.map {
                    MemberMove($0.object, from: $0.old, to: reached[$0.object] ?? $0.new)
                })
        }
    }
}
