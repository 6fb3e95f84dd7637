extension Edit {
    /// The edit that undoes this one.
    package var inverse: Edit {
        Edit(property: property, old: new, new: old)
    }
}

extension MembershipEdit {
    /// The edit that undoes this one.
    package var inverse: MembershipEdit {
        MembershipEdit(property: property, added: removed, removed: added)
    }
}

extension Change {
    /// The change that undoes this one: applying both in turn changes nothing.
    ///
    /// The inverse of several changes is the inverse of each one, in reverse order.
    package var inverse: Change {
        let kind: Kind
        switch self.kind {
        case .insert(let values, let members):
            kind = .delete(values: values, members: members.map(\.inverse))
        case .update(let edits, let members):
            kind = .update(edits: edits.map(\.inverse), members: members.map(\.inverse))
        case .delete(let values, let members):
            kind = .insert(values: values, members: members.map(\.inverse))
        }
        return Change(object: object, kind: kind)
    }
}
