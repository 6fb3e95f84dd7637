extension Change {
    /// This change followed by another of the same object, as one; nil when nothing is left.
    ///
    /// Insert and update are an insert; insert and delete are nothing; A→B and B→A are nothing;
    /// delete and insert (an undone delete) are an update from the old values to the new ones.
    ///
    /// - Throws: ``ChangeMismatch`` when the second does not start where the first ends.
    package func followed(
        by next: Change, of entity: SchemaEntity
    ) throws(ChangeMismatch) -> Change? {
        switch (kind, next.kind) {
        case (.insert(var values, let members), .update(let edits, let later)):
            try Change.apply(edits, to: &values, of: object, entity)
            return Change(
                object: object,
                kind: .insert(values: values, members: members.followed(by: later)), cause: cause)
        case (.insert, .delete):
            return nil
        case (.update(let edits, let members), .update(let laterEdits, let later)):
            return Change(
                object: object,
                kind: .update(
                    edits: edits.followed(by: laterEdits), members: members.followed(by: later)),
                cause: cause ?? next.cause
            ).nonEmpty
        case (.update(let edits, let members), .delete(var values, let later)):
            try Change.apply(edits.map(\.inverse), to: &values, of: object, entity)
            return Change(
                object: object,
                kind: .delete(values: values, members: members.followed(by: later)),
                cause: next.cause)
        case (.delete(let old, let members), .insert(let new, let later)):
            var edits: [Edit] = []
            for (slot, pair) in zip(old, new).enumerated() where pair.0 != pair.1 {
                edits.append(Edit(property: entity.slots[slot].number, old: pair.0, new: pair.1))
            }
            edits.sort { $0.property < $1.property }
            return Change(
                object: object,
                kind: .update(edits: edits, members: members.followed(by: later))
            ).nonEmpty
        default:
            throw ChangeMismatch(object: object, property: nil)
        }
    }

    private var nonEmpty: Change? {
        isEmpty ? nil : self
    }
}

extension [Edit] {
    /// These edits and then others, one for each property, without those that end where they began.
    fileprivate func followed(by later: [Edit]) -> [Edit] {
        var merged = self
        for edit in later {
            if let index = merged.firstIndex(where: { $0.property == edit.property }) {
                merged[index].new = edit.new
            } else {
                merged.append(edit)
            }
        }
        merged.removeAll { $0.old == $0.new }
        merged.sort { $0.property < $1.property }
        return merged
    }
}

extension [MembershipEdit] {
    /// These edits and then others, one for each relationship, without members that come and go.
    fileprivate func followed(by later: [MembershipEdit]) -> [MembershipEdit] {
        guard !later.isEmpty else { return self }
        var merged = self
        for edit in later {
            if let index = merged.firstIndex(where: { $0.property == edit.property }) {
                merged[index] = merged[index].followed(by: edit)
            } else {
                merged.append(edit)
            }
        }
        merged.removeAll(where: \.isEmpty)
        merged.sort { $0.property < $1.property }
        return merged
    }
}

extension MembershipEdit {
    fileprivate func followed(by later: MembershipEdit) -> MembershipEdit {
        var added = Dictionary(uniqueKeysWithValues: added.map { ($0.object, $0.order) })
        var removed = Dictionary(uniqueKeysWithValues: removed.map { ($0.object, $0.order) })
        for member in later.removed where added.removeValue(forKey: member.object) == nil {
            removed[member.object] = member.order
        }
        for member in later.added {
            if removed[member.object] == member.order {
                removed[member.object] = nil
            } else {
                added[member.object] = member.order
            }
        }
        return MembershipEdit(
            property: property, added: added.map { Member(object: $0.key, order: $0.value) },
            removed: removed.map { Member(object: $0.key, order: $0.value) })
    }
}
