extension Change {
    /// This change and a later one of the same object, as one change; nil when nothing is left.
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
            return Change(
                object: object,
                kind: .update(
                    edits: [Edit](from: old, to: new, of: entity),
                    members: members.followed(by: later))
            ).nonEmpty
        default:
            throw ChangeMismatch(object: object, property: nil)
        }
    }

    private var nonEmpty: Change? {
        isEmpty ? nil : self
    }
}
