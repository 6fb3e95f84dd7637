import DaybookObjectModel

/// A value that somebody else has set, and that a list of changes must follow.
///
/// The first unsaved edit of the property then starts from their value. Edits before it, which theirs
/// has overtaken, are dropped: undoing them must not undo what somebody else did. If the attribute
/// merges, they stay, since undoing them takes away only what they have added.
struct Rebase {
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
    /// What is left of a change of the object; nil for nothing.
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
